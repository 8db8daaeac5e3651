"""Framing and overlap-add: frames of signals, and signals from overlapping frames, each other's adjoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.intervals import Interval, hull
from ...core.lengths import greatest
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import ADDS, MOVES, ZEROS, links_of_matrices, links_of_vectors, reads_shape
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.axes import as_axis, static_integers
from ..creation.constant import convert_to_tensor
from ..shape.transpose import transpose
from .fourier import fit_like


@in_graph_of_inputs
def frame(
    signal: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    pad_end: bool = False,
    pad_value: float = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Windows of `frame_length` elements of `signal` along `axis`, one every `frame_step` elements.

    What does not fill a window at the end is left out; with `pad_end` it is filled with `pad_value`, and there are
    windows as long as any element is left.

    Shapes: [..., n, ...] gives [..., frames, frame_length, ...]. Dtypes: any.

    Derivative: dx = overlap_and_add(dy).

    Raises:
        ValueError: lengths below 1, or not known while the graph is built; an axis out of range.

    >>> import pullback as pb
    >>> pb.Session().run(pb.signal.frame([1, 2, 3, 4, 5], 3, 2))
    array([[1, 2, 3],
           [3, 4, 5]], dtype=int32)
    """
    x = convert_to_tensor(signal)
    length, step = _positive("frame: frame_length", frame_length), _positive("frame: frame_step", frame_step)
    frames = Frame(length, step, bool(pad_end), pad_value)
    if axis == -1:
        return frames(x, name=name or "frame")
    if x.shape.rank is None:
        raise ValueError(f"frame: the rank of {x.type} must be known, or axis -1")
    at, rank = as_axis(axis, x.shape.rank, "frame", x.type), x.shape.rank
    others = [i for i in range(rank) if i != at]
    with x.graph.within(name or "frame"):
        last = frames(transpose(x, [*others, at]))
        return transpose(last, [*range(at), rank - 1, rank, *range(at, rank - 1)])


def _positive(what: str, value: Any) -> int:
    (n, *more) = static_integers(value, what)
    if more or n < 1:
        raise ValueError(f"{what} must be one positive integer, not {value!r}")
    return n


class Frame(Primitive):
    """Windows along the last axis."""

    traits = (MOVES,)
    links = links_of_vectors

    length: int
    step: int
    pad_end: bool = False
    pad_value: float = 0

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        if not dims:
            raise ValueError(f"frame: at least one axis is needed, not {x}")
        count = None if dims[-1] is None else self._count(dims[-1])
        return (TensorType(x.dtype, TensorShape([*dims[:-1], count, self.length])),)

    def _count(self, n: Any) -> Any:
        return -(-n // self.step) if self.pad_end else greatest(0, 1 + (n - self.length) // self.step)

    def kernel(self, xp: Any, x: Any) -> Any:
        n, count = x.shape[-1], self._count(x.shape[-1])
        missing = max((count - 1) * self.step + self.length - n, 0) if count else 0
        if missing:
            x = xp.pad(x, [*[(0, 0)] * (x.ndim - 1), (0, missing)], constant_values=self.pad_value)
        return x[..., np.arange(count)[:, None] * self.step + np.arange(self.length)]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: fit_like(OverlapAndAdd(self.step)(dy), op.inputs[0], (-1,)),)

    def bounds(self, *xs: Interval) -> Interval:
        return hull([xs[0], Interval(self.pad_value, self.pad_value)])


@in_graph_of_inputs
def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """The sum of frames, each put `frame_step` elements after the one before.

    Shapes: [..., frames, frame_length] gives [..., (frames - 1) * frame_step + frame_length]. Dtypes: any number.

    Derivative: dx = frame(dy).

    Raises:
        ValueError: less than two axes; a step below 1, or not known while the graph is built.

    >>> import pullback as pb
    >>> pb.Session().run(pb.signal.overlap_and_add([[1, 2, 3], [10, 20, 30]], 2))
    array([ 1,  2, 13, 20, 30], dtype=int32)
    """
    step = _positive("overlap_and_add: frame_step", frame_step)
    return OverlapAndAdd(step)(convert_to_tensor(signal), name=name or "overlap_and_add")


class OverlapAndAdd(Primitive):
    traits = (ADDS, ZEROS)
    links = links_of_matrices

    step: int

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        if len(dims) < 2:
            raise ValueError(f"overlap_and_add: frames of elements are needed, at least two axes, not {x}")
        count, length = dims[-2:]
        n = self._size(count, length) if isinstance(count, int) and isinstance(length, int) else None
        return (TensorType(x.dtype, TensorShape([*dims[:-2], n])),)

    def _size(self, count: int, length: int) -> int:
        return (count - 1) * self.step + length if count else 0

    def kernel(self, xp: Any, x: Any) -> Any:
        count, length = x.shape[-2:]
        parts = -(-length // self.step)
        lead = [(0, 0)] * (x.ndim - 2)
        padded = xp.pad(x, [*lead, (0, 0), (0, parts * self.step - length)])
        rows = count + max(parts - 1, 0)
        total = xp.zeros((*x.shape[:-2], rows, self.step), x.dtype)
        for i in range(parts):
            part = padded[..., i * self.step : (i + 1) * self.step]
            total = total + xp.pad(part, [*lead, (i, parts - 1 - i), (0, 0)])
        return total.reshape((*x.shape[:-2], rows * self.step))[..., : self._size(count, length)]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x = op.inputs[0]
        length = None if x.shape.sizes is None else x.shape.sizes[-1]
        if length:
            return (lambda: Frame(length, self.step)(dy),)
        return (lambda: FrameLike(self.step)(dy, x),)


class FrameLike(Primitive):
    """Windows along the last axis, as many and as long as those of a second input."""

    traits = (MOVES, reads_shape(1))

    step: int

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        if x.shape.lengths is None or like.shape.lengths is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        return (TensorType(x.dtype, TensorShape([*x.shape.lengths[:-1], *like.shape.lengths[-2:]])),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        return Frame(like.shape[-1], self.step).kernel(xp, x)[..., : like.shape[-2], :]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return lambda: OverlapAndAdd(self.step)(dy), None
