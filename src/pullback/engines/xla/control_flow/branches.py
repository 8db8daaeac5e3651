"""XLA lowering of branches (`lax.switch`) and of calls that have state, which are inlined."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....control_flow.branch import Case, If
from ....control_flow.call import StatefulCall
from ....control_flow.state import Unmade
from ....core.graph import Operation, Tensor
from ... import messages
from ...absent import Absent, read_by
from ...plan import NOWHERE, Body, Step
from ..loops.padded import Padded
from ..registry import xla_functional
from ..trace import AbstractRows, Trace, dense, of_dtype

Values = list[Any]


@xla_functional(StatefulCall)
def stateful_call(trace: Trace, step: Step, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The operations of the function, as if they stood in place of the call."""
    return written_out(trace, step, step.bodies[0], arrays)


@xla_functional(If, Case)
def branch(trace: Trace, step: Step, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """One of several branches; the only one in the program where the choice is known already."""
    primitive, choice = step.op.primitive, arrays[0]
    assert isinstance(primitive, If | Case)
    if is_known(choice):
        taken = step.bodies[primitive.taken(choice)]
        _check_present([arrays[n] for n in read_by(taken, step, trace.absent)])
        return written_out(trace, step, taken, arrays)
    _check_present(arrays)
    if isinstance(primitive, If):
        return _branched(trace, step, (1 - choice.astype(np.int32)).reshape(()), arrays)
    last = len(step.bodies) - 1
    return _branched(trace, step, jnp.where((choice >= 0) & (choice <= last), choice, np.int32(last)), arrays)


def _check_present(arrays: Sequence[Any]) -> None:
    """FailedPreconditionError where one of `arrays` is of a variable that has no value."""
    for x in arrays:
        if isinstance(x, Absent):
            raise messages.uninitialized(x.key)


def is_known(x: Any) -> bool:
    """Whether a value is known while the program is traced."""
    return isinstance(x, np.ndarray | np.generic)


def written_out(trace: Trace, step: Step, body: Body, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of `step` from the operations of `body`, which become part of the program around."""
    outputs = [slot for slot in step.outputs if slot != NOWHERE]
    decisive = [
        inner for inner, outer in zip(body.plan.fetch_slots, outputs, strict=True) if outer in trace.concrete.slots
    ]
    inner = trace.inner(body.plan, decisive)
    inner.level = trace.level
    give(inner, body, arrays)
    inner.states = [trace.states[n] for n in body.states]
    inner.run()
    for n, state in zip(body.states, inner.states, strict=True):
        trace.states[n] = state
    trace.codes.extend(inner.codes)
    return scattered(step, inner.fetched())


def give(inner: Trace, body: Body, arrays: Sequence[Any]) -> None:
    """Put what stands behind the parameters of a body in its slots."""
    for slot, n in zip(body.plan.feed_slots, body.arguments, strict=True):
        inner.slots[slot] = arrays[n]


def scattered(step: Step, values: Sequence[Any]) -> tuple[Any, ...]:
    """One value for each output of `step`, from those for the outputs that somebody reads."""
    found = iter(values)
    return tuple([next(found) if slot != NOWHERE else None for slot in step.outputs])


def exact(y: Any, dtype: Any) -> Any:
    """`y` as an array of jax of exactly that dtype, of no weak type."""
    return jax.lax.convert_element_type(jnp.asarray(y), dtype)


def used_states(trace: Trace, bodies: Sequence[Body]) -> tuple[list[int], list[int]]:
    """The numbers of the states that `bodies` use, and of those that they write.

    Raises:
        FailedPreconditionError: one that is used has no value yet.
    """
    used = list(dict.fromkeys(n for body in bodies for n in body.states))
    for n in used:
        if trace.states[n] is None:
            key = trace.plan.states[n]
            raise messages.lost(key) if key in trace.lost else messages.uninitialized(key)
    written = {body.states[i] for body in bodies for i in body.plan.written}
    return used, [n for n in used if n in written]


class _Branches:
    """The branches of a step while jax traces them, and what is found out about their results meanwhile."""

    def __init__(self, trace: Trace, step: Step, arrays: Sequence[Any]) -> None:
        self.trace, self.step, self.arrays = trace, step, arrays
        self.used, self.written = used_states(trace, step.bodies)
        closed_over = (np.ndarray, np.generic, AbstractRows)
        arguments = dict.fromkeys(n for body in step.bodies for n in body.arguments)
        self.numbers = [n for n in arguments if not isinstance(arrays[n], closed_over)]
        self.operands = [arrays[n] for n in self.numbers], [trace.states[n] for n in self.used]
        self.shapes: list[list[tuple[int, ...]]] = []
        """Those of the results of each branch that was traced."""
        self.unmade = {i for body in step.bodies for i, y in enumerate(body.plan.fetches) if _is_unmade(y)}
        self.made: dict[int, tuple[int, ...]] = {}
        """The shapes of results that some branches do not make, from the branch that does."""
        self.padded: dict[int, Operation] = {}
        """The loops of results that are, in some branch, rows with zeros behind them."""

    def run(self, body: Body, given: Values, states: Values) -> tuple[Values, Values, Values, Any]:
        """The results of one branch, the rows that they have, the states that are written, and the first code."""
        values = list(self.arrays)
        for n, x in zip(self.numbers, given, strict=True):
            values[n] = x
        inner = self.trace.inner(body.plan)
        inner.perhaps = True
        give(inner, body, values)
        current = dict(zip(self.used, states, strict=True))
        inner.states = [current[n] for n in body.states]
        inner.run()
        current.update(zip(body.states, inner.states, strict=True))
        results = inner.fetched()
        self.padded.update({i: y.loop for i, y in enumerate(results) if isinstance(y, Padded)})
        outputs = self._of_one_shape(body, results)
        changed = [of_dtype(current[n], self.trace.states[n]) for n in self.written]
        return outputs, [_rows_of(y) for y in results], changed, inner.first_code()

    def _of_one_shape(self, body: Body, results: Sequence[Any]) -> Values:
        """`results` as arrays; zeros for those that this branch does not make."""
        outputs = [exact(dense(y), tensor.dtype) for y, tensor in zip(results, body.plan.fetches, strict=True)]
        if self.unmade:
            numbered = enumerate(zip(outputs, body.plan.fetches, strict=True))
            outputs = [jnp.zeros(self.made.get(i, y.shape), y.dtype) if _is_unmade(t) else y for i, (y, t) in numbered]
        self.shapes.append([y.shape for y in outputs])
        if self.shapes[0] != self.shapes[-1] and (self.made or not self.unmade):
            raise _Disagreement
        return outputs

    def find_made(self) -> None:
        """Trace each branch for the shapes of what others do not make."""
        found: dict[int, tuple[int, ...]] = {}
        for body in self.step.bodies:
            jax.eval_shape(partial(self.run, body), *self.operands)
            fetches = enumerate(body.plan.fetches)
            found.update({i: self.shapes[-1][i] for i, y in fetches if i in self.unmade and not _is_unmade(y)})
        self.made.update(found)
        self.shapes.clear()

    def taken(self, index: Any) -> tuple[Values, Values, Values, Any]:
        """What `run` gives of the branch of that number.

        Raises:
            InvalidArgumentError: two branches give arrays of different shapes.
        """
        if self.unmade:
            self.find_made()
        try:
            return jax.lax.switch(index, [partial(self.run, body) for body in self.step.bodies], *self.operands)  # type: ignore[no-any-return]
        except _Disagreement:
            dtypes = [y.dtype for y in self.step.bodies[0].plan.fetches]
            raise messages.branches_differ(self.step.op, dtypes, self.shapes[0], self.shapes[-1]) from None


def _branched(trace: Trace, step: Step, index: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    branches = _Branches(trace, step, arrays)
    outputs, counts, states, code = branches.taken(index)
    for n, state in zip(branches.written, states, strict=True):
        trace.states[n] = state
    if trace.reports:
        trace.codes.append(code)
    padded = branches.padded
    return scattered(step, [Padded(y, counts[i], padded[i]) if i in padded else y for i, y in enumerate(outputs)])


def _rows_of(y: Any) -> Any:
    """How many rows a result has, without zeros behind them."""
    if isinstance(y, Padded):
        return jnp.asarray(y.count, np.int32)
    known = not isinstance(y, AbstractRows) and np.ndim(y)
    return jnp.asarray(len(y) if known else 0, np.int32)


def _is_unmade(y: Tensor) -> bool:
    return isinstance(y.op.primitive, Unmade)


class _Disagreement(Exception):
    """Two branches give arrays of different shapes."""
