"""Constant folding of a whole run: what reads nothing and computes little is computed with NumPy, and never compiled.

So variables get their initial values where these are constants: nothing is computed, however large they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from ...core.graph import Operation
from ...primitives.base.state import AbstractStateful
from ..concrete import LIFTED_BYTES, Concrete, is_small
from ..engine import Run
from ..plan import Plan, Step, has_guards
from .devices import Layout
from .program import host_value
from .trace import Trace


def is_known(plan: Plan) -> bool:
    """Whether a plan reads nothing that may change, and compiling what it computes costs more than NumPy takes."""
    if plan.feeds or has_guards(plan) or any(step.bodies or _reads_state(step) for step in plan.steps):
        return False
    computing = [step for step in plan.steps if step.state is None]
    large = {slot for slot, array in plan.constants if array.nbytes > LIFTED_BYTES}
    read = {*plan.fetch_slots, *[slot for step in computing for slot in step.inputs]}
    made = [y for step in computing if step.inputs for y in step.op.outputs]
    return large.isdisjoint(read) and all(map(is_small, made))


def run_of_known(
    plan: Plan, layout: Layout, keep: Callable[[Iterable[Operation], Iterable[Any]], None], to_host: bool
) -> Run:
    """The run of a known plan; `keep` takes the new values of variables."""
    all_slots = Concrete(frozenset(range(plan.size)), ())

    def run(feeds: Sequence[Any]) -> list[Any]:
        with layout.entered():
            trace = Trace(plan, all_slots, set(), check=False)
            trace.run()
            arrays = [np.asarray(y) for y in trace.fetched()]
            results = [host_value(y) if to_host else jax.device_put(np.array(y)) for y in arrays]
            keep(plan.states, [layout.copied(value, lasting=True) for value in trace.states])
            return results

    return run


def _reads_state(step: Step) -> bool:
    primitive = step.op.primitive
    return isinstance(primitive, AbstractStateful) and (
        primitive.reads_state or primitive.owns_state or not primitive.writes_state
    )
