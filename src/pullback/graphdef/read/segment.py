"""GraphDef import of reductions over segments."""

from __future__ import annotations

from ...primitives.segment.reductions import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_min,
    unsorted_segment_prod,
)
from ...primitives.segment.sparse_segments import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from ...primitives.segment.sums import unsorted_segment_sum
from ..nodes import calling, reader

reader("SegmentSum")(calling(segment_sum, 2))
reader("SegmentMean")(calling(segment_mean, 2))
reader("SegmentProd")(calling(segment_prod, 2))
reader("SegmentMax")(calling(segment_max, 2))
reader("SegmentMin")(calling(segment_min, 2))
reader("UnsortedSegmentSum", "SegmentSumV2")(calling(unsorted_segment_sum, 3))
reader("UnsortedSegmentProd")(calling(unsorted_segment_prod, 3))
reader("UnsortedSegmentMax")(calling(unsorted_segment_max, 3))
reader("UnsortedSegmentMin")(calling(unsorted_segment_min, 3))
reader("SparseSegmentSum")(calling(sparse_segment_sum, 3))
reader("SparseSegmentSumWithNumSegments")(calling(sparse_segment_sum, 4))
reader("SparseSegmentMean")(calling(sparse_segment_mean, 3))
reader("SparseSegmentMeanWithNumSegments")(calling(sparse_segment_mean, 4))
reader("SparseSegmentSqrtN")(calling(sparse_segment_sqrt_n, 3))
reader("SparseSegmentSqrtNWithNumSegments")(calling(sparse_segment_sqrt_n, 4))
