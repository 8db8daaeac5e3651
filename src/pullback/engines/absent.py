"""Uninitialised variables that only branches read: an error of the branch that is taken, not of the read before it."""

from __future__ import annotations

from dataclasses import dataclass

from ..control_flow.branch import Case, If
from ..core.graph import Operation
from ..primitives.base.state import AbstractStateful
from .plan import NOWHERE, Body, Plan, Step


@dataclass(frozen=True)
class Absent:
    """What stands for the value of a variable that has none."""

    key: Operation


def may_be_absent(plan: Plan) -> frozenset[int]:
    """The slots of `plan`, of variables that are read and of feeds, that nothing reads but branches."""
    found, needed = set(plan.feed_slots), set(plan.fetch_slots)
    for step in plan.steps:
        if is_plain_read(step):
            found.update(step.outputs)
        needed.update(step.inputs[:1] if isinstance(step.op.primitive, If | Case) else step.inputs)
    return frozenset(found - needed - {NOWHERE})


def is_plain_read(step: Step) -> bool:
    """Whether a step gives the value of a variable, and does nothing else."""
    primitive = step.op.primitive
    if not isinstance(primitive, AbstractStateful) or len(step.outputs) != 1:
        return False
    return primitive.reads_state and not primitive.writes_state and not primitive.owns_state


def read_by(body: Body, step: Step, absent: frozenset[int]) -> tuple[int, ...]:
    """The numbers of the inputs of `step`, of those that are perhaps `absent`, that its `body` is sure to read."""
    spared = may_be_absent(body.plan) | {NOWHERE}
    inputs = zip(body.plan.feed_slots, body.arguments, strict=True)
    return tuple([n for slot, n in inputs if slot not in spared and step.inputs[n] in absent])
