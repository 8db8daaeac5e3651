"""Categorical feature columns: numbers as buckets, hash buckets, and buckets that do not all count alike.

>>> import pullback.compat.v1 as tf
>>> columns = tf.feature_column
>>> day = columns.categorical_column_with_identity("day", num_buckets=3)
>>> word = columns.categorical_column_with_hash_bucket("word", hash_bucket_size=4)
>>> rated = columns.weighted_categorical_column(word, "rating")
>>> features = {"day": [[1], [2]], "word": [["good"], ["bad"]], "rating": [[0.5], [2.0]]}
>>> y = columns.input_layer(features, [columns.indicator_column(c) for c in (day, rated)])
>>> tf.Session().run(y)
array([[0. , 1. , 0. , 0.5, 0. , 0. , 0. ],
       [0. , 0. , 1. , 0. , 0. , 0. , 2. ]], dtype=float32)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pullback as pb

from ....core.dtypes import FLOATING, dtype_name
from ....core.typing import DTypeLike
from ....records.features import VarLenFeature
from .columns import (
    AbstractCategoricalColumn,
    Features,
    IdWeightPair,
    check_key,
    check_like,
    check_words,
    is_integer,
)


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """The integers of the feature `key`, below `num_buckets`, are the buckets; for others `default_value`.

    Raises:
        ValueError: there are no buckets, or `default_value` is none of them.
    """
    check_key(key)
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    return IdentityCategoricalColumn(key, num_buckets, default_value)


@dataclass(frozen=True)
class IdentityCategoricalColumn(AbstractCategoricalColumn):
    """See `categorical_column_with_identity`."""

    key: str
    number_buckets: int
    default_value: int | None

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(pb.int64)}

    @property
    def num_buckets(self) -> int:
        return self.number_buckets

    def transformed(self, features: Features) -> pb.SparseTensor:
        x = features.sparse(self.key)
        if not is_integer(x.dtype):
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {dtype_name(x.dtype)}")
        values = pb.cast(x.values, pb.int64)
        if self.default_value is None:
            return x.with_values(values)
        outside = (values < 0) | (values >= self.number_buckets)
        return x.with_values(pb.where(outside, pb.zeros_like(values) + self.default_value, values))


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = pb.string
) -> HashedCategoricalColumn:
    """The texts, or integers, of the feature `key` are put into `hash_bucket_size` buckets by their hashes.

    Raises:
        ValueError: there are no buckets, or `dtype` is another.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    check_key(key)
    check_words(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, pb.as_dtype(dtype))


@dataclass(frozen=True)
class HashedCategoricalColumn(AbstractCategoricalColumn):
    """See `categorical_column_with_hash_bucket`."""

    key: str
    hash_bucket_size: int
    dtype: Any

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def transformed(self, features: Features) -> pb.SparseTensor:
        x = features.sparse(self.key)
        check_like(self.key, self.dtype, x)
        texts = x.values if x.dtype == pb.string else pb.as_string(x.values)
        return x.with_values(pb.strings.to_hash_bucket_fast(texts, self.hash_bucket_size, name="lookup"))


def weighted_categorical_column(
    categorical_column: AbstractCategoricalColumn, weight_feature_key: str, dtype: DTypeLike = pb.float32
) -> WeightedCategoricalColumn:
    """The buckets of `categorical_column`, each of which counts as much as the feature `weight_feature_key` says.

    Raises:
        ValueError: `dtype` is not that of numbers.
    """
    kind = pb.as_dtype(dtype)
    if kind not in FLOATING and not is_integer(kind):
        raise ValueError(f"dtype {dtype_name(kind)} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, kind)


@dataclass(frozen=True)
class WeightedCategoricalColumn(AbstractCategoricalColumn):
    """See `weighted_categorical_column`."""

    categorical_column: AbstractCategoricalColumn
    weight_feature_key: str
    dtype: Any

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            there = spec[self.weight_feature_key]
            raise ValueError(f"Parse config {there} already exists for {self.weight_feature_key}.")
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def transformed(self, features: Features) -> pb.SparseTensor:
        """The weights."""
        given = features.read(self.weight_feature_key)
        if given.dtype != self.dtype:
            raise ValueError(f"Bad dtype, expected {dtype_name(self.dtype)}, but got {dtype_name(given.dtype)}.")
        weights = features.sparse(self.weight_feature_key, nothing=0)
        return weights if weights.dtype in FLOATING else weights.with_values(pb.cast(weights.values, pb.float32))

    def ids(self, features: Features) -> IdWeightPair:
        """The buckets, with their weights."""
        return IdWeightPair(self.categorical_column.ids(features).id_tensor, features.of(self))
