"""ONNX import of sorting, top-k, arg-max, cumulative sums and distinct values."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...control_flow.conditional import switch_case
from ...core.dtypes import int32, int64
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.cumulative.cumsum import Cumprod, Cumsum
from ...primitives.elementwise.division import floormod
from ...primitives.indexing.gather import gather
from ...primitives.indexing.slicing import FULL, UNKNOWN, Take, slice_by
from ...primitives.indexing.take_along import TakeAlong
from ...primitives.reduction.argmax import argmax, argmin
from ...primitives.sets.unique_along import UniqueAlong
from ...primitives.shape.reshape import reshape
from ...primitives.shape.reverse import reverse
from ...primitives.shape.reverse_sequence import reverse_sequence as reverse_sequence_of
from ...primitives.shape.squeeze import expand_dims
from ...primitives.sorting.sort import ArgSort, TopKV2
from ..reading import Node, reader
from .lengths import length, rank_of
from .operands import scalar


@reader("ArgMax", "ArgMin")
def extreme_place(node: Node, x: Tensor) -> Tensor:
    find = argmax if node.op_type == "ArgMax" else argmin
    axis = node.attribute("axis", 0)
    if node.attribute("select_last_index", 0):
        y: Tensor = length(x, axis) - 1 - find(reverse(x, [axis]), axis)
    else:
        y = find(x, axis)
    if not node.attribute("keepdims", 1):
        return y
    return expand_dims(y, axis % rank_of(node, x))


@reader("TopK")
def top_k(node: Node, x: Tensor, k: Tensor) -> Any:
    axis = node.attribute("axis", -1)
    if x.shape.rank is not None:
        axis %= x.shape.rank
    largest = bool(node.attribute("largest", 1))
    known = node.static(k)
    if known is not None and largest and axis in (-1, (x.shape.rank or 0) - 1):
        return TopKV2(int(known.item()), int64).operation(x).outputs
    rank = rank_of(node, x)
    order = ArgSort(axis, largest)(x)
    first: Any = int(known.item()) if known is not None else UNKNOWN
    spec = tuple([(0, first, 1) if i == axis else FULL for i in range(rank)])
    places = cast(slice_by(order, spec, [] if known is not None else [scalar(k)]), int64)
    return TakeAlong(axis)(x, places), places


@reader("CumSum", "CumProd")
def running(node: Node, x: Tensor, axis: Tensor) -> Any:
    kind = Cumsum if node.op_type == "CumSum" else Cumprod
    exclusive, backward = bool(node.attribute("exclusive", 0)), bool(node.attribute("reverse", 0))
    known = node.static(axis)
    if known is not None:
        place = int(known.item())
        place = place % x.shape.rank if x.shape.rank else place
        return kind(place, exclusive, backward)(x)
    return _along_axis_of_run(node, x, axis, kind, exclusive, backward)


def _along_axis_of_run(node: Node, x: Tensor, axis: Tensor, kind: Any, exclusive: bool, backward: bool) -> Any:
    """One branch for each axis that a run may name."""
    rank = rank_of(node, x)
    place = cast(floormod(cast(scalar(axis), int64), rank), int32)
    return switch_case(place, [partial(kind(i, exclusive, backward), x) for i in range(rank)])


@reader("Unique")
def unique(node: Node, x: Tensor) -> Any:
    axis = node.attribute("axis", None)
    if axis is not None and x.shape.rank is not None:
        axis %= x.shape.rank
    first, places, counts = UniqueAlong(axis, bool(node.attribute("sorted", 1))).operation(x).outputs
    y = gather(reshape(x, [-1]), first) if axis is None else Take(axis)(x, first)
    return y, first, places, counts


@reader("ReverseSequence")
def reverse_sequence(node: Node, x: Tensor, lengths: Tensor) -> Tensor:
    return reverse_sequence_of(x, lengths, node.attribute("time_axis", 0), node.attribute("batch_axis", 1))
