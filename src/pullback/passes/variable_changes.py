"""Variable changes: which operations change variables, or may, and so must keep their places among reads of these."""

from __future__ import annotations

from ..core.dtypes import resource
from ..core.graph import Operation, Tensor
from ..primitives.base.state import AbstractStateful


def writes_state(op: Operation) -> bool:
    """Whether an operation changes a variable, or a state of its own."""
    return isinstance(op.primitive, AbstractStateful) and op.primitive.writes_state


def handles_changed(op: Operation) -> list[Tensor]:
    """The handles of the variables that an operation changes, or may: functions inside of it are not looked into."""
    return [x for x in op.inputs if x.dtype is resource] if writes_state(op) or op.primitive.functions else []
