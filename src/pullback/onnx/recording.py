"""Kernel tracing for ONNX export: a primitive is written by running its kernel on arrays that record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import COMPLEX
from ..core.operation import Operation
from ..core.traits import ELEMENTWISE
from .pairs import trace_kernel
from .records import Value
from .writing import Writer


def is_recorded(op: Operation) -> bool:
    """Whether an operation is written in this way where it has no writer."""
    return ELEMENTWISE in op.primitive.traits


def record_kernel(w: Writer, op: Operation, inputs: Sequence[Value]) -> Any:
    """The values of the outputs; NotImplementedError for a primitive that is not elementwise."""
    if not is_recorded(op) and not any(y.dtype in COMPLEX for y in (*op.inputs, *op.outputs)):
        raise NotImplementedError
    return trace_kernel(w, op.primitive, inputs, op.outputs)
