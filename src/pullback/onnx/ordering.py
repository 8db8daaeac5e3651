"""The order of whole numbers of 64 bits in onnxruntime: their extremes along axes, and unsigned ones as signed ones.

onnxruntime 1.31 takes 2^31 in the lower half of a number of 64 bits for something negative, in Max, Min and Clip, and
where ReduceMax and ReduceMin run along the last axis. The halves themselves it orders as they are. Of unsigned numbers
of 64 bits it has few such kernels: with their highest bit turned they are signed ones in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtypes import int32, int64, uint32, uint64
from .records import Value

if TYPE_CHECKING:
    from .nodes import NodeWriter

_HALF, _MIDDLE = 2**32, 2**31
_LEAST = np.iinfo(np.int64).min
_REDUCTIONS = {"ReduceMax": np.iinfo(np.int32).min, "ReduceMin": np.iinfo(np.int32).max}
"""What is larger, or smaller, than no number of 32 bits."""
_COMPARING = frozenset(["ArgMax", "ArgMin", "TopK"])


def in_order(
    w: NodeWriter, op_type: str, inputs: Sequence[Value | None], attributes: Mapping[str, Any]
) -> Value | None:
    """The extremes that a node of these inputs is to find, by nodes that find them; None where one does."""
    x = inputs[0]
    if x is None or x.type.dtype not in (int64, uint64, uint32):
        return None
    if op_type in _REDUCTIONS and not _is_narrow(w, x):
        return _extreme(w, op_type, x, inputs[1:], attributes)
    if x.type.dtype != int64:
        return None
    if op_type in ("Max", "Min"):
        for y in inputs[1:]:
            assert y is not None
            x = w.where(w.node("Less" if op_type == "Min" else "Greater", x, y), x, y)
        return x
    if op_type == "Clip":
        for bound, side in zip(inputs[1:], ("Max", "Min"), strict=False):
            x = x if bound is None else w.node(side, x, bound)
        return x
    return None


def _is_narrow(w: NodeWriter, x: Value) -> bool:
    """Whether the numbers are lengths, or were some of at most 32 bits with a sign."""
    elements = w.model.elements.get(x.name)
    if elements is not None and all(n is not None for n in elements.flat):
        return True
    record = w.model.producers.get(x.name)
    if record is None or record.op_type != "Cast" or x.type.dtype == uint32:
        return False
    before: Any = w.model.types[record.inputs[0]].dtype
    return before.kind == "b" or (before.kind in "iu" and np.can_cast(before, np.int32))


def _extreme(
    w: NodeWriter, op_type: str, x: Value, axes: Sequence[Value | None], attributes: Mapping[str, Any]
) -> Value:
    """That of the higher halves, and of the lower halves beside it."""
    signed = to_signed(w, x)
    low = w.node("Mod", signed, w.scalar(_HALF, signed))
    high = w.node("Div", w.node("Sub", signed, low), w.scalar(_HALF, signed))
    highs, lows = w.cast(high, int32), w.cast(w.node("Sub", low, w.scalar(_MIDDLE, low)), int32)
    keeping = {**attributes, "keepdims": 1}
    first = w.node(op_type, highs, *axes, **keeping)
    beside = w.where(w.node("Equal", highs, first), lows, w.scalar(_REDUCTIONS[op_type], lows))
    second = w.node("Add", w.cast(w.node(op_type, beside, *axes, **keeping), int64), w.constant(_MIDDLE, int64))
    whole = w.node("Add", w.node("Mul", w.cast(first, int64), w.constant(_HALF, int64)), second)
    made = from_signed(w, whole, x.type.dtype)
    if attributes.get("keepdims", 1):
        return made
    return w.node("Squeeze", made, axes[0]) if axes else w.reshape(made, [])


def compares(op_type: str, attributes: Mapping[str, Any]) -> bool:
    """Whether the result of a node depends on the order of its numbers."""
    return op_type in _COMPARING or attributes.get("reduction") in ("max", "min")


def to_signed(w: NodeWriter, x: Value) -> Value:
    """Numbers of 64 bits with a sign, in the order of `x`."""
    signed = w.cast(x, int64)
    return w.node("Add", signed, w.scalar(_LEAST, signed)) if x.type.dtype == uint64 else signed


def from_signed(w: NodeWriter, x: Value, dtype: Any) -> Value:
    """What `to_signed` was given, of that dtype."""
    return w.cast(w.node("Add", x, w.scalar(_LEAST, x)) if dtype == uint64 else x, dtype)
