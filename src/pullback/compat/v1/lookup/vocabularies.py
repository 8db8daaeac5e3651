"""Vocabularies: tables from words to their places in a list or a file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import DTypeLike, TensorLike
from .contents import (
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from .tables import FastHashSpec, HashTable, IdTableWithHashBuckets, LookupInterface


def index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: DTypeLike = pb.string,
    name: str | None = None,
) -> LookupInterface:
    """A table of the places of the elements of `mapping`; others are in buckets behind them, or `default_value`.

    >>> import pullback.compat.v1 as tf
    >>> table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=1)
    >>> with tf.Session() as session:
    ...     session.run([tf.tables_initializer(), table.lookup(tf.constant(["b", "z", "a"]))])[1]
    array([1, 2, 0])
    """
    keys = pb.convert_to_tensor(mapping, dtype)
    contents = KeyValueTensorInitializer(keys, _numbers(keys))
    return _with_buckets(HashTable(contents, default_value, name), num_oov_buckets, hasher_spec)


def index_table_from_file(
    vocabulary_file: TensorLike,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: DTypeLike = pb.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> LookupInterface:
    """A table of the numbers of the lines of a file; see `index_table_from_tensor`."""
    contents = TextFileIdTableInitializer(
        vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, key_dtype=key_dtype
    )
    return _with_buckets(HashTable(contents, default_value, name), num_oov_buckets, hasher_spec)


def index_to_string_table_from_tensor(
    mapping: TensorLike, default_value: str = "UNK", name: str | None = None
) -> LookupInterface:
    """A table from places in `mapping` to what is there."""
    values = pb.convert_to_tensor(mapping, pb.string)
    return HashTable(KeyValueTensorInitializer(_numbers(values), values), default_value, name)


def index_to_string_table_from_file(
    vocabulary_file: TensorLike,
    vocab_size: int | None = None,
    default_value: str = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> LookupInterface:
    """A table from the numbers of the lines of a file to the lines."""
    contents = TextFileStringTableInitializer(
        vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter
    )
    return HashTable(contents, default_value, name)


@in_graph_of_inputs
def string_to_index(tensor: pb.Tensor, mapping: TensorLike, default_value: int = -1, name: str | None = None) -> Any:
    """The places of texts in `mapping`."""
    return index_table_from_tensor(mapping, 0, default_value).lookup(tensor, name)


@in_graph_of_inputs
def index_to_string(tensor: pb.Tensor, mapping: TensorLike, default_value: str = "UNK", name: str | None = None) -> Any:
    """What is at places in `mapping`."""
    return index_to_string_table_from_tensor(mapping, default_value).lookup(pb.cast(tensor, pb.int64), name)


def _numbers(x: pb.Tensor) -> Any:
    """0, 1, ... for each element of a vector."""
    count = x.shape.size(0) if x.shape.rank else None
    return pb.range(pb.size(x, pb.int64)) if count is None else np.arange(count, dtype=np.int64)


def _with_buckets(table: HashTable, num_oov_buckets: int, hasher_spec: Any) -> LookupInterface:
    return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec) if num_oov_buckets else table
