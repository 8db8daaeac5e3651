"""Paths of differentiation: the operations that depend on an x and that a y depends on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from ..core.dtypes import TRAINABLE
from ..core.graph import Graph, Operation, Tensor

_index = attrgetter("index")


def operations_between(ys: Iterable[Tensor], xs: Sequence[Tensor]) -> list[Operation]:
    """The operations on a path from an x to a y along trainable tensors, last made first; those of the xs included."""
    ancestors, reached = _reached(ys, xs)
    return [op for op in reversed(ancestors) if op in reached]


def uses_between(ys: Sequence[Tensor], xs: Sequence[Tensor]) -> dict[Operation, int]:
    """The operations that a walk from ys back to xs comes to, and how often each is an input of one of them."""
    ancestors, reached = _reached(ys, xs)
    uses = {y.op: 0 for y in ys if y.op in reached}
    for op in reversed(ancestors):
        if op in uses:
            for x in op.inputs:
                producer = x.op
                if producer in reached:
                    uses[producer] = uses.get(producer, 0) + 1
    return uses


def _reached(ys: Iterable[Tensor], xs: Sequence[Tensor]) -> tuple[list[Operation], set[Operation]]:
    """What `ys` depend on, first made first, and those of it that depend on an x along trainable tensors."""
    sources = {x.op for x in xs}
    if not sources:
        return [], set()
    first = min(op.index for op in sources)
    ancestors = _ancestors(ys, first)
    ancestors.sort(key=_index)
    reached: set[Operation] = set()
    for op in ancestors:
        if op in sources:
            reached.add(op)
            continue
        for x in op.inputs:
            if x.op in reached and x.type.dtype in TRAINABLE:
                reached.add(op)
                break
    return ancestors, reached


def _ancestors(ys: Iterable[Tensor], first: int) -> list[Operation]:
    """The operations that `ys` depend on, themselves included, no older than number `first`."""
    found = [op for op in dict.fromkeys(y.op for y in ys) if op.index >= first]
    seen = set(found)
    for op in found:
        for x in op.inputs:
            producer = x.op
            if producer not in seen and producer.index >= first:
                seen.add(producer)
                found.append(producer)
    return found


def crossings(graph: Graph, xs: Sequence[Tensor]) -> dict[Tensor, Tensor]:
    """The parameters of the body `graph` that stand for something around it that depends on an x; what they stand for.

    Parameters that are an x themselves are left out.
    """
    if graph.outer is None or all(x.op.graph is graph for x in xs):
        return {}
    chosen = {}
    own = set(xs)
    for outer, inner in graph.captures.items():
        if inner not in own and inner.type.dtype in TRAINABLE and _depends(outer, xs):
            chosen[inner] = outer
    return chosen


def row_crossings(graph: Graph, xs: Sequence[Tensor]) -> dict[Tensor, tuple[Tensor, Tensor]]:
    """The parameters of the body `graph` that are rows of something that depends on an x; that, and which row it is.

    Parameters that are an x themselves are left out.
    """
    own = set(xs)
    trainable = {inner: row for inner, row in graph.rows.items() if inner not in own and inner.type.dtype in TRAINABLE}
    return {inner: (outer, number) for inner, (outer, number) in trainable.items() if _depends(outer, xs)}


def _depends(y: Tensor, xs: Sequence[Tensor]) -> bool:
    """Whether `y` depends on one of `xs` of its graph or of those around it."""
    graph = y.op.graph
    here = [x for x in xs if x.op.graph is graph]
    return bool(operations_between([y], [*here, *crossings(graph, xs), *row_crossings(graph, xs)]))


def path_between(y: Operation, target: Operation) -> list[Operation]:
    """A shortest path of operations from `target` forward to `y`, both included; empty if there is none."""
    came_from: dict[Operation, Operation | None] = {y: None}
    queue = [y]
    for op in queue:
        if op is target:
            break
        for x in op.inputs:
            if x.op not in came_from:
                came_from[x.op] = op
                queue.append(x.op)
    path: list[Operation] = []
    step: Operation | None = target if target in came_from else None
    while step is not None:
        path.append(step)
        step = came_from[step]
    return path
