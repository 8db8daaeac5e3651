"""Ragged tensors taken apart: `squeeze`, `split`, `dynamic_partition`, and elements picked in each row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from ...core.contexts import control_dependencies, in_graph_of_inputs
from ...core.dtypes import int64
from ...core.typing import TensorLike
from ..base.axes import static_integers
from ..casting.cast import cast
from ..creation.constant import constant, convert_to_tensor
from ..creation.ranges import range_
from ..debugging.assertions import assert_
from ..identity.identity import identity
from ..indexing.gather import gather as dense_gather
from ..indexing.partition import dynamic_partition as dense_partition
from ..indexing.where import where
from ..logic.comparison import equal
from ..logic.logical import logical_and
from ..reduction.reduce import reduce_all
from ..shape.squeeze import squeeze as dense_squeeze
from ..shape.stacking import split as dense_split
from .arrangement import counted
from .conversions import from_tensor
from .operations import boolean_mask, concat, gather, with_same_rows
from .ragged_tensor import RaggedTensor


@in_graph_of_inputs
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """`input` without the axes `axis`, along which all rows have one element, as a run checks.

    Derivative: dx = dy under these axes again.

    Raises:
        ValueError: no axis is given, or it is outside the tensor.
    """
    if not isinstance(input, RaggedTensor):
        return dense_squeeze(input, axis, name)
    if axis is None:
        raise ValueError("squeeze: of a ragged tensor the axes must be given; pass axis=")
    rank = input.shape.rank
    found: Any = input
    for a in sorted({counted("squeeze", a, rank) for a in static_integers(axis, "squeeze: axis")}, reverse=True):
        found = _without(found, a)
    return found


def _without(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return dense_squeeze(x, [axis])
    if axis > 1:
        return x.with_values(_without(x.values, axis - 1))
    wanted = equal(x.nrows(), constant(1, int64)) if axis == 0 else reduce_all(equal(x.row_lengths(), 1))
    with control_dependencies([assert_(wanted, [f"squeeze: rows along axis {axis} have not one element each"])]):
        splits = identity(x.row_splits)
    if axis == 1:
        return gather(x.values, splits[:-1])
    return gather(x.values, range_(splits[-1]))


@in_graph_of_inputs
def split(value: Any, num_or_size_splits: Any, axis: int = 0, num: int | None = None, name: str | None = None) -> Any:
    """Ragged tensors of as many rows as `num_or_size_splits` says, or of so many equal parts; along `axis`.

    Along rows of different lengths only sizes can be given; a run checks that each row has as many elements.

    Derivative: dx = the dy behind each other.

    Raises:
        ValueError: a number of parts that does not divide the number of rows; sizes that only a run knows.
    """
    if not isinstance(value, RaggedTensor):
        return dense_split(value, num_or_size_splits, axis, num, name or "split")
    place = counted("split", axis, value.shape.rank)
    if place > 1:
        parts = split(value.values, num_or_size_splits, place - 1, num, name)
        return [value.with_values(part) for part in parts]
    limits = [0, *accumulate(_sizes(value, num_or_size_splits, place))]
    length = value.nrows() if place == 0 else value.row_lengths()
    complaint = [f"split: the sizes must add up to the length along axis {place}:", length]
    with control_dependencies([assert_(reduce_all(equal(length, limits[-1])), complaint)]):
        whole = RaggedTensor(value.values, identity(value.row_splits))
    return [whole[a:b] if place == 0 else whole[:, a:b] for a, b in pairwise(limits)]


def _sizes(value: RaggedTensor, given: Any, axis: int) -> Sequence[int]:
    if not isinstance(given, int):
        return static_integers(given, "split: sizes")
    rows = value.shape.size(0)
    if axis or rows is None or rows % given:
        length = "rows of different lengths" if axis else f"{'any number of' if rows is None else rows} rows"
        raise ValueError(f"split: {value}: {length} cannot be divided into {given} equal parts; give sizes")
    return [rows // given] * given


@in_graph_of_inputs
def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Any]:
    """The rows of `data` by their numbers in `partitions`; where these are ragged, its elements.

    Derivative: dx = the dy at the places where they came from.

    Raises:
        ValueError: `partitions` is ragged and `data` is not.
    """
    if not isinstance(data, RaggedTensor) and not isinstance(partitions, RaggedTensor):
        return list(dense_partition(data, partitions, num_partitions, name))
    if not isinstance(partitions, RaggedTensor):
        numbers = convert_to_tensor(partitions)
        return [boolean_mask(data, equal(numbers, i)) for i in range(num_partitions)]
    if not isinstance(data, RaggedTensor):
        raise ValueError(f"dynamic_partition: partitions are ragged, {partitions}, and data is not, {data}")
    x, places = with_same_rows([data, partitions])
    return dynamic_partition(x.values, places.values, num_partitions, name)


@in_graph_of_inputs
def batch_gather(params: Any, indices: Any, batch_dims: int = 1, name: str | None = None) -> Any:
    """For each row of `params` the elements that the same row of `indices` names, below `batch_dims` axes in common.

    Derivative: dparams = the sum of the dy of all places where an element went.

    Raises:
        InvalidArgumentError: in a run, a place outside its row; other rows than those of `params`.
    """
    if batch_dims == 0:
        return gather(params, indices, 0, name)
    x, places = [y if isinstance(y, RaggedTensor) else from_tensor(y) for y in (params, indices)]
    if batch_dims > 1:
        x, places = with_same_rows([x, places])
        return places.with_values(batch_gather(x.values, places.values, batch_dims - 1, name))
    rows = places.value_rowids()
    if isinstance(places.values, RaggedTensor):
        raise ValueError(f"gather: below {batch_dims} axes in common indices must have one axis more, not {indices}")
    numbers = cast(places.values, int64)
    inside = reduce_all(logical_and(numbers >= 0, numbers < dense_gather(x.row_lengths(), rows)))
    with control_dependencies([assert_(inside, ["gather: an index is outside its row:", numbers])]):
        starts = identity(dense_gather(x.row_starts(), rows))
    return places.with_values(gather(x.values, starts + numbers, 0, name))


@in_graph_of_inputs
def any_gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: int | None = None,
    batch_dims: int = 0,
) -> Any:
    """What `indices` name along `axis`, `batch_dims` unless given; with `batch_dims` axes in common."""
    del validate_indices
    along = batch_dims if axis is None else counted("gather", axis, params.shape.rank)
    if batch_dims < 0:
        batch_dims += indices.shape.rank or 0
    if not batch_dims:
        return gather(params, indices, along, name)
    if along != batch_dims:
        raise NotImplementedError(
            f"gather: of ragged tensors axis must be batch_dims, {batch_dims}, where that is not 0, and not {along}"
        )
    return batch_gather(params, indices, batch_dims, name)


def rows_where(condition: TensorLike, x: Any, y: Any) -> Any:
    """Row i of `x` where element i of the vector `condition` holds, else that of `y`; both have as many rows."""
    holds = convert_to_tensor(condition)
    a, b = [z if isinstance(z, RaggedTensor) else from_tensor(z) for z in (x, y)]
    rows = range_(a.nrows())
    return gather(concat([a, b], 0), where(holds, rows, rows + a.nrows()))
