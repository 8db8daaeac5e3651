"""From a view back to a function: the operations that are left, copied into a graph of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
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


class _Rebuilding:
    def __init__(self, step: Pass, keep: Collection[Tensor]) -> None:
        self.step, self.keep = step, frozenset(keep)
        self.made: dict[Function, Function] = {}
        """What has become of the functions inside: those that were one stay one."""

    def function(self, function: Function) -> Function:
        made = self.made.get(function)
        if made is None:
            kept = [x for x in self.keep if x.op.graph is function.graph]
            targets = [*function.effects, *[x.op for x in kept]]
            view = view_of(function.results, targets, frozenset(function.parameters), keep=kept)
            made = self.made[function] = self._copy(self.step(view), function)
        return made

    def _copy(self, view: View, function: Function) -> Function:
        graph = Graph(function.graph.outer, function.graph.name)
        with graph.as_default():
            values = {x: add_parameter(graph, like_parameter(x), x.op.name + "/") for x in function.parameters}
            copies: dict[Operation, Operation] = {}
            for op in view.operations:
                self._copy_operation(graph, op, view, values, copies)
        graph.finalize()
        results = tuple([values[view.stand_in(y)] for y in function.results])
        return Function(graph, tuple([values[x] for x in function.parameters]), results, function.name)

    def _copy_operation(
        self, graph: Graph, op: Operation, view: View, values: dict[Tensor, Tensor], copies: dict[Operation, Operation]
    ) -> None:
        how: dict[str, Any] = {
            "device": op.device,
            "attrs": op.attrs,
            "original_op": copies.get(op.original_op, op.original_op) if op.original_op else None,
            "site": op.site,
        }
        if op.outputs and op.outputs[0] in view.known:
            for i, y in enumerate(op.outputs):
                name = op.name if i == 0 else f"{op.name}/{i}"
                copy = graph.restore(Const(view.known[y]), (), name, control_inputs=(), **how)
                values[y] = copy.outputs[0]
            return
        inputs = [values[x] for x in view.inputs(op)]
        controls = tuple([copies[c] for c in view.controls(op)])
        copies[op] = copy = graph.restore(
            self._primitive(op.primitive), inputs, op.name, control_inputs=controls, **how
        )
        for y, copied in zip(op.outputs, copy.outputs, strict=True):
            values.setdefault(y, copied)

    def _primitive(self, primitive: Primitive) -> Primitive:
        """`primitive`, holding the functions that those inside it have become."""
        if not isinstance(primitive, AbstractFunctional):
            return primitive
        changed: Any = {name: self._attribute(value) for name, value in primitive.attributes.items()}
        return dataclasses.replace(primitive, **changed)

    def _attribute(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple([self._attribute(v) for v in value])
        return self.function(value) if isinstance(value, Function) else value
