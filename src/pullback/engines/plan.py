"""Execution plans: which operations a run needs, in which order, and in which slots their values are kept.

A plan is made once for each (graph, fetches, feeds). Its steps are in the order in which the operations were made: a
topological order, and the order in which reads and writes of one variable act.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.dtypes import INEXACT, resource
from ..core.function import AbstractFunctional, Function
from ..core.graph import Operation, Tensor
from ..passes.fold import folded
from ..passes.loops import with_narrow_loops
from ..passes.merge import merged
from ..passes.rebuilding import Pass
from ..passes.same_values import with_values_of_microbatches
from ..passes.view import View, as_it_is, inputs_of_run, view_of
from ..primitives.base.state import AbstractStateful
from ..primitives.debugging.guards import AbstractGuard

NOWHERE = 0
"""The slot of what nobody reads."""


@dataclass(frozen=True, slots=True)
class Body:
    """A function that a step runs, as a plan whose feeds are the function's parameters, handles left out."""

    plan: Plan
    arguments: tuple[int, ...]
    """For each feed the number, among the step's inputs, of what stands behind it."""
    states: tuple[int, ...]
    """For each state of the plan its number in the plan around."""


class Step(NamedTuple):
    """One operation of a plan. `inputs` leave out a variable's handle; `state` is its number among `Plan.states`."""

    op: Operation
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    frees: tuple[int, ...]
    """The slots whose values nobody reads after this step."""
    state: int | None = None
    bodies: tuple[Body, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps over a list of slots; slot 0 takes what nobody reads."""

    steps: tuple[Step, ...]
    size: int
    """The number of slots."""
    feeds: tuple[Tensor, ...]
    feed_slots: tuple[int, ...]
    fetches: tuple[Tensor, ...]
    fetch_slots: tuple[int, ...]
    constants: tuple[tuple[int, np.ndarray[Any, Any]], ...]
    """Slots that hold a constant."""
    states: tuple[Operation, ...]
    """What the steps read or write: the handle operation of a variable, or an operation that owns state."""
    written: frozenset[int]
    """The numbers of the states that some step writes."""


def make_plan(
    fetches: Sequence[Tensor], targets: Iterable[Operation], feeds: Sequence[Tensor], optimize: Pass = as_it_is
) -> Plan:
    """The plan that computes the tensors `fetches` and runs the operations `targets`, given values for `feeds`.

    `optimize` makes the view of them better.
    """
    return _Planner(optimize(_lean(fetches, tuple(targets), frozenset(feeds))), feeds, {}, {}).plan()


def function_plan(
    function: Function, count: int, handles: Mapping[Operation, Operation], optimize: Pass = as_it_is
) -> Plan:
    """The plan of the first `count` results and the effects of `function`; feeds are its parameters but for handles.

    `handles` names the variable's operation for each parameter that stands for a handle; `optimize` is that of
    `make_plan`.
    """
    return _function_plan(function, range(count), handles, {}, optimize)


def _function_plan(
    function: Function,
    numbers: Sequence[int],
    handles: Mapping[Operation, Operation],
    known: dict[Any, Plan],
    optimize: Pass = as_it_is,
) -> Plan:
    """The plan of the results `numbers` and the effects of `function`."""
    view = optimize(_lean([function.results[i] for i in numbers], function.effects, frozenset(function.parameters)))
    feeds = [x for x in function.parameters if x.dtype is not resource]
    return _Planner(view, feeds, handles, known).plan()


def _lean(results: Sequence[Tensor], targets: Sequence[Operation], given: Set[Tensor]) -> View:
    """What a run needs: no operation twice, none whose value is known, and no variable of a loop that nobody reads."""
    view = with_values_of_microbatches(view_of(results, targets, given, inputs_of_run))
    return with_narrow_loops(merged(folded(view)))


def handle_of(handle: Tensor) -> Operation:
    """The operation that made a variable's handle, behind any identities."""
    op = handle.op
    while op.inputs:
        op = op.inputs[0].op
    return op


def checked_outputs(step: Step) -> list[int]:
    """The numbers of a step's outputs that may hold NaN or infinity, and that somebody reads."""
    outputs = zip(step.op.outputs, step.outputs, strict=True)
    return [i for i, (y, slot) in enumerate(outputs) if slot != NOWHERE and y.dtype in INEXACT]


def has_guards(plan: Plan) -> bool:
    """Whether a step, or one of a function inside, refuses some values."""
    return any(
        isinstance(step.op.primitive, AbstractGuard) or any(has_guards(body.plan) for body in step.bodies)
        for step in plan.steps
    )


class _Planner:
    def __init__(
        self, view: View, feeds: Sequence[Tensor], handles: Mapping[Operation, Operation], known: dict[Any, Plan]
    ) -> None:
        self.view = view
        self.handles = handles
        """In a body, the operation of the variable's handle for each parameter that stands for one."""
        self.known = known
        """The plans of bodies, by all that they depend on."""
        self.feeds = tuple(feeds)
        self.slots: dict[Tensor, int] = {x: i for i, x in enumerate(feeds, start=1)}
        self.size = len(self.slots) + 1
        self.states: dict[Operation, int] = {}
        self.written: set[int] = set()

    def plan(self) -> Plan:
        view, last = self.view, self._last_uses()
        constants: list[tuple[int, np.ndarray[Any, Any]]] = []
        steps: list[Step] = []
        for op in view.operations:
            if op.outputs and op.outputs[0] in view.known:
                constants.extend([(self._new_slot(y), view.known[y]) for y in op.outputs if y in last])
            elif not _only_handles(op):
                steps.append(self._step(op, last))
        return Plan(
            steps=tuple(steps),
            size=self.size,
            feeds=self.feeds,
            feed_slots=tuple([self.slots[x] for x in self.feeds]),
            fetches=tuple(view.results),
            fetch_slots=tuple([self.slots[view.stand_in(x)] for x in view.results]),
            constants=tuple(constants),
            states=tuple(self.states),
            written=frozenset(self.written),
        )

    def _last_uses(self) -> dict[Tensor, Operation | None]:
        """The last operation that reads each tensor, or waits for what it does; None for what is fetched."""
        view = self.view
        last: dict[Tensor, Operation | None] = {}
        for op in view.operations:
            for x in view.inputs(op):
                last[x] = op
            for before in view.controls(op):
                last.update(dict.fromkeys(_on_demand(before), op))
        for target in view.targets:
            last.update(dict.fromkeys(_on_demand(target), None))
        last.update((view.stand_in(x), None) for x in view.results)
        return last

    def _step(self, op: Operation, last: dict[Tensor, Operation | None]) -> Step:
        state = self._state(op)
        inputs = [x for x in self.view.inputs(op) if x.dtype is not resource]
        outputs = tuple([self._new_slot(x) if x in last and x not in self.slots else NOWHERE for x in op.outputs])
        dead = {x: None for x in inputs if last[x] is op and x not in self.view.known}
        slots = self.slots
        bodies = self._bodies(op, outputs) if isinstance(op.primitive, AbstractFunctional) else ()
        return Step(op, tuple([slots[x] for x in inputs]), outputs, tuple([slots[x] for x in dead]), state, bodies)

    def _state(self, op: Operation) -> int | None:
        primitive = op.primitive
        if not isinstance(primitive, AbstractStateful):
            return None
        key = op if primitive.owns_state else self._handle(op.inputs[0])
        return self._state_number(key, primitive.writes_state)

    def _state_number(self, key: Operation, writes: bool) -> int:
        number = self.states.setdefault(key, len(self.states))
        if writes:
            self.written.add(number)
        return number

    def _handle(self, x: Tensor) -> Operation:
        """The handle operation of the variable that `x` refers to: engines keep its value under this key."""
        op = handle_of(x)
        return self.handles.get(op, op)

    def _bodies(self, op: Operation, outputs: Sequence[int]) -> tuple[Body, ...]:
        primitive = op.primitive
        assert isinstance(primitive, AbstractFunctional)
        fetched = primitive.fetched([slot != NOWHERE for slot in outputs])
        arguments = primitive.arguments(range(len(op.inputs)))
        return tuple(
            [self._body(f, args, n, op) for f, args, n in zip(primitive.functions, arguments, fetched, strict=True)]
        )

    def _body(self, function: Function, args: Sequence[int], fetched: list[int], op: Operation) -> Body:
        pairs = [(x, op.inputs[n]) for x, n in zip(function.parameters, args, strict=True)]
        handles = {x.op: self._handle(arg) for x, arg in pairs if x.dtype is resource}
        key = (function, tuple(fetched), tuple(handles.items()))
        plan = self.known.get(key)
        if plan is None:
            plan = self.known[key] = _function_plan(function, fetched, handles, self.known)
        values = [n for n, x in enumerate(op.inputs) if x.dtype is not resource]
        numbers = [values.index(n) for n in args if op.inputs[n].dtype != resource]
        states = [self._state_number(key, i in plan.written) for i, key in enumerate(plan.states)]
        return Body(plan, tuple(numbers), tuple(states))

    def _new_slot(self, x: Tensor) -> int:
        slot = self.slots[x] = self.size
        self.size += 1
        return slot


def _on_demand(op: Operation) -> Sequence[Tensor]:
    """The outputs of what is waited for, where it does something only if they are asked for."""
    return op.outputs if any(f.on_demand and f.acts for f in op.primitive.functions) else ()


def _only_handles(op: Operation) -> bool:
    """Whether all that an operation hands on are handles, which have no value."""
    return bool(op.outputs) and op.outputs[0].dtype is resource and all(y.dtype is resource for y in op.outputs)
