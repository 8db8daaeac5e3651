"""NumPy interpreter of calls, branches and loops: Python's own, around the programs of their functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...control_flow.branch import Case, If
from ...control_flow.call import AbstractCall
from ...control_flow.loop import Loop
from .. import messages
from ..absent import Absent, read_by
from ..plan import NOWHERE, Plan, Step
from .loops import NumpyLoop, OnInputs, Prepare, bound
from .states import States


def functional_kernel(
    step: Step, plan: Plan, prepare: Prepare, values: States, absent: frozenset[int]
) -> Callable[..., Any]:
    """The function that runs a step whose primitive holds functions, on one array for each input that is no handle.

    `plan` is the plan around, `values` are the session's states, `absent` are the slots that perhaps have no value.
    """
    primitive = step.op.primitive
    if isinstance(primitive, Loop):
        return NumpyLoop(step, plan, prepare, values)
    runs = [bound(body, prepare) for body in step.bodies]
    read = [slot != NOWHERE for slot in step.outputs]
    if isinstance(primitive, If | Case):
        needed = [read_by(body, step, absent) for body in step.bodies]
        return _scattered(read, _branching(primitive, runs, needed))
    assert isinstance(primitive, AbstractCall)
    return _scattered(read, runs[0])


def _branching(primitive: If | Case, runs: Sequence[OnInputs], needed: Sequence[Sequence[int]]) -> OnInputs:
    """What runs the branch that is taken, which raises where one of the inputs that it needs has no value."""
    if not any(needed):
        return lambda arrays: runs[primitive.taken(arrays[0])](arrays)

    def run(arrays: Sequence[Any]) -> list[Any]:
        taken = primitive.taken(arrays[0])
        for n in needed[taken]:
            if type(arrays[n]) is Absent:
                raise messages.uninitialized(arrays[n].key)
        return runs[taken](arrays)

    return run


def _scattered(read: Sequence[bool], run: OnInputs) -> Callable[..., Any]:
    """From the values of the outputs that somebody reads to one value for each output."""

    def kernel(*arrays: Any) -> Any:
        values = iter(run(arrays))
        return tuple([next(values) if used else None for used in read])

    return kernel
