"""Device placement: a plan is cut into few segments, each of which runs on one device.

An operation on a variable runs where the variable is. Any other runs where its device string says; without one it
goes where the latest of its inputs and control inputs was computed, else where its value is first read, else to the
default device. Segments are then made by taking from one device all that can run, before the next one is turned to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..control_flow.loop import Loop
from ..core.devices import device_of_process
from ..core.graph import Operation, Tensor
from ..primitives.base.state import AbstractStateful
from ..primitives.identity.identity import NoOp
from .plan import NOWHERE, Plan, Step

Place = Hashable
"""A device, as an engine knows it."""
PlaceOf = Callable[[Operation], Place | None]
"""The device that an operation asks for; None where it asks for none. Raises where there is no such device."""


class Segment(NamedTuple):
    """A part of a plan, on one device. Its plan has the slots of the whole; what other segments compute are feeds."""

    place: Place
    plan: Plan
    frees: tuple[int, ...]
    """The slots that no later segment reads."""


def asks_for_devices(plan: Plan) -> bool:
    """Whether anything of `plan` has a device string."""
    return any(step.op.device for step in plan.steps) or any(key.device for key in plan.states)


def asks_for_processes(ops: Iterable[Operation]) -> bool:
    """Whether one of `ops` has a device string that names another process than the first."""
    named = [device_of_process(device) for device in {op.device for op in ops} if device]
    return any(each is not None and each[0] > 0 for each in named)


def segments_of(
    plan: Plan, place_of: PlaceOf, default: Place, pinned: Mapping[Operation, Place] | None = None
) -> list[Segment]:
    """The steps of `plan` as segments, in an order in which they can run one after the other.

    `pinned` says where some of them run, whatever they ask for and whatever variables they use.
    """
    pinned = pinned or {}
    steps, before = _steps_in_order(plan)
    places = [pinned.get(step.op) or _asked(step, plan, place_of, default) for step in steps]
    _follow_inputs(before, places)
    _follow_readers(steps, places)
    places = [default if place is None else place for place in places]
    _stay_with_rows(steps, places, set(pinned.values()))
    groups = _groups(before, places)
    return _Cut(
        plan, [[steps[i] for i in group] for group in groups], [places[group[0]] for group in groups]
    ).segments()


def _asked(step: Step, plan: Plan, place_of: PlaceOf, default: Place) -> Place | None:
    """The device that a step must run on: that of its variable; its own; that of the first variable its bodies use."""
    if step.state is not None:
        return place_of(plan.states[step.state]) or default
    place, used = place_of(step.op), states_of(step)
    return (place_of(plan.states[used[0]]) or default) if place is None and used else place


def states_of(step: Step) -> list[int]:
    """The numbers of the states that a step and its bodies use."""
    own = [] if step.state is None else [step.state]
    return list(dict.fromkeys([*own, *[n for body in step.bodies for n in body.states]]))


def _steps_in_order(plan: Plan) -> tuple[list[Step], list[set[int]]]:
    """The steps that do something, and for each the numbers of those that must run before it.

    They must for a value, for the order on one variable, or as control inputs.
    """
    steps: list[Step] = []
    before: list[set[int]] = []
    makers: dict[int, int] = {}
    latest: dict[int, int] = {}
    controls: dict[Operation, set[int]] = {}
    for step in plan.steps:
        needed = {makers[slot] for slot in step.inputs if slot in makers}
        needed.update(*[controls.get(op, ()) for op in step.op.controls])
        if isinstance(step.op.primitive, NoOp):
            controls[step.op] = needed
            continue
        states, number = states_of(step), len(steps)
        needed.update([latest[n] for n in states if n in latest])
        latest.update(dict.fromkeys(states, number))
        controls[step.op] = {number}
        makers.update([(slot, number) for slot in step.outputs if slot != NOWHERE])
        steps.append(step)
        before.append(needed)
    return steps, before


def _follow_inputs(before: Sequence[set[int]], places: list[Place | None]) -> None:
    """Put each free step where the latest of the steps before it runs that has a place."""
    for i, earlier in enumerate(before):
        if places[i] is None:
            known = [j for j in earlier if places[j] is not None]
            places[i] = places[max(known)] if known else None


def _follow_readers(steps: Sequence[Step], places: list[Place | None]) -> None:
    """Put each step that is still free where the first of its outputs is read."""
    readers: dict[int, Place | None] = {}
    for i in reversed(range(len(steps))):
        if places[i] is None:
            read_at = [readers.get(slot) for slot in steps[i].outputs]
            places[i] = next((place for place in read_at if place is not None), None)
        readers.update(dict.fromkeys(steps[i].inputs, places[i]))


def _stay_with_rows(steps: Sequence[Step], places: list[Place], hosts: set[Place]) -> None:
    """Put what reads rows of a loop on the host there, too, if they may be of several lengths: they are no array."""
    made_at: dict[int, Place] = {}
    for i, step in enumerate(steps):
        places[i] = next((made_at[slot] for slot in step.inputs if slot in made_at), places[i])
        loop = step.op.primitive
        if isinstance(loop, Loop) and places[i] in hosts:
            stacked = zip(step.outputs[1 + loop.carried :], step.op.outputs[1 + loop.carried :], strict=True)
            made_at.update((slot, places[i]) for slot, y in stacked if not y.shape[1:].is_fully_defined())


def _groups(before: Sequence[set[int]], places: Sequence[Place]) -> list[list[int]]:
    """The numbers of the steps in groups of one device. A device that can be finished goes first, else the earliest."""
    left: dict[Place, list[int]] = {}
    for i, place in enumerate(places):
        left.setdefault(place, []).append(i)
    done: set[int] = set()
    groups = []
    while left:
        ready = {place: _ready(rest, before, done) for place, rest in left.items()}
        finished = [group for place, group in ready.items() if len(group) == len(left[place])]
        group = min(finished or filter(None, ready.values()))
        groups.append(group)
        done.update(group)
        place = places[group[0]]
        left[place] = [i for i in left[place] if i not in done]
        if not left[place]:
            del left[place]
    return groups


def _ready(rest: Sequence[int], before: Sequence[set[int]], done: set[int]) -> list[int]:
    """The steps among `rest`, of one device, that can run now, one after the other."""
    ready: list[int] = []
    known = set(done)
    for i in rest:
        if before[i] <= known:
            ready.append(i)
            known.add(i)
    return ready


class _Cut:
    """The plans of the segments of one plan."""

    def __init__(self, plan: Plan, groups: list[list[Step]], places: list[Place]) -> None:
        self.plan = plan
        self.groups = groups
        self.places = places
        self.tensors: dict[int, Tensor] = dict(zip(plan.feed_slots, plan.feeds, strict=True))
        for step in plan.steps:
            self.tensors.update(zip(step.outputs, step.op.outputs, strict=True))
        self.constants = dict(plan.constants)
        self.last = {slot: n for n, steps in enumerate(self.groups) for step in steps for slot in step.inputs}
        self.last.update(dict.fromkeys(plan.fetch_slots, len(groups)))

    def segments(self) -> list[Segment]:
        """One for each group."""
        return [self._segment(n) for n in range(len(self.groups))]

    def _segment(self, n: int) -> Segment:
        steps = self.groups[n]
        made = dict.fromkeys(slot for step in steps for slot in step.outputs if slot != NOWHERE)
        read = dict.fromkeys(slot for step in steps for slot in step.inputs)
        feeds = tuple([slot for slot in read if slot not in made and slot not in self.constants])
        fetches = tuple([slot for slot in made if self.last.get(slot, n) > n])
        states = list(dict.fromkeys(number for step in steps for number in states_of(step)))
        own = Plan(
            steps=tuple([self._step(step, states) for step in steps]),
            size=self.plan.size,
            feeds=tuple([self.tensors[slot] for slot in feeds]),
            feed_slots=feeds,
            fetches=tuple([self.tensors[slot] for slot in fetches]),
            fetch_slots=fetches,
            constants=tuple([(slot, self.constants[slot]) for slot in read if slot in self.constants]),
            states=tuple([self.plan.states[i] for i in states]),
            written=frozenset([i for i, state in enumerate(states) if any(_writes(step, state) for step in steps)]),
        )
        frees = tuple([slot for slot in feeds if self.last[slot] == n])
        return Segment(self.places[n], own, frees)

    def _step(self, step: Step, states: list[int]) -> Step:
        bodies = [replace(body, states=tuple([states.index(n) for n in body.states])) for body in step.bodies]
        state = None if step.state is None else states.index(step.state)
        return step._replace(frees=(), state=state, bodies=tuple(bodies))


def _writes(step: Step, state: int) -> bool:
    """Whether a step, or one of its bodies, writes the state of that number."""
    primitive = step.op.primitive
    if step.state == state and isinstance(primitive, AbstractStateful) and primitive.writes_state:
        return True
    return any(i in body.plan.written for body in step.bodies for i, n in enumerate(body.states) if n == state)
