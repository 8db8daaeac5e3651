"""GraphDef export of sets: different elements, and sums of rows with equal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.sets.unique import UniqueIndices
from ...primitives.sparse.unique_rows import SumEqualRows
from ..body import Body, Ref
from ..exporting import writer

_INT32 = np.dtype(np.int32)


@writer(UniqueIndices)
def unique(body: Body, p: Any, x: Ref) -> Any:
    """Where each element is first, the number of each, and how often each is there."""
    dtype = body.op.outputs[0].dtype
    elements, places, counts = body.outputs("UniqueWithCounts", x, out_idx=dtype)
    first = body.node("UnsortedSegmentMin", _numbers(body, x, dtype), places, _count(body, elements))
    return first, places, counts


@writer(SumEqualRows)
def sum_equal_rows(body: Body, p: Any, numbers: Ref, values: Ref) -> Any:
    """The different numbers in ascending order, the sums of their rows, and where each row went."""
    _, order = body.outputs("TopKV2", body.node("Neg", numbers), _count(body, numbers), index_type=_INT32)
    ascending = body.node("GatherV2", numbers, order, body.integers(0))
    distinct, group = body.outputs("Unique", ascending, out_idx=_INT32)
    places = body.node("ScatterNd", body.node("ExpandDims", order, body.integers(1)), group, body.shape_of(numbers))
    return distinct, body.node("UnsortedSegmentSum", values, places, _count(body, distinct)), places


def _count(body: Body, x: Ref) -> Ref:
    return body.node("Size", x, out_type=_INT32)


def _numbers(body: Body, x: Ref, dtype: Any) -> Ref:
    one, zero = body.constant(1, dtype), body.constant(0, dtype)
    return body.node("Range", zero, body.node("Size", x, out_type=dtype), one)
