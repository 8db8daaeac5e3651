"""Vocabularies as feature columns: the buckets are the places of words in a list, or in a file.

>>> import pullback.compat.v1 as tf
>>> columns = tf.feature_column
>>> colour = columns.categorical_column_with_vocabulary_list("colour", ["red", "blue"], num_oov_buckets=1)
>>> y = columns.input_layer({"colour": [["blue"], ["green"]]}, columns.indicator_column(colour))
>>> with tf.Session() as session:
...     session.run(tf.tables_initializer())
...     session.run(y)
array([[0., 1., 0.],
       [0., 0., 1.]], dtype=float32)
>>> import tempfile
>>> with tempfile.NamedTemporaryFile("w") as file:
...     print("red", "blue", sep=chr(10), file=file, flush=True)
...     columns.categorical_column_with_vocabulary_file("colour", file.name).num_buckets
2
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pullback as pb

from ....core.dtypes import dtype_name
from ....core.typing import DTypeLike
from ....records.features import VarLenFeature
from ....records.files import read_lines
from ..lookup import LookupInterface, index_table_from_file, index_table_from_tensor
from .columns import AbstractCategoricalColumn, Features, check_key, check_like, check_words, is_integer


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DTypeLike | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """The places of texts, or integers, in `vocabulary_list`; others in `num_oov_buckets` behind them by their hashes.

    Without such buckets they are in `default_value`, which is none if it is -1.

    Raises:
        ValueError: the list is empty, has a word twice, or is not of `dtype`; both ways for other words are given.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    kind = np.array(list(vocabulary_list)).dtype
    found: Any = pb.string if kind.kind in "SU" else kind
    check_words(found, f"column_name: {key} vocabulary")
    wanted = pb.as_dtype(found if dtype is None else dtype)
    _check_others(key, num_oov_buckets, default_value)
    if is_integer(wanted) != is_integer(found) or (wanted != pb.string and not is_integer(wanted)):
        raise ValueError(
            f"dtype {dtype_name(wanted)} and vocabulary dtype {dtype_name(found)} do not match, column_name: {key}"
        )
    check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), wanted, default_value, num_oov_buckets)


@dataclass(frozen=True)
class VocabularyListCategoricalColumn(AbstractCategoricalColumn):
    """See `categorical_column_with_vocabulary_list`."""

    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: Any
    default_value: int
    num_oov_buckets: int

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets

    def transformed(self, features: Features) -> pb.SparseTensor:
        x = _keys(features, self.key, self.dtype)
        table = index_table_from_tensor(
            self.vocabulary_list,
            self.num_oov_buckets,
            self.default_value,
            dtype=x.dtype,
            name=f"{self.key}_lookup",
        )
        return _found(table, x)


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = pb.string,
) -> VocabularyFileCategoricalColumn:
    """The numbers of the lines of a file that have the texts, or integers, of the feature `key`.

    `vocabulary_size` says how many lines count, all if None. For words that are not there see
    `categorical_column_with_vocabulary_list`.

    Raises:
        ValueError: there is no such file, no line counts, or both ways for other words are given.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None and not os.path.exists(vocabulary_file):
        raise ValueError(f"vocabulary_file in {key} does not exist: {vocabulary_file}")
    size = sum(1 for _ in read_lines(vocabulary_file)) if vocabulary_size is None else vocabulary_size
    if size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}: {size}.")
    _check_others(key, num_oov_buckets, -1 if default_value is None else default_value)
    check_words(dtype, f"column_name: {key}")
    check_key(key)
    default = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(key, vocabulary_file, size, num_oov_buckets, pb.as_dtype(dtype), default)


@dataclass(frozen=True)
class VocabularyFileCategoricalColumn(AbstractCategoricalColumn):
    """See `categorical_column_with_vocabulary_file`."""

    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: Any
    default_value: int

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        return self.vocabulary_size + self.num_oov_buckets

    def transformed(self, features: Features) -> pb.SparseTensor:
        x = _keys(features, self.key, self.dtype)
        table = index_table_from_file(
            self.vocabulary_file,
            self.num_oov_buckets,
            self.vocabulary_size,
            self.default_value,
            key_dtype=x.dtype,
            name=f"{self.key}_lookup",
        )
        return _found(table, x)


def _check_others(key: str, num_oov_buckets: int, default_value: int) -> None:
    if num_oov_buckets and default_value != -1:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def _keys(features: Features, key: str, dtype: Any) -> pb.SparseTensor:
    """The words of a feature, integers as int64."""
    x = features.sparse(key)
    check_like(key, dtype, x)
    return x if x.dtype == pb.string else x.with_values(pb.cast(x.values, pb.int64))


def _found(table: LookupInterface, x: pb.SparseTensor) -> pb.SparseTensor:
    places: pb.SparseTensor = table.lookup(x)
    return places
