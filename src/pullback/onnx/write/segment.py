"""ONNX export of segment sums and other reductions of rows by their number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, finite_range, float16, float32, int64
from ...core.operation import Operation
from ...core.shape import TensorShape
from ...primitives.indexing.gather import GatherV2
from ...primitives.indexing.index_arithmetic import FromFront
from ...primitives.segment.products import ProductOfOthers, RowsBack, RowsInOrder, SameAsBefore, StartOfSegment
from ...primitives.segment.reductions import (
    SegmentHits,
    SegmentNumber,
    SegmentShares,
    UnsortedSegmentMax,
    UnsortedSegmentMin,
    UnsortedSegmentProd,
)
from ...primitives.segment.sums import SegmentGather, UnsortedSegmentSum
from ..nans import with_nans
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .traced import traced


@writer(UnsortedSegmentSum, UnsortedSegmentProd)
def combined(w: Writer, p: Any, x: Value, ids: Value, num: Value | None = None) -> Value:
    start, how = (0, "add") if isinstance(p, UnsortedSegmentSum) else (1, "mul")
    return _combined(w, p, x, ids, num, start, how)


@writer(UnsortedSegmentMax, UnsortedSegmentMin)
def extremum(w: Writer, p: Any, x: Value, ids: Value, num: Value | None = None) -> Value:
    found = _combined(w, p, x, ids, num, finite_range(x.type.dtype)[p.how == "min"], p.how)
    found = with_nans(w, x, found, lambda nans: _combined(w, p, nans, ids, num, 0, "add"))
    if not p.empty_is_zero:
        return found
    counts = _counts(w, p, x, ids, num)
    return w.where(w.node("Greater", counts, w.scalar(0, counts)), found, w.scalar(0, found))


def _counts(w: Writer, p: Any, x: Value, ids: Value, num: Value | None) -> Value:
    """The number of rows of each segment, with axes of length one for those of a row."""
    rank = len(ids.type.shape.sizes or (None,))
    rest = len(x.type.shape.sizes or (None,)) - rank
    ones = w.expand(w.constant(np.ones((), np.int32)), w.shape(ids))
    total = _rows_combined(w, ones, ids, _number(w, p, num), w.constant(np.zeros((), np.int32)), "add", _trusted(w.op))
    return w.unsqueeze(total, list(range(1, rest + 1)))


def _combined(w: Writer, p: Any, x: Value, ids: Value, num: Value | None, start: Any, how: str) -> Value:
    dtype = x.type.dtype
    wide = w.cast(x, float32) if dtype in (float16, bfloat16) else x
    number = _number(w, p, num)
    made = _rows_combined(w, wide, _counted(w, ids), number, w.scalar(start, wide), how, _trusted(w.op))
    return w.cast(made, dtype)


def _number(w: Writer, p: Any, num: Value | None) -> Value:
    """How many segments there are, a vector of one."""
    if num is None:
        return w.vector([p.num_segments])
    return w.reshape(w.cast(num, int64), [1])


def _rows_combined(w: Writer, x: Value, ids: Value, number: Value, start: Value, how: str, trusted: bool) -> Value:
    rank = len(ids.type.shape.sizes or (None,))
    dims = x.type.shape.sizes or (None,) * rank
    rest = list(range(rank, len(dims)))
    static = w.static(number)
    count = None if static is None else int(static[0])
    row = w.lengths(x, rest) if rest else None
    if x.type.shape.sizes is None:
        row = w.slice(w.shape(x), [rank], [np.iinfo(np.int64).max], [0])
    flat = w.reshape(w.cast(ids, int64), [-1])
    updates = x if rank == 1 else w.reshape(x, w.concat([w.vector([-1]), *([] if row is None else [row])], 0))
    spare = not trusted and not _inside(w, ids, count)
    total = number
    if spare:
        total = w.node("Add", number, w.vector([1]))
        outside = w.node("Or", w.node("Less", flat, w.vector([0])), w.node("GreaterOrEqual", flat, number))
        flat = w.where(outside, number, flat)
    blank = w.expand(start, total if row is None else w.concat([total, row], 0))
    made = w.node("ScatterND", blank, w.unsqueeze(flat, [1]), updates, reduction=how)
    return w.slice(made, w.vector([0]), number, [0]) if spare else made


def _inside(w: Writer, ids: Value, count: int | None) -> bool:
    known = w.static(ids)
    return known is not None and count is not None and bool(np.all((known >= 0) & (known < count)))


def _trusted(op: Operation) -> bool:
    """Whether the numbers are those of rows that are read somewhere: then they are in range."""
    ids = op.inputs[1]
    return any(isinstance(reader.primitive, GatherV2) and reader.inputs[1] is ids for reader in ids.consumers())


def _counted(w: Writer, ids: Value) -> Value:
    """Numbers of rows as they were, negative ones too: ScatterND counts these from the end by itself."""
    source = w.op.inputs[1].op
    if not isinstance(source.primitive, FromFront) or not _trusted(w.op):
        return ids
    found: Value = w.values.get(source.inputs[0], ids)
    return found


@writer(SegmentGather)
def segment_gather(w: Writer, p: Any, x: Value, ids: Value) -> Value:
    return _rows(w, w.op.outputs[0].shape, x, ids)


def _rows(w: Writer, shape: TensorShape, x: Value, ids: Value) -> Value:
    """Rows by their numbers; zeros where there is no such row."""
    rows = (x.type.shape.sizes or (None,))[0]
    if _inside(w, ids, rows):
        return w.gather(x, ids, 0)
    numbers = w.cast(ids, int64)
    if rows == 0:
        return w.expand(w.scalar(0, x), w.concat([w.shape(ids), w.lengths(x, list(range(1, len(shape.known))))], 0))
    count = w.lengths(x, [0])
    inside = w.node(
        "And",
        w.node("GreaterOrEqual", numbers, w.constant(np.int64(0))),
        w.node("Less", numbers, w.reshape(count, [])),
    )
    safe = w.where(inside, numbers, w.constant(np.int64(0)))
    rank = len(ids.type.shape.sizes or (None,))
    axes = list(range(rank, rank + len(x.type.shape.sizes or (None,)) - 1))
    return w.where(w.unsqueeze(inside, axes), w.gather(x, safe, 0), w.scalar(0, x))


@writer(SegmentHits)
def segment_hits(w: Writer, p: Any, x: Value, ids: Value, y: Value) -> Value:
    return w.cast(w.node("Equal", x, _rows(w, w.op.outputs[0].shape, y, ids)), x.type.dtype)


@writer(SegmentShares)
def segment_shares(w: Writer, p: Any, x: Value, ids: Value, num: Value | None = None) -> Value:
    counts = _counts(w, p, x, ids, num)
    dtype = x.type.dtype
    wide = w.cast(w.node("Max", counts, w.scalar(1, counts)), float32 if dtype in (float16, bfloat16) else dtype)
    return w.cast(w.node("Pow", wide, w.scalar(-p.power, wide)), dtype)


@writer(SegmentNumber)
def segment_number(w: Writer, p: Any, ids: Value) -> Value:
    if ids.type.shape.num_elements() == 0:
        return w.constant(np.zeros((), w.op.outputs[0].dtype))
    flat = w.reshape(ids, [-1])
    last = w.gather(flat, w.constant(np.int64(-1)), 0)
    return w.node("Add", last, w.scalar(1, last))


# Where all lengths are known, the kernels of these say how they are written.
writer(ProductOfOthers, RowsInOrder, RowsBack, SameAsBefore, StartOfSegment, pairs=True)(traced)
