"""ONNX export of stack, concat, split and unstack."""

from __future__ import annotations

from typing import Any

from ....core.dtypes import int64
from ....primitives.shape.stacking import ConcatV2, JoinRows, Pack, RowsLike, Split, SplitLike, SplitV, Unpack
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..shapes import rank_of, shape_vector


@writer(Pack)
def pack(w: Writer, p: Any, *xs: Value) -> Value:
    if all(w.static(x) is not None or x.type.shape.rank == 0 for x in xs) and xs[0].type.shape.rank == 0:
        return w.concat([w.reshape(x, [1]) for x in xs], 0)
    return w.concat([w.unsqueeze(x, [p.axis]) for x in xs], p.axis)


@writer(Unpack)
def unpack(w: Writer, p: Any, x: Value) -> list[Value | None]:
    return [
        w.gather(x, w.constant(i, int64), p.axis) if w.read(i) else None  # each is one node
        for i in range(p.num)
    ]


@writer(ConcatV2)
def concat(w: Writer, p: Any, *xs: Value) -> Value:
    return w.concat(xs, p.axis)


@writer(Split)
def split(w: Writer, p: Any, x: Value) -> Any:
    y = w.op.outputs[0].shape.sizes
    axis = p.axis if y is None else p.axis % len(y)
    if y is not None and y[axis] is not None:
        return _parts(w, x, w.vector([y[axis]] * p.num), axis)
    part = w.node("Div", w.lengths(x, [axis]), w.vector([p.num]))
    return _parts(w, x, w.expand(part, [p.num]), axis)


@writer(SplitV)
def split_v(w: Writer, p: Any, x: Value, lengths: Value | None = None) -> Any:
    known = [y.shape.sizes and y.shape.sizes[p.axis] for y in w.op.outputs]
    if all(isinstance(n, int) for n in known):
        return _parts(w, x, w.vector(known), p.axis)
    given = shape_vector(w, p.lengths, lengths)
    rest = w.node("Sub", w.lengths(x, [p.axis]), w.sum(given, [0], True))
    left_over = w.node("Sub", rest, w.vector([1]))
    return _parts(w, x, w.where(w.node("Less", given, w.vector([0])), left_over, given), p.axis)


@writer(SplitLike)
def split_like(w: Writer, p: Any, x: Value, *likes: Value) -> Any:
    return _parts(w, x, w.concat([w.lengths(like, [p.axis]) for like in likes], 0), p.axis)


def _parts(w: Writer, x: Value, lengths: Value, axis: int) -> Any:
    """One node, or a slice where only one of many parts is read."""
    ys = w.op.outputs
    read = [i for i in range(len(ys)) if w.read(i)]
    static = w.static(lengths)
    if len(ys) == 1:
        return x
    if len(read) == 1 and static is not None:
        first = int(static[: read[0]].sum())
        part = w.slice(x, [first], [first + int(static[read[0]])], [axis])
        return [part if i == read[0] else None for i in range(len(ys))]
    types = [y.type for y in ys]
    dtype, shape = tuple([t.dtype for t in types]), tuple([t.shape for t in types])
    return w.nodes("Split", x, lengths, dtypes=dtype, shapes=shape, axis=axis)


def _inside(w: Writer, indices: Value, first: Value, count: Value) -> Value:
    last = w.node("Add", first, count)
    return w.node("And", w.node("GreaterOrEqual", indices, first), w.node("Less", indices, last))


def _starts(w: Writer, likes: Any) -> list[tuple[Value, Value]]:
    """The first row of each part, and how many there are."""
    found, first = [], w.vector([0])
    for like in likes:
        count = w.lengths(like, [0])
        found.append((first, count))
        first = w.node("Add", first, count)
    return found


@writer(RowsLike)
def rows_like(w: Writer, p: Any, values: Value, indices: Value, *likes: Value) -> list[Value]:
    numbers = w.cast(indices, int64)
    beside = list(range(1, rank_of(values)))
    parts, rows = [], []
    for first, count in _starts(w, likes):
        inside = _inside(w, numbers, first, count)
        own = w.where(inside, w.node("Sub", numbers, first), w.vector([0]))
        rows.append(w.cast(own, indices.type.dtype))
        parts.append(w.where(w.unsqueeze(inside, beside), values, w.scalar(0, values)))
    return [*parts, *rows]


@writer(JoinRows)
def join_rows(w: Writer, p: Any, indices: Value, *rest: Value) -> Value:
    count = len(rest) // 2
    numbers = w.cast(indices, int64)
    total = w.scalar(0, rest[0])
    for part, (first, n) in zip(rest[:count], _starts(w, rest[count:]), strict=True):
        mask = w.unsqueeze(_inside(w, numbers, first, n), list(range(1, rank_of(part))))
        total = w.where(mask, part, total)
    return total
