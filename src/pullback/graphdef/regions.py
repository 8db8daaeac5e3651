"""Loops and conditionals of version 1 made again: a frame becomes a `Loop`, what Switch nodes lead to an `If`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..control_flow.conditional import cond
from ..core.errors import InvalidArgumentError
from ..core.graph import get_default_graph
from ..primitives.casting.cast import cast
from .flow import Conditional, Frame
from .loops import looped
from .nodes import LeftOut, Node, WithoutThese, there
from .translation import Made, Region, explained


def made_of_loop(region: Region, frame: Frame) -> dict[str, Made]:
    """The Exit nodes of a loop whose frame is entered from `region`."""
    left_out: dict[str, LeftOut] = {}
    while True:
        try:
            return _Loop(region, frame, left_out).exits()
        except WithoutThese as more:
            left_out.update(more.found)


class _Loop:
    """A frame of which the variables `left_out` are not here."""

    def __init__(self, region: Region, frame: Frame, left_out: Mapping[str, LeftOut]) -> None:
        self.region, self.frame, self.left_out = region, frame, left_out
        flow = region.flow
        pairs = {name: flow.start_and_next(name) for name in frame.merges}
        self.start = {name: region.value(first) for name, (first, _) in pairs.items()}
        self.next = {name: after for name, (_, after) in pairs.items()}
        missing = {x: y for x, y in self.start.items() if isinstance(y, LeftOut) and x not in left_out}
        if missing:
            raise WithoutThese(missing)
        self.variables = [name for name in frame.merges if name not in left_out]

    def exits(self) -> dict[str, Made]:
        """What the Exit nodes are."""
        region, frame, section = self.region, self.frame, self.region.flow.section
        switch_of = {switch: merge for merge, switches in frame.switches.items() for switch in switches}
        if not frame.condition or not frame.exits:
            raise InvalidArgumentError(f"import_graph_def: the loop '{'/'.join(frame.path)}' has no condition")
        node = Node(section.protos[frame.exits[0]], region.prefix + frame.path[-1].strip("/"), region, region.given)
        with region.scope_of(node), explained(node):
            ends = dict(zip(self.variables, self._ends(), strict=True))
        found: dict[str, Made] = {}
        for name in frame.exits:
            merge = switch_of.get(section.reads[name][0].node, section.reads[name][0].node)
            found[name] = self._exit(name, ends.get(merge, self.left_out.get(merge)))
        return found

    def _ends(self) -> list[Any]:
        names = self.variables
        if not names:
            return []
        fixed = [self._is_handed_on(name) for name in names]
        return looped(self._holds, self._step, [self.start[name] for name in names], fixed)

    def _is_handed_on(self, name: str) -> bool:
        after = self.region.flow.origin(self.next[name])
        return after.node in self.frame.switches.get(name, ())

    def _exit(self, name: str, value: Any) -> Made:
        region = self.region
        if value is None or isinstance(value, LeftOut):
            return Made((value or LeftOut(name, "Exit"),), None)
        node = Node(region.flow.section.protos[name], region.prefix + name, region, region.given)
        graph = get_default_graph().acting
        with graph.entered(graph.scope._replace(prefix=node.exactly, site=node.place)):
            return region.finished(node, lambda: value)

    def _inside(self, values: list[Any]) -> Region:
        """A region in which the variables have these values."""
        inner = self.region.inside()
        for name in self.frame.constants:
            inner.made[name] = Made((self.region.value(inner.flow.section.reads[name][0]),), None)
        for name, value in [*zip(self.variables, values, strict=True), *self.left_out.items()]:
            for x in (name, *self.frame.switches.get(name, ())):
                inner.made[x] = Made((value, value), None)
        return inner

    def _holds(self, values: list[Any]) -> Any:
        inner = self._inside(values)
        (source,) = inner.flow.section.reads[self.frame.condition]
        inner.evaluate([source.node])
        holds = inner.value(source)
        if isinstance(holds, LeftOut):
            raise WithoutThese(dict.fromkeys(self.variables, holds))
        return holds

    def _step(self, values: list[Any]) -> list[Any]:
        inner = self._inside(values)
        inner.made[self.frame.condition] = Made((True,), None)
        inner.evaluate([self.next[name].node for name in self.variables])
        return there({name: inner.value(self.next[name]) for name in self.variables})


def made_of_conditional(region: Region, conditional: Conditional) -> dict[str, Made]:
    """The Merge nodes of a conditional."""
    left_out: dict[str, LeftOut] = {}
    predicate = region.value(conditional.predicate)
    if isinstance(predicate, LeftOut):
        left_out.update(dict.fromkeys(conditional.merges, predicate))
    while True:
        try:
            return _chosen(region, conditional, predicate, left_out)
        except WithoutThese as more:
            left_out.update(more.found)


def _chosen(
    region: Region, conditional: Conditional, predicate: Any, left_out: Mapping[str, LeftOut]
) -> dict[str, Made]:
    protos = region.flow.section.protos
    merges = [name for name in conditional.merges if name not in left_out]
    found: dict[str, Made] = {name: Made((value,), None) for name, value in left_out.items()}
    if not merges:
        return found

    def branch(side: int) -> list[Any]:
        inner = region.inside()
        sources = {name: conditional.sides[name][side] for name in merges}
        inner.evaluate([source.node for source in sources.values()])
        return there({name: inner.value(source) for name, source in sources.items()})

    first = Node(protos[merges[0]], region.prefix + merges[0], region, region.given)
    graph = get_default_graph().acting
    with region.scope_of(first), explained(first):
        values = cond(predicate, lambda: branch(1), lambda: branch(0))
    for name, value in zip(merges, values, strict=True):
        node = Node(protos[name], region.prefix + name, region, region.given)
        with graph.entered(graph.scope._replace(prefix=node.exactly, site=node.place)):
            number = [cast(predicate, "int32")] if region.wants(name, 1) else []
            found[name] = region.finished(node, lambda value=value, number=number: (value, *number))
    return found
