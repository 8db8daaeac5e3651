"""ONNX export of calls and branches: calls are inlined, branches are nodes that hold graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....control_flow.branch import Case, If
from ....control_flow.call import Call, RecomputedCall, StatefulCall
from ....control_flow.custom_gradient import CustomGradient
from ....control_flow.state import Unmade
from ....core.dtypes import INEXACT, TokenType
from ....core.function import Function
from ....core.operation import Operation
from ....core.types import TensorType
from ...pairs import grouped, part_types, parts
from ...records import Body, Value
from ...registry import writer
from ...writing import Writer
from ..variables import written_states

States = Mapping[Operation, TensorType]


def read_outputs(w: Writer) -> list[int]:
    """The numbers of the outputs that somebody reads."""
    return [i for i, y in enumerate(w.op.outputs) if w.read(i) and not isinstance(y.dtype, TokenType)]


def in_places(w: Writer, numbers: Sequence[int], values: Sequence[Any]) -> list[Any]:
    """One entry for each output: a value for those of these numbers."""
    found: list[Any] = [None] * len(w.op.outputs)
    for i, value in zip(numbers, values, strict=True):
        found[i] = value
    return found


@writer(RecomputedCall, pairs=True, rows=True)
def recomputed_call(w: Writer, p: Any, *args: Any) -> list[Any]:
    """A branch that is always taken, on a condition that no runtime knows, once the last arguments are there.

    What is in a branch is not merged with what was computed before outside of it.
    """
    last = next((x for x in reversed(args) if isinstance(x, Value) and x.type.dtype in INEXACT), None)
    numbers = read_outputs(w)
    if last is None:
        return in_places(w, numbers, w.function(p.function, args, numbers, f"{w.prefix}{w.op.name}/"))
    types = part_types([w.type_of(w.op.outputs[i]) for i in numbers])
    zero = w.scalar(0, last)
    awaited = [x for x in args[_count_read(p.function) :] if isinstance(x, Value) and x.type.dtype == last.type.dtype]
    firsts = [w.slice(w.reshape(x, [-1]), [0], [1], [0]) for x in awaited or [last]]
    number = w.reduce("ReduceSum", w.concat([*firsts, w.reshape(zero, [1])], 0), None, False)
    taken = w.node("Not", w.node("And", w.node("Less", number, zero), w.node("Greater", number, zero)))
    bodies = {
        "then_branch": _branch(w, p.function, args, numbers, {}, again=True),
        "else_branch": w.body(lambda inner: [_zeros(inner, t) for t in types], []),
    }
    return in_places(w, numbers, grouped(w.emit("If", [taken], types, bodies), [w.op.outputs[i].type for i in numbers]))


def _count_read(function: Function) -> int:
    """How many of its parameters a function reads; what follows is only waited for."""
    read = {*function.results, *[x for op in function.operations for x in op.inputs]}
    return max([i + 1 for i, x in enumerate(function.parameters) if x in read], default=0)


def _zeros(w: Writer, of: TensorType) -> Value:
    """An array of zeros that fits a type, whatever its lengths are."""
    lengths = [n if isinstance(n, int) else 0 for n in of.shape.sizes or ()]
    zero = w.constant(np.zeros((), of.dtype))
    return w.expand(zero, lengths)


@writer(Call, StatefulCall, pairs=True, rows=True)
def call(w: Writer, p: Any, *args: Any) -> list[Any]:
    numbers = read_outputs(w)
    return in_places(w, numbers, w.function(p.function, args, numbers, f"{w.prefix}{w.op.name}/"))


@writer(If, pairs=True, rows=True)
def if_(w: Writer, p: Any, choice: Value, *args: Any) -> list[Any]:
    known = w.static(choice)
    branches = [p.then_branch, p.else_branch]
    numbers = read_outputs(w)
    if known is not None:
        chosen = branches[0 if known.item() else 1]
        return in_places(w, numbers, w.function(chosen, args, numbers, f"{w.prefix}{w.op.name}/"))
    changed = changed_states(w, branches, args)
    types = [*[w.type_of(w.op.outputs[i]) for i in numbers], *changed.values()]
    if not types:
        return in_places(w, [], [])
    bodies = [_branch(w, f, args, numbers, changed) for f in branches]
    made = w.emit("If", [choice], part_types(types), {"then_branch": bodies[0], "else_branch": bodies[1]})
    return in_places(w, numbers, without_states(w, grouped(made, types), changed))


def changed_states(w: Writer, functions: Sequence[Function], args: Sequence[Any]) -> States:
    """The variables that one of the functions changes; all of them have a value before."""
    found: dict[Operation, TensorType] = {}
    for f in functions:
        found |= written_states(f, args)
    for handle, type in found.items():
        w.model.state(handle, type)
    return found


def without_states(w: Writer, made: Sequence[Any], changed: States) -> Sequence[Any]:
    """`made` without the values of variables at its end, which become their present ones."""
    count = len(made) - len(changed)
    for handle, value in zip(changed, made[count:], strict=True):
        w.model.states[handle] = value
    return made[:count]


def _branch(
    w: Writer,
    function: Function,
    args: Sequence[Any],
    numbers: Sequence[int],
    changed: States,
    *,
    again: bool = False,
) -> Body:
    before = dict(w.model.states)

    def build(inner: Writer) -> list[Value]:
        results = inner.function(function, args, numbers, f"{w.prefix}{w.op.name}/{function.name}/")
        return parts([*map(inner.stacked, results), *[w.model.states[handle] for handle in changed]])

    try:
        return w.body(build, [], again=again)
    finally:
        w.model.states = before | {k: v for k, v in w.model.initial.items() if k not in before}


@writer(Case, pairs=True, rows=True)
def case(w: Writer, p: Any, index: Value, *args: Any) -> list[Any]:
    """Branches in branches: the last one stands for all other numbers."""
    numbers = read_outputs(w)
    changed = changed_states(w, p.branches, args)
    types = [*[w.type_of(w.op.outputs[i]) for i in numbers], *changed.values()]
    if len(p.branches) == 1:
        return in_places(w, numbers, w.function(p.branches[0], args, numbers, f"{w.prefix}{w.op.name}/"))
    if not types:
        return in_places(w, [], [])

    def choose(inner: Writer, first: int) -> list[Value]:
        rest = len(p.branches) - first
        chosen = inner.node("Equal", index, inner.scalar(first, index))
        bodies = {"then_branch": _branch(inner, p.branches[first], args, numbers, changed)}
        if rest == 2:
            bodies["else_branch"] = _branch(inner, p.branches[first + 1], args, numbers, changed)
        else:
            bodies["else_branch"] = inner.body(lambda deeper: choose(deeper, first + 1), [])
        return inner.emit("If", [chosen], part_types(types), bodies)

    return in_places(w, numbers, without_states(w, grouped(choose(w, 0), types), changed))


@writer(Unmade)
def unmade(w: Writer, p: Any) -> Value:
    return w.constant(np.zeros([n or 0 for n in p.of.shape.sizes or ()], p.of.dtype))


@writer(CustomGradient, pairs=True)
def custom_gradient(w: Writer, p: Any, *xs: Value) -> tuple[Value, ...]:
    """The results, which stand before what the derivative needs."""
    return xs[: len(w.op.outputs)]
