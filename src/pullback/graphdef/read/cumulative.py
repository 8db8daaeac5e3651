"""GraphDef import of cumulative sums, products and logarithms of sums."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.cumulative.cumsum import cumprod, cumsum
from ...primitives.cumulative.logsumexp import cumulative_logsumexp
from ..nodes import Node, reader


@reader("Cumsum")
def running_sum(node: Node, x: Tensor, axis: Tensor) -> Any:
    return cumsum(x, *_how(node, axis), name=node.exactly)


@reader("Cumprod")
def running_product(node: Node, x: Tensor, axis: Tensor) -> Any:
    return cumprod(x, *_how(node, axis), name=node.exactly)


@reader("CumulativeLogsumexp")
def running_logsumexp(node: Node, x: Tensor, axis: Tensor) -> Any:
    return cumulative_logsumexp(x, *_how(node, axis), name=node.exactly)


def _how(node: Node, axis: Tensor) -> tuple[int, bool, bool]:
    (place,) = node.integers(axis, "the axis")
    return place, node.attribute("exclusive", False), node.attribute("reverse", False)
