"""GraphDef import of sets: distinct elements, differences."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.sets.unique import setdiff1d, unique, unique_with_counts
from ..nodes import Node, calling, reader

reader("UniqueWithCounts", outputs=("y", "idx", "count"))(calling(unique_with_counts, 1, out_idx="int32"))
reader("ListDiff", outputs=("out", "idx"))(calling(setdiff1d, 2, out_idx="int32"))


@reader("Unique", "UniqueV2", outputs=("y", "idx"))
def unique_(node: Node, x: Tensor, *axis: Tensor) -> Any:
    if axis and node.integers(axis[0], "the axis") not in ([], [0]):
        node.refuse("distinct slices along an axis are not read")
    return tuple(unique(x, node.attribute("out_idx", "int32"), name=node.exactly))
