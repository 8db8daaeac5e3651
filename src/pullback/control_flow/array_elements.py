"""Single assignment of TensorArray elements: TensorFlow 1 writes each once, and clears it when it is read.

Of that is seen here what is known when the graph is built: that a position was written before, and that one operation
reads an element after another has, whenever it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..core.graph import Operation, get_default_graph
from ..core.needs import needed
from ..core.seen import seen


@dataclass(frozen=True)
class Elements:
    """What is known of the elements of an array, and of the arrays that it was made of."""

    reads: dict[int, list[Operation]] | None
    """By their positions, what reads elements, for all arrays made of one; None where reading clears nothing."""
    written: frozenset[int] = frozenset()
    """The positions that were written."""

    def after_write(self, positions: Sequence[int]) -> tuple[Elements, str | None]:
        """The elements once those of some positions are written, and what to say where one was written before."""
        if not seen.single_assignment:
            return self, None
        made = replace(self, written=self.written.union(positions))
        again = sorted(self.written.intersection(positions))
        if not again:
            return made, None
        return made, (
            f"TensorArray: Could not write to TensorArray index {again[0]} because it has already been written to; "
            "programs of TensorFlow 1 write each element once"
        )

    def before_read(self, position: int) -> str | None:
        """What to say where an operation that must run first has read the element, and cleared it; None else."""
        earlier = self.reads.get(position, []) if seen.single_assignment and self.reads else []
        if not earlier:
            return None
        waited_for = [op for block in get_default_graph().acting.scope.controllers for op in block.inputs]
        if needed(waited_for, lambda op: [*[x.op for x in op.inputs], *op.controls]).isdisjoint(earlier):
            return None
        return (
            f"TensorArray: Could not read index {position} twice because it was cleared by the first read; "
            "clear_after_read=False keeps elements"
        )

    def after_read(self, position: int, op: Operation) -> None:
        """Note that `op` reads the element."""
        if self.reads is not None:
            self.reads.setdefault(position, []).append(op)
