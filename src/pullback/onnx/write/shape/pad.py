"""ONNX export of paddings, and of their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.dtypes import int64
from ....primitives.shape.pad import MirrorPad, MirrorPadGrad, Pad, PadV2
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..indexing.gather import scatter, zeros
from ..shapes import rank_of


def _widths(w: Writer, p: Any, paddings: Value | None) -> Value:
    """Lengths before all axes, then those after."""
    if paddings is None:
        return w.vector([*[a for a, _ in p.widths], *[b for _, b in p.widths]])
    return w.reshape(w.transpose(w.cast(paddings, int64), [1, 0]), [-1])


def _pad(w: Writer, x: Value, widths: Value, *more: Value, **attributes: Any) -> Value:
    static = w.static(widths)
    if static is not None and not static.any():
        return x
    if x.type.shape.rank == 0:
        return x
    return w.node("Pad", x, widths, *more, **attributes)


@writer(Pad)
def pad(w: Writer, p: Any, x: Value, paddings: Value | None = None) -> Value:
    number = [w.scalar(p.value, x)] if p.value else []
    return _pad(w, x, _widths(w, p, paddings), *number)


@writer(PadV2)
def pad_with(w: Writer, p: Any, x: Value, value: Value, paddings: Value | None = None) -> Value:
    return _pad(w, x, _widths(w, p, paddings), w.reshape(value, []))


@writer(MirrorPad)
def mirror_pad(w: Writer, p: Any, x: Value, paddings: Value | None = None) -> Value:
    if p.mode == "REFLECT":
        return _pad(w, x, _widths(w, p, paddings), mode="reflect")
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
    places = w.node("Range", first, w.node("Add", count, after), w.constant(1, int64))
    one, gap = w.constant(1, int64), w.constant(0 if p.mode == "SYMMETRIC" else 1, int64)
    left = w.node("Sub", w.node("Sub", gap, places), one) if p.mode == "SYMMETRIC" else w.node("Neg", places)
    last = w.node("Sub", count, one)
    right = w.node("Sub", w.node("Add", last, last), places)
    if p.mode == "SYMMETRIC":
        right = w.node("Add", right, one)
    inside = w.where(w.node("Less", places, w.constant(0, int64)), left, places)
    return w.where(w.node("Greater", places, last), right, inside)


@writer(MirrorPadGrad)
def mirror_pad_grad(w: Writer, p: Any, dy: Value, paddings: Value | None = None) -> Value:
    """What stands at each place is added to the element that it is a copy of."""
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
        like = w.expand(w.scalar(0, dy), n)
        places = _places(w, _One(p, axis), like, 0, paddings if p.widths is None else None)
        places = places if p.widths is not None else _run_time_places(w, p, like, pair)
        assert places is not None
        perm = [axis, *[i for i in range(rank) if i != axis]]
        moved = w.transpose(dy, perm)
        rest = w.lengths(moved, list(range(1, rank))) if rank > 1 else w.vector([])
        full = w.concat([n, rest], 0)
        total = scatter(w, zeros(w, dy, full), w.unsqueeze(places, [1]), moved, "add")
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
