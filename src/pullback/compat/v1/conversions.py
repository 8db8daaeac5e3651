"""Conversion to tensors: of classes that a program registers, of slices and sparse tensors; lengths of dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import pullback as pb

from ...core.shape import as_shape
from ...core.typing import DTypeLike
from ...primitives.creation.constant import register_conversion


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Lets objects of `base_type` stand wherever a tensor is taken: `conversion_func(value, dtype, name, as_ref)`.

    It returns a tensor, or NotImplemented, which leaves the object to the next one. Those of low `priority` are asked
    first.

    >>> import pullback.compat.v1 as tf
    >>> class Metres:
    ...     def __init__(self, number):
    ...         self.number = number
    >>> tf.register_tensor_conversion_function(
    ...     Metres, lambda value, dtype=None, name=None, as_ref=False: tf.constant(value.number, dtype, name=name)
    ... )
    >>> tf.Session().run(tf.add(Metres(2.0), 1.0))
    np.float32(3.0)
    """
    register_conversion(base_type, lambda value, dtype, name: conversion_func(value, dtype, name, False), priority)


def convert_to_tensor_or_indexed_slices(value: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """`value` as a tensor, unless it is slices.

    Raises:
        ValueError: the slices have another dtype.

    >>> import pullback.compat.v1 as tf
    >>> tf.convert_to_tensor_or_indexed_slices([1.0, 2.0]).shape
    TensorShape([2])
    """
    if not isinstance(value, pb.IndexedSlices):
        return pb.convert_to_tensor(value, dtype, name=name)
    if dtype is not None and value.dtype != dtype:
        raise ValueError(f"convert_to_tensor_or_indexed_slices: {value} has not the dtype {dtype}")
    return value


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """`value` as a tensor, dense or sparse.

    Raises:
        RuntimeError: the sparse tensor has another dtype.

    >>> import pullback.compat.v1 as tf
    >>> tf.convert_to_tensor_or_sparse_tensor(tf.SparseTensor([[0]], [1.0], [2])).shape
    TensorShape([2])
    """
    if isinstance(value, pb.SparseTensorValue):
        return pb.SparseTensor(value.indices, pb.convert_to_tensor(value.values, dtype), value.dense_shape)
    if not isinstance(value, pb.SparseTensor):
        return pb.convert_to_tensor(value, dtype, name=name)
    if dtype is not None and value.dtype != dtype:
        raise RuntimeError(f"convert_to_tensor_or_sparse_tensor: {value} has not the dtype {dtype}")
    return value


def dimension_value(dimension: Any) -> int | None:
    """The length that a `Dimension`, or a number, is; None where it is not known.

    >>> import pullback.compat.v1 as tf
    >>> tf.dimension_value(tf.Dimension(3)), tf.dimension_value(None)
    (3, None)
    """
    is_dimension = isinstance(dimension, pb.Dimension)
    found: int | None = dimension.value if is_dimension else dimension
    return found


def dimension_at_index(shape: Any, index: int) -> pb.Dimension:
    """The `Dimension` of a static shape along an axis, unknown where the rank is.

    >>> import pullback.compat.v1 as tf
    >>> tf.dimension_at_index(tf.TensorShape([2, None]), 0)
    Dimension(2)
    """
    static = as_shape(shape)
    found: pb.Dimension = pb.Dimension(None if static.rank is None else static.size(index))
    return found


def assert_proper_iterable(values: Iterable[Any]) -> None:
    """TypeError where `values` is no list or the like, but one tensor, array or text.

    >>> import pullback.compat.v1 as tf
    >>> tf.assert_proper_iterable([1, 2])
    """
    wrong = pb.Tensor | pb.SparseTensor | pb.IndexedSlices | np.ndarray | bytes | str
    if isinstance(values, wrong) or not isinstance(values, Iterable):
        raise TypeError(f"assert_proper_iterable: {values!r} is no list of values")
