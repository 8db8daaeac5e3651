"""Graph reconstruction from a rewritten view: a function of the operations that are left, copied."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..core.function import AbstractFunctional, Function, add_parameter, like_parameter
from ..core.graph import Graph, Operation, Tensor
from ..core.primitive import Primitive
from ..primitives.creation.constant import Const
from .view import View, view_of

Pass = Callable[[View], View]


def rebuilt(function: Function, step: Pass, keep: Collection[Tensor] = ()) -> Function:
    """`function` as `step` leaves it, and the functions inside it likewise; `keep` are tensors whose names survive."""
    return _Rebuilding(step, keep).function(function)


def copied(view: View, function: Function, inside: Callable[[Function], Function] | None = None) -> Function:
    """The function that a view of `function` leaves, in a graph of its own; `inside` changes the functions inside."""
    return _Copying(view, function, inside).function()


class _Rebuilding:
    def __init__(self, step: Pass, keep: Collection[Tensor]) -> None:
        self.step, self.keep = step, frozenset(keep)
        self.made: dict[Function, Function] = {}
        """What has become of the functions inside: those that were one stay one."""

    def function(self, function: Function) -> Function:
        """What `step` makes of a function."""
        made = self.made.get(function)
        if made is None:
            kept = [x for x in self.keep if x.op.graph is function.graph]
            targets = [*function.effects, *[x.op for x in kept]]
            view = view_of(function.results, targets, frozenset(function.parameters), keep=kept)
            made = self.made[function] = copied(self.step(view), function, self.function)
        return made


class _Copying:
    """The operations of a view, copied into a graph of their own."""

    def __init__(self, view: View, original: Function, inside: Callable[[Function], Function] | None) -> None:
        self.view, self.original, self.inside = view, original, inside
        self.values: dict[Tensor, Tensor] = {}
        self.copies: dict[Operation, Operation] = {}
        kept = [*view.operations, *[x.op for x in original.parameters]]
        self.names = {op.name for op in kept if op.graph is original.graph}

    def function(self) -> Function:
        """The function of the copies."""
        view, values, function = self.view, self.values, self.original
        graph = Graph(function.graph.outer, function.graph.name)
        with graph.as_default():
            for x in function.parameters:
                name = f"{x.op.name}/" if x.value_index == 0 else f"{x.op.name}/{x.value_index}/"
                values[x] = add_parameter(graph, like_parameter(x), name)
            for op in view.operations:
                self._copy(graph, op)
        graph.finalize()
        results = tuple([values[view.stand_in(y)] for y in function.results])
        return Function(
            graph, tuple([values[x] for x in function.parameters]), results, function.name, on_demand=function.on_demand
        )

    def _copy(self, graph: Graph, op: Operation) -> None:
        view, values, copies = self.view, self.values, self.copies
        if op.outputs and op.outputs[0] in view.known:
            for i, y in enumerate(op.outputs):
                name = self._name(op) if i == 0 else f"{op.name}/{i}"
                copy = restored(graph, op, Const(view.known[y]), (), copies, name=name)
                values[y] = copy.outputs[0]
            return
        inputs = [values[x] for x in view.inputs(op)]
        controls = tuple([copies[c] for c in view.controls(op)])
        copies[op] = copy = restored(
            graph, op, self._primitive(op.primitive), inputs, copies, controls, name=self._name(op)
        )
        for y, made in zip(op.outputs, copy.outputs, strict=True):
            values.setdefault(y, made)

    def _name(self, op: Operation) -> str:
        """The name of an operation; one that a pass made gets another where that is in use."""
        name = op.name
        while op.graph is not self.original.graph and name in self.names:
            name += "_"
        self.names.add(name)
        return name

    def _primitive(self, primitive: Primitive) -> Primitive:
        """`primitive`, holding the functions that those inside it have become."""
        if self.inside is None or not isinstance(primitive, AbstractFunctional):
            return primitive
        return with_functions(primitive, self.inside)


def restored(
    graph: Graph,
    op: Operation,
    primitive: Primitive,
    inputs: Sequence[Tensor],
    copies: Mapping[Operation, Operation],
    controls: tuple[Operation, ...] = (),
    *,
    name: str | None = None,
) -> Operation:
    """A copy of `op` in `graph`, which may do otherwise; what it is a derivative of is the copy of that, or in `graph`.

    It has a name of its own unless one is given.
    """
    original = copies.get(op.original_op, op.original_op) if op.original_op else None
    return graph.restore(
        primitive,
        inputs,
        name or graph.unique_name(op.name),
        control_inputs=controls,
        device=op.device,
        attrs=op.attrs,
        original_op=original if original is not None and original.graph is graph else None,
        site=op.site,
    )


def with_functions(primitive: AbstractFunctional, change: Callable[[Function], Function]) -> AbstractFunctional:
    """`primitive` holding what `change` makes of its functions; itself where that is what they were."""
    changed: Any = {name: _changed(value, change) for name, value in primitive.attributes.items()}
    same = all(changed[name] is value for name, value in primitive.attributes.items())
    return primitive if same else dataclasses.replace(primitive, **changed)


def _changed(value: Any, change: Callable[[Function], Function]) -> Any:
    if isinstance(value, Function):
        return change(value)
    if not isinstance(value, tuple):
        return value
    changed = tuple([_changed(v, change) for v in value])
    return value if all(a is b for a, b in zip(changed, value, strict=True)) else changed
