"""XLA lowering of calls: inlined, so that XLA fuses them with what is around, or called.

A chain of a thousand calls that are written out is a program of thousands of operations, which XLA takes ten seconds to
compile, and in which it computes again what several others read. A function that is called often in one program is
therefore compiled once, on processors; elsewhere XLA has no calls of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.experimental.xla_metadata import set_xla_metadata

from ....control_flow.call import Call
from ...plan import Body, Plan, Step
from ..platform import on_processor
from ..registry import xla_functional, xla_functional_of
from ..trace import AbstractRows, Trace
from ..turns import takes_turns
from .branches import exact, scattered, written_out

_MANY = 64
"""The calls of one function from which on it is not written out: its derivative computes again what it did.

Nor are functions called that hold LAPACK's calls: they must run one after the other, see `turns.py`.
"""

Compiled = Callable[[list[Any]], list[Any]]


@xla_functional(Call)
def call(trace: Trace, step: Step, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The operations of the function, as if they stood in place of the call, or a call of the one that there is."""
    (body,) = step.bodies
    given = [arrays[n] for n in body.arguments]
    compiled = _compiled(trace, body, given) if trace.concrete.slots.isdisjoint(step.outputs) else None
    if compiled is None:
        return written_out(trace, step, body, arrays)
    return scattered(step, set_xla_metadata(compiled(given), inlineable="false"))  # type: ignore[no-untyped-call]


def _compiled(trace: Trace, body: Body, given: list[Any]) -> Compiled | None:
    """What calls the function of a body that is called often in the plan of `trace`; None where it is written out."""
    called = trace.called
    counts = called.get(id(trace.plan))
    if counts is None:
        plans = [s.bodies[0].plan for s in trace.plan.steps if isinstance(s.op.primitive, Call)]
        counts = called[id(trace.plan)] = Counter(map(id, plans))
    if counts[id(body.plan)] < _MANY or trace.reports or not on_processor():
        return None
    if any(isinstance(x, AbstractRows) for x in given) or not any(isinstance(x, jax.core.Tracer) for x in given):
        return None
    key = "compiled", id(body.plan)
    if key not in called:
        run = _function(trace, body)
        called[key] = jax.jit(run) if _stands_alone(trace, body.plan) and not takes_turns(run, given) else None
    found: Compiled | None = called[key]
    return found


def _function(trace: Trace, body: Body) -> Compiled:
    def run(given: list[Any]) -> list[Any]:
        inner = trace.inner(body.plan)
        for slot, x in zip(body.plan.feed_slots, given, strict=True):
            inner.slots[slot] = x
        inner.run()
        return [exact(y, x.dtype) for y, x in zip(inner.fetched(), body.plan.fetches, strict=True)]

    return run


def _stands_alone(trace: Trace, plan: Plan) -> bool:
    """Whether a function depends on nothing but its arguments, of which no value decides a shape."""
    inner = trace.inner(plan)
    if inner.concrete.feeds or plan.states or any(id(array) in trace.lifted for _, array in plan.constants):
        return False
    functionals = [step for step in plan.steps if xla_functional_of(type(step.op.primitive)) is not None]
    return all(isinstance(s.op.primitive, Call) and _stands_alone(trace, s.bodies[0].plan) for s in functionals)
