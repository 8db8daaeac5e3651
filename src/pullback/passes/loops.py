"""Loop-invariant code motion, and dead variables of loops: what a loop computes each time anew, or for nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from ..control_flow.loop import Loop
from ..core.function import Function, Parameter, inline, like_parameter, trace
from ..core.graph import Graph, Operation, Tensor
from ..core.needs import needed
from ..core.traits import CONSTANT, ELEMENTWISE
from ..primitives.debugging.guards import AbstractGuard
from .rebuilding import copied
from .view import view_of


@dataclass(frozen=True)
class Hoisted:
    """A loop that is given what it computed in each step from constants alone."""

    loop: Loop
    outside: Function
    """What is computed before the loop, of its constants."""


def hoisted(loop: Loop) -> Hoisted | None:
    """`loop` without what is the same in each step; None where there is nothing.

    What may fail stays inside, where it may not be reached.
    """
    body = loop.body
    constants = body.parameters[loop.carried + loop.scanned :]
    found: dict[Tensor, None] = {}
    same = {*constants, *[op.outputs[0] for op in body.operations if CONSTANT in op.primitive.traits]}
    for op in body.operations:
        if _computes(op) and all(x in same for x in op.inputs) and not set(op.inputs).isdisjoint({*constants, *found}):
            same.update(op.outputs)
            found.update(dict.fromkeys(op.outputs))
    read = {x for op in body.operations if op.outputs and op.outputs[0] not in found for x in op.inputs}
    edge = tuple([y for y in found if y in read or y in body.results])
    if not edge:
        return None
    outside = Function(body.graph, constants, edge, f"{body.name}_invariant")
    condition = loop.condition and _with_more_parameters(loop.condition, edge)
    return Hoisted(replace(loop, body=_part(body, (*body.parameters, *edge)), condition=condition), outside)


def _computes(op: Operation) -> bool:
    """Whether an operation computes numbers, and cannot fail."""
    p = op.primitive
    if p.stateful or p.acts or p.recomputes or op.control_inputs or op.device or isinstance(p, AbstractGuard):
        return False
    return ELEMENTWISE in p.traits or any(t.name in ("linear", "bilinear") for t in p.traits)


def _part(function: Function, parameters: Sequence[Tensor], results: Sequence[Tensor] | None = None) -> Function:
    """The function of some of the tensors of `function`, in a graph of its own."""
    chosen = function.results if results is None else tuple(results)
    part = Function(function.graph, tuple(parameters), chosen, function.name)
    return copied(view_of(chosen, function.effects, frozenset(parameters)), part)


def _with_more_parameters(function: Function, more: Sequence[Tensor]) -> Function:
    """`function` with parameters that it does not read, for tensors like `more`."""
    count = len(function.parameters)
    parameters = [*map(like_parameter, function.parameters), *[Parameter(x.type) for x in more]]
    names = [x.op.name for x in (*function.parameters, *more)]

    def build(*xs: Tensor) -> list[Tensor]:
        return inline(function, xs[:count])

    with (function.graph.outer or Graph()).as_default():
        return trace(build, parameters, function.name, names, inherit=False).function


@dataclass(frozen=True)
class Narrowed:
    """A loop without the variables that nobody reads."""

    loop: Loop
    inputs: tuple[int, ...]
    """The numbers of its inputs among those of the loop that it was."""
    outputs: tuple[int, ...]


def narrowed(loop: Loop, is_read: Callable[[int], bool]) -> Narrowed | None:
    """`loop` without carried variables, rows and histories that nobody reads; None where all are."""
    if loop.body.effects or loop.stateful:
        return None
    places, c = loop.places, loop.carried
    rows = [n for n in (*places.stacked, *places.kept) if is_read(n)]
    live = _live(loop, is_read, [places.result_of(n) for n in rows])
    if len(live) == c and len(rows) == len(places.stacked) + len(places.kept):
        return None
    order = sorted(live)
    results = [*order, *[places.result_of(n) for n in rows]]
    dead = {*range(c)} - live
    body, condition = loop.body, loop.condition
    parameters = [x for i, x in enumerate(body.parameters) if i not in dead]
    made = replace(
        loop,
        body=_part(body, parameters, [body.results[i] for i in results]),
        condition=condition and _part(condition, [x for i, x in enumerate(condition.parameters) if i not in dead]),
        carried=len(order),
        stacked=sum(n in places.stacked for n in rows),
    )
    stacked, kept = ([n for n in rows if n in some] for some in (places.stacked, places.kept))
    outputs = (0, *[places.final[i] for i in order], *stacked, *[places.history[i] for i in order], *kept)
    inputs = tuple([i for i in range(1 + len(body.parameters)) if i - 1 not in dead])
    return Narrowed(made, inputs, outputs)


def _live(loop: Loop, is_read: Callable[[int], bool], rows: Sequence[int]) -> Set[int]:
    """The numbers of the carried variables that are read, or that what is read depends on."""
    body, condition, places = loop.body, loop.condition, loop.places
    carried = {x: i for i, x in enumerate(body.parameters[: loop.carried])}
    live = {i for i in range(loop.carried) if is_read(places.final[i]) or is_read(places.history[i])}
    if condition is not None:
        tested = needed([condition.results[0].op], _inputs)
        live |= {i for i, x in enumerate(condition.parameters[: loop.carried]) if x.op in tested}
    pending = [*[body.results[i] for i in live], *[body.results[i] for i in rows]]
    while True:
        reached = needed([x.op for x in pending], _inputs)
        more = {i for x, i in carried.items() if x.op in reached} - live
        if not more:
            return live
        live |= more
        pending = [body.results[i] for i in live] + [body.results[i] for i in rows]


def _inputs(op: Operation) -> list[Operation]:
    return [*[x.op for x in op.inputs], *op.control_inputs]
