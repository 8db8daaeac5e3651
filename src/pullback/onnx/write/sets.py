"""ONNX export of distinct slices: ONNX's own Unique."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int32, int64
from ...core.shape import TensorShape
from ...primitives.sets.unique import ListDiffIndices, UniqueIndices
from ...primitives.sets.unique_along import UniqueAlong
from ..nans import orderly
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(UniqueAlong)
def unique_along(w: Writer, p: Any, x: Value) -> tuple[Value, ...]:
    first, places, counts = [y.type.shape for y in w.op.outputs]
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


@writer(UniqueIndices)
def unique(w: Writer, p: Any, x: Value) -> list[Value]:
    """In the order in which they come first. All NaNs are one: of several onnxruntime makes anything."""
    some, count = (None,), x.type.shape.sizes
    key = orderly(w, x)
    _, first, places, counts = w.nodes(
        "Unique", key, dtypes=(key.type.dtype, int64, int64, int64), shapes=(some, some, count, some), sorted=0
    )
    return [w.cast(v, w.op.outputs[0].dtype) for v in (first, places, counts)]


@writer(ListDiffIndices)
def differences(w: Writer, p: Any, x: Value, y: Value) -> Value:
    same = w.node("Equal", w.unsqueeze(x, [1]), w.unsqueeze(y, [0]))
    seen = w.reduce("ReduceSum", w.cast(same, int32), [1], False)
    found = w.node("NonZero", w.node("Equal", seen, w.scalar(0, seen)), shape=[1, None])
    return w.cast(w.squeeze(found, [0]), w.op.outputs[0].dtype)
