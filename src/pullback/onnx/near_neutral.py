"""Float64 numbers near 0 or 1, which onnxruntime rounds to float32 before it drops `x + 0` and `x * 1`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.dtypes import float64
from ..core.types import TensorType
from .lean import covers, uniform
from .records import Value

if TYPE_CHECKING:
    from .nodes import NodeWriter

_NEUTRAL = {"Add": 0.0, "Sub": 0.0, "Mul": 1.0, "Div": 1.0}


def kept(w: NodeWriter, op_type: str, inputs: Sequence[Value | None], out: TensorType) -> Value | None:
    """What onnxruntime 1.31 keeps of a sum, difference, product or quotient that it would drop; None for all others."""
    neutral = _NEUTRAL.get(op_type)
    if neutral is None or out.dtype != float64:
        return None
    for x, y in ((inputs[0], inputs[1]), (inputs[1], inputs[0])):
        assert x is not None
        assert y is not None
        number = uniform(w, y)
        right = y is inputs[1] or op_type in ("Add", "Mul")
        if right and number is not None and _rounds_to(neutral, number) and covers(x, y):
            return w.node("Sum", x, _rest(w, op_type, x, number))
    return None


def _rounds_to(neutral: float, number: float) -> bool:
    return abs(number) < 2 and float(np.float32(number)) == neutral


def _rest(w: NodeWriter, op_type: str, x: Value, number: float) -> Value:
    """What is to be added to `x`."""
    if op_type in ("Add", "Sub"):
        return w.scalar(number if op_type == "Add" else -number, x)
    return w.node("Mul", x, w.scalar(number - 1 if op_type == "Mul" else (1 - number) / number, x))
