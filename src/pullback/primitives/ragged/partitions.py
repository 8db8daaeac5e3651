"""Ragged tensors by the numbers of their rows: from these to splits and back, and rows stacked by partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int64
from ...core.graph import Tensor
from ...core.typing import DTypeLike, TensorLike
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..creation.ranges import range_ as numbers_below
from ..indexing.gather import gather
from ..shape.reshape import reshape
from ..shape.size import shape
from ..shape.stacking import concat
from ..shape.tile import repeat
from ..sorting.sort import argsort
from .operations import with_same_rows
from .ragged_tensor import RaggedTensor
from .reductions import put_together


@in_graph_of_inputs
def row_splits_to_segment_ids(splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """The number of the row of each value, of rows that begin and end at `splits`.

    Shapes: `splits` [rows + 1]; the result [values]. Dtypes: integers; the result int64 unless `out_type` is given.

    >>> import pullback as pb
    >>> pb.Session(engine="numpy").run(pb.ragged.row_splits_to_segment_ids([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    places = cast(convert_to_tensor(splits), int64)
    rows = numbers_below(shape(places, out_type=int64)[0] - 1)
    return cast(repeat(rows, places[1:] - places[:-1], axis=0), int64 if out_type is None else out_type, name)


@in_graph_of_inputs
def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Where the rows begin and end whose numbers stand beside the values; without `num_segments` up to the last one.

    Shapes: `segment_ids` [values], never falling; the result [rows + 1]. Dtypes: integers; the result int64 unless
    `out_type` is given.

    Raises:
        ValueError: numbers that are known fall. InvalidArgumentError: the same, in a run.

    >>> import pullback as pb
    >>> pb.Session(engine="numpy").run(pb.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=4))
    array([0, 2, 2, 3, 3])
    """
    rows = cast(convert_to_tensor(segment_ids), int64)
    splits: Tensor = RaggedTensor.from_value_rowids(rows, rows, num_segments).row_splits
    return cast(splits, int64 if out_type is None else out_type, name)


@in_graph_of_inputs
def stack_dynamic_partitions(
    data: TensorLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> RaggedTensor:
    """Row i holds, in order, the elements of `data` whose number in `partitions` is i.

    Shapes: `data` [*partitions, ...]; the result [num_partitions, any, ...]. Dtypes: any; `partitions` integers.

    Derivative: ddata = the dy of each element.

    Raises:
        InvalidArgumentError: in a run, a number is not below `num_partitions`.

    >>> import pullback as pb
    >>> rows = pb.ragged.stack_dynamic_partitions([1.0, 2.0, 3.0], [0, 2, 0], 3)
    >>> pb.Session(engine="numpy").run(rows).to_list()
    [[1.0, 3.0], [], [2.0]]
    """
    del name
    x, numbers = convert_to_tensor(data), cast(convert_to_tensor(partitions), int64)
    rows, rank = reshape(numbers, [-1]), numbers.shape.rank or 0
    order = argsort(rows, stable=True)
    values = gather(x if rank == 1 else reshape(x, concat([[-1], shape(x)[rank:]], 0)), order)
    return RaggedTensor.from_value_rowids(values, gather(rows, order), num_partitions)


def segmented(dense: Callable[..., Any]) -> Callable[..., Any]:
    """`dense`, a reduction of segments in any order, of ragged tensors: of elements, where their numbers are ragged."""

    @in_graph_of_inputs
    def of_ragged(data: Any, segment_ids: Any, num_segments: TensorLike, name: str | None = None) -> Any:
        if not isinstance(segment_ids, RaggedTensor):
            return put_together(dense, data, cast(convert_to_tensor(segment_ids), int64), num_segments)
        if not isinstance(data, RaggedTensor):
            raise ValueError(f"segment_ids are ragged, {segment_ids}, and data is not: {data}")
        x, numbers = with_same_rows([data, segment_ids])
        return of_ragged(x.values, numbers.values, num_segments, name)

    return of_ragged
