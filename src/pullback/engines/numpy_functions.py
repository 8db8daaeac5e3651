"""How the NumPy engine runs calls, branches and loops: Python's own, around the programs of their functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..control_flow.branch import Case, If
from ..control_flow.call import Call
from ..control_flow.loop import Loop
from .plan import NOWHERE, Body, Plan, Step

Run = Callable[[Sequence[Any]], list[Any]]
Prepare = Callable[[Plan], Run]


def functional_kernel(step: Step, prepare: Prepare) -> Callable[..., Any]:
    """The function that runs a step whose primitive holds functions, on one array for each input that is no handle."""
    primitive = step.op.primitive
    runs = [_bound(body, prepare) for body in step.bodies]
    read = [slot != NOWHERE for slot in step.outputs]
    if isinstance(primitive, Loop):
        return _Loop(primitive, step, prepare)
    if isinstance(primitive, If):
        return _scattered(read, lambda arrays: runs[0 if arrays[0] else 1](arrays))
    if isinstance(primitive, Case):
        return _scattered(read, lambda arrays: runs[_branch(int(arrays[0]), len(runs))](arrays))
    assert isinstance(primitive, Call)
    return _scattered(read, runs[0])


def _branch(index: int, count: int) -> int:
    return index if 0 <= index < count else count - 1


def _bound(body: Body, prepare: Prepare) -> Run:
    run, numbers = prepare(body.plan), body.arguments
    return lambda arrays: run([arrays[n] for n in numbers])


def _scattered(read: Sequence[bool], run: Run) -> Callable[..., Any]:
    """From the values of the outputs that somebody reads to one value for each output."""

    def kernel(*arrays: Any) -> Any:
        values = iter(run(arrays))
        return tuple([next(values) if used else None for used in read])

    return kernel


class _Loop:
    """A loop, step by step; rows are written into arrays that grow."""

    def __init__(self, loop: Loop, step: Step, prepare: Prepare) -> None:
        body, *rest = step.bodies
        self.loop = loop
        self.body = prepare(body.plan)
        self.condition = _bound(rest[0], prepare) if rest else None
        self.arguments = body.arguments
        places = loop.places
        read = [slot != NOWHERE for slot in step.outputs]
        self.history = [(n, i) for i, n in enumerate(places.history) if read[n]]
        self.rows = [n for n in (*places.stacked, *places.kept) if read[n]]
        self.types = [y.type for y in step.op.outputs]

    def __call__(self, *arrays: Any) -> Any:
        loop, c = self.loop, self.loop.carried
        limit, current = int(arrays[0]), list(arrays)
        written = {n: _Rows() for n in [*[n for n, _ in self.history], *self.rows]}
        scanned = range(1 + c, 1 + c + loop.scanned)
        steps = 0
        while steps < limit and (self.condition is None or self.condition(current)[0]):
            row = limit - 1 - steps if loop.reverse else steps
            for n in scanned:
                current[n] = arrays[n][row]
            for n, i in self.history:
                written[n].append(current[1 + i])
            results = self.body([current[n] for n in self.arguments])
            current[1 : 1 + c] = results[:c]
            for n, y in zip(self.rows, results[c:], strict=True):
                written[n].append(y)
            steps += 1
        outputs: list[Any] = [np.int32(steps), *current[1 : 1 + c], *[None] * (len(self.types) - 1 - c)]
        for n, rows in written.items():
            outputs[n] = rows.stacked(self.types[n], loop.reverse)
        return tuple(outputs)


class _Rows:
    """Arrays of one shape, written one after the other into memory that doubles when it is full."""

    def __init__(self) -> None:
        self.memory: Any = None
        self.count = 0

    def append(self, row: Any) -> None:
        """Copies `row` behind the others."""
        if self.memory is None:
            self.memory = np.empty((4, *np.shape(row)), row.dtype)
        elif self.count == len(self.memory):
            larger = np.empty((2 * self.count, *self.memory.shape[1:]), self.memory.dtype)
            larger[: self.count] = self.memory
            self.memory = larger
        self.memory[self.count] = row
        self.count += 1

    def stacked(self, of: Any, reverse: bool) -> Any:
        """All rows as one array; of no rows, one whose unknown lengths are 0."""
        if self.memory is None:
            return np.empty((0, *[n or 0 for n in (of.shape.dims or (0,))[1:]]), of.dtype)
        rows = self.memory[: self.count]
        return rows[::-1] if reverse else rows
