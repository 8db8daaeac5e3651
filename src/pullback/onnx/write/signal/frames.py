"""ONNX export of frames of signals: windows along the last axis, their sums, and lengths fitted to others'.

Where all lengths are known their kernels are traced; else places are computed in the run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.dtypes import int64
from ....core.errors import NotRecordedError
from ....primitives.signal.fourier import FitLengths
from ....primitives.signal.frames import Frame, FrameLike, OverlapAndAdd
from ...pairs import Pair, trace_kernel
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..shapes import rank_of
from .transforms import fitted


@writer(Frame, pairs=True)
def frame(w: Writer, p: Frame, x: Any) -> Any:
    if _are_known(x):
        return trace_kernel(w, [x])
    if isinstance(x, Pair):
        return Pair(_frames(w, p, x.re, p.pad_value), _frames(w, p, x.im, 0))
    return _frames(w, p, x, p.pad_value)


@writer(FrameLike, pairs=True)
def frame_like(w: Writer, p: FrameLike, x: Any, like: Any) -> Any:
    if _are_known(x, like):
        return trace_kernel(w, [x, like])
    counted = like.re if isinstance(like, Pair) else like
    rank = rank_of(counted)
    count, length = [w.reshape(w.lengths(counted, [axis]), []) for axis in (rank - 2, rank - 1)]
    return _by_parts(x, lambda part: w.gather(part, _places(w, count, p.step, _numbers(w, length)), -1))


@writer(OverlapAndAdd, pairs=True)
def overlap_and_add(w: Writer, p: OverlapAndAdd, x: Any) -> Any:
    """Pieces of `step` elements of each frame, each as far behind as it is from the start, are added up."""
    if _are_known(x):
        return trace_kernel(w, [x])
    length = x.type.shape.sizes
    if length is None or length[-1] is None:
        raise NotRecordedError("the length of frames must be known")
    return _by_parts(x, lambda part: _added(w, p, part, length[-1]))


@writer(FitLengths, pairs=True)
def fit_lengths(w: Writer, p: FitLengths, x: Any, like: Any = None) -> Any:
    given = [x] if like is None else [x, like]
    if _are_known(*given):
        return trace_kernel(w, given)
    shape = like.re if isinstance(like, Pair) else like

    def fit(part: Value) -> Value:
        for i, axis in enumerate(p.axes):
            place = axis % rank_of(part)
            n = w.lengths(shape, [place]) if p.lengths is None else w.vector([p.lengths[i]])
            part = fitted(w, part, n, axis)
        return part

    return _by_parts(x, fit)


def _are_known(*values: Any) -> bool:
    """Whether all lengths of values are known."""
    return all(x.type.shape.is_fully_defined() for x in values)


def _by_parts(x: Any, change: Any) -> Any:
    return Pair(change(x.re), change(x.im)) if isinstance(x, Pair) else change(x)


def _numbers(w: Writer, count: Value) -> Value:
    """The numbers from 0 up to a count."""
    return w.node("Range", w.constant(0, int64), count, w.constant(1, int64))


def _places(w: Writer, count: Value, step: int, inside: Value) -> Value:
    """Where the elements of each of `count` frames stand, which start `step` apart."""
    starts = w.node("Mul", _numbers(w, count), w.constant(step, int64))
    return w.node("Add", w.unsqueeze(starts, [1]), inside)


def _frames(w: Writer, p: Frame, x: Value, pad_value: float) -> Value:
    rank = rank_of(x)
    n, step = w.reshape(w.lengths(x, [rank - 1]), []), w.constant(p.step, int64)
    if p.pad_end:
        # No frame starts behind the end.
        count = w.node("Div", w.node("Add", n, w.constant(p.step - 1, int64)), step)
        x = w.node("Pad", x, w.vector([0] * (2 * rank - 1) + [p.length]), w.constant(pad_value, x.type.dtype))
    else:
        room = w.node("Add", w.node("Sub", n, w.constant(p.length, int64)), step)
        count = w.node("Div", w.node("Max", room, w.constant(0, int64)), step)
    return w.gather(x, _places(w, count, p.step, w.vector(np.arange(p.length))), -1)


def _added(w: Writer, p: OverlapAndAdd, x: Value, length: int) -> Value:
    rank, pieces = rank_of(x), -(-length // p.step)
    whole = w.node("Pad", x, w.vector([0] * (2 * rank - 1) + [pieces * p.step - length]))
    total: Value | None = None
    for i in range(pieces):
        piece = w.slice(whole, w.vector([i * p.step]), w.vector([(i + 1) * p.step]), [rank - 1])
        before, after = [0] * rank, [0] * rank
        before[-2], after[-2] = i, pieces - 1 - i
        moved = w.node("Pad", piece, w.vector([*before, *after]))
        total = moved if total is None else w.node("Add", total, moved)
    if total is None:
        raise NotRecordedError("frames of no elements")
    lead = [w.lengths(total, [axis]) for axis in range(rank - 2)]
    flat = w.reshape_to(total, w.concat([*lead, w.vector([-1])], 0))
    count = w.lengths(x, [rank - 2])
    size = w.node("Add", w.node("Mul", count, w.vector([p.step])), w.vector([length - p.step]))
    kept = w.node("Mul", size, w.node("Min", count, w.vector([1])))
    return w.slice(flat, w.vector([0]), kept, [rank - 2])
