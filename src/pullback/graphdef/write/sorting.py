"""GraphDef export of the k largest."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.sorting.sort import TopKV2
from ..body import Body, Ref
from ..exporting import writer


@writer(TopKV2)
def top_k(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("TopKV2", x, body.integers(primitive.k), index_type=op.outputs[1].dtype)
