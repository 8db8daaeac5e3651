"""ONNX import of cumulative sums and products."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...control_flow.conditional import switch_case
from ...core.dtypes import int32, int64
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.cumulative.cumsum import Cumprod, Cumsum
from ...primitives.elementwise.division import floormod
from ..reading import Node, reader
from .lengths import rank_of
from .operands import from_front, scalar


@reader("CumSum", "CumProd")
def running(node: Node, x: Tensor, axis: Tensor) -> Any:
    kind = Cumsum if node.op_type == "CumSum" else Cumprod
    exclusive, backward = bool(node.attribute("exclusive", 0)), bool(node.attribute("reverse", 0))
    known = node.static(axis)
    if known is not None:
        place = int(known.item())
        place = from_front(node, place, x.shape.rank) if x.shape.rank else place
        return kind(place, exclusive, backward)(x)
    return _along_axis_of_run(node, x, axis, kind, exclusive, backward)


def _along_axis_of_run(node: Node, x: Tensor, axis: Tensor, kind: Any, exclusive: bool, backward: bool) -> Any:
    """One branch for each axis that a run may name."""
    rank = rank_of(node, x)
    place = cast(floormod(cast(scalar(axis), int64), rank), int32)
    return switch_case(place, [partial(kind(i, exclusive, backward), x) for i in range(rank)])
