"""Numeric feature columns: numbers as they are, and the ranges that they lie in.

>>> import pullback.compat.v1 as tf
>>> age = tf.feature_column.numeric_column("age")
>>> groups = tf.feature_column.bucketized_column(age, boundaries=[18, 65])
>>> tf.Session().run(tf.feature_column.input_layer({"age": [[7.0], [30.0]]}, [age, groups]))
array([[ 7.,  1.,  0.,  0.],
       [30.,  0.,  1.,  0.]], dtype=float32)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pullback as pb

from ....core.dtypes import FLOATING, dtype_name
from ....core.typing import DTypeLike
from ....records.features import FixedLenFeature
from .columns import AbstractCategoricalColumn, AbstractDenseColumn, Features, IdWeightPair, check_key, is_integer


def numeric_column(
    key: str,
    shape: int | Iterable[int] = (1,),
    default_value: Any = None,
    dtype: DTypeLike = pb.float32,
    normalizer_fn: Callable[[pb.Tensor], Any] | None = None,
) -> NumericColumn:
    """The numbers of the feature `key`, `shape` of them for each example, as float32, through `normalizer_fn`.

    `default_value`, a number or as many as there are, is for `tf.parse_example`.

    Raises:
        ValueError: a length is not positive, `dtype` is not that of numbers, or the shape of `default_value` another.
        TypeError: a length is no integer, `default_value` is of another kind than `dtype`, or `normalizer_fn` is no
            function.
    """
    check_key(key)
    lengths = lengths_of(shape, key)
    kind = pb.as_dtype(dtype)
    if kind not in FLOATING and not is_integer(kind):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype_name(kind)}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    default = None if default_value is None else _default(lengths, default_value, kind, key)
    return NumericColumn(key, lengths, default, kind, normalizer_fn)


@dataclass(frozen=True)
class NumericColumn(AbstractDenseColumn):
    """See `numeric_column`."""

    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: Any
    normalizer_fn: Callable[[pb.Tensor], Any] | None

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> pb.TensorShape:
        return pb.TensorShape(self.shape)

    def transformed(self, features: Features) -> pb.Tensor:
        x = features.read(self.key)
        if isinstance(x, pb.SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. "
                f"SparseTensor is not supported. key: {self.key}"
            )
        normal = x if self.normalizer_fn is None else self.normalizer_fn(x)
        return pb.cast(normal, pb.float32)

    def dense(self, features: Features, collections: list[str], trainable: bool) -> pb.Tensor:
        del collections, trainable
        found: pb.Tensor = features.of(self)
        return found


def bucketized_column(source_column: NumericColumn, boundaries: list[float] | tuple[float, ...]) -> BucketizedColumn:
    """The range that a number lies in: below `boundaries[0]`, from there to below `boundaries[1]`, and so on.

    Raises:
        ValueError: the source is no `numeric_column` with one axis, or the boundaries do not ascend.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not isinstance(boundaries, list | tuple) or any(np.diff(boundaries) <= 0):
        raise ValueError(f"boundaries must be a sorted list. Given: {boundaries}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    return BucketizedColumn(source_column, tuple(boundaries))


@dataclass(frozen=True)
class BucketizedColumn(AbstractDenseColumn, AbstractCategoricalColumn):
    """See `bucketized_column`."""

    source_column: NumericColumn
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.source_column.parse_example_spec

    @property
    def variable_shape(self) -> pb.TensorShape:
        return pb.TensorShape([*self.source_column.shape, len(self.boundaries) + 1])

    @property
    def num_buckets(self) -> int:
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def transformed(self, features: Features) -> pb.Tensor:
        x: pb.Tensor = features.of(self.source_column)
        places = pb.searchsorted(pb.constant(self.boundaries, pb.float32), pb.reshape(x, [-1]), side="right")
        return pb.reshape(places, pb.shape(x))

    def dense(self, features: Features, collections: list[str], trainable: bool) -> pb.Tensor:
        del collections, trainable
        return pb.one_hot(features.of(self), len(self.boundaries) + 1, 1.0, 0.0)

    def ids(self, features: Features) -> IdWeightPair:
        """The ranges, counted through the numbers of an example."""
        count = self.source_column.shape[0]
        places = pb.reshape(features.of(self), [-1, count])
        numbers = pb.cast(places + np.arange(count, dtype=np.int32) * (len(self.boundaries) + 1), pb.int64)
        batch = pb.shape(places, out_type=pb.int64)[0]
        rows = pb.repeat(pb.range(batch), count)
        columns = pb.tile(pb.range(pb.constant(count, pb.int64)), pb.reshape(batch, [1]))
        shape = pb.stack([batch, pb.constant(count, pb.int64)])
        return IdWeightPair(pb.SparseTensor(pb.stack([rows, columns], 1), pb.reshape(numbers, [-1]), shape), None)


def lengths_of(shape: Any, key: str) -> tuple[int, ...]:
    """The shape of a column's numbers; TypeError or ValueError where a length is none."""
    lengths = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    for n in lengths:
        if not isinstance(n, int | np.integer):
            raise TypeError(f"shape dimensions must be integer. shape: {lengths}, key: {key}")
        if n < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {lengths}, key: {key}")
    return lengths


def _default(shape: tuple[int, ...], value: Any, dtype: Any, key: str) -> Any:
    """A number for each element of an example, as nested tuples."""
    numbers = np.asarray(value)
    fits = numbers.dtype.kind in "iu" or (numbers.dtype.kind == "f" and dtype in FLOATING)
    if not fits:
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype_name(dtype)}, "
            f"key: {key}"
        )
    if numbers.shape not in ((), shape):
        raise ValueError(
            "The shape of default_value must be equal to given shape. "
            f"default_value: {value}, shape: {shape}, key: {key}"
        )
    return _tuples(np.broadcast_to(numbers, shape).tolist()) if math.prod(shape) else ()


def _tuples(values: Any) -> Any:
    return tuple([_tuples(x) for x in values]) if isinstance(values, list) else values
