"""Feature descriptions: which arrays a serialized example becomes (`FixedLenFeature` and its like).

An example has lists of bytes, floats or integers by name; one of sequences has lists of such lists. A description says
which arrays what is there under a name becomes, for one example or for a batch of them.

>>> import pullback.compat.v1 as tf
>>> def features(**values):
...     return tf.train.Features(feature=values)
>>> label = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
>>> words = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"b"]))
>>> text = tf.train.Example(features=features(label=label, words=words)).SerializeToString()
>>> wanted = {"label": tf.FixedLenFeature([], tf.int64), "words": tf.VarLenFeature(tf.string)}
>>> wanted["all"] = tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True)
>>> found = tf.Session().run(tf.parse_single_example(text, wanted))
>>> found["label"], found["words"].values, found["all"]
(np.int64(3), array([b'a', b'b'], dtype=object), array([], dtype=float32))
>>> tf.SparseFeature("at", "value", tf.float32, size=10).size
10
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..control_flow.signature import TensorSpec
from ..core.dtypes import as_dtype, dtype_name, float32, int64, string
from ..core.errors import InvalidArgumentError
from ..core.limits import reading
from ..core.shape import TensorShape, as_shape
from ..primitives.creation.constant import as_array

Array = np.ndarray[Any, Any]
Lists = Mapping[str, Any]
"""The features of an example by name, as messages."""
_KINDS = {string: "bytes_list", float32: "float_list", int64: "int64_list"}


class FixedLenFeature(NamedTuple):
    """A list with as many values as `shape` has elements; `default_value` where an example has none."""

    shape: Any
    dtype: Any
    default_value: Any = None

    def specs(self, batch: TensorShape) -> list[TensorSpec]:
        """The types of the arrays that a batch of that shape becomes."""
        return [TensorSpec(batch.concatenate(as_shape(self.shape)), as_dtype(self.dtype))]

    def arrays(self, key: str, examples: Sequence[Lists], batched: bool) -> list[Array]:
        """The arrays that examples become: a batch of them, or a single one."""
        shape = lengths_of(self.shape)
        rows = [self._row(key, example, shape) for example in examples]
        return [stacked(rows, shape, self.dtype)] if batched else rows

    def _row(self, key: str, example: Lists, shape: tuple[int, ...]) -> Array:
        if has_values(key, example):
            return shaped(key, values_of(key, example[key], self.dtype), shape)
        if self.default_value is None:
            kind = dtype_name(as_dtype(self.dtype))
            raise InvalidArgumentError(f"Feature: {key} (data type: {kind}) is required but could not be found.")
        return np.broadcast_to(as_array(self.default_value, as_dtype(self.dtype)), shape)


class FixedLenSequenceFeature(NamedTuple):
    """A list of rows of `shape`, as many as there are; in a batch filled up with `default_value` to the longest."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None

    def specs(self, batch: TensorShape) -> list[TensorSpec]:
        """The types of the arrays that a batch of that shape becomes."""
        shape = batch.concatenate(TensorShape([None])).concatenate(as_shape(self.shape))
        return [TensorSpec(shape, as_dtype(self.dtype))]

    def arrays(self, key: str, examples: Sequence[Lists], batched: bool) -> list[Array]:
        """The arrays that examples become: a batch of them, or a single one."""
        rows = [self._rows(key, example, lengths_of(self.shape)) for example in examples]
        return [self._filled(rows)] if batched else rows

    def sequence_arrays(self, key: str, lists: Lists) -> list[Array]:
        """The arrays that the sequence of that name becomes: a row for each of its features."""
        if key not in lists and not self.allow_missing:
            raise InvalidArgumentError(f"Feature list '{key}' is required but could not be found; pass allow_missing")
        shape = lengths_of(self.shape)
        features = lists[key].feature if key in lists else ()
        return [stacked([shaped(key, values_of(key, f, self.dtype), shape) for f in features], shape, self.dtype)]

    def _rows(self, key: str, example: Lists, shape: tuple[int, ...]) -> Array:
        if not has_values(key, example):
            return stacked([], shape, self.dtype)
        found, count = values_of(key, example[key], self.dtype), math.prod(shape)
        if not count or len(found) % count:
            raise InvalidArgumentError(
                f"Key: {key}. Number of {dtype_name(as_dtype(self.dtype))} values is not a multiple of stride length: "
                f"{len(found)} values for rows of shape {list(shape)}"
            )
        return found.reshape(-1, *shape)

    def _filled(self, rows: Sequence[Array]) -> Array:
        """Arrays of rows on top of each other, as long as the longest."""
        dtype: Any = as_dtype(self.dtype)
        whole = (len(rows), max(map(len, rows), default=0), *lengths_of(self.shape))
        reading().takes_bytes(math.prod(whole) * dtype.itemsize)
        nothing: Any = b"" if dtype == string else 0
        result = np.full(whole, nothing if self.default_value is None else as_array(self.default_value, dtype), dtype)
        for i, row in enumerate(rows):
            result[i, : len(row)] = row
        return result


class VarLenFeature(NamedTuple):
    """A list of any length, which becomes a SparseTensor."""

    dtype: Any

    def specs(self, batch: TensorShape) -> list[TensorSpec]:
        """The types of the indices, the values and the shape that a batch of that shape becomes."""
        return sparse_specs(self.dtype, 1 + (batch.rank or 0))

    def arrays(self, key: str, examples: Sequence[Lists], batched: bool) -> list[Array]:
        """The arrays that examples become: a batch of them, or a single one."""
        rows = [values_of(key, e[key], self.dtype) if key in e else stacked([], (), self.dtype) for e in examples]
        if batched:
            return sparse_rows(rows, self.dtype)
        return [np.arange(len(rows[0]), dtype=np.int64)[:, None], rows[0], np.array([len(rows[0])], np.int64)]

    def sequence_arrays(self, key: str, lists: Lists) -> list[Array]:
        """The arrays that the sequence of that name becomes: a row for each of its features."""
        features = lists[key].feature if key in lists else ()
        return sparse_rows([values_of(key, f, self.dtype) for f in features], self.dtype)


class SparseFeature(NamedTuple):
    """A list of values and lists of their places along the axes of `size`, which become a SparseTensor."""

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False

    def specs(self, batch: TensorShape) -> list[TensorSpec]:
        """The types of the indices, the values and the shape that a batch of that shape becomes."""
        return sparse_specs(self.dtype, (batch.rank or 0) + np.size(self.size))

    def arrays(self, key: str, examples: Sequence[Lists], batched: bool) -> list[Array]:
        """The arrays that examples become: a batch of them, or a single one."""
        del key
        found = [self._placed(example) for example in examples]
        numbers = np.repeat(np.arange(len(found), dtype=np.int64), [len(values) for _, values in found])
        places = np.concatenate([p for p, _ in found] or [np.empty((0, np.size(self.size)), np.int64)])
        lengths = np.atleast_1d(np.array(self.size, np.int64))
        values = np.concatenate([v for _, v in found] or [stacked([], (), self.dtype)])
        if batched:
            return [np.column_stack([numbers, places]), values, np.array([len(found), *lengths], np.int64)]
        return [places, values, lengths]

    def _placed(self, example: Lists) -> tuple[Array, Array]:
        """The places and the values of an example, in the order of the places."""
        keys = [self.index_key] if isinstance(self.index_key, str) else self.index_key
        nothing = stacked([], (), self.dtype)
        values = (
            values_of(self.value_key, example[self.value_key], self.dtype) if self.value_key in example else nothing
        )
        axes = [values_of(k, example[k], int64) if k in example else np.empty(0, np.int64) for k in keys]
        for k, axis in zip(keys, axes, strict=True):
            if len(axis) != len(values):
                raise InvalidArgumentError(
                    f"SparseFeature: {len(values)} values of '{self.value_key}' have {len(axis)} places of '{k}'"
                )
        places = np.stack(axes, 1)
        order = np.arange(len(values)) if self.already_sorted else np.lexsort(places.T[::-1])
        if len(values) and (places.min() < 0 or (places.max(0) >= np.atleast_1d(self.size)).any()):
            raise InvalidArgumentError(f"SparseFeature: a place of '{self.value_key}' lies outside of {self.size}")
        return places[order], values[order]


def sparse_specs(dtype: Any, rank: int) -> list[TensorSpec]:
    """The types of indices, values and shape of a SparseTensor."""
    return [TensorSpec([None, rank], int64), TensorSpec([None], as_dtype(dtype)), TensorSpec([rank], int64)]


def sparse_rows(rows: Sequence[Array], dtype: Any) -> list[Array]:
    """Indices, values and shape of vectors of different lengths."""
    lengths = [len(row) for row in rows]
    numbers = np.repeat(np.arange(len(rows), dtype=np.int64), lengths)
    columns = np.concatenate([np.arange(n, dtype=np.int64) for n in lengths] or [np.empty(0, np.int64)])
    values = np.concatenate(rows) if rows else stacked([], (), dtype)
    return [np.stack([numbers, columns], 1), values, np.array([len(rows), max(lengths, default=0)], np.int64)]


def stacked(rows: Sequence[Array], shape: tuple[int, ...], dtype: Any) -> Array:
    """Arrays of `shape` on top of each other, of which there may be none."""
    element: Any = as_dtype(dtype)
    return np.stack(rows) if rows else np.empty((0, *shape), element)


def lengths_of(shape: Any) -> tuple[int, ...]:
    """The lengths of a shape that is known."""
    return tuple(as_shape(shape).known)


def shaped(key: str, values: Array, shape: tuple[int, ...]) -> Array:
    """The values in that shape; InvalidArgumentError where they are more or fewer."""
    if len(values) != math.prod(shape):
        raise InvalidArgumentError(
            f"Key: {key}. Can't parse serialized Example: it has {len(values)} values, and shape {list(shape)} asks "
            f"for {math.prod(shape)}"
        )
    return values.reshape(shape)


def has_values(key: str, example: Lists) -> bool:
    """Whether a list of that name is there, be it empty."""
    return key in example and example[key].WhichOneof("kind") is not None


def values_of(key: str, feature: Any, dtype: Any) -> Array:
    """The values of a feature; InvalidArgumentError where they are not of `dtype`."""
    element: Any = as_dtype(dtype)
    wanted, kind = _KINDS[element], feature.WhichOneof("kind")
    if kind is None:
        return stacked([], (), dtype)
    if kind != wanted:
        raise InvalidArgumentError(f"Key: {key}. Data types don't match: it has a {kind}, and is to have a {wanted}")
    values = list(getattr(feature, kind).value)
    return as_array(values, string) if kind == "bytes_list" else np.array(values, element)


def check_dtype(key: str, dtype: Any) -> None:
    """TypeError where features cannot be of `dtype`."""
    if as_dtype(dtype) not in _KINDS:
        found = dtype_name(as_dtype(dtype))
        raise TypeError(f"feature '{key}': a feature is float32, int64 or string, not {found}; cast() what is parsed")
