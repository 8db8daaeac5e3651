"""ONNX import of the k largest elements."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.indexing.slicing import FULL, UNKNOWN, slice_by
from ...primitives.indexing.take_along import TakeAlong
from ...primitives.sorting.sort import ArgSort, TopKV2
from ..reading import Node, reader
from .lengths import rank_of
from .operands import axis_of, scalar


@reader("TopK")
def top_k(node: Node, x: Tensor, k: Tensor) -> Any:
    axis = axis_of(node, node.attribute("axis", -1), x)
    largest = bool(node.attribute("largest", 1))
    known = node.static(k)
    if known is not None and largest and axis in (-1, (x.shape.rank or 0) - 1):
        return TopKV2(int(known.item()), int64).operation(x).values()
    rank = rank_of(node, x)
    order = ArgSort(axis, largest)(x)
    first: Any = int(known.item()) if known is not None else UNKNOWN
    spec = tuple([(0, first, 1) if i == axis else FULL for i in range(rank)])
    places = cast(slice_by(order, spec, [] if known is not None else [scalar(k)]), int64)
    return TakeAlong(axis)(x, places), places
