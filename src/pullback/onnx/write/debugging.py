"""ONNX export of checks and printing, which models do not do."""

from __future__ import annotations

from typing import Any

from ...primitives.debugging.guards import Assert, CheckNumerics
from ...primitives.debugging.printing import PrintV1, PrintV2
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(CheckNumerics, pairs=True)
def unchecked(w: Writer, p: Any, x: Value) -> Value:
    """What is checked while a graph runs is not checked by the model."""
    del w
    return x


@writer(Assert, PrintV2)
def nothing(w: Writer, p: Any, *xs: Value) -> tuple[Value, ...]:
    del w, xs
    return ()


@writer(PrintV1)
def printed(w: Writer, p: Any, x: Value, *data: Value) -> Value:
    """Models do not print."""
    del w, data
    return x
