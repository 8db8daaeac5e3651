"""ONNX export of checks and printing, which models do not do."""

from __future__ import annotations

from ...core.operation import Operation
from ...primitives.debugging.guards import Assert, CheckNumerics
from ...primitives.debugging.printing import PrintV1, PrintV2
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(CheckNumerics, pairs=True)
def unchecked(w: Writer, op: Operation, x: Value) -> Value:
    """What is checked while a graph runs is not checked by the model."""
    del w, op
    return x


@writer(Assert, PrintV2)
def nothing(w: Writer, op: Operation, *xs: Value) -> tuple[Value, ...]:
    del w, op, xs
    return ()


@writer(PrintV1)
def printed(w: Writer, op: Operation, x: Value, *data: Value) -> Value:
    """Models do not print."""
    del w, op, data
    return x
