"""Tensor creation from a shape or a number: zeros, ones, filled, ranges, identity matrices, one-hot vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import (
    DType,
    TokenType,
    as_dtype,
    float32,
    string,
)
from ...core.graph import get_default_graph
from ...core.intervals import Interval
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import ELEMENTWISE, MOVES
from ...core.types import TensorType, shape_to_infer
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ..reduction.sum import Sum
from ..shape.reshape import shape_to_use, split_shape
from .constant import LARGEST_CONSTANT, constant_in, convert_to_tensor


@in_graph_of_inputs
def zeros(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Zeros in the shape `shape`.

    Shapes: `shape`, a sequence of integers or an integer vector. Dtypes: any.

    Raises:
        TypeError: a length is no integer.

    >>> import pullback as pb
    >>> pb.Session().run(pb.zeros([2], pb.int32))
    array([0, 0], dtype=int32)
    """
    return _filled(shape, 0, dtype, name or "zeros")


@in_graph_of_inputs
def ones(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Ones in the shape `shape`.

    Shapes: `shape`, a sequence of integers or an integer vector. Dtypes: any.

    Raises:
        TypeError: a length is no integer.

    >>> import pullback as pb
    >>> pb.Session().run(pb.ones([2]))
    array([1., 1.], dtype=float32)
    """
    return _filled(shape, 1, dtype, name or "ones")


def _filled(shape: Any, value: int, dtype: Any, name: str) -> Tensor:
    wanted = as_dtype(dtype)
    if isinstance(wanted, TokenType):
        raise TypeError(f"{name}: there are no elements of dtype {wanted}")
    if wanted is string:
        return _no_texts(value, shape, name)
    dims, lengths = split_shape(shape)
    if lengths is not None:
        return Filled(value, wanted, dims)(lengths, name=name)
    array = _small_constant(dims, value, wanted)
    if array is not None:
        return constant_in(get_default_graph(), array, name)
    return get_default_graph().add(Filled(value, wanted, dims), (), name).outputs[0]


def _no_texts(value: int, shape: Any, name: str | None) -> Tensor:
    """Texts without characters, which are the zeros of texts; TypeError for ones."""
    if value:
        raise TypeError("ones: there is no text that is one")
    return fill(shape, "", name=name)


def _small_constant(dims: Any, value: int, dtype: Any) -> np.ndarray[Any, Any] | None:
    """A constant array, where it is small enough to be one."""
    size = TensorShape(dims).num_elements()
    if size is None or size > LARGEST_CONSTANT:
        return None
    array = np.full(dims, value, dtype)
    array.setflags(write=False)
    return array


class Filled(Primitive):
    """One number, known while the graph is built, in every place of a shape."""

    shape_inputs = length_inputs = (0,)

    value: float
    dtype: DType
    shape: tuple[int | None, ...] | None

    def infer(self, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        return (TensorType(self.dtype, shape_to_infer(self.shape, lengths)),)

    def kernel(self, xp: Any, lengths: Any = None) -> Any:
        return xp.full(shape_to_use(self.shape, lengths), self.value, self.dtype)

    gradient = no_gradient

    def bounds(self, *xs: Interval) -> Interval:
        return Interval(self.value, self.value)


def zeros_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Zeros in the shape of `input`, of its dtype or of `dtype`.

    Shapes, dtypes: any.

    >>> import pullback as pb
    >>> pb.Session().run(pb.zeros_like([1.0, 2.0]))
    array([0., 0.], dtype=float32)
    """
    return _filled_like(input, 0, dtype, name)


def ones_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Ones in the shape of `input`, of its dtype or of `dtype`.

    Shapes, dtypes: any.

    >>> import pullback as pb
    >>> pb.Session().run(pb.ones_like([1.0, 2.0]))
    array([1., 1.], dtype=float32)
    """
    return _filled_like(input, 1, dtype, name)


def _filled_like(input: Any, value: int, dtype: Any, name: str | None) -> Tensor:
    x = convert_to_tensor(input)
    wanted = x.type.dtype if dtype is None else as_dtype(dtype)
    if isinstance(wanted, TokenType):
        raise TypeError(f"{x} has no elements to be like; pass dtype=")
    if wanted is string:
        from ..shape.size import shape

        return _no_texts(value, x.shape.known if x.shape.is_fully_defined() else shape(x), name)
    if not x.shape.is_fully_defined():
        return FillLike(value, wanted)(x, name=name)
    array = _small_constant(x.shape.sizes, value, wanted)
    if array is None:
        return x.graph.add(Filled(value, wanted, x.shape.sizes), (), name).outputs[0]
    return constant_in(x.graph, array, name)


class FillLike(Primitive):
    traits = (ELEMENTWISE,)
    reads_values = False

    value: int
    dtype: np.dtype[Any]

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x if x.dtype == self.dtype else TensorType(self.dtype, x.shape),)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.full(x.shape, self.value, self.dtype)

    gradient = no_gradient

    def bounds(self, *xs: Interval) -> Interval:
        return Interval(self.value, self.value)


@in_graph_of_inputs
def fill(dims: ShapeLike, value: TensorLike, name: str | None = None) -> Tensor:
    """The scalar `value` in every place of the shape `dims`.

    Shapes: `dims`, a sequence of integers or an integer vector. Dtypes: any.

    Derivative: dvalue = sum(dy).

    Raises:
        ValueError: `value` is no scalar.

    >>> import pullback as pb
    >>> pb.Session().run(pb.fill([2], 9))
    array([9, 9], dtype=int32)
    """
    x = convert_to_tensor(value)
    if x.shape.rank not in (0, None):
        raise ValueError(f"fill: value must be a scalar, not {x}")
    lengths, vector = split_shape(dims)
    inputs = (x,) if vector is None else (x, vector)
    return Fill(lengths)(*inputs, name=name)


class Fill(Primitive):
    traits = (MOVES,)
    shape_inputs = length_inputs = (1,)

    shape: tuple[int | None, ...] | None

    def infer(self, x: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, shape_to_infer(self.shape, lengths)),)

    def kernel(self, xp: Any, x: Any, lengths: Any = None) -> Any:
        return xp.broadcast_to(x, shape_to_use(self.shape, lengths))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: Sum()(dy), None)[: len(op.inputs)]
