"""Feature crosses as columns: buckets for the combinations of what several features hold.

>>> import pullback.compat.v1 as tf
>>> columns = tf.feature_column
>>> both = columns.crossed_column(["city", "weather"], hash_bucket_size=5)
>>> features = {"city": [["Rome"], ["Oslo"]], "weather": [["rain"], ["sun"]]}
>>> tf.Session().run(columns.input_layer(features, columns.indicator_column(both))).tolist()
[[0.0, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pullback as pb

from ....records.features import VarLenFeature
from ..sparse_crosses import cross_hashed
from .categorical import HashedCategoricalColumn
from .columns import AbstractCategoricalColumn, Features

Key = str | AbstractCategoricalColumn


def crossed_column(keys: Sequence[Key], hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """The hashes, in `hash_bucket_size` buckets, of all combinations of what features or columns hold for an example.

    A key is the name of a feature, or a column of buckets that are not hashes.

    Raises:
        ValueError: there are fewer than two keys, no buckets, or another key.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, str | AbstractCategoricalColumn):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                f"increase probability of collision. Instead, use the feature name as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


@dataclass(frozen=True)
class CrossedColumn(AbstractCategoricalColumn):
    """See `crossed_column`."""

    keys: tuple[Key, ...]
    hash_bucket_size: int
    hash_key: int | None

    @property
    def name(self) -> str:
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self.leaves))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec |= {key: VarLenFeature(pb.string)} if isinstance(key, str) else key.parse_example_spec
        return spec

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    @property
    def leaves(self) -> list[Key]:
        """The keys, and those of crosses among them."""
        return [leaf for key in self.keys for leaf in (key.leaves if isinstance(key, CrossedColumn) else [key])]

    def transformed(self, features: Features) -> pb.SparseTensor:
        inputs = [self._input(features, key) for key in self.leaves]
        return cross_hashed(inputs, self.hash_bucket_size, self.hash_key)

    def _input(self, features: Features, key: Key) -> Any:
        if isinstance(key, str):
            return features.read(key)
        numbers, weights = key.ids(features)
        if weights is not None:
            raise ValueError(
                "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                f"Given column: {key.name}"
            )
        return numbers
