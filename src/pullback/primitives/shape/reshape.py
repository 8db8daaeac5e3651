"""Reshape: the same elements in another shape, given by lengths or by another tensor.

`reshape_like` adds nothing where static shapes show that nothing is to be done, and unknown lengths need no shape
arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, int64
from ...core.operation import AbstractTensorLike, Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape, as_shape, same_shape
from ...core.slices import IndexedSlices
from ...core.traits import MOVES, VIEWS, reads_shape
from ...core.types import TensorType, lengths_to_infer
from ...core.typing import ShapeLike, TensorLike
from ..casting.cast import cast
from ..creation.constant import constant_value, convert_to_tensor, shape_value
from .size import shape


@in_graph_of_inputs
def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The elements of `tensor`, in the same order, in another shape; one length may be -1 and is worked out.

    Where there are no elements and another length is 0, the -1 is worked out of the lengths that are not: a batch of no
    images, [0, 4, 4], is flattened to [0, 16] by [0, -1].

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
    traits = (MOVES, VIEWS)
    shape_inputs = length_inputs = (1,)
    takes_slices = True

    shape: tuple[int | None, ...] | None = None
    """The lengths; None where an input gives them (then for that length, or for all)."""

    def infer(self, x: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        told = wanted_lengths(self.shape, lengths)
        if told is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        _check_open(told)
        dims, size = [None if d == -1 else d for d in told], x.shape.elements
        rest = math.prod([d for d in dims if d is not None])
        if size == rest == 0 and x.shape.is_fully_defined():
            dims = list(filled(told, x.shape.known))
        elif -1 in told and dims.count(None) == 1 and size is not None:
            if isinstance(size, int) and isinstance(rest, int) and (size % rest if rest else size):
                raise ValueError(f"reshape: {x} has {size} elements, which do not fill {list(told)}")
            dims = [(size // rest if rest != 0 else None) if d is None else d for d in dims]
        elif None not in dims and isinstance(size, int) and isinstance(rest, int) and rest != size:
            raise ValueError(f"reshape: {x} has {size} elements, but {dims} needs {rest}")
        return (TensorType(x.dtype, TensorShape(dims)),)

    def kernel(self, xp: Any, x: Any, lengths: Any = None) -> Any:
        del xp
        dims = numbers_to_use(self.shape, lengths)
        _check_open(dims)
        return x.reshape(filled(dims, x.shape))

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        return (partial(_reshape_back, dy, op.inputs[0]), None)[: len(op.inputs)]


def filled(lengths: Sequence[Any], shape: Sequence[Any]) -> tuple[Any, ...]:
    """`lengths` with -1 worked out where both hold no elements: the zeros left out, there are as many as before."""
    if -1 not in lengths or 0 not in lengths or 0 not in shape:
        return tuple(lengths)
    count = math.prod([n for n in shape if n != 0]) // math.prod([n for n in lengths if n not in (0, -1)])
    return tuple([count if n == -1 else n for n in lengths])


def _check_open(lengths: Sequence[Any]) -> None:
    if any(isinstance(n, int) and n < -1 for n in lengths) or list(lengths).count(-1) > 1:
        raise ValueError(f"reshape: one length may be -1, the others not negative, but the shape is {list(lengths)}")


def _reshape_back(dy: Any, x: Tensor) -> Tensor:
    if isinstance(dy, IndexedSlices):
        from ..base.densify import densify

        dy = densify(dy, silent=True)
    return reshape_like(dy, x)


def reshape_like(x: Tensor, like: Tensor) -> Tensor:
    """The elements of `x` in the shape of `like`."""
    if same_shape(x.shape, like.shape):
        return x
    return Reshape(like.shape.known)(x) if like.shape.is_fully_defined() else ReshapeLike()(x, like)


class ReshapeLike(Primitive):
    traits = (MOVES, VIEWS, reads_shape(1))

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, like.shape),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        del xp
        return x.reshape(like.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return partial(reshape_like, dy, op.inputs[0]), None


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
    """The lengths that a kernel is to use: the static ones, else those of the vector.

    Raises:
        ValueError: a length of the vector is negative.
    """
    return dims if lengths is None else as_shape(numbers_to_use(dims, lengths)).known  # type: ignore[return-value]


def numbers_to_use(static: tuple[int | None, ...] | None, vector: Any) -> tuple[int, ...]:
    """The numbers that a kernel is to use, negative ones too: the static ones, else those of the vector."""
    return static if vector is None else tuple([int(n) for n in np.asarray(vector)])  # type: ignore[return-value]


def wanted_lengths(dims: tuple[int | None, ...] | None, lengths: TensorType | None) -> Sequence[Any] | None:
    """The lengths of a shape that a user gave, as far as they are known; -1 may be among them."""
    if dims is None and (lengths is None or lengths.dtype not in INTEGER or lengths.shape.rank not in (1, None)):
        raise ValueError(f"a shape is an integer vector, not {lengths}")
    return lengths_to_infer(dims, lengths)
