"""Data-dependent shapes: what XLA cannot compile because only the run knows a length, and what the host does for it."""

from __future__ import annotations

from collections.abc import Collection

from ..core.errors import InvalidArgumentError
from ..core.graph import Operation, Tensor
from ..core.lengths import Length
from .concrete import shape_slots
from .plan import Plan


class DataDependentShapeError(InvalidArgumentError):
    """XLA refuses an operation: a length depends on values computed by the run."""

    def __init__(self, message: str, op: Operation) -> None:
        super().__init__(message)
        self.op = op
        """The operation; in an error that leaves a plan, the one of that plan in which it lies."""

    def leave(self, plan: Plan, op: Operation) -> None:
        """Note that the error leaves `plan`, of which `op` was computed."""
        if all(step.op is not self.op for step in plan.steps):
            self.op = op


def steps_for_host(plan: Plan, refused: Collection[Operation]) -> set[Operation]:
    """The operations of `plan` that are `refused`, and those that touch arrays whose lengths they decide.

    They may be other lengths in each run, and XLA would compile for each. Where a shape is known again, of a sum
    over such rows, or of the derivative of what they were taken from, XLA goes on.
    """
    found: set[Operation] = set()
    decided: set[int] = set()
    values: set[int] = set()
    known = {n for x in plan.feeds for n in _symbols(x)}
    for step in plan.steps:
        deciding = values.intersection(shape_slots(step))
        if step.op in refused or deciding or not decided.isdisjoint(step.inputs):
            found.add(step.op)
            outputs = zip(step.op.outputs, step.outputs, strict=True)
            decided.update(slot for y, slot in outputs if not _is_known(y, known))
            values.update(step.outputs)
        else:
            known.update(n for y in step.op.outputs for n in _symbols(y))
            if step.op.primitive.reads_values and not values.isdisjoint(step.inputs):
                values.update(step.outputs)
    return found


def _symbols(x: Tensor) -> set[Length]:
    return {symbol for n in x.shape.lengths or () if isinstance(n, Length) for symbol in n.symbols}


def _is_known(x: Tensor, symbols: Collection[Length]) -> bool:
    """Whether the lengths of `x` are numbers, or made of `symbols`."""
    lengths = x.shape.lengths
    return lengths is not None and None not in lengths and all(n in symbols for n in _symbols(x))
