"""GraphDef import of operations on the bits of integers."""

from __future__ import annotations

from ..nodes import reader, same

reader("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert", "LeftShift", "RightShift")(same)
