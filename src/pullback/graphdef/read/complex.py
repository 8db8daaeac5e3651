"""GraphDef import of complex numbers: their parts, conjugates, angles."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...core.primitive import primitive_class
from ..nodes import Node, reader


@reader("Complex", "Real", "Imag", "Conj", "Angle", "ComplexAbs")
def same(node: Node, *xs: Tensor) -> Any:
    """The primitive that has TensorFlow's op type."""
    primitive: Any = primitive_class(node.op_type)
    return node.make(primitive(), *xs)
