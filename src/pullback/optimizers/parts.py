"""Optimizers whose rule is the same for a whole variable and for some rows of it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from ..core.graph import Operation, Tensor
from ..core.slices import IndexedSlices
from ..primitives.variables.updates import scatter_rows
from ..primitives.variables.variable import Variable
from .optimizer import AbstractOptimizer, Scalars, Slots


@dataclass(frozen=True)
class Part:
    """The part of a variable, and of its slots, that a gradient is of: all of it, or the rows named."""

    dy: Tensor
    rows: Tensor | None = None

    def read(self, variable: Variable) -> Tensor:
        """What `variable` has there by then."""
        return variable.value() if self.rows is None else variable.sparse_read(self.rows)

    def write(self, variable: Variable, value: Tensor) -> Operation:
        """Let `variable` be `value` there."""
        if self.rows is not None:
            return scatter_rows("update", variable.handle, self.rows, value)
        whole: Operation = variable.assign(value, read_value=False)
        return whole

    def subtract(self, variable: Variable, value: Tensor) -> Operation:
        """Take `value` from what `variable` is there."""
        if self.rows is not None:
            return scatter_rows("sub", variable.handle, self.rows, value)
        whole: Operation = variable.assign_sub(value, read_value=False)
        return whole


class AbstractLocalOptimizer(AbstractOptimizer):
    """An optimizer of which each row changes by its own gradient alone."""

    @abstractmethod
    def change_part(self, part: Part, variable: Variable, slots: Slots, scalars: Scalars) -> list[Operation]:
        """The operations of one step of `part`."""

    def change(self, variable: Variable, dy: Tensor, slots: Slots, scalars: Scalars) -> list[Operation]:
        return self.change_part(Part(dy), variable, slots, scalars)

    def change_rows(self, variable: Variable, dy: IndexedSlices, slots: Slots, scalars: Scalars) -> list[Operation]:
        return self.change_part(Part(dy.values, dy.indices), variable, slots, scalars)
