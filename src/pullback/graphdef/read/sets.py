"""GraphDef import of sets: distinct elements, differences."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.sets.unique import setdiff1d, unique, unique_with_counts
from ..nodes import Node, reader


@reader("Unique", "UniqueV2", outputs=("y", "idx"))
def unique_(node: Node, x: Tensor, *axis: Tensor) -> Any:
    if axis and node.integers(axis[0], "the axis") not in ([], [0]):
        node.refuse("distinct slices along an axis are not read")
    return tuple(unique(x, node.attribute("out_idx", "int32"), name=node.exactly))


@reader("UniqueWithCounts", outputs=("y", "idx", "count"))
def unique_with_counts_(node: Node, x: Tensor) -> Any:
    return tuple(unique_with_counts(x, node.attribute("out_idx", "int32"), name=node.exactly))


@reader("ListDiff", outputs=("out", "idx"))
def list_diff(node: Node, x: Tensor, y: Tensor) -> Any:
    return tuple(setdiff1d(x, y, node.attribute("out_idx", "int32"), name=node.exactly))
