"""ONNX import of what finds distinct elements."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.indexing.gather import gather
from ...primitives.indexing.slicing import Take
from ...primitives.sets.unique_along import UniqueAlong
from ...primitives.shape.reshape import reshape
from ..reading import Node, reader


@reader("Unique")
def unique(node: Node, x: Tensor) -> Any:
    axis = node.attribute("axis", None)
    if axis is not None and x.shape.rank is not None:
        axis %= x.shape.rank
    first, places, counts = UniqueAlong(axis, bool(node.attribute("sorted", 1))).operation(x).outputs
    y = gather(reshape(x, [-1]), first) if axis is None else Take(axis)(x, first)
    return y, first, places, counts
