"""ONNX export of quantization."""

from __future__ import annotations

from typing import Any

from ...primitives.quantization.fake_quant import (
    FakeQuant,
    FakeQuantPart,
    QuantizeAndDequantize,
    RangePart,
    SpreadBound,
    SumToBound,
)
from ...primitives.quantization.straight_through import StraightThrough
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .traced import traced


@writer(StraightThrough)
def straight_through(w: Writer, p: Any, x: Value, y: Value) -> Value:
    del w, x
    return y


# Where all lengths are known, the kernels of these say how they are written.
writer(FakeQuant, SumToBound, SpreadBound, FakeQuantPart, QuantizeAndDequantize, RangePart, pairs=True)(traced)
