"""GraphDef export of segments: sums and other reductions of their rows, how many there are, and rows for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, float16, float32, int32
from ...primitives.segment.reductions import (
    SegmentHits,
    SegmentNumber,
    SegmentShares,
    UnsortedSegmentMax,
    UnsortedSegmentMin,
    UnsortedSegmentProd,
)
from ...primitives.segment.sums import SegmentGather, UnsortedSegmentSum
from ..body import Body, Ref
from ..exporting import writer


@writer(UnsortedSegmentSum, UnsortedSegmentProd)
def combined(body: Body, p: Any, x: Ref, ids: Ref, *count: Ref) -> Any:
    return body.main(p.type, x, ids, _segments(body, p, count))


@writer(UnsortedSegmentMax, UnsortedSegmentMin)
def extremum(body: Body, p: Any, x: Ref, ids: Ref, *count: Ref) -> Any:
    """Of ascending numbers, whose segments without rows are 0, as their kernels have it."""
    segments = _segments(body, p, count)
    if not p.empty_is_zero:
        return body.main(p.type, x, ids, segments)
    found = body.node(p.type, x, ids, segments)
    rows = _rows(body, ids, segments)
    some = body.node("Greater", rows, body.constant(0, int32))
    return body.main("SelectV2", some, found, body.constant(0, x.dtype))


def _segments(body: Body, p: Any, count: Sequence[Ref]) -> Ref:
    return count[0] if count else body.integers(p.num_segments)


def _rows(body: Body, ids: Ref, segments: Ref) -> Ref:
    """How many rows each segment has, with axes of length one for those of a row."""
    rank, depth = body.op.inputs[1].shape.rank, body.op.inputs[0].shape.rank
    if rank is None or depth is None:
        return body.refuse("the ranks of its inputs must be known")
    ones = body.node("Fill", body.shape_of(ids), body.constant(1, int32))
    rows = body.node("UnsortedSegmentSum", ones, ids, segments)
    return body.node("Reshape", rows, body.integers([-1] + [1] * (depth - rank)))


@writer(SegmentNumber)
def number(body: Body, p: Any, ids: Ref) -> Any:
    """One more than the greatest; 0 of none."""
    flat = body.node("Reshape", ids, body.integers([-1]))
    with_one = body.node("ConcatV2", [flat, body.constant([-1], ids.dtype)], body.integers(0))
    return body.main("AddV2", body.node("Max", with_one, body.integers([0])), body.constant(1, ids.dtype))


@writer(SegmentShares)
def shares(body: Body, p: Any, x: Ref, ids: Ref, *num: Ref) -> Any:
    dtype = body.op.inputs[0].dtype
    wide = float32 if dtype in (float16, bfloat16) else dtype
    rows = _rows(body, ids, _segments(body, p, num))
    least = body.cast(body.node("Maximum", rows, body.constant(1, int32)), wide)
    return body.cast(body.node("Pow", least, body.constant(-p.power, wide)), dtype)


@writer(SegmentGather)
def rows_of_segments(body: Body, p: Any, x: Ref, ids: Ref) -> Any:
    return _of_segments(body, x, ids, body.op.inputs[0].shape.rank, body.op.inputs[1].shape.rank)


@writer(SegmentHits)
def hits(body: Body, p: Any, x: Ref, ids: Ref, y: Ref) -> Any:
    found = _of_segments(body, y, ids, body.op.inputs[2].shape.rank, body.op.inputs[1].shape.rank)
    return body.main("Cast", body.node("Equal", x, found), DstT=x.dtype)


def _of_segments(body: Body, x: Ref, ids: Ref, rank: int | None, depth: int | None) -> Ref:
    """Rows by their numbers, zeros where there is no such row."""
    if rank is None or depth is None:
        return body.refuse("the ranks of its inputs must be known")
    axis = body.integers(0)
    zero = body.constant(0, ids.dtype)
    count = body.node("GatherV2", body.node("Shape", x, out_type=ids.dtype), axis, axis)
    pads = np.zeros((rank, 2), np.int32)
    pads[0, 1] = 1
    padded = body.node("Pad", x, body.constant(pads))
    inside = body.node("LogicalAnd", body.node("GreaterEqual", ids, zero), body.node("Less", ids, count))
    return body.node("GatherV2", padded, body.node("SelectV2", inside, ids, count), axis)
