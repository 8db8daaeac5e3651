"""NumPy interpreter of loops: step by step; rows go into arrays that grow, or are recomputed when read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...control_flow.loop import Loop
from ...core.dtypes import string
from ...core.errors import PullbackError
from ...core.memory import Memory
from ...primitives.base.state import AbstractStateful
from .. import messages
from ..deadlines import current_deadline
from ..loop_memory import Sizes, reading_of, sizes
from ..plan import NOWHERE, Body, Plan, Step
from ..pruning import Closure, closure_of, is_repeatable
from .states import States

Run = Callable[[Iterable[Any]], list[Any]]
Prepare = Callable[[Plan], Run]
OnInputs = Callable[[Sequence[Any]], list[Any]]
"""What is run on the inputs of a step."""
_FEW = 4
"""The rows that there is room for at first where the number of steps is not known."""
_BLOCKS = 2
"""The blocks of rows that are kept of a recording: two readers may be in neighbouring ones."""


class NumpyLoop:
    """A loop; called with one array for each input, it returns one value for each output."""

    def __init__(self, step: Step, plan: Plan, prepare: Prepare, values: States) -> None:
        loop = step.op.primitive
        assert isinstance(loop, Loop)
        self.loop = loop
        self.body, *conditions = step.bodies
        self.run = prepare(self.body.plan)
        self.condition = bound(conditions[0], prepare) if conditions else None
        places = loop.places
        read = [slot != NOWHERE for slot in step.outputs]
        self.history = [n for n in places.history if read[n]]
        self.rows = [n for n in (*places.stacked, *places.kept) if read[n]]
        self.scanned = range(1 + loop.carried, 1 + loop.carried + loop.scanned)
        self.moving = range(1, 1 + loop.carried)
        self.types = [y.type for y in step.op.outputs]
        self.memory, recorded = self._recorded(step, plan)
        self.part = _Part(self, recorded, prepare, values) if recorded else None
        self.stacked = [n for n in [*self.history, *self.rows] if n not in recorded]

    def _recorded(self, step: Step, plan: Plan) -> tuple[Memory, list[int]]:
        """The policy, and the outputs whose rows are computed again: those that only loops read which ask for that."""
        readings = reading_of(plan, step, [*self.history, *self.rows])
        stacked = self.loop.places.stacked
        self.arrays = {n for n, r in readings.items() if n in stacked and not r.scanned_only}
        asked = [r.memory for r in readings.values() if r.memory.every is not None or r.memory.bytes is not None]
        wanted = [n for n, r in readings.items() if r.scanned_only and r.memory in asked]
        found = [n for n in wanted if is_repeatable(self.closure([n]).plan)]
        return (asked[0] if asked else Memory()), found

    def closure(self, outputs: Sequence[int]) -> Closure:
        """The part of a step that the rows of some outputs need."""
        c = self.loop.carried
        rows = [c + self.rows.index(n) for n in self.rows if n in outputs]
        return closure_of(self.body, range(c), rows, [self.member_of(n) for n in self.history if n in outputs])

    def member_of(self, output: int) -> int:
        """The number of what is carried whose history is the output of that number."""
        return output - self.loop.places.history[0]

    def __call__(self, *arrays: Any) -> Any:
        loop, c = self.loop, self.loop.carried
        limit, current = max(int(arrays[0]), 0), list(arrays)
        written = {n: _Rows(limit if self.condition is None else _FEW) for n in self.stacked}
        history = [(n, 1 + self.member_of(n)) for n in self.history if n in written]
        rows = [(n, i) for i, n in enumerate(self.rows, start=c) if n in written]
        recording = None if self.part is None else _Recording(self.part, current, limit, self.memory)
        steps, deadline = 0, current_deadline()
        while steps < limit and (self.condition is None or self.condition(current)[0]):
            row = limit - 1 - steps if loop.reverse else steps
            for n in self.scanned:
                current[n] = arrays[n][row]
            if recording is not None:
                recording.note(row, current)
            for n, i in history:
                written[n].append(current[i])
            results = self.run(self._taken(current))
            current[1 : 1 + c] = results[:c]
            for n, i in rows:
                written[n].append(results[i])
            if deadline is not None:
                deadline.check()
            del results  # So that only `current` holds what is carried.
            steps += 1
        outputs: list[Any] = [np.int32(steps), *current[1 : 1 + c], *[None] * (len(self.types) - 1 - c)]
        for n, found in written.items():
            outputs[n] = found.stacked(loop.reverse) if found.count else self._no_rows(n, arrays)
            if n in self.arrays and isinstance(outputs[n], list):
                raise messages.unequal_rows(outputs[n])
        if recording is not None and self.part is not None:
            recording.finish(steps)
            for n in self.part.outputs:
                outputs[n] = Replay(recording, n)
        return tuple(outputs)

    def _taken(self, current: list[Any]) -> Iterator[Any]:
        """What a step is given; what is carried is not held here meanwhile, so that a step can let go of it."""
        for n in self.body.arguments:
            yield current[n]
            if n in self.moving:
                current[n] = None

    def _no_rows(self, n: int, arrays: Sequence[Any]) -> Any:
        """The output `n` of a loop of no steps, in the shape that rows would have had."""
        of = self.types[n]
        if n in self.history:
            return np.empty((0, *np.shape(arrays[1 + self.member_of(n)])), of.dtype)
        dims = of.shape.sizes
        if dims is None or None in dims[1:]:
            return np.empty((0, *self._tried(n, arrays)), of.dtype)
        return np.empty((0, *dims[1:]), of.dtype)

    def _tried(self, n: int, arrays: Sequence[Any]) -> tuple[int, ...]:
        """The shape of a row, found by a step on rows of zeros; of none where there cannot be such a step."""
        values = list(arrays)
        for k in self.scanned:
            values[k] = np.zeros(arrays[k].shape[1:], arrays[k].dtype)
        if self.body.plan.states:
            return (0,)
        try:
            results = self.run([values[k] for k in self.body.arguments])
        except PullbackError:
            return (0,)
        return np.shape(results[self.loop.carried + self.rows.index(n)])


def bound(body: Body, prepare: Prepare) -> OnInputs:
    """The function that runs `body` on the inputs of its step."""
    run, numbers = prepare(body.plan), body.arguments
    return lambda arrays: run([arrays[n] for n in numbers])


class _Rows:
    """Arrays, one after the other: copied into memory that doubles when it is full; a list where shapes differ."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.memory: Any = None
        self.count = 0

    def append(self, row: Any) -> None:
        """Puts `row` behind the others."""
        self.count += 1
        if self.memory is None:
            self.memory = np.empty((self.expected, *np.shape(row)), string if isinstance(row, bytes) else row.dtype)
        elif isinstance(self.memory, list):
            return self.memory.append(row)
        elif np.shape(row) != self.memory.shape[1:]:
            self.memory = [*self.memory[: self.count - 1], row]
            return None
        elif self.count > len(self.memory):
            larger = np.empty((2 * self.count, *self.memory.shape[1:]), self.memory.dtype)
            larger[: self.count - 1] = self.memory
            self.memory = larger
        self.memory[self.count - 1, ...] = row
        return None

    def stacked(self, reverse: bool) -> Any:
        """All rows as one array."""
        rows = self.memory if self.count == len(self.memory) else self.memory[: self.count]
        return rows[::-1] if reverse else rows


class _Part:
    """What is computed again of a step, for the rows of some outputs."""

    def __init__(self, loop: NumpyLoop, outputs: Sequence[int], prepare: Prepare, values: States) -> None:
        closure = loop.closure(outputs)
        self.plan = closure.plan
        self.reverse = loop.loop.reverse
        self.history = {n: 1 + loop.member_of(n) for n in loop.history if n in outputs}
        self.outputs = [*self.history, *[n for n in loop.rows if n in outputs]]
        self.members = [1 + i for i in closure.members]
        self.run = prepare(closure.plan)
        self.arguments = loop.body.arguments
        self.scanned = [n for n in loop.scanned if n in closure.feeds]
        self.keys = [loop.body.plan.states[i] for i in closure.states]
        self.values = values

    def initialise_states(self) -> None:
        """Give the operations that own their state one, so that it is the same when their step is made again."""
        for key in self.keys:
            primitive = key.primitive
            if self.values.get(key) is None and isinstance(primitive, AbstractStateful) and primitive.owns_state:
                self.values[key] = np.array(primitive.initial_state())

    def checkpoint(self, current: Sequence[Any]) -> list[Any]:
        """What must be known to go on from a step: what is carried, and states."""
        return [*[current[i] for i in self.members], *[self.values.get(key) for key in self.keys]]

    def resume(self, checkpoint: Sequence[Any], current: list[Any]) -> None:
        """Put back what is carried, and states."""
        for i, y in zip(self.members, checkpoint, strict=False):
            current[i] = y
        self.values.update(zip(self.keys, checkpoint[len(self.members) :], strict=True))

    def step(self, t: int, inputs: Sequence[Any], current: list[Any]) -> list[Any]:
        """The rows of the step on row `t`, which changes `current`."""
        for n in self.scanned:
            current[n] = inputs[n][t]
        history = [current[i] for i in self.history.values()]
        results = self.run([current[n] for n in self.arguments])
        for i, y in zip(self.members, results, strict=False):
            current[i] = y
        return [*history, *results[len(self.members) :]]


class _Recording:
    """Checkpoints of a loop, from which its rows are computed again, a block at a time.

    There is one at every step, or, where that takes too much, at the entry of every so many blocks.
    """

    def __init__(self, part: _Part, inputs: Sequence[Any], limit: int, memory: Memory) -> None:
        part.initialise_states()
        self.part, self.inputs, self.steps = part, list(inputs), limit
        self.size = _room(part.checkpoint(inputs), memory)
        self.stride = self.size.stride
        self.checkpoints: dict[int, list[Any]] = {}
        self.blocks: dict[int, dict[int, list[Any]]] = {}
        """The rows of the blocks that were computed last, by block and row."""
        self.entries: dict[int, list[Any]] = {}
        """Checkpoints at the entry of blocks inside the stretch that was last gone through."""
        if part.reverse and limit > self.size.checkpoints and self.stride == 1:
            self.stride = self.size.block
        if part.reverse:
            self.stride *= -(-limit // (self.stride * self.size.checkpoints)) or 1

    def note(self, t: int, current: Sequence[Any]) -> None:
        """Keep a checkpoint before the step on row `t`, if there is one to be."""
        group = t // self.stride
        if not self.part.reverse and group >= self.size.checkpoints:
            factor = self.size.block if self.stride == 1 else 2
            self.stride *= factor
            self.checkpoints = {i // factor: kept for i, kept in self.checkpoints.items() if i % factor == 0}
            group = t // self.stride
        if t == self._entry(group):
            self.checkpoints[group] = self.part.checkpoint(current)

    def finish(self, steps: int) -> None:
        """The loop has made so many steps."""
        self.steps = steps

    def row(self, output: int, t: int) -> Any:
        """Row `t` of an output."""
        part = self.part
        if self.stride == 1 and part.history.get(output) in part.members:
            return self.checkpoints[t][part.members.index(part.history[output])]
        size = 1 if self.stride == 1 else self.size.block
        block = t // size
        if block not in self.blocks:
            if len(self.blocks) == _BLOCKS:
                del self.blocks[next(iter(self.blocks))]
            self.blocks[block] = self._computed(block, size)
        return self.blocks[block][t][part.outputs.index(output)]

    def _entry(self, group: int) -> int:
        """The row of the first step of a stretch between checkpoints."""
        return min((group + 1) * self.stride, self.steps) - 1 if self.part.reverse else group * self.stride

    def _computed(self, block: int, size: int) -> dict[int, list[Any]]:
        """The rows of a block, computed from the nearest checkpoint before it."""
        part, current = self.part, list(self.inputs)
        low, high = block * size, min((block + 1) * size, self.steps) - 1
        goal, turn = (low, -1) if part.reverse else (high, 1)
        start, checkpoint = self._nearest(block, size)
        kept = _halves(start, high if part.reverse else low, size)
        now = part.checkpoint(current)
        part.resume(checkpoint, current)
        rows = {}
        try:
            for t in range(start, goal + turn, turn):
                if t in kept:
                    self.entries[t] = part.checkpoint(current)
                made = part.step(t, self.inputs, current)
                if low <= t <= high:
                    rows[t] = made
        finally:
            part.values.update(zip(part.keys, now[len(part.members) :], strict=True))
        return rows

    def _nearest(self, block: int, size: int) -> tuple[int, list[Any]]:
        group = block * size // self.stride
        first = self._entry(group)
        if self.part.reverse:
            last = min((block + 1) * size, self.steps) - 1
            self.entries = {t: kept for t, kept in self.entries.items() if t // self.stride == group and t >= last}
            start = min(self.entries, default=first)
        else:
            low = block * size
            self.entries = {t: kept for t, kept in self.entries.items() if t // self.stride == group and t <= low}
            start = max(self.entries, default=first)
        return start, self.entries.get(start) or self.checkpoints[group]


def _halves(start: int, goal: int, size: int) -> set[int]:
    """Where to keep what is carried between two entries of blocks: halfway, halfway from there, and so on.

    Going back from `goal` block by block, each half is then gone through once more for each time it is halved: n log n
    steps in all, with log n checkpoints (Griewank 1992).
    """
    turn = size if goal >= start else -size
    found = set()
    while (blocks := (goal - start) // turn) > 0:
        start += (blocks + 1) // 2 * turn
        found.add(start)
    return found


def _room(checkpoint: Sequence[Any], memory: Memory) -> Sizes:
    if memory.bytes is None:
        every = memory.every or 1
        return Sizes(sys.maxsize, every, every)
    return sizes(sum(x.nbytes for x in checkpoint if x is not None), memory)


class Replay:
    """The rows of one output of a recording, for a loop that reads them one by one."""

    def __init__(self, recording: _Recording, output: int) -> None:
        self.recording, self.output = recording, output

    def __getitem__(self, t: int) -> Any:
        return self.recording.row(self.output, t)
