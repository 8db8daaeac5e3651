"""GraphDef import of cumulative sums, products and logarithms of sums."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.cumulative.cumsum import cumprod, cumsum
from ...primitives.cumulative.logsumexp import cumulative_logsumexp
from ..nodes import Node, reader

_RUNNING: dict[str, Any] = {"Cumsum": cumsum, "Cumprod": cumprod, "CumulativeLogsumexp": cumulative_logsumexp}


@reader(*_RUNNING)
def running(node: Node, x: Tensor, axis: Tensor) -> Any:
    (place,) = node.integers(axis, "the axis")
    exclusive, reverse = node.attribute("exclusive", False), node.attribute("reverse", False)
    return _RUNNING[node.op_type](x, place, exclusive, reverse, name=node.exactly)
