"""GraphDef import of reductions over segments."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.segment import reductions, sparse_segments, sums
from ..nodes import Node, reader

_SEGMENTS: dict[str, Any] = {
    "SegmentSum": reductions.segment_sum,
    "SegmentMean": reductions.segment_mean,
    "SegmentProd": reductions.segment_prod,
    "SegmentMax": reductions.segment_max,
    "SegmentMin": reductions.segment_min,
    "SparseSegmentSum": sparse_segments.sparse_segment_sum,
    "SparseSegmentMean": sparse_segments.sparse_segment_mean,
    "SparseSegmentSqrtN": sparse_segments.sparse_segment_sqrt_n,
}
_COUNTED: dict[str, Any] = {
    "UnsortedSegmentSum": sums.unsorted_segment_sum,
    "UnsortedSegmentProd": reductions.unsorted_segment_prod,
    "UnsortedSegmentMax": reductions.unsorted_segment_max,
    "UnsortedSegmentMin": reductions.unsorted_segment_min,
    "SegmentSumV2": sums.unsorted_segment_sum,
    "SparseSegmentSumWithNumSegments": sparse_segments.sparse_segment_sum,
    "SparseSegmentMeanWithNumSegments": sparse_segments.sparse_segment_mean,
    "SparseSegmentSqrtNWithNumSegments": sparse_segments.sparse_segment_sqrt_n,
}


@reader(*_SEGMENTS, *_COUNTED)
def segments(node: Node, *given: Tensor) -> Any:
    return (_SEGMENTS | _COUNTED)[node.op_type](*given, name=node.exactly)
