"""ONNX export of tile, repeat and pad, and of their derivatives: what was repeated is added up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import int64
from ...core.operation import Operation
from ...primitives.shape.pad import MirrorPad, MirrorPadGrad, Pad, PadV2
from ...primitives.shape.tile import Repeat, RepeatGrad, RepeatIndices, Tile, TileGrad
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .indexing import scatter, zeros
from .shapes import rank_of, shape_vector


@writer(Tile)
def tile(w: Writer, op: Operation, x: Value, multiples: Value | None = None) -> Value:
    p: Any = op.primitive
    counts = shape_vector(w, p.multiples, multiples)
    return w.node("Tile", x, counts, shape=op.outputs[0].shape)


@writer(TileGrad)
def tile_grad(
    w: Writer, op: Operation, dy: Value, multiples: Value | None = None, lengths: Value | None = None
) -> Value:
    """The copies side by side, added up."""
    p: Any = op.primitive
    rank = rank_of(dy)
    counts = shape_vector(w, p.multiples, multiples)
    known = w.static(counts)
    if known is not None and (known == 1).all():
        return dy
    before = w.node("Div", w.shape(dy), counts) if lengths is None else w.cast(lengths, int64)
    apart = w.reshape(w.concat([w.unsqueeze(counts, [1]), w.unsqueeze(before, [1])], 1), [-1])
    copies = w.node("Reshape", dy, apart, shape=[None] * (2 * rank), allowzero=1)
    if w.static(apart) is not None:
        copies = Value(copies.name, w.model.types[copies.name])
    return w.sum(copies, list(range(0, 2 * rank, 2)), False)


@writer(Repeat)
def repeat(w: Writer, op: Operation, x: Value) -> Value:
    p: Any = op.primitive
    n = x.type.shape.as_list()[p.axis] if x.type.shape.rank is not None else None
    if n is not None:
        return w.gather(x, w.vector(np.repeat(np.arange(n), p.repeats)), p.axis)
    count = w.reshape(w.lengths(x, [p.axis]), [])
    every = w.node("Mul", count, w.constant(p.repeats, int64))
    steps = w.node("Range", w.constant(0, int64), every, w.constant(1, int64), shape=[None])
    return w.gather(x, w.node("Div", steps, w.constant(max(p.repeats, 1), int64)), p.axis)


@writer(RepeatGrad)
def repeat_grad(w: Writer, op: Operation, dy: Value) -> Value:
    p: Any = op.primitive
    rank = rank_of(dy)
    axis = p.axis % rank
    dims = dy.type.shape.as_list()
    if p.repeats == 0:
        return w.sum(w.unsqueeze(dy, [axis]), [axis], False)
    if dims.count(None) <= 1 and 0 not in dims:
        lengths = [*dims[:axis], None if dims[axis] is None else dims[axis] // p.repeats, p.repeats, *dims[axis + 1 :]]
        return w.sum(w.reshape(dy, [-1 if n is None else n for n in lengths], lengths), [axis + 1], False)
    parts = [w.lengths(dy, list(range(axis)))] if axis else []
    parts += [w.node("Div", w.lengths(dy, [axis]), w.vector([p.repeats])), w.vector([p.repeats])]
    parts += [w.lengths(dy, list(range(axis + 1, rank)))] if axis + 1 < rank else []
    copies = w.node("Reshape", dy, w.concat(parts, 0), shape=[None] * (rank + 1), allowzero=1)
    return w.sum(copies, [axis + 1], False)


@writer(RepeatIndices)
def repeat_indices(w: Writer, op: Operation, counts: Value) -> Value:
    """How many of the ends are not beyond each place."""
    ends = w.node("CumSum", w.cast(counts, int64), w.constant(0, int64))
    total = w.sum(w.cast(counts, int64), None, False)
    places = w.node("Range", w.constant(0, int64), total, w.constant(1, int64), shape=[None])
    passed = w.node("LessOrEqual", ends, w.unsqueeze(places, [1]))
    return w.sum(w.cast(passed, int64), [1], False)


def _widths(w: Writer, p: Any, paddings: Value | None) -> Value:
    """Lengths before all axes, then those after."""
    if paddings is None:
        return w.vector([*[a for a, _ in p.widths], *[b for _, b in p.widths]])
    return w.reshape(w.transpose(w.cast(paddings, int64), [1, 0]), [-1])


def _pad(w: Writer, op: Operation, x: Value, widths: Value, *more: Value, **attributes: Any) -> Value:
    static = w.static(widths)
    if static is not None and not static.any():
        return x
    if x.type.shape.rank == 0:
        return x
    return w.node("Pad", x, widths, *more, shape=op.outputs[0].shape, **attributes)


@writer(Pad)
def pad(w: Writer, op: Operation, x: Value, paddings: Value | None = None) -> Value:
    p: Any = op.primitive
    number = [w.scalar(p.value, x)] if p.value else []
    return _pad(w, op, x, _widths(w, p, paddings), *number)


@writer(PadV2)
def pad_with(w: Writer, op: Operation, x: Value, value: Value, paddings: Value | None = None) -> Value:
    return _pad(w, op, x, _widths(w, op.primitive, paddings), w.reshape(value, []))


@writer(MirrorPad)
def mirror_pad(w: Writer, op: Operation, x: Value, paddings: Value | None = None) -> Value:
    p: Any = op.primitive
    if p.mode == "REFLECT":
        return _pad(w, op, x, _widths(w, p, paddings), mode="reflect")
    for axis in range(rank_of(x)):
        places = _places(w, p, x, axis, paddings)
        x = x if places is None else w.gather(x, places, axis)
    return x


def _places(w: Writer, p: Any, x: Value, axis: int, paddings: Value | None) -> Value | None:
    """For each place of a mirrored axis, which element stands there; None where nothing is added."""
    if p.widths is not None and p.widths[axis] == (0, 0):
        return None
    n = w.lengths(x, [axis])
    if p.widths is None:
        assert paddings is not None
        pair = w.reshape(w.gather(w.cast(paddings, int64), w.constant(axis, int64), 0), [2])
    else:
        pair = w.vector(p.widths[axis])
    count, before = w.reshape(n, []), w.gather(pair, w.constant(0, int64), 0)
    after = w.gather(pair, w.constant(1, int64), 0)
    first = w.node("Neg", before)
    places = w.node("Range", first, w.node("Add", count, after), w.constant(1, int64), shape=[None])
    one, gap = w.constant(1, int64), w.constant(0 if p.mode == "SYMMETRIC" else 1, int64)
    left = w.node("Sub", w.node("Sub", gap, places), one) if p.mode == "SYMMETRIC" else w.node("Neg", places)
    last = w.node("Sub", count, one)
    right = w.node("Sub", w.node("Add", last, last), places)
    if p.mode == "SYMMETRIC":
        right = w.node("Add", right, one)
    inside = w.where(w.node("Less", places, w.constant(0, int64)), left, places)
    return w.where(w.node("Greater", places, last), right, inside)


@writer(MirrorPadGrad)
def mirror_pad_grad(w: Writer, op: Operation, dy: Value, paddings: Value | None = None) -> Value:
    """What stands at each place is added to the element that it is a copy of."""
    p: Any = op.primitive
    rank = rank_of(dy)
    shape = w.shape(dy)
    for axis in range(rank):
        if p.widths is not None and p.widths[axis] == (0, 0):
            continue
        if p.widths is None:
            assert paddings is not None
            pair = w.reshape(w.gather(w.cast(paddings, int64), w.constant(axis, int64), 0), [2])
        else:
            pair = w.vector(p.widths[axis])
        n = w.node("Sub", w.slice(shape, [axis], [axis + 1], [0]), w.sum(pair, [0], True))
        like = w.expand(w.scalar(0, dy), n, [None])
        places = _places(w, _One(p, axis), like, 0, paddings if p.widths is None else None)
        places = places if p.widths is not None else _run_time_places(w, p, like, pair)
        assert places is not None
        perm = [axis, *[i for i in range(rank) if i != axis]]
        moved = w.transpose(dy, perm)
        rest = w.lengths(moved, list(range(1, rank))) if rank > 1 else w.vector([])
        full = w.concat([n, rest], 0)
        total = scatter(w, zeros(w, dy, full, [None] * rank), w.unsqueeze(places, [1]), moved, "add")
        dy = w.transpose(total, np.argsort(perm).tolist())
    return dy


class _One:
    """The widths of one axis as those of a vector."""

    def __init__(self, p: Any, axis: int) -> None:
        self.mode = p.mode
        self.widths = None if p.widths is None else (p.widths[axis],)


def _run_time_places(w: Writer, p: Any, like: Value, pair: Value) -> Value | None:
    table = w.unsqueeze(pair, [0])
    one = _One(p, 0)
    return _places(w, one, like, 0, table)
