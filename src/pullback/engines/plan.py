"""`Plan`: which operations a run needs, in which order, and where their values are kept.

A plan is made once for each (graph, fetches, feeds). Its steps are in the order in which the operations were made: a
topological order, and the order in which reads and writes of one variable act.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..control_flow.loop import Loop
from ..core.dtypes import INEXACT, resource
from ..core.function import AbstractFunctional, Function, Parameter
from ..core.graph import Operation, Tensor
from ..core.needs import needed
from ..core.operation import index_of
from ..primitives.constant import Const
from ..primitives.guards import AbstractGuard
from ..primitives.state import AbstractStateful

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


@dataclass(frozen=True, slots=True)
class Step:
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


def make_plan(fetches: Sequence[Tensor], targets: Iterable[Operation], feeds: Sequence[Tensor]) -> Plan:
    """The plan that computes the tensors `fetches` and runs the operations `targets`, given values for `feeds`."""
    return _Planner(fetches, feeds, {}, {}).plan(needed_operations(fetches, targets, feeds))


def function_plan(function: Function, count: int, handles: Mapping[Operation, Operation]) -> Plan:
    """The plan of the first `count` results and the effects of `function`; feeds are its parameters but for handles.

    `handles` names the variable's operation for each parameter that stands for a handle.
    """
    return _Planner((), (), handles, {}).function_plan(function, count)


def needed_operations(
    fetches: Sequence[Tensor], targets: Iterable[Operation], feeds: Iterable[Tensor]
) -> list[Operation]:
    """The operations that a run needs, in the order they were made; none behind a fed tensor."""
    fed = set(feeds)

    def before(op: Operation) -> list[Operation]:
        producers = [x.op for x in op.primitive.run_inputs(op.inputs) if x not in fed]
        return [*producers, *[c for c in op.control_inputs if not _is_fed(c, fed)]] if op.control_inputs else producers

    wanted = [*[x.op for x in fetches if x not in fed], *[op for op in targets if not _is_fed(op, fed)]]
    return sorted(needed(wanted, before), key=index_of)


def _is_fed(op: Operation, fed: set[Tensor]) -> bool:
    """Whether feeds stand for all that an operation does."""
    return bool(op.outputs) and fed.issuperset(op.outputs) and not isinstance(op.primitive, AbstractStateful)


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
        self,
        fetches: Sequence[Tensor],
        feeds: Sequence[Tensor],
        handles: Mapping[Operation, Operation],
        known: dict[Any, Plan],
    ) -> None:
        self.handles = handles
        """In a body, the operation of the variable's handle for each parameter that stands for one."""
        self.known = known
        """The plans of bodies, by all that they depend on."""
        self.fetches = tuple(fetches)
        self.feeds = tuple(feeds)
        self.slots: dict[Tensor, int] = {x: i for i, x in enumerate(feeds, start=1)}
        self.size = len(self.slots) + 1
        self.states: dict[Operation, int] = {}
        self.written: set[int] = set()
        self.same: dict[Tensor, Tensor] = {}
        """For outputs of loops that are left out, those of the loop that stands for them."""

    def plan(self, ops: list[Operation]) -> Plan:
        ops = self._with_fewest_loops(ops)
        last = self._last_uses(ops)
        constants: list[tuple[int, np.ndarray[Any, Any]]] = []
        steps: list[Step] = []
        for op in ops:
            if isinstance(op.primitive, Const):
                constants.extend((self._new_slot(x), op.primitive.value) for x in op.outputs if x not in self.slots)
            elif not (_only_handles(op) or isinstance(op.primitive, Parameter)):
                steps.append(self._step(op, last))
        return Plan(
            steps=tuple(steps),
            size=self.size,
            feeds=self.feeds,
            feed_slots=tuple([self.slots[x] for x in self.feeds]),
            fetches=self.fetches,
            fetch_slots=tuple([self.slots[self.same.get(x, x)] for x in self.fetches]),
            constants=tuple(constants),
            states=tuple(self.states),
            written=frozenset(self.written),
        )

    def _with_fewest_loops(self, ops: list[Operation]) -> list[Operation]:
        """`ops`, where of loops that differ only in how much they hand out the one that hands out most is left.

        A derivative that keeps what steps compute makes such a loop beside the one that it differentiates.
        """
        groups: dict[Any, list[Operation]] = {}
        for op in ops:
            if isinstance(op.primitive, Loop) and self.slots.keys().isdisjoint(op.outputs):
                groups.setdefault((op.primitive.body.graph, op.inputs), []).append(op)
        chosen: dict[Operation, Operation | None] = {}
        for group in groups.values():
            longest = max(group, key=lambda op: len(op.outputs))
            for op in group if len(group) > 1 else ():
                chosen[op] = None
                self.same.update(zip(op.outputs, longest.outputs, strict=False))
            chosen[group[0]] = longest
        found = [chosen.get(op, op) for op in ops]
        return [op for op in found if op is not None]

    def _last_uses(self, ops: list[Operation]) -> dict[Tensor, Operation | None]:
        """The last operation that reads each tensor; None for what is fetched."""
        last: dict[Tensor, Operation | None] = {}
        for op in ops:
            for x in self._inputs(op):
                last[x] = op
        last.update((self.same.get(x, x), None) for x in self.fetches)
        return last

    def _inputs(self, op: Operation) -> Sequence[Tensor]:
        """What a run reads for `op`."""
        inputs = op.primitive.run_inputs(op.inputs)
        return [self.same.get(x, x) for x in inputs] if self.same else inputs

    def _step(self, op: Operation, last: dict[Tensor, Operation | None]) -> Step:
        state = self._state(op)
        inputs = [x for x in self._inputs(op) if x.dtype != resource]
        outputs = tuple([self._new_slot(x) if x in last and x not in self.slots else NOWHERE for x in op.outputs])
        dead = {x: None for x in inputs if last[x] is op and not isinstance(x.op.primitive, Const)}
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
        """The operation under which the variable is kept that the handle `x` names."""
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
        handles = {x.op: self._handle(arg) for x, arg in pairs if x.dtype == resource}
        key = (function, tuple(fetched), tuple(handles.items()))
        plan = self.known.get(key)
        if plan is None:
            plan = self.known[key] = self._body_plan(function, fetched, handles)
        values = [n for n, x in enumerate(op.inputs) if x.dtype != resource]
        numbers = [values.index(n) for n in args if op.inputs[n].dtype != resource]
        states = [self._state_number(key, i in plan.written) for i, key in enumerate(plan.states)]
        return Body(plan, tuple(numbers), tuple(states))

    def function_plan(self, function: Function, count: int) -> Plan:
        return self._body_plan(function, list(range(count)), self.handles)

    def _body_plan(self, function: Function, fetched: list[int], handles: Mapping[Operation, Operation]) -> Plan:
        results = [function.results[i] for i in fetched]
        feeds = [x for x in function.parameters if x.dtype != resource]
        planner = _Planner(results, feeds, handles, self.known)
        return planner.plan(needed_operations(results, function.effects, feeds))

    def _new_slot(self, x: Tensor) -> int:
        slot = self.slots[x] = self.size
        self.size += 1
        return slot


def _only_handles(op: Operation) -> bool:
    """Whether all that an operation hands on are handles, which have no value."""
    return bool(op.outputs) and all(y.dtype == resource for y in op.outputs)
