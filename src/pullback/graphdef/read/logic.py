"""GraphDef import of comparisons, truth values, tests for NaN and infinity."""

from __future__ import annotations

from ..nodes import reader, same

reader("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "IsNan", "IsInf", "IsFinite")(same)
reader("LogicalAnd", "LogicalOr", "LogicalNot")(same)
