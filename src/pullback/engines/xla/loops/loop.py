"""XLA lowering of loops (`lax.while_loop`): rows go into arrays, or, where too many, are computed again.

Where the number of steps is known or bounded, rows go into an array. Else a loop keeps checkpoints, in room that is
fixed when it is compiled: when it is full, every other checkpoint is dropped and the stride between them is doubled.
A loop that scans such rows runs block by block; see `replay.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....control_flow.loop import Loop
from ....core.memory import Memory
from ... import messages
from ...loop_memory import BUDGET, PLACE, Reading, reading_of
from ...plan import Step
from ...pruning import is_repeatable
from ..control_flow.branches import is_known
from ..movement import with_row
from ..registry import xla_functional
from ..trace import Trace
from .blocks import Blocks, nbytes
from .map import can_run_at_once, run_at_once
from .padded import Padded
from .replay import Mapped, Replay, Replayer
from .step import Final, Steps, zeros

_INT = np.int32


@xla_functional(Loop)
def loop(trace: Trace, step: Step, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a loop."""
    steps = Steps(trace, step, arrays)
    if can_run_at_once(steps):
        return run_at_once(steps)
    scanned = [x for n in steps.scanned for x in [steps.arrays[n]] if isinstance(x, Replay | Mapped)]
    run = _Run(steps, Replayer(scanned))
    final = run.run_in_blocks() if run.replayer.all or run.recorded else run.run_at_once()
    return run.outputs(final)


class _Run:
    """One loop that is traced."""

    def __init__(self, steps: Steps, replayer: Replayer) -> None:
        self.steps, self.replayer = steps, replayer
        self.whole = steps.whole()
        self.capacity = steps.capacity()
        readings = reading_of(steps.trace.plan, steps.step, self.whole.outputs)
        self.rows = dict(zip(self.whole.outputs, self.whole.row_types(self._read_shape), strict=True))
        self._distrust_large_bounds()
        self.recorded = self._recorded(readings)
        self.stacked = [n for n in self.whole.outputs if n not in self.recorded]
        self.memory = next((readings[n].memory for n in self.recorded), None)

    def _read_shape(self, n: int, t: Any) -> Any:
        return self.replayer.reader(self.whole, self.replayer.start())(n, t)

    def _distrust_large_bounds(self) -> None:
        """Forget a number that a counter is compared with, far above the steps, where rows would fill the memory."""
        steps, bytes_ = self.steps, sum(nbytes(row) for row in self.rows.values())
        if steps.condition is not None and steps.bound != steps.loop.bound and (self.capacity or 0) * bytes_ > PLACE:
            steps.bound = steps.loop.bound
            self.capacity = steps.capacity()

    def _recorded(self, readings: dict[int, Reading]) -> list[int]:
        """The outputs whose rows are to be computed again."""
        if self.capacity is None:
            once = [n for n in self.whole.outputs if not is_repeatable(self.steps.closed_part([n]).plan)]
            if once:
                raise messages.needs_bound(self.steps.step.op)
            return self.whole.outputs
        scanned = [n for n, reading in readings.items() if reading.scanned_only]
        total = self.capacity * sum(nbytes(self.rows[n]) for n in scanned)
        memory = readings[scanned[0]].memory if scanned else None
        if memory is None or (memory.every is None and total <= self._place(memory)):
            return []
        return [n for n in scanned if is_repeatable(self.steps.closed_part([n]).plan)]

    def _place(self, memory: Memory) -> int:
        """The bytes that rows may take which are all kept: fewer where the bound may be far above the steps."""
        if memory.bytes is not None:
            return memory.bytes
        return PLACE if self.steps.loop.condition is None and self._is_exact() else BUDGET

    def _is_exact(self) -> bool:
        """Whether there are as many steps as there is room for."""
        loop = self.steps.loop
        return loop.length is not None or (self.steps.condition is None and is_known(self.steps.arrays[0]))

    def run_at_once(self) -> Final:
        """Step after step, with all rows in arrays."""
        steps, whole, limit = self.steps, self.whole, self.steps.limit
        reverse = steps.loop.reverse
        arrays = [zeros(self.rows[n], self.capacity or 0) for n in self.stacked]
        going, variables, code = steps.holds(_INT(0), whole.start(), steps.no_code())

        def step(state: Any) -> Any:
            i, _, variables, arrays, code = state
            t = limit - _INT(1) - i if reverse else i
            variables, made, code = whole.step(t, variables, steps.read_array, code)
            arrays = [with_row(rows, y, t) for rows, y in zip(arrays, made, strict=True)]
            i = i + _INT(1)
            going, variables, code = steps.holds(i, variables, code)
            return i, going, variables, arrays, code

        state = jax.tree.map(jnp.asarray, (_INT(0), going, variables, arrays, code))
        counts = steps.condition is None  # Then XLA sees from the condition how many steps there are.
        i, _, variables, arrays, code = jax.lax.while_loop(
            lambda state: state[0] < limit if counts else state[1], step, state
        )
        return Final(i, variables, arrays, code)

    def run_in_blocks(self) -> Final:
        """Block by block, with checkpoints of what is recorded, and with the rows of recordings that are scanned."""
        memory = self.memory or Memory()
        capacity = self.capacity or 0
        return Blocks(self.steps, self.replayer, self.rows, self.stacked, capacity, self.recorded, memory).run()

    def outputs(self, final: Final) -> tuple[Any, ...]:
        """A value for each output of the loop."""
        steps, loop = self.steps, self.steps.loop
        members, states = self.whole.split(final.variables)
        for n, value in states.items():
            steps.trace.states[n] = value
        if steps.trace.reports:
            steps.trace.codes.append(final.code)
        outputs: list[Any] = [None] * len(steps.step.outputs)
        outputs[0] = steps.arrays[0] if steps.condition is None and is_known(steps.arrays[0]) else final.steps
        outputs[1 : 1 + loop.carried] = steps.arrays[1 : 1 + loop.carried]
        for n, y in members.items():
            outputs[n] = y
        exact = self._is_exact()
        for n, rows in zip(self.stacked, final.arrays, strict=True):
            outputs[n] = rows if exact else Padded(rows, final.steps, steps.step.op)
        for n in self.recorded:
            assert final.recording is not None
            outputs[n] = Replay(final.recording, n)
        return tuple(outputs)
