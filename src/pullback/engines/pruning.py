"""Dead code elimination in loop steps for rematerialisation: the part that the rows computed again depend on."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from typing import NamedTuple

from ..control_flow.loop import Loop
from ..primitives.base.state import AbstractStateful
from .plan import NOWHERE, Body, Plan, Step


class Closure(NamedTuple):
    """A part of a step that is closed: step after step can be computed by it alone."""

    plan: Plan
    """Its fetches are the next values of `members`, then the rows asked for."""
    members: tuple[int, ...]
    """The numbers of what is carried that it needs."""
    states: tuple[int, ...]
    """The numbers, in the body's plan, of the states that it needs and changes."""
    feeds: frozenset[int]
    """The numbers, among the step's inputs, that it reads."""


def closure_of(body: Body, carried: Iterable[int], rows: Iterable[int], members: Iterable[int] = ()) -> Closure:
    """The least part of a loop's body that gives `rows` and `members`, step after step.

    `carried` are the numbers of what is carried and changes, the first results of the body; `rows` are numbers of
    fetches of its plan. Number n among what is carried is input 1 + n of the step.
    """
    plan, changing = body.plan, set(carried)
    wanted, states = set(members), set[int]()
    while True:
        numbers = [*sorted(wanted), *rows]
        part, live = _pruned(plan, [plan.fetch_slots[i] for i in numbers], states)
        read = {n for slot, n in zip(plan.feed_slots, body.arguments, strict=True) if slot in _slots_read(part)}
        more = {n - 1 for n in read if n - 1 in changing} | wanted
        changed = {i for i in live if i in plan.written} | states
        if more == wanted and changed == states:
            fetches = tuple([plan.fetches[i] for i in numbers])
            final = replace(part, fetches=fetches)
            return Closure(final, tuple(sorted(wanted)), tuple(sorted(states)), frozenset(read))
        wanted, states = more, changed


def _slots_read(plan: Plan) -> set[int]:
    return {slot for step in plan.steps for slot in step.inputs} | set(plan.fetch_slots)


def _pruned(plan: Plan, fetch_slots: list[int], states: Iterable[int]) -> tuple[Plan, set[int]]:
    """The steps of `plan` for some slots and for the values of some states after it; the states that they begin with.

    Outputs that none of them reads are nowhere.
    """
    needed, live = set(fetch_slots) - {NOWHERE}, set(states)
    steps: list[Step] = []
    for step in reversed(plan.steps):
        if needed.isdisjoint(step.outputs) and live.isdisjoint(_written(step)):
            continue
        kept = _fixed_outputs(step)
        outputs = [slot if slot in needed or i in kept else NOWHERE for i, slot in enumerate(step.outputs)]
        needed.update(step.inputs)
        live.update(_used(step))
        steps.append(step._replace(outputs=tuple(outputs)))
    return replace(plan, steps=tuple(reversed(steps)), fetch_slots=tuple(fetch_slots)), live


def _fixed_outputs(step: Step) -> Container[int]:
    """The numbers of the outputs that are results of the step's functions, whose plans stay as they are."""
    primitive = step.op.primitive
    if not step.bodies:
        return ()
    if isinstance(primitive, Loop):
        return set(range(len(step.outputs))).difference(primitive.places.history)
    return range(len(step.outputs))


def _used(step: Step) -> set[int]:
    own = [] if step.state is None else [step.state]
    return {*own, *[n for body in step.bodies for n in body.states]}


def _written(step: Step) -> set[int]:
    """The states that a step, or one of its bodies, writes."""
    primitive = step.op.primitive
    writes = isinstance(primitive, AbstractStateful) and primitive.writes_state and step.state is not None
    inner = {body.states[i] for body in step.bodies for i in body.plan.written}
    return inner | {step.state} if writes and step.state is not None else inner


def is_repeatable(plan: Plan) -> bool:
    """Whether running `plan` again from the same values and states gives the same, and does nothing else."""
    for step in plan.steps:
        primitive = step.op.primitive
        if step.bodies:
            if not all(is_repeatable(body.plan) for body in step.bodies):
                return False
        elif primitive.stateful and not isinstance(primitive, AbstractStateful):
            return False
    return True
