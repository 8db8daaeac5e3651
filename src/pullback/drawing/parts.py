"""Contents of a graph picture: which operations, gathered in which boxes, joined by which arrows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.graph import AbstractTensorLike, Graph, Operation, Tensor
from ..core.needs import needed
from ..core.operation import index_of
from ..core.slices import IndexedSlices

FORWARD, BACKWARD, AFTER = "forward", "backward", "after"
ORDERS = ("", "gradient of ", "2nd gradient of ", "3rd gradient of ", "higher gradient of ")


@dataclass(frozen=True, eq=False)
class Box:
    """Some operations that are drawn as one."""

    label: str
    kind: str
    lane: int
    operations: tuple[Operation, ...]
    single: bool
    """Whether it stands for one operation, and not for a name scope."""


@dataclass(frozen=True, eq=False)
class Arrow:
    """The tensors that go from one box to another; none where it is a control dependency."""

    source: int
    target: int
    tensors: tuple[Tensor, ...]


@dataclass(frozen=True, eq=False)
class Diagram:
    """Boxes in the order in which their first operations were made, arrows by box number."""

    boxes: list[Box]
    arrows: list[Arrow]
    anchors: list[int | None]
    """For a box of gradients: the box of what they are the gradients of."""
    results: frozenset[Operation]


def diagram(fetches: Any, depth: int | None) -> Diagram:
    """The picture of what `fetches` need; with `depth`, name scopes that deep are gathered in one box each."""
    elements = [] if isinstance(fetches, Graph) else list(flatten(fetches))
    graph = fetches if isinstance(fetches, Graph) else _graph_of(elements)
    operations = graph.operations if isinstance(fetches, Graph) else _needed(elements)
    calls = _calls(graph.operations)
    lanes = _lanes(graph.operations, calls)
    _join_readers(operations, lanes, calls)
    keys = _Keys(operations, calls, lanes, depth)
    members: dict[tuple[Any, ...], list[Operation]] = {}
    for op in operations:
        members.setdefault(keys.of(op), []).append(op)
    number = {key: i for i, key in enumerate(members)}
    boxes = [_box(key, ops, calls) for key, ops in members.items()]
    anchors = [_anchor(ops, calls, keys, number) for ops in members.values()]
    return Diagram(boxes, _arrows(operations, keys, number), anchors, frozenset(elements))


def flatten(fetches: Any) -> Iterator[Operation]:
    """The operations behind tensors, operations, variables, slices, None, and lists and dictionaries of them.

    Raises:
        TypeError: something else.
    """
    if isinstance(fetches, AbstractTensorLike):
        fetches = fetches.graph_element()
    if isinstance(fetches, IndexedSlices):
        fetches = [fetches.values, fetches.indices]
    if isinstance(fetches, Operation):
        yield fetches
    elif isinstance(fetches, Tensor):
        yield fetches.op
    elif isinstance(fetches, dict):
        yield from flatten(list(fetches.values()))
    elif isinstance(fetches, list | tuple):
        for fetch in fetches:
            yield from flatten(fetch)
    elif fetches is not None:
        raise TypeError(f"draw: a graph, or tensors, operations and lists of them, not {fetches!r}")


def _graph_of(elements: Sequence[Operation]) -> Graph:
    if not elements:
        raise ValueError("draw: nothing to draw; pass a graph, or tensors and operations of one")
    for op in elements:
        elements[0].graph.as_graph_element(op)
    return elements[0].graph


def _needed(elements: Iterable[Operation]) -> list[Operation]:
    """What the elements are computed from, and what the gradients among it are the gradients of."""

    def before(op: Operation) -> list[Operation]:
        original = [] if op.original_op is None else [op.original_op]
        return [*[x.op for x in op.inputs], *op.controls, *original]

    return sorted(needed(elements, before), key=index_of)


def _calls(operations: Iterable[Operation]) -> dict[Operation, str]:
    """For each operation that a call of `gradients` added, the name scope of that call."""
    operations = list(operations)
    scopes = {_call_scope(op) for op in operations if op.original_op is not None}
    calls: dict[Operation, str] = {}
    for op in operations:
        if op.original_op is not None:
            calls[op] = _call_scope(op)
        else:
            starts = [op.name[: i + 1] for i, letter in enumerate(op.name) if letter == "/"]
            inside = [start for start in starts if start in scopes]
            if inside:
                calls[op] = inside[-1]
    return calls


def _lanes(operations: Iterable[Operation], calls: dict[Operation, str]) -> dict[Operation, int]:
    """The lane of each operation: 0 is forward, 1 has the gradients of lane 0, 2 what uses those, and so on."""
    of_call = dict.fromkeys(calls.values(), 1)
    of_others: dict[Operation, int] = {}

    def lane(op: Operation) -> int:
        return of_call[calls[op]] if op in calls else of_others[op]

    for op in operations:
        original = op.original_op
        if op not in calls:
            before = [x.op for x in op.inputs] + list(op.controls)
            of_others[op] = max((lane(b) + (b in calls) for b in before), default=0)
        elif original is not None and calls.get(original) != calls[op]:
            of_call[calls[op]] = max(of_call[calls[op]], lane(original) + 1)
    return {op: lane(op) for op in operations}


def _join_readers(operations: Sequence[Operation], lanes: dict[Operation, int], calls: dict[Operation, str]) -> None:
    """Move what only users of gradients read (an optimizer's own variables and rates) to their lane."""
    readers: dict[Operation, list[Operation]] = {}
    for op in operations:
        for before in (*(x.op for x in op.inputs), *op.controls):
            readers.setdefault(before, []).append(op)
    for op in reversed(operations):
        if not lanes[op] and op in readers and all(lanes[r] and r not in calls for r in readers[op]):
            lanes[op] = min(lanes[r] for r in readers[op])


def _call_scope(op: Operation) -> str:
    """Of `gradients/dense/MatMul_grad/MatMul`, made for `dense/MatMul`: `gradients/`."""
    assert op.original_op is not None
    return op.name[: max(op.name.find(f"{op.original_op.name}_grad"), 0)]


class _Keys:
    """The box that an operation belongs to, as a key."""

    def __init__(
        self,
        operations: Iterable[Operation],
        calls: dict[Operation, str],
        lanes: dict[Operation, int],
        depth: int | None,
    ) -> None:
        self._calls = calls
        self._lanes = lanes
        self._depth = depth
        self._readers: dict[Operation, Operation] = {}
        """For each operation the first of the same call of `gradients` that reads it."""
        for op in operations:
            for x in op.inputs if op in calls else ():
                if calls.get(x.op) == calls[op]:
                    self._readers.setdefault(x.op, op)

    def of(self, op: Operation) -> tuple[Any, ...]:
        """The key: a lane, the calls of `gradients` from the last to the first, and a name scope or an operation."""
        calls: tuple[str, ...] = ()
        lane = self._lanes[op]
        inner = op
        while self._depth is not None and inner in self._calls:
            # A sum of gradients is made for no operation: it belongs to the first that reads it.
            while inner.original_op is None and inner in self._readers:
                inner = self._readers[inner]
            if inner.original_op is None:
                break
            calls += (self._calls[inner],)
            inner = inner.original_op
        scope = self.scope(inner)
        return (lane, calls, scope or inner, scope is not None)

    def scope(self, op: Operation) -> str | None:
        """The name scope that stands for `op`, or None where it stands for itself."""
        parts = op.name.split("/")[:-1]
        if self._depth is None or not parts or op in self._calls:
            return None
        return "/".join(parts[: self._depth])


def _box(key: tuple[Any, ...], ops: list[Operation], calls: dict[Operation, str]) -> Box:
    lane, nesting, place, is_scope = key
    kind = BACKWARD if ops[0] in calls else AFTER if lane else FORWARD
    label = ORDERS[min(len(nesting), 4)] + (place if is_scope else place.name)
    return Box(label, kind, lane, tuple(ops), single=not is_scope and not nesting)


def _anchor(
    ops: list[Operation], calls: dict[Operation, str], keys: _Keys, number: dict[tuple[Any, ...], int]
) -> int | None:
    original = next((op.original_op for op in ops if op in calls and op.original_op), None)
    return None if original is None else number.get(keys.of(original))


def _arrows(operations: Iterable[Operation], keys: _Keys, number: dict[tuple[Any, ...], int]) -> list[Arrow]:
    tensors: dict[tuple[int, int], dict[Tensor, None]] = {}
    drawn = {op: number[keys.of(op)] for op in operations}
    for op, target in drawn.items():
        for x in op.inputs:
            tensors.setdefault((drawn[x.op], target), {})[x] = None
        for before in op.controls:
            tensors.setdefault((drawn[before], target), {})
    return [Arrow(a, b, tuple(found)) for (a, b), found in tensors.items() if a != b]
