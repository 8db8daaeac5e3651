"""Tile, repeat and pad: tensors made longer; and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, int64
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.slices import IndexedSlices
from ...core.traits import ADDS, MOVES
from ...core.types import TensorType, shape_to_infer
from ...core.typing import AxisLike, TensorLike
from ..base.axes import as_axis
from ..creation.constant import constant_value, convert_to_tensor
from ..creation.fill import zeros_like
from ..elementwise.division import floormod
from ..indexing.slicing import Take
from ..reduction.sum import sum_kernel
from .broadcast import broadcast_to
from .reshape import reshape, shape_to_use, split_shape
from .size import shape


@in_graph_of_inputs
def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """`input` laid side by side, `multiples[i]` times along axis i.

    Shapes: `multiples` an integer vector with one element for each axis. Dtypes: any.

    Derivative: dx = sum of dy over the copies.

    Raises:
        ValueError: the number of multiples is not the rank, or one is negative.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tile([1, 2], [2]))
    array([1, 2, 1, 2], dtype=int32)
    """
    x = convert_to_tensor(input)
    counts, vector = split_shape(multiples)
    inputs = (x,) if vector is None else (x, vector)
    return Tile(counts)(*inputs, name=name)


class Tile(Primitive):
    traits = (MOVES,)
    shape_inputs = length_inputs = (1,)
    takes_slices = True

    multiples: tuple[int | None, ...] | None

    def infer(self, x: TensorType, multiples: TensorType | None = None) -> tuple[TensorType, ...]:
        told = shape_to_infer(self.multiples, multiples).lengths
        counts = (None,) * (x.shape.rank or 0) if told is None else told
        dims = (None,) * len(counts) if x.shape.lengths is None else x.shape.lengths
        if self.multiples is None and x.shape.lengths is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        if len(counts) != len(dims):
            raise ValueError(
                f"tile: multiples must be {len(dims)} counts, one for each axis of {x}, not {list(counts)}"
            )
        lengths = [None if n is None or m is None else n * m for n, m in zip(dims, counts, strict=True)]
        return (TensorType(x.dtype, TensorShape(lengths)),)

    def kernel(self, xp: Any, x: Any, multiples: Any = None) -> Any:
        return xp.tile(x, shape_to_use(self.multiples, multiples))

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        x, *counts = op.inputs
        if self.multiples is not None and 0 in self.multiples:
            return (lambda: zeros_like(x), None)[: len(op.inputs)]
        if isinstance(dy, IndexedSlices):
            return (lambda: self._rows_back(dy, op), None)[: len(op.inputs)]
        return (lambda: _copies_added(dy, x, self.multiples, counts), None)[: len(op.inputs)]

    def _rows_back(self, dy: IndexedSlices, op: Operation) -> Any:
        """Slices again, where the multiples are static: a row counts for the row it is a copy of."""
        (x, *counts) = op.inputs
        if self.multiples is None or None in self.multiples:
            return _copies_added(convert_to_tensor(dy), x, self.multiples, counts)
        lengths = shape(x, dy.indices.dtype)
        values = TileGrad((1, *self.multiples[1:]))(dy.values)
        return IndexedSlices(values, floormod(dy.indices, lengths[0]), shape(x), x.shape)


def _copies_added(dy: Tensor, x: Tensor, multiples: tuple[int | None, ...] | None, counts: Sequence[Tensor]) -> Tensor:
    lengths = (shape(x),) if counts else ()
    return TileGrad(multiples)(dy, *counts, *lengths)


class TileGrad(Primitive):
    """The sum of the copies that a tiling made. Its transpose is the tiling.

    Multiples that are an input may be 0: the lengths before the tiling then are one more input.
    """

    traits = (ADDS,)
    shape_inputs = (1, 2)

    multiples: tuple[int | None, ...] | None

    def infer(
        self, dy: TensorType, multiples: TensorType | None = None, lengths: TensorType | None = None
    ) -> tuple[TensorType, ...]:
        del multiples, lengths
        if dy.shape.lengths is None or self.multiples is None:
            return (TensorType(dy.dtype, TensorShape([None] * dy.shape.rank if dy.shape.rank is not None else None)),)
        pairs = zip(dy.shape.lengths, self.multiples, strict=True)
        return (TensorType(dy.dtype, TensorShape([n // m if n is not None and m else None for n, m in pairs])),)

    def kernel(self, xp: Any, dy: Any, multiples: Any = None, lengths: Any = None) -> Any:
        counts = shape_to_use(self.multiples, multiples)
        before = [n // m for n, m in zip(dy.shape, counts, strict=True)] if lengths is None else lengths.tolist()
        dims = [d for pair in zip(counts, before, strict=True) for d in pair]
        return sum_kernel(xp, dy.reshape(tuple(dims)), tuple(range(0, len(dims), 2)), False)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        counts = op.inputs[1:2]
        return (lambda: Tile(self.multiples)(dy, *counts), None, None)[: len(op.inputs)]


@in_graph_of_inputs
def repeat(input: TensorLike, repeats: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """`input` with each element along `axis` repeated: `repeats` times, or `repeats[i]` times element i.

    With `axis=None` the elements of all of `input` are taken as one vector.

    Shapes: any; `repeats` a scalar or a vector as long as the axis. Dtypes: any; `repeats` any integer.

    Derivative: dx = sum of dy over the copies.

    Raises:
        ValueError: the axis is out of range, or the vector does not fit it.

    >>> import pullback as pb
    >>> pb.Session().run([pb.repeat([1, 2], 2), pb.repeat([1, 2], [1, 3])])
    [array([1, 1, 2, 2], dtype=int32), array([1, 2, 2, 2], dtype=int32)]
    """
    x = convert_to_tensor(input)
    if axis is None:
        x, axis = (x if x.shape.rank == 1 else reshape(x, [-1])), 0
    place = as_axis(axis, x.shape.rank, "repeat", x.type)
    counts = convert_to_tensor(repeats)
    if counts.dtype not in INTEGER or counts.shape.rank not in (0, 1):
        raise ValueError(f"repeat: repeats must be an integer or a vector of integers, not {counts}")
    known = constant_value(counts)
    if known is not None and known.size == 1:
        return Repeat(int(known.reshape(())), place)(x, name=name)
    length = None if x.shape.rank is None else x.shape.size(place)
    if counts.shape.rank == 1 and length is not None and counts.shape.size(0) not in (None, length):
        raise ValueError(f"repeat: repeats {counts} must have one element for each of axis {place} of {x}")
    if counts.shape.rank == 0:
        counts = broadcast_to(counts, [shape(x)[place]])
    positions = None if known is None else RepeatIndices().kernel(np, known)
    index = RepeatIndices()(counts) if positions is None else convert_to_tensor(positions)
    result = Take(place)(x, index, name=name)
    return result


_COUNTABLE = 2.0**62
"""NumPy's repeat ends the process where 64 bits do not count the elements."""


def _check_size(elements: float) -> None:
    if elements >= _COUNTABLE:
        raise ValueError("repeat: the result would have more elements than any memory holds")


class Repeat(Primitive):
    traits = (MOVES,)

    repeats: int
    axis: int

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if self.repeats < 0:
            raise ValueError(f"repeat: repeats must not be negative, but it is {self.repeats}")
        if x.shape.lengths is None:
            return (x,)
        dims = list(x.shape.lengths)
        n = dims[self.axis]
        dims[self.axis] = None if n is None else n * self.repeats
        return (TensorType(x.dtype, TensorShape(dims)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        if xp is np:
            _check_size(x.shape[self.axis] * self.repeats)
        return xp.repeat(x, self.repeats, axis=self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,) = op.inputs
        return (lambda: RepeatGrad(self.repeats, self.axis)(dy) if self.repeats else zeros_like(x),)


_FEW_COPIES = 8


class RepeatGrad(Primitive):
    """The sum of the copies, one or more, that a repetition made. Its transpose is the repetition."""

    traits = (ADDS,)

    repeats: int
    axis: int

    def infer(self, dy: TensorType) -> tuple[TensorType, ...]:
        if dy.shape.lengths is None:
            return (dy,)
        dims = list(dy.shape.lengths)
        n = dims[self.axis]
        dims[self.axis] = None if n is None else n // self.repeats
        return (TensorType(dy.dtype, TensorShape(dims)),)

    def kernel(self, xp: Any, dy: Any) -> Any:
        axis = self.axis % dy.ndim
        dims = (*dy.shape[:axis], dy.shape[axis] // self.repeats, self.repeats, *dy.shape[axis + 1 :])
        copies = dy.reshape(dims)
        if self.repeats > _FEW_COPIES or dy.dtype.itemsize <= 2:
            return sum_kernel(xp, copies, (axis + 1,), False)
        # NumPy is slow at sums over a short last axis.
        at = (slice(None),) * (axis + 1)
        total = copies[(*at, 0)]
        for i in range(1, self.repeats):
            total = xp.add(total, copies[(*at, i)])
        return total

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: Repeat(self.repeats, self.axis)(dy),)


class RepeatIndices(Primitive):
    """0 so many times, then 1 so many times, and so on."""

    shape_inputs = (0,)

    def infer(self, counts: TensorType) -> tuple[TensorType, ...]:
        del counts
        return (TensorType(int64, TensorShape([None])),)

    def kernel(self, xp: Any, counts: Any) -> Any:
        del xp
        _check_size(np.sum(counts, dtype=np.float64))
        return np.repeat(np.arange(counts.shape[0]), counts).astype(np.int64, copy=False)

    gradient = no_gradient
