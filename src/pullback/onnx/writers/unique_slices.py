"""ONNX export of distinct slices: ONNX's own Unique."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int64
from ...core.operation import Operation
from ...core.shape import TensorShape
from ...primitives.sets.unique_along import UniqueAlong
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(UniqueAlong)
def unique_along(w: Writer, op: Operation, x: Value) -> tuple[Value, ...]:
    p: Any = op.primitive
    first, places, counts = [y.type.shape for y in op.outputs]
    axis = {} if p.axis is None else {"axis": p.axis}
    rank = None if p.axis is None else x.type.shape.rank
    slices = TensorShape([None] * rank if rank is not None else [None] if p.axis is None else None)
    _, *found = w.nodes(
        "Unique",
        x,
        dtypes=(x.type.dtype, int64, int64, int64),
        shapes=(slices, first, places, counts),
        sorted=int(p.ordered),
        **axis,
    )
    return tuple(found)
