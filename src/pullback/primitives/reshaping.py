"""Reshape, broadcast and sum: each other's derivatives, and what every other rule leans on.

Each has a form that takes the wanted shape from another tensor (`reshape_like`, `broadcast_like`, `sum_like`): nothing
is added where static shapes show that nothing is to be done, and unknown lengths need no shape arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.dtypes import INTEGER, as_dtype, bfloat16, float16, float32, int32, int64
from ..core.operation import AbstractTensorLike, Operation, Tensor
from ..core.primitive import Primitive, no_gradient
from ..core.shape import TensorShape, broadcast_axes, broadcast_static_shape, same_shape, summed_axes
from ..core.slices import IndexedSlices
from ..core.traits import ADDS, IGNORES_ZEROS, MOVES, SHAPES, Links, inserted_axes, reduced_axes
from ..core.types import TensorType, VectorType, shape_to_infer
from ..core.typing import DTypeLike, ShapeLike, TensorLike
from .casting import cast
from .constant import constant_in, constant_value, convert_to_tensor, shape_value


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The elements of `tensor`, in the same order, in another shape; one length may be -1 and is worked out.

    Shapes: `shape`, a sequence of integers or an integer vector, of as many elements as `tensor`. Dtypes: any.

    Derivative: dx = reshape(dy, shape(x)).

    Raises:
        ValueError: the number of elements differs.

    >>> import pullback as pb
    >>> pb.reshape(pb.zeros([2, 6]), [3, -1]).shape
    TensorShape([3, 4])
    """
    x = convert_to_tensor(tensor)
    dims, lengths = split_shape(shape)
    inputs = (x,) if lengths is None else (x, lengths)
    return Reshape(dims)(*inputs, name=name)


class Reshape(Primitive):
    type = "Reshape"
    traits = (MOVES,)
    shape_inputs = length_inputs = (1,)
    takes_slices = True

    shape: tuple[int | None, ...] | None = None
    """The lengths; None where an input gives them (then for that length, or for all)."""

    def infer(self, x: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        wanted = _shape_to_infer(self.shape, lengths)
        if wanted.lengths is None:
            return (TensorType(x.dtype, wanted),)
        dims, size = list(wanted.lengths), x.shape.elements
        rest = math.prod([d for d in dims if d is not None])
        told = lengths.elements if isinstance(lengths, VectorType) else self.shape or ()
        if -1 in told and dims.count(None) == 1 and size is not None:
            if isinstance(size, int) and isinstance(rest, int) and (rest == 0 or size % rest):
                raise ValueError(f"reshape: {x} has {size} elements, which do not fill {list(told)}")
            dims = [(size // rest if rest != 0 else None) if d is None else d for d in dims]
        elif None not in dims and isinstance(size, int) and isinstance(rest, int) and rest != size:
            raise ValueError(f"reshape: {x} has {size} elements, but {dims} needs {rest}")
        return (TensorType(x.dtype, TensorShape(dims)),)

    def kernel(self, xp: Any, x: Any, lengths: Any = None) -> Any:
        del xp
        return x.reshape(shape_to_use(self.shape, lengths))

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        return (partial(_reshape_back, dy, op.inputs[0]), None)[: len(op.inputs)]


def _reshape_back(dy: Any, x: Tensor) -> Tensor:
    if isinstance(dy, IndexedSlices):
        from .densify import densify

        dy = densify(dy, silent=True)
    return reshape_like(dy, x)


def reshape_like(x: Tensor, like: Tensor) -> Tensor:
    """The elements of `x` in the shape of `like`."""
    if same_shape(x.shape, like.shape):
        return x
    return Reshape(like.shape.known)(x) if like.shape.is_fully_defined() else ReshapeLike()(x, like)


class ReshapeLike(Primitive):
    type = "ReshapeLike"
    traits = (MOVES,)

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, like.shape),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        del xp
        return x.reshape(like.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return partial(reshape_like, dy, op.inputs[0]), None


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """`input` repeated to `shape` by NumPy's rule.

    Shapes: `shape`, a sequence of integers or an integer vector, to which the shape of `input` broadcasts. Dtypes: any.

    Derivative: dx = sum of dy over the axes along which x was repeated.

    Raises:
        ValueError: the shape of `input` does not broadcast to `shape`.

    >>> import pullback as pb
    >>> pb.broadcast_to([1.0, 2.0], [3, 2])
    <Tensor 'BroadcastTo:0' float32[3,2]>
    """
    x = convert_to_tensor(input)
    dims, lengths = split_shape(shape)
    inputs = (x,) if lengths is None else (x, lengths)
    return BroadcastTo(dims)(*inputs, name=name)


class BroadcastTo(Primitive):
    type = "BroadcastTo"
    traits = (MOVES,)
    shape_inputs = length_inputs = (1,)

    shape: tuple[int | None, ...] | None = None

    def infer(self, x: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        shape = _shape_to_infer(self.shape, lengths)
        return (TensorType(x.dtype, _broadcast_result(x, shape)),)

    def kernel(self, xp: Any, x: Any, lengths: Any = None) -> Any:
        return xp.broadcast_to(x, shape_to_use(self.shape, lengths))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(sum_like, dy, op.inputs[0]), None)[: len(op.inputs)]


def broadcast_like(x: Tensor, like: Tensor) -> Tensor:
    """`x` repeated to the shape of `like`."""
    if same_shape(x.shape, like.shape):
        return x
    return BroadcastTo(like.shape.known)(x) if like.shape.is_fully_defined() else BroadcastLike()(x, like)


class BroadcastLike(Primitive):
    type = "BroadcastLike"
    traits = (MOVES,)

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, _broadcast_result(x, like.shape)),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        return xp.broadcast_to(x, like.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return partial(sum_like, dy, op.inputs[0]), None


class Sum(Primitive):
    type = "Sum"
    traits = (ADDS, IGNORES_ZEROS)

    axis: tuple[int, ...] | None = None
    """Axes counted from the front (from either end where the rank is unknown), or None for all."""
    keepdims: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, reduced_shape(x.shape, self.axis, self.keepdims)),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return reduced_axes(x.shape.rank, self.axis, self.keepdims)

    def kernel(self, xp: Any, x: Any) -> Any:
        return sum_kernel(xp, x, self.axis, self.keepdims)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(expand_reduced, dy, op.inputs[0], self.axis, self.keepdims),)


def sum_like(x: Tensor, like: Tensor) -> Tensor:
    """`x` summed over the axes along which an array shaped as `like` is repeated when broadcast to the shape of `x`."""
    axes = summed_axes(like.shape, x.shape)
    if axes is None:
        return SumLike()(x, like)
    if not axes:
        return x
    lead = (x.shape.rank or 0) - (like.shape.rank or 0)
    if not lead:
        return Sum(axes, keepdims=True)(x)
    return reshape_like(Sum(axes)(x), like)


class SumLike(Primitive):
    type = "SumLike"
    traits = (ADDS, IGNORES_ZEROS)

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, like.shape),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        axes = broadcast_axes(like.shape, x.shape)
        return sum_kernel(xp, x, axes, keepdims=False).reshape(like.shape) if axes else x

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return partial(broadcast_like, dy, op.inputs[0]), None


def expand_reduced(dy: Tensor, x: Tensor, axis: tuple[int, ...] | None, keepdims: bool) -> Tensor:
    """`dy`, the cotangent of a reduction of `x`, repeated along the reduced axes to the shape of `x`."""
    return broadcast_like(keep_reduced(dy, x, axis, keepdims), x)


def keep_reduced(y: Tensor, x: Tensor, axis: tuple[int, ...] | None, keepdims: bool) -> Tensor:
    """`y`, a reduction of `x`, with length one where `x` was reduced, so that it broadcasts against `x`."""
    if keepdims or axis is None or axis == tuple(range(len(axis))):
        return y
    del x
    return ExpandDims(axis)(y)


class ExpandDims(Primitive):
    type = "ExpandDims"
    traits = (MOVES,)

    axis: tuple[int, ...]
    """Where the axes of length one stand in the result, in ascending order; from its end where they are negative."""

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        return (TensorType(x.dtype, TensorShape(_with_ones(dims, self.axis))),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return inserted_axes(x.shape.rank, *self.axis)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return x.reshape(_with_ones(x.shape, self.axis))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(reshape_like, dy, op.inputs[0]),)


def _with_ones(dims: Sequence[Any], axes: tuple[int, ...]) -> tuple[Any, ...]:
    """`dims` with ones put in, so that they stand at `axes` of the result."""
    rank = len(dims) + len(axes)
    ones = {axis % rank for axis in axes}
    rest = iter(dims)
    return tuple([1 if i in ones else next(rest) for i in range(rank)])


def shape(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The shape of `input` as a vector of `out_type` (None: int32); a constant where it is known.

    >>> import pullback as pb
    >>> pb.shape(pb.zeros([2, 3]))
    <Tensor 'Shape:0' int32[2]>
    """
    x = convert_to_tensor(input)
    wanted: Any = int32 if out_type is None else as_dtype(out_type)
    if x.shape.is_fully_defined():
        return constant_in(x.graph, np.array(x.shape.known, wanted), name or "Shape")
    return Shape(wanted)(x, name=name)


class Shape(Primitive):
    type = "Shape"
    traits = (SHAPES,)
    reads_values = False

    out_type: Any = int32

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(self.out_type, TensorShape([x.shape.rank])),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return np.array(x.shape, self.out_type)

    gradient = no_gradient


def sum_kernel(xp: Any, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The sum in the dtype of `x`; 16-bit floats are added up in float32."""
    del xp
    if x.dtype in (float16, bfloat16):
        return x.sum(axis=axis, keepdims=keepdims, dtype=float32).astype(x.dtype)
    return x.sum(axis=axis, keepdims=keepdims, dtype=x.dtype)


def reduced_shape(shape: TensorShape, axis: tuple[int, ...] | None, keepdims: bool) -> TensorShape:
    """The shape after a reduction over `axis` (None for all)."""
    if axis is None and not keepdims:
        return TensorShape.SCALAR
    if shape.lengths is None:
        return shape
    rank = len(shape.lengths)
    axis = tuple(range(rank)) if axis is None else tuple([a % rank for a in axis])
    if keepdims:
        return TensorShape([1 if i in axis else n for i, n in enumerate(shape.lengths)])
    return TensorShape([n for i, n in enumerate(shape.lengths) if i not in axis])


def split_shape(shape: Any) -> tuple[tuple[int | None, ...] | None, Tensor | None]:
    """A shape given by a user, as static lengths where they can be told, else as partly known lengths and a vector.

    Static lengths hold None where only the vector says; the vector is None where the static lengths say all.

    Raises:
        TypeError: a length is neither an integer nor an integer tensor.
    """
    if isinstance(shape, TensorShape):
        return shape.known, None
    if isinstance(shape, Tensor | AbstractTensorLike):
        vector = convert_to_tensor(shape)
        if vector.shape.rank != 0:
            return _split_vector(vector)
        shape = [vector]
    dims = [shape] if isinstance(shape, int | np.integer) else list(shape)
    dims = [_as_length(d, shape) for d in dims]
    known = tuple([d for d in dims if isinstance(d, int)])
    if len(known) == len(dims):
        return known, None
    dtypes = {d.dtype for d in dims if isinstance(d, Tensor)}
    wide = dtypes.pop() if len(dtypes) == 1 else int64
    return _split_vector(convert_to_tensor([d if isinstance(d, int) else cast(d, wide) for d in dims]))


def split_shape_of(x: Tensor) -> tuple[tuple[int | None, ...] | None, Tensor | None]:
    """The shape of `x` as `split_shape` gives it; no operation is added where it is known."""
    return (x.shape.known, None) if x.shape.is_fully_defined() else split_shape(shape(x))


def _split_vector(vector: Tensor) -> tuple[tuple[int | None, ...] | None, Tensor | None]:
    if vector.dtype not in INTEGER:
        raise TypeError(f"a shape is a vector of integers, not {vector}")
    dims = shape_value(vector)
    return dims, vector if dims is None or None in dims else None


def _as_length(length: Any, shape: Any) -> int | Tensor:
    """A length as an integer where it can be told, else as an integer scalar."""
    if isinstance(length, Tensor | AbstractTensorLike):
        tensor = convert_to_tensor(length)
        if tensor.dtype not in INTEGER or tensor.shape.rank not in (0, None):
            raise TypeError(f"a length is an integer, not {tensor}")
        value = constant_value(tensor)
        return tensor if value is None else int(value)
    try:
        return int(length.__index__())
    except (AttributeError, TypeError):
        raise TypeError(
            f"a shape is a sequence of integers, but {shape!r} holds {length!r}; "
            "take a length that is not known yet from pb.shape(x)"
        ) from None


def shape_to_use(dims: tuple[int | None, ...] | None, lengths: Any) -> tuple[int, ...]:
    """The lengths that a kernel is to use: the static ones, else those of the vector."""
    if lengths is None:
        return dims  # type: ignore[return-value]
    return tuple([int(n) for n in np.asarray(lengths)])


def _shape_to_infer(dims: tuple[int | None, ...] | None, lengths: TensorType | None) -> TensorShape:
    if dims is None and (lengths is None or lengths.dtype not in INTEGER or lengths.shape.rank not in (1, None)):
        raise ValueError(f"a shape is an integer vector, not {lengths}")
    return shape_to_infer(dims, lengths)


def _broadcast_result(x: TensorType, shape: TensorShape) -> TensorShape:
    try:
        result = broadcast_static_shape(x.shape, shape)
    except ValueError:
        result = None
    if result is None or (result.dims is not None and shape.is_fully_defined() and result != shape):
        raise ValueError(f"broadcast_to: {x} does not broadcast to {shape}")
    return shape.merge_with(result) if result.rank == shape.rank else shape
