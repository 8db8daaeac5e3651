"""Batches of small operations that are alike, wherever they stand, by an agenda (Neubig, Goldberg and Dyer 2017).

Code generated from networks of reactions, circuits or grids prints thousands of small expressions, in an order in which
nothing repeats. Here operations wait until what they read is computed; of the kinds that have some ready, that of the
least mean depth is next, with all that are ready.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence, Set
from heapq import heappop, heappush
from typing import NamedTuple

from ..autodiff.choices import chosen_rules
from ..core.dtypes import INEXACT
from ..core.graph import Operation, Tensor
from ..core.operation import index_of
from ..core.traits import ELEMENTWISE
from ..primitives.elementwise.add_n import AddN
from ..primitives.elementwise.arithmetic import Add, Sub
from .repeats import LEAST_COUNT, Run
from .view import View

_MOST_ELEMENTS = 64
"""Of one result. Larger ones are worth an operation each, and what stacks them would hold them twice."""


class Summation(NamedTuple):
    """A sum of arrays of one shape, written as additions and subtractions that nobody else reads."""

    operations: Sequence[Operation]
    """In order; the last one has the sum."""
    terms: Sequence[Tensor]
    signs: Sequence[int]


class Alike(NamedTuple):
    """Elementwise operations of one kind and of the same types, none of which reads another."""

    operations: Sequence[Operation]


class Sums(NamedTuple):
    """Sums of the same type, none of which reads another."""

    sums: Sequence[Summation]


Step = Operation | Run | Alike | Sums


def batched(step: Step) -> int:
    """How many operations become a batch, at most."""
    match step:
        case Alike(operations=operations):
            return len(operations)
        case Sums(sums=sums):
            return sum([len(total.operations) for total in sums])
    return 0


def is_batchable(op: Operation) -> bool:
    """Whether `op` can be computed with others that are alike as one elementwise operation."""
    p = op.primitive
    return ELEMENTWISE in p.traits and not p.stateful and not p.acts and is_small(op) and _is_plain(op)


def is_small(op: Operation) -> bool:
    """Whether what an operation reads and gives is so small that many are better computed as one."""
    for x in (*op.inputs, *op.outputs):
        size = x.shape.num_elements()
        if size is None or size > _MOST_ELEMENTS:
            return False
    return True


def _is_plain(op: Operation) -> bool:
    """Whether one result is all that matters of `op`: it waits for nothing, and has no rule of its own."""
    has_rule = op.name in chosen_rules() or "_gradient_op_type" in op.attrs
    return len(op.outputs) == 1 and bool(op.inputs) and not op.controls and not has_rule


class _Item(NamedTuple):
    step: Run | Operation | Summation
    operations: Sequence[Operation]
    kind: Hashable
    """What those have in common that can be computed together; None for what is computed by itself."""

    @property
    def weight(self) -> int:
        """The rows of a batch that it is worth."""
        return len(self.step.terms) if isinstance(self.step, Summation) else 1


class Agenda:
    """`operations` and their `runs`, and an order in which they can be computed, those that are alike together.

    `kinds` are equal numbers for operations that are alike. What has effects keeps its order.
    """

    def __init__(self, view: View, operations: Sequence[Operation], runs: Sequence[Run], kinds: Sequence[int]) -> None:
        self.view, self.operations = view, operations
        self.items = _items(view, operations, runs, kinds)
        maker = {op: i for i, item in enumerate(self.items) for op in item.operations}
        self.before = [self._before(item, maker) for item in self.items]
        last: int | None = None
        for i, item in enumerate(self.items):
            if any(op.primitive.stateful or op.primitive.acts for op in item.operations):
                self.before[i].update([] if last is None else [last])
                last = i
        self.depth: list[int] = []
        for before in self.before:
            self.depth.append(1 + max([self.depth[j] for j in before], default=0))

    def growing(self, runs: Sequence[Run]) -> list[Run]:
        """Those of other `runs` that batches cannot stand for: of large operations, or handing on more than sums."""
        depth = {op: d for item, d in zip(self.items, self.depth, strict=True) for op in item.operations}

        def grows(run: Run) -> bool:
            places = [range(start, start + run.period) for start in (run.start, run.end - run.period)]
            first, last = (max([depth[self.operations[i]] for i in place]) for place in places)
            return last - first >= run.count - 1

        return [run for run in runs if grows(run) or not all(map(is_batchable, self.operations[run.start : run.end]))]

    def _before(self, item: _Item, maker: dict[Operation, int]) -> set[int]:
        read = [x.op for op in item.operations for x in self.view.inputs(op)]
        waited = [c for op in item.operations if op.controls for c in self.view.controls(op)]
        own = maker[item.operations[0]]
        return {maker[op] for op in (*read, *waited) if op in maker} - {own}

    def _mean_depths(self) -> dict[Hashable, float]:
        depths: dict[Hashable, list[int]] = {}
        for item, depth in zip(self.items, self.depth, strict=True):
            depths.setdefault(item.kind, []).append(depth)
        return {kind: sum(found) / len(found) for kind, found in depths.items()}

    def steps(self) -> Iterator[Step]:
        """The items in order: those that are computed by themselves as soon as they can be."""
        means, after = self._mean_depths(), [list[int]() for _ in self.items]
        for i, before in enumerate(self.before):
            for j in before:
                after[j].append(i)
        missing = [len(before) for before in self.before]
        alone: list[int] = []
        waiting: dict[Hashable, list[int]] = {}
        order: list[tuple[float, int, Hashable]] = []
        """The kinds that have items waiting, with their mean depth and the first of them."""
        ready = [i for i, count in enumerate(missing) if not count]
        while ready or alone or order:
            for i in ready:
                kind = self.items[i].kind
                if kind is None:
                    heappush(alone, i)
                    continue
                if kind not in waiting:
                    heappush(order, (means[kind], i, kind))
                waiting.setdefault(kind, []).append(i)
            done = [heappop(alone)] if alone else sorted(waiting.pop(heappop(order)[2]))
            yield from self._together(done)
            ready = []
            for j in [j for i in done for j in after[i]]:
                missing[j] -= 1
                if not missing[j]:
                    ready.append(j)

    def _together(self, numbers: Sequence[int]) -> Iterator[Step]:
        items = [self.items[i] for i in numbers]
        first = items[0].step
        if isinstance(first, Run):
            yield first
        elif items[0].kind is None and isinstance(first, Summation):
            yield Sums([first])
        elif items[0].kind is None or sum([item.weight for item in items]) < LEAST_COUNT:
            for item in items:
                yield from item.operations
        elif isinstance(first, Summation):
            yield Sums([item.step for item in items if isinstance(item.step, Summation)])
        else:
            yield Alike([item.operations[0] for item in items])


def _items(view: View, operations: Sequence[Operation], runs: Sequence[Run], kinds: Sequence[int]) -> list[_Item]:
    """What is computed at once, each after what it reads."""
    items: dict[int, _Item] = {}
    free = list(operations)
    for run in reversed(runs):
        items[run.end - 1] = _Item(run, operations[run.start : run.end], None)
        del free[run.start : run.end]
    place = {op: i for i, op in enumerate(operations)}
    awaited = {c for op in operations if op.controls for c in view.controls(op)}
    sums = _sums(view, operations, set(free) - awaited)
    for total in sums:
        root = total.operations[-1]
        items[place[root]] = _Item(total, total.operations, ("sum", *_sum_kind(root)) if is_small(root) else None)
    summed = {op for total in sums for op in total.operations}
    for op in free:
        if op not in summed:
            is_alone = op in awaited or not is_batchable(op)
            items[place[op]] = _Item(op, [op], None if is_alone else kinds[place[op]])
    return [items[i] for i in sorted(items)]


def _sum_kind(op: Operation) -> tuple[Hashable, ...]:
    y = op.outputs[0]
    return y.dtype, y.shape.lengths, op.device, repr(sorted(op.attrs.items())) if op.attrs else ""


def _sums(view: View, operations: Sequence[Operation], free: Set[Operation]) -> list[Summation]:
    """The sums of three terms and more among those of `operations` that are `free`, each as large as it can be."""
    readers: dict[Tensor, int] = {}
    for x in (*map(view.stand_in, view.results), *[x for op in operations for x in view.inputs(op)]):
        readers[x] = readers.get(x, 0) + 1
    adding = {op for op in operations if op in free and _is_sum(op)}
    inner = {
        x.op
        for op in adding
        for x in view.inputs(op)
        if x.op in adding and readers[x] == 1 and _sum_kind(x.op) == _sum_kind(op)
    }
    sums = [_sum_of(view, op, inner) for op in operations if op in adding and op not in inner]
    return [total for total in sums if len(total.terms) > 2]


def _is_sum(op: Operation) -> bool:
    """Whether `op` adds arrays of one known shape, or takes one from another."""
    if not isinstance(op.primitive, Add | Sub | AddN) or not _is_plain(op):
        return False
    y = op.outputs[0]
    shapes_are_same = all(x.shape.lengths == y.shape.lengths for x in op.inputs)
    return y.dtype in INEXACT and y.shape.num_elements() is not None and shapes_are_same


def _sum_of(view: View, root: Operation, inner: Set[Operation]) -> Summation:
    operations, terms, signs = list[Operation](), list[Tensor](), list[int]()
    pending = [(root.outputs[0], 1)]
    while pending:
        x, sign = pending.pop()
        if x.op is not root and x.op not in inner:
            terms.append(x)
            signs.append(sign)
            continue
        operations.append(x.op)
        signs_inside = [sign, -sign] if isinstance(x.op.primitive, Sub) else [sign] * len(x.op.inputs)
        pending += reversed(list(zip(view.inputs(x.op), signs_inside, strict=True)))
    return Summation(sorted(operations, key=index_of), terms, signs)
