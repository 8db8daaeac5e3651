"""ONNX import of what finds distinct elements."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.indexing.gather import gather
from ...primitives.indexing.slicing import Take
from ...primitives.sets.unique_along import UniqueAlong
from ...primitives.shape.reshape import reshape
from ..reading import Node, reader
from .operands import axis_of


@reader("Unique")
def unique(node: Node, x: Tensor) -> Any:
    axis = node.attribute("axis", None)
    axis = None if axis is None else axis_of(node, axis, x)
    first, places, counts = UniqueAlong(axis, bool(node.attribute("sorted", 1))).operation(x).outputs
    y = gather(reshape(x, [-1]), first) if axis is None else Take(axis)(x, first)
    return y, first, places, counts
