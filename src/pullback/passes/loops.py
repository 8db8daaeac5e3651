"""Loop-invariant code motion, and dead variables of loops: what a loop computes each time anew, or for nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from ..control_flow.loop import Loop
from ..core.function import Function, Parameter, inline, like_parameter, trace
from ..core.graph import Graph, Operation, Tensor
from ..core.needs import needed
from ..core.printing import functions_in
from ..core.traits import CONSTANT, ELEMENTWISE
from ..primitives.base.state import AbstractStateful
from ..primitives.debugging.guards import AbstractGuard
from .rebuilding import copied
from .view import View, view_of


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
    outside = Function(body.graph, constants, edge, f"{body.name}_invariant", on_demand=body.on_demand)
    condition = loop.condition and _with_more_parameters(loop.condition, edge)
    return Hoisted(replace(loop, body=_part(body, (*body.parameters, *edge)), condition=condition), outside)


def _computes(op: Operation) -> bool:
    """Whether an operation computes numbers, and cannot fail."""
    p = op.primitive
    if p.stateful or p.acts or p.recomputes or op.controls or op.device or isinstance(p, AbstractGuard):
        return False
    return ELEMENTWISE in p.traits or any(t.name in ("linear", "bilinear") for t in p.traits)


def _part(function: Function, parameters: Sequence[Tensor], results: Sequence[Tensor] | None = None) -> Function:
    """The function of some of the tensors of `function`, in a graph of its own."""
    chosen = function.results if results is None else tuple(results)
    part = Function(function.graph, tuple(parameters), chosen, function.name, on_demand=function.on_demand)
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
    if loop.body.effects or (loop.stateful and not _acts_on_demand(loop)):
        return None
    places, c = loop.places, loop.carried
    rows = _rows_read(loop, is_read)
    dead = _dead(loop, is_read, rows)
    if not dead and len(rows) == len(places.stacked) + len(places.kept):
        return None
    order = [i for i in range(c) if i not in dead]
    results = [*order, *[places.result_of(n) for n in rows]]
    body, condition = loop.body, loop.condition
    parameters = [x for i, x in enumerate(body.parameters) if i not in dead]
    made = replace(
        loop,
        body=_part(body, parameters, [body.results[i] for i in results]),
        condition=condition and _part(condition, [condition.parameters[n] for n in _tested(loop, dead)]),
        carried=len(order),
        stacked=sum(n in places.stacked for n in rows),
    )
    stacked, kept = ([n for n in rows if n in some] for some in (places.stacked, places.kept))
    outputs = (0, *[places.final[i] for i in order], *stacked, *[places.history[i] for i in order], *kept)
    inputs = tuple([i for i in range(1 + len(body.parameters)) if i - 1 not in dead])
    return Narrowed(made, inputs, outputs)


def _acts_on_demand(loop: Loop) -> bool:
    """Whether all that its functions do happens on demand, and nothing in them has state of its own."""
    outer = [op for f in loop.functions for op in f.operations]
    inside = [*outer, *[op for f in functions_in(outer) for op in f.operations]]
    owned = any(isinstance(op.primitive, AbstractStateful) and op.primitive.owns_state for op in inside)
    return all(f.on_demand for f in loop.functions) and not owned


def _rows_read(loop: Loop, is_read: Callable[[int], bool]) -> list[int]:
    """The numbers of those of the outputs that hold a row for each step, histories aside, that somebody reads."""
    return [n for n in (*loop.places.stacked, *loop.places.kept) if is_read(n)]


def _dead(loop: Loop, is_read: Callable[[int], bool], rows: Sequence[int]) -> Set[int]:
    """The numbers of the body's parameters, carried and constant, on which nothing depends that is read."""
    results = [loop.places.result_of(n) for n in rows]
    live = _live(loop, is_read, results)
    unread = _unread_constants(loop, [loop.body.results[i] for i in (*live, *results)])
    return ({*range(loop.carried)} - live) | unread


def _unread_constants(loop: Loop, results: Sequence[Tensor]) -> Set[int]:
    """The numbers, among the body's parameters, of the constants that neither `results` nor the condition need."""
    first = loop.carried + loop.scanned
    condition = loop.condition
    read = _read_for(results) | (_read_for(condition.results) if condition else frozenset())
    tested = condition.parameters[loop.carried :] if condition else loop.body.parameters[first:]
    pairs = enumerate(zip(loop.body.parameters[first:], tested, strict=True), start=first)
    return {i for i, pair in pairs if read.isdisjoint(pair)}


def _tested(loop: Loop, dead: Set[int]) -> list[int]:
    """The numbers of the parameters of a loop's condition where those of the body that are `dead` are left out."""
    own = [*range(loop.carried), *range(loop.carried + loop.scanned, len(loop.body.parameters))]
    return [n for n, i in enumerate(own) if i not in dead]


def _read_for(results: Sequence[Tensor]) -> Set[Tensor]:
    """The tensors that are read to compute `results`, and these."""
    return {*results, *[x for op in needed([y.op for y in results], _inputs) for x in op.inputs]}


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


def with_narrow_loops(view: View) -> View:
    """The view with loops that carry and read nothing for which nobody asks, and without what only that needed."""
    graph = Graph(name="narrowed")
    loops = [op for op in view.operations if isinstance(op.primitive, Loop)]
    for op in reversed(loops):
        view = _with_narrow_loop(op, view, graph)
    return view


def _with_narrow_loop(op: Operation, view: View, graph: Graph) -> View:
    loop, outputs, counts = op.primitive, op.outputs, uses(view)
    assert isinstance(loop, Loop)

    def is_read(n: int) -> bool:
        return counts[outputs[n]] > 0

    if all(map(is_read, [*loop.places.final, *loop.places.stacked])):
        return view
    if not (view.given.isdisjoint(outputs) and view.keep.isdisjoint(outputs)):
        return view
    made = narrowed(loop, is_read)
    if made is None or len(made.inputs) == len(op.inputs):
        return view
    inputs = [view.stand_in(x) for x in op.inputs]
    new = graph.restore(
        made.loop,
        [inputs[i] for i in made.inputs],
        op.name,
        control_inputs=op.controls,
        device=op.device,
        attrs=op.attrs,
        original_op=op.original_op,
        site=op.site,
    )
    same = {**view.same, **{outputs[i]: y for i, y in zip(made.outputs, new.outputs, strict=True)}}
    operations = [new if x is op else x for x in view.operations]
    return replace(view, operations=operations, same=same).settled().pruned()


def uses(view: View) -> Counter[Tensor]:
    """How often each tensor is read, asked for, or waited for."""
    found = Counter([x for op in view.operations for x in view.inputs(op)])
    found.update(map(view.stand_in, view.results))
    found.update(
        [y for op in (*view.targets, *[c for op in view.operations for c in view.controls(op)]) for y in op.outputs]
    )
    return found


def _inputs(op: Operation) -> list[Operation]:
    return [*[x.op for x in op.inputs], *op.controls]
