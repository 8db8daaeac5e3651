"""Graph extension by a rewritten view: what is new is added, what stayed is used as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.graph import Graph, Operation, Tensor
from ..core.primitive import Primitive
from ..core.scopes import Scope
from ..primitives.creation.constant import Const
from .view import View


def appended(view: View, graph: Graph, name: str) -> list[Tensor]:
    """The results of `view`, computed by operations of `graph`: those that it has, and copies of what is new.

    A copy has the name of what it is a copy of, below the name scope `name`, and its device, attributes and place.
    """
    with graph.transaction(), graph.name_scope(name) as prefix:
        appending = Appending(view, graph, prefix)
        for op in view.operations:
            appending.visit(op)
        for told in graph.on_rewriting:
            told(appending.tensor)
    return [appending.tensor(y) for y in view.results]


class Appending:
    """Adds what is new in `view` to `graph`, operation by operation."""

    def __init__(self, view: View, graph: Graph, prefix: str) -> None:
        self.view, self.graph, self.prefix = view, graph, prefix
        self.values: dict[Tensor, Tensor] = {}
        self.copies: dict[Operation, Operation] = {}

    def tensor(self, x: Tensor) -> Tensor:
        """What stands for `x` in the graph."""
        x = self.view.stand_in(x)
        return self.values.get(x, x)

    def visit(self, op: Operation) -> None:
        """Add a copy of `op`, unless the graph has it as it is now."""
        values = [self.view.known.get(y) for y in op.outputs]
        if values and values[0] is not None:
            self._visit_known(op, values)
            return
        inputs = [self.tensor(x) for x in op.inputs]
        controls = [self.copies.get(c, c) for c in self.view.controls(op)]
        if op.graph is self.graph and _same(inputs, op.inputs) and _same(controls, op.controls):
            return
        copy = self.copies[op] = self._copy(op, op.primitive, inputs, op.name)
        copy.controls = tuple(controls)
        self.values.update(zip(op.outputs, copy.outputs, strict=True))

    def _visit_known(self, op: Operation, values: Sequence[Any]) -> None:
        if isinstance(op.primitive, Const) and op.graph is self.graph:
            return
        for y, value in zip(op.outputs, values, strict=True):
            self.values[y] = self._copy(op, Const(value), (), op.name).outputs[0]

    def _copy(self, op: Operation, primitive: Primitive, inputs: Sequence[Tensor], name: str) -> Operation:
        with self.graph.entered(Scope(prefix=self.prefix, original_op=op.original_op, site=op.site)):
            copy = self.graph.add(primitive, inputs, name)
        copy.device, copy.attrs = op.device, op.attrs
        return copy


def _same(a: Sequence[object], b: Sequence[object]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
