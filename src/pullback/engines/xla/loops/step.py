"""Tracing of one loop step, or a part of it, by jax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ....control_flow.loop import Loop
from ... import messages
from ...plan import NOWHERE, Body, Plan, Step
from ...pruning import Closure, closure_of
from ..control_flow.branches import exact, give, is_known, used_states
from ..fences import Fences
from ..movement import row_at
from ..platform import repeated
from ..trace import AbstractRows, Trace, dense, of_dtype
from .bound import count_of
from .padded import Padded

Values = list[Any]
ReadRow = Callable[[int, Any], Any]
"""From the number of a scanned input and the number of a row to that row."""


class Final(NamedTuple):
    """What a loop ends with."""

    steps: Any
    variables: Values
    arrays: Values
    """The rows of the outputs that are arrays."""
    code: Any
    recording: Any = None


class Steps:
    """A loop of a program that is traced: what its steps read, and where its rows go."""

    def __init__(self, trace: Trace, step: Step, arrays: Sequence[Any]) -> None:
        loop = step.op.primitive
        assert isinstance(loop, Loop)
        self.trace, self.step, self.loop, self.arrays = trace, step, loop, list(arrays)
        self.body, *conditions = step.bodies
        self.condition: Body | None = conditions[0] if conditions else None
        self.bound = loop.bound
        self._count()
        _, self.written = used_states(trace, step.bodies)
        self.states = list(trace.states)
        feeds = dict(zip(self.body.plan.feeds, self.body.arguments, strict=True))
        ends = self.body.plan.fetches[: loop.carried]
        self.changing = [i for i, y in enumerate(ends) if feeds.get(y) != 1 + i]
        """The numbers of what is carried and not handed on as it is."""
        for i in range(loop.carried):
            self.arrays[1 + i] = dense(self.arrays[1 + i])
        for i in self.changing:
            self.arrays[1 + i] = exact(self.arrays[1 + i], ends[i].dtype)
        places = loop.places
        read = [slot != NOWHERE for slot in step.outputs]
        self.history = [n for n in places.history if read[n]]
        self.rows = [n for n in (*places.stacked, *places.kept) if read[n]]
        self.scanned = range(1 + loop.carried, 1 + loop.carried + loop.scanned)
        for n in self.scanned:
            if isinstance(self.arrays[n], Padded):
                self.arrays[n] = dense(self.arrays[n])
        self._shape_blanks()

    def _count(self) -> None:
        """Find out how many steps there are at most where a counter says so; no condition is needed if it says all."""
        count = count_of(self.step, self.arrays)
        if count is None:
            return
        self.bound = count.steps if self.bound is None else min(count.steps, self.bound)
        if count.exact and is_known(self.arrays[0]):
            self.condition = None
            self.arrays[0] = np.int32(min(max(int(self.arrays[0]), 0), count.steps))

    def _shape_blanks(self) -> None:
        """Give the arrays of a TensorArray that nothing was written to yet the shape that a step gives them."""
        parameters, arrays = self.loop.body.parameters, self.arrays
        blanks = [
            i for i in self.changing if not parameters[i].shape[1:].is_fully_defined() and _is_blank(arrays[1 + i])
        ]
        if not blanks or any(isinstance(arrays[n], AbstractRows) for n in self.scanned):
            return

        def ends(variables: Values) -> Values:
            rows = {n: self.read_array(n, np.int32(0)) for n in self.scanned}
            members = dict(zip([1 + i for i in self.changing], variables, strict=True))
            inner = self.inner(self.body, self.body.plan, {**members, **rows}, {})
            inner.run()
            results = inner.fetched()
            return [results[i] for i in blanks]

        found = jax.eval_shape(ends, [arrays[1 + i] for i in self.changing])
        for i, shaped in zip(blanks, found, strict=True):
            arrays[1 + i] = jnp.zeros(shaped.shape, shaped.dtype)

    @property
    def limit(self) -> Any:
        """The most steps."""
        return jnp.maximum(exact(self.arrays[0], np.int32), np.int32(0))

    def whole(self) -> Part:
        """All that a step does."""
        return Part(self, self.body, self.body.plan, self.changing, self.written, [*self.history, *self.rows])

    def closed_part(self, outputs: Sequence[int]) -> Part:
        """What the rows of some outputs depend on, without a look at whether numbers are finite."""
        c = self.loop.carried
        rows = [n for n in self.rows if n in outputs]
        history = [n for n in self.history if n in outputs]
        members = [self.member_of(n) for n in history]
        found = closure_of(
            self.body, self.changing, [c + self.rows.index(n) for n in rows], [i for i in members if i in self.changing]
        )
        states = [self.body.states[i] for i in found.states]
        return Part(self, self.body, found.plan, found.members, states, [*history, *rows], found)

    def member_of(self, output: int) -> int:
        """The number of what is carried whose history is the output of that number."""
        return output - self.loop.places.history[0]

    def inner(self, body: Body, plan: Plan, variables: dict[int, Any], states: dict[int, Any]) -> Trace:
        """The trace of a plan of `body`; `variables` are what is carried, and rows, by their numbers as inputs."""
        values, current = list(self.arrays), list(self.states)
        for n, x in variables.items():
            values[n] = x
        for n, x in states.items():
            current[n] = x
        inner = self.trace.inner(plan)
        inner.perhaps = True
        if self.loop.in_order:
            inner.fences = Fences(plan, in_order=True)
        give(inner, body, values)
        inner.states = [current[n] for n in body.states]
        return inner

    def capacity(self) -> int | None:
        """A number of rows that is known now, and that the steps do not exceed."""
        loop = self.loop
        scanned = [self.arrays[n] for n in self.scanned]
        lengths = [x.capacity if isinstance(x, AbstractRows) else len(x) for x in scanned]
        known = [n for n in (*lengths, loop.length, self.bound) if n is not None]
        if is_known(self.arrays[0]) and self.arrays[0] != np.iinfo(np.int32).max:
            known.append(max(int(self.arrays[0]), 0))
        return min(known, default=None)

    def no_code(self) -> Any:
        """The code of a loop in which all is finite; None where nobody looks."""
        return np.int32(0) if self.trace.reports else None

    def read_array(self, n: int, t: Any) -> Any:
        """Row `t` of the scanned input `n`, an array."""
        rows = jnp.asarray(self.arrays[n])
        if len(rows) == 0:
            return jnp.zeros(rows.shape[1:], rows.dtype)
        return row_of(rows, t)

    def holds(self, t: Any, variables: Values, code: Any) -> tuple[Any, Values, Any]:
        """Whether there is one more step after `t`, for the variables of the whole; these, and the code, after that."""
        going = t < self.limit
        if self.condition is None:
            return going, variables, code
        members, states = self.whole().split(variables)
        inner = self.inner(self.condition, self.condition.plan, members, states)
        inner.run()
        (holds,) = inner.fetched()
        states.update(zip(self.condition.states, inner.states, strict=True))
        variables = [*members.values(), *[of_dtype(states[n], self.states[n]) for n in self.written]]
        return jnp.logical_and(going, holds), variables, first_code(inner, code)


def row_of(rows: Any, t: Any) -> Any:
    """Row `t` of an array.

    Of one that has axes of length one XLA on a processor would copy all rows before the loop.
    """
    length, *row = rows.shape
    narrow = rows.reshape(length, *[n for n in row if not isinstance(n, int) or n != 1])
    return row_at(narrow, t).reshape(row)


class Part:
    """What a step computes of some variables, which are carried members and states, and of some outputs' rows."""

    def __init__(
        self,
        steps: Steps,
        body: Body,
        plan: Plan,
        members: Sequence[int],
        states: Sequence[int],
        outputs: Sequence[int],
        closure: Closure | None = None,
    ) -> None:
        self.steps, self.body, self.plan = steps, body, plan
        self.members, self.states, self.outputs = list(members), list(states), list(outputs)
        self.closure = closure
        self.at_once = False
        """Whether `jax.vmap` computes all steps."""
        self.read = [n for n in steps.scanned if closure is None or n in closure.feeds]

    def start(self) -> Values:
        """The variables before the first step."""
        steps = self.steps
        return [*[steps.arrays[1 + i] for i in self.members], *[steps.states[n] for n in self.states]]

    def split(self, variables: Values) -> tuple[dict[int, Any], dict[int, Any]]:
        """Variables as members, by their numbers as inputs, and as states by number."""
        members, states = variables[: len(self.members)], variables[len(self.members) :]
        return dict(zip([1 + i for i in self.members], members, strict=True)), dict(
            zip(self.states, states, strict=True)
        )

    def step(self, t: Any, variables: Values, read: ReadRow, code: Any = 0) -> tuple[Values, Values, Any]:
        """The variables after the step on row `t`, a row for each output, and the code for what is not finite."""
        steps = self.steps
        members, states = self.split(variables)
        inner = steps.inner(self.body, self.plan, {**members, **{n: read(n, t) for n in self.read}}, states)
        inner.check = steps.trace.check and self.closure is None
        inner.reports = inner.reports and self.closure is None
        with repeated(steps.capacity(), self.at_once):
            inner.run()
        results = [dense(y) for y in inner.fetched()]
        history = [steps.member_of(n) for n in self.outputs if n in steps.history]
        before = [members.get(1 + i, steps.arrays[1 + i]) for i in history]
        if self.closure is None:
            after, rows = [results[i] for i in self.members], results[steps.loop.carried :]
        else:
            after, rows = results[: len(self.members)], results[len(self.members) :]
        after = [exact(y, old.dtype) for y, old in zip(after, variables, strict=False)]
        for i, old, new in zip(self.members, variables, after, strict=False):
            if old.shape != new.shape:
                raise messages.state_grows(steps.step.op, i, old, new)
        states.update([(n, y) for n, y in zip(self.body.states, inner.states, strict=True) if n in states])
        after.extend([of_dtype(states[n], steps.states[n]) for n in self.states])
        made = [exact(y, steps.step.op.outputs[n].dtype) for n, y in zip(self.outputs, [*before, *rows], strict=True)]
        return after, made, first_code(inner, code)

    def together(self) -> dict[int, int]:
        """For the variables whose history is an output: by their number that of the output, in this part."""
        first = self.steps.loop.places.history[0] if self.steps.loop.carried else 0
        outputs = {n: k for k, n in enumerate(self.outputs) if n in self.steps.history}
        return {i: outputs[first + m] for i, m in enumerate(self.members) if first + m in outputs}

    def apart(self) -> list[int]:
        """The numbers of the variables whose history is no output of this part."""
        together = self.together()
        return [i for i in range(len(self.members) + len(self.states)) if i not in together]

    def checkpoint(self, i: Any, columns: Values, rows: Values) -> Values:
        """The variables from place `i` of columns, for those that are apart, and of rows, for the others."""
        arrays = {**dict(zip(self.apart(), columns, strict=True)), **{v: rows[k] for v, k in self.together().items()}}
        return [row_at(arrays[v], i) for v in sorted(arrays)]

    def row_types(self, read: ReadRow) -> Values:
        """For each output, the shape and dtype of a row."""
        known = [_known_row(self.steps, n) for n in self.outputs]
        if None not in known:
            return known
        found: Values = jax.eval_shape(lambda xs: self.step(np.int32(0), xs, read)[1], self.start())
        return found


def _is_blank(x: Any) -> bool:
    return 0 in x.shape[1:]


def _described(shape: tuple[int, ...], dtype: Any) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]


def _known_row(steps: Steps, n: int) -> Any:
    y = steps.step.op.outputs[n]
    if n in steps.history:
        return _described(np.shape(steps.arrays[1 + steps.member_of(n)]), y.dtype)
    dims = y.shape.sizes
    if dims is None or None in dims[1:]:
        return None
    return _described(tuple([d or 0 for d in dims[1:]]), y.dtype)


def first_code(inner: Trace, code: Any) -> Any:
    """`code`, or the first of the codes of `inner` where it is 0."""
    return jnp.where(code == 0, inner.first_code(), code) if inner.reports else code


def zeros(like: Any, rows: int) -> Any:
    """An array of so many rows of the shape and dtype of `like`."""
    return jnp.zeros((rows, *like.shape), like.dtype)
