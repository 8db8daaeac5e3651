"""Writers of checks and printing, which models do not do."""

from __future__ import annotations

from ...core.operation import Operation
from ...primitives.debugging.printing import PrintV1
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(PrintV1)
def printed(w: Writer, op: Operation, x: Value, *data: Value) -> Value:
    """Models do not print."""
    del w, op, data
    return x
