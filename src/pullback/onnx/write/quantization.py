"""ONNX export of quantization."""

from __future__ import annotations

from ...core.operation import Operation
from ...primitives.quantization.straight_through import StraightThrough
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(StraightThrough)
def straight_through(w: Writer, op: Operation, x: Value, y: Value) -> Value:
    del w, op, x
    return y
