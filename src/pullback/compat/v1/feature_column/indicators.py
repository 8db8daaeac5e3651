"""Indicator columns: how often an example is in each bucket, as a vector (multi-hot encoding).

>>> import pullback.compat.v1 as tf
>>> columns = tf.feature_column
>>> days = columns.indicator_column(columns.categorical_column_with_identity("days", 3))
>>> tf.Session().run(columns.input_layer({"days": [[0, 2], [1, 1]]}, days))
array([[1., 0., 1.],
       [0., 2., 0.]], dtype=float32)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pullback as pb

from .columns import AbstractCategoricalColumn, AbstractDenseColumn, Features, check_categorical


def indicator_column(categorical_column: AbstractCategoricalColumn) -> IndicatorColumn:
    """The buckets of an example as a vector with a number for each: how often it is in it, or the sum of the weights.

    Raises:
        ValueError: the column has no buckets.
    """
    check_categorical(categorical_column)
    return IndicatorColumn(categorical_column)


@dataclass(frozen=True)
class IndicatorColumn(AbstractDenseColumn):
    """See `indicator_column`."""

    categorical_column: AbstractCategoricalColumn

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_indicator"

    @property
    def of_steps(self) -> bool:
        return self.categorical_column.of_steps

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.categorical_column.num_buckets])

    def transformed(self, features: Features) -> pb.Tensor:
        ids, weights = self.categorical_column.ids(features)
        count = self.categorical_column.num_buckets
        inside = (ids.values >= 0) & (ids.values < count)
        places = pb.where(inside, ids.values, pb.zeros_like(ids.values))
        counted = pb.cast(inside, pb.float32)
        if weights is not None:
            counted *= pb.cast(weights.values, pb.float32)
        where = pb.concat([ids.indices[:, :-1], pb.reshape(places, [-1, 1])], 1)
        shape = pb.concat([ids.dense_shape[:-1], pb.constant([count], pb.int64)], 0)
        return pb.scatter_nd(where, counted, shape)

    def dense(self, features: Features, collections: list[str], trainable: bool) -> pb.Tensor:
        del collections, trainable
        found: pb.Tensor = features.of(self)
        return found
