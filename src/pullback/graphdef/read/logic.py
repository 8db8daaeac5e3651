"""GraphDef import of comparisons, truth values, tests for NaN and infinity."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...core.primitive import primitive_class
from ..nodes import Node, reader


@reader("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "IsNan", "IsInf", "IsFinite")
@reader("LogicalAnd", "LogicalOr", "LogicalNot")
def same(node: Node, *xs: Tensor) -> Any:
    """The primitive that has TensorFlow's op type."""
    primitive: Any = primitive_class(node.op_type)
    return node.make(primitive(), *xs)
