"""ONNX import of operations on the bits of integers."""

from __future__ import annotations

from ...core.operation import Tensor
from ...primitives import bitwise
from ..reading import Node, reader


@reader("BitShift")
def bit_shift(node: Node, x: Tensor, places: Tensor) -> Tensor:
    return (bitwise.left_shift if node.attribute("direction") == "LEFT" else bitwise.right_shift)(x, places)
