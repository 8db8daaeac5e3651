"""ONNX import of comparisons, logic and bitwise operations."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives import bitwise
from ...primitives.logic import comparison
from ...primitives.logic import logical as logic
from ..reading import Node, reader

_OPERATORS: dict[str, Any] = {
    "And": logic.logical_and,
    "BitwiseAnd": bitwise.bitwise_and,
    "BitwiseNot": bitwise.invert,
    "BitwiseOr": bitwise.bitwise_or,
    "BitwiseXor": bitwise.bitwise_xor,
    "Equal": comparison.equal,
    "Greater": comparison.greater,
    "GreaterOrEqual": comparison.greater_equal,
    "IsNaN": comparison.is_nan,
    "Less": comparison.less,
    "LessOrEqual": comparison.less_equal,
    "Not": logic.logical_not,
    "Or": logic.logical_or,
    "Xor": logic.logical_xor,
}


@reader(*_OPERATORS)
def operator(node: Node, *xs: Tensor) -> Any:
    return _OPERATORS[node.op_type](*xs)


@reader("IsInf")
def is_inf(node: Node, x: Tensor) -> Tensor:
    positive, negative = bool(node.attribute("detect_positive", 1)), bool(node.attribute("detect_negative", 1))
    if positive and negative:
        return comparison.is_inf(x)
    if not (positive or negative):
        return logic.logical_and(comparison.is_inf(x), comparison.is_nan(x))
    infinite = comparison.is_inf(x)
    return logic.logical_and(infinite, comparison.greater(x, 0.0) if positive else comparison.less(x, 0.0))
