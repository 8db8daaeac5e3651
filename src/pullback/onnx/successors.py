"""Nodes of a loaded model after graph optimisation: what a pass made of a node's operations is still that node.

A pass copies operations, folds and rewrites them. Where what stands for a node's outputs is computed of what stands for
its inputs and of nothing else, the node is written in the place of these operations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from ..control_flow.loop import Loop
from ..core.operation import Operation, Tensor
from ..primitives.creation.constant import Const

if TYPE_CHECKING:
    from .model import OnnxGraph
    from .reading import Node


class Successors:
    """The nodes that passes over a graph have left, beside those of its model."""

    def __init__(self, graph: OnnxGraph) -> None:
        self.graph = graph
        self.origin: dict[Tensor, Node] = {}
        """The node that a tensor came from."""
        self.values: dict[str, Tensor] = {}
        """What these nodes read and give, by names that the model does not have."""

    @property
    def all_values(self) -> Mapping[str, Any]:
        """The values of the model too."""
        return {**self.graph.values, **self.values} if self.values else self.graph.values

    @property
    def all_origins(self) -> Mapping[Tensor, Node]:
        """The nodes of the model too."""
        return {**self.graph.origin, **self.origin} if self.origin else self.graph.origin

    def follow(self, stand_in: Callable[[Tensor], Tensor]) -> None:
        """Note what has become of the nodes, where `stand_in` says what stands for the tensors of the graph by now."""
        values, origin = self.all_values, self.all_origins
        moved: dict[Node, dict[Tensor, Tensor]] = {}
        for y, node in origin.items():
            z = stand_in(y)
            if z.graph is self.graph and z not in origin and not node.has_bodies:
                moved.setdefault(node, {})[y] = z
        named = {*origin, *[z for ys in moved.values() for z in ys.values()]}
        for node, ys in moved.items():
            given = {name: values[name] for name in node.inputs if name}
            if all(isinstance(x, Tensor) for x in given.values()):
                xs = {name: stand_in(x) for name, x in given.items()}
                made = _between(ys, set(xs.values()), named)
                if made:
                    self._add(node, xs, {y: ys[values[y]] for y in node.outputs if values.get(y) in ys}, made)

    def _add(self, node: Node, xs: Mapping[str, Tensor], ys: Mapping[str, Tensor], made: Collection[Operation]) -> None:
        inputs = [name and self._named(xs[name]) for name in node.inputs]
        successor = node.of(inputs, [self._named(ys[name]) if name in ys else name for name in node.outputs])
        self.origin.update(dict.fromkeys(ys.values(), successor))
        if node in self.graph.stand_ins.values():
            self.graph.stand_ins.update({op: successor for op in made if isinstance(op.primitive, Loop)})

    def _named(self, x: Tensor) -> str:
        """A name of `x` among these values."""
        name = x.name
        while self.graph.values.get(name, x) is not x or self.values.get(name, x) is not x:
            name += "_"
        self.values[name] = x
        return name


def _between(ys: Mapping[Tensor, Tensor], ends: Collection[Tensor], named: Collection[Tensor]) -> set[Operation]:
    """The operations that compute what stands for `ys` of all of `ends` and of nothing else but constants.

    None where other values that have names are read, nor where it is a single operation that is another than it was: a
    rule prefers that.
    """
    found, read, own = set[Operation](), set[Tensor](), set(ys.values())
    pending = [y.op for y in own]
    while pending and own.isdisjoint(ends):
        op = pending.pop()
        if op in found:
            continue
        found.add(op)
        read.update(op.inputs)
        inner = [x for x in op.inputs if x not in ends and not isinstance(x.op.primitive, Const)]
        if not op.inputs or any(x in named and x not in own for x in inner):
            return set()
        pending += [x.op for x in inner]
    is_whole = all(x in read or isinstance(x.op.primitive, Const) for x in ends)
    same = len(found) > 1 or all(y.op.primitive == z.op.primitive for y, z in ys.items())
    return found if is_whole and same else set()
