"""ONNX export of tile, repeat and pad, and of their derivatives: what was repeated is added up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.dtypes import int64
from ....core.errors import NotRecordedError
from ....primitives.shape.tile import Repeat, RepeatGrad, RepeatIndices, Tile, TileGrad
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..shapes import rank_of, shape_vector


@writer(Tile)
def tile(w: Writer, p: Any, x: Value, multiples: Value | None = None) -> Value:
    counts = shape_vector(w, p.multiples, multiples)
    return w.node("Tile", x, counts)


@writer(TileGrad)
def tile_grad(w: Writer, p: Any, dy: Value, multiples: Value | None = None, lengths: Value | None = None) -> Value:
    """The copies side by side, added up."""
    rank = rank_of(dy)
    counts = shape_vector(w, p.multiples, multiples)
    known = w.static(counts)
    if known is not None and (known == 1).all():
        return dy
    before = w.node("Div", w.shape(dy), counts) if lengths is None else w.cast(lengths, int64)
    apart = w.reshape(w.concat([w.unsqueeze(counts, [1]), w.unsqueeze(before, [1])], 1), [-1])
    copies = w.reshape_to(dy, apart)
    if w.static(apart) is not None:
        copies = Value(copies.name, w.model.types[copies.name])
    return w.sum(copies, list(range(0, 2 * rank, 2)), False)


_MOST_REPEATS = 2**40
"""So that 64 bits count the elements of the result."""


@writer(Repeat)
def repeat(w: Writer, p: Any, x: Value) -> Value:
    if p.repeats > _MOST_REPEATS:
        raise NotRecordedError(f"no memory holds {p.repeats} copies of each element")
    n = x.type.shape.as_list()[p.axis] if x.type.shape.rank is not None else None
    if n is not None:
        return w.gather(x, w.vector(np.repeat(np.arange(n), p.repeats)), p.axis)
    count = w.reshape(w.lengths(x, [p.axis]), [])
    every = w.node("Mul", count, w.constant(p.repeats, int64))
    steps = w.node("Range", w.constant(0, int64), every, w.constant(1, int64))
    return w.gather(x, w.node("Div", steps, w.constant(max(p.repeats, 1), int64)), p.axis)


@writer(RepeatGrad)
def repeat_grad(w: Writer, p: Any, dy: Value) -> Value:
    rank = rank_of(dy)
    axis = p.axis % rank
    dims = dy.type.shape.as_list()
    if p.repeats == 0:
        return w.sum(w.unsqueeze(dy, [axis]), [axis], False)
    if dims.count(None) <= 1 and 0 not in dims:
        lengths = [*dims[:axis], None if dims[axis] is None else dims[axis] // p.repeats, p.repeats, *dims[axis + 1 :]]
        return w.sum(w.reshape(dy, [-1 if n is None else n for n in lengths]), [axis + 1], False)
    parts = [w.lengths(dy, list(range(axis)))] if axis else []
    parts += [w.node("Div", w.lengths(dy, [axis]), w.vector([p.repeats])), w.vector([p.repeats])]
    parts += [w.lengths(dy, list(range(axis + 1, rank)))] if axis + 1 < rank else []
    copies = w.reshape_to(dy, w.concat(parts, 0))
    return w.sum(copies, [axis + 1], False)


@writer(RepeatIndices)
def repeat_indices(w: Writer, p: Any, counts: Value) -> Value:
    """How many of the ends are not beyond each place; a negative count is refused by the runtime."""
    counts = w.cast(counts, int64)
    counts = w.refuse(w.node("Less", counts, w.constant(0, int64)), counts)
    ends = w.node("CumSum", counts, w.constant(0, int64))
    total = w.sum(counts, None, False)
    places = w.node("Range", w.constant(0, int64), total, w.constant(1, int64))
    passed = w.node("LessOrEqual", ends, w.unsqueeze(places, [1]))
    return w.sum(w.cast(passed, int64), [1], False)
