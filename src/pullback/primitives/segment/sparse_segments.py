"""Sums and means over segments of gathered rows."""

from __future__ import annotations

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int32
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor
from ..indexing.gather import gather_rows
from .reductions import number_of_segments, segment_mean, segment_sum, unsorted_segment_mean, unsorted_segment_sqrt_n
from .sums import unsorted_segment_sum


@in_graph_of_inputs
def sparse_segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """For each segment the sum of the rows of `data` at those of `indices` [n] whose entry of `segment_ids` [n] it is.

    `segment_ids` ascend. Without `num_segments` there are as many as the last of them says. `sparse_gradient` changes
    nothing: the derivative by `data` is IndexedSlices.

    Derivative: ddata = dy of each segment, added where they came from.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sparse.segment_sum([[1.0], [2.0], [3.0]], [0, 2, 2], [0, 0, 1])).tolist()
    [[4.0], [3.0]]
    """
    del sparse_gradient
    rows, ids = _rows_and_ids(data, indices, segment_ids)
    if num_segments is None:
        return segment_sum(rows, ids, name)
    return unsorted_segment_sum(rows, ids, num_segments, name)


@in_graph_of_inputs
def sparse_segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """As `segment_sum`, the mean of the rows; 0 for a segment without any.

    Derivative: ddata = dy / number of rows of each segment, added where they came from.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sparse.segment_mean([[1.0], [2.0], [3.0]], [0, 2, 2], [0, 0, 1])).tolist()
    [[2.0], [3.0]]
    """
    del sparse_gradient
    rows, ids = _rows_and_ids(data, indices, segment_ids)
    if num_segments is None:
        return segment_mean(rows, ids, name)
    return unsorted_segment_mean(rows, ids, num_segments, name)


@in_graph_of_inputs
def sparse_segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """As `segment_sum`, divided by the square root of the number of rows; 0 for a segment without any.

    Derivative: ddata = dy / sqrt(number of rows) of each segment, added where they came from.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sparse.segment_sqrt_n([[1.0], [3.0]], [0, 1, 1, 1], [0, 0, 0, 0])).tolist()
    [[5.0]]
    """
    del sparse_gradient
    rows, ids = _rows_and_ids(data, indices, segment_ids)
    count = number_of_segments(ids) if num_segments is None else num_segments
    return unsorted_segment_sqrt_n(rows, ids, count, name)


def _rows_and_ids(data: TensorLike, indices: TensorLike, segment_ids: TensorLike) -> tuple[Tensor, Tensor]:
    """The rows picked, and their segment numbers; empty lists are of integers."""
    places, ids = [convert_to_tensor(x, dtype_hint=int32) for x in (indices, segment_ids)]
    return gather_rows(convert_to_tensor(data), places), ids
