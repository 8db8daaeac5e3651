"""Repeated isomorphic subgraphs: where pieces of a graph come again and again, alike but for constants and rows.

Generated code and unrolled loops are such. Runs are found where the kinds of operations repeat, by one comparison of
the whole sequence with itself for each period, and taken as far as the wiring of the pieces repeats too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.function import AbstractFunctional
from ..core.graph import Operation, Tensor
from ..core.primitive import Primitive
from .merge import is_same
from .slabs import slab_of
from .view import View

_LONGEST_PERIOD = 256
LEAST_COUNT, LEAST_OPERATIONS = 8, 48
_MOST_HOLDERS = 16
"""With so many primitives that hold functions another of its type is compared."""


def slabs_first(view: View, operations: Sequence[Operation]) -> list[Operation]:
    """`operations`, with slabs of an array right behind it: generated code reads them anew in each piece."""
    picks: dict[Operation, list[Operation]] = {}
    for op in operations:
        slab = slab_of(view, op.outputs[0]) if op.outputs and not op.controls else None
        if slab is not None:
            picks.setdefault(slab.array.op, []).append(op)
    moved = {op for those in picks.values() for op in those}
    waiting = [op for op in reversed(operations) if op not in moved]
    present = set(operations)
    waiting += [op for array, those in picks.items() if array not in present for op in reversed(those)]
    ordered = []
    while waiting:
        op = waiting.pop()
        ordered.append(op)
        waiting += reversed(picks.get(op, ()))
    return ordered


@dataclass(frozen=True)
class Run:
    """`count` pieces of `period` operations, one after the other from number `start` on among those of a view."""

    start: int
    period: int
    count: int

    @property
    def end(self) -> int:
        """The number after the last one."""
        return self.start + self.period * self.count


class Search:
    """The search for runs of at least so many among `operations` of `view`."""

    def __init__(self, view: View, operations: Sequence[Operation], least: int) -> None:
        self.view, self.operations, self.least = view, operations, least
        self.number = {op: i for i, op in enumerate(operations)}
        self.holders: dict[type[Primitive], list[Primitive]] = {}
        """Primitives that hold functions, one of those that are equal operation by operation."""
        kinds: dict[Any, int] = {}
        self.kind = np.array([kinds.setdefault(self._kind(op), len(kinds)) for op in operations], np.int64)
        """For each operation a number; equal ones for those that are alike."""

    def _kind(self, op: Operation) -> Any:
        """What operations that may be alike have in common; for one that cannot be repeated, itself."""
        p = op.primitive
        if p.stateful or p.acts or op.controls or not op.outputs or not self.view.keep.isdisjoint(op.outputs):
            return op
        given = isinstance(p, AbstractFunctional)  # Lengths that a loop decides are others in each piece.
        types = tuple([(x.dtype, x.shape.lengths) for x in (*op.inputs, *(() if given else op.outputs))])
        return self._first_of(p), op.device, repr(sorted(op.attrs.items())) if op.attrs else "", types

    def _first_of(self, primitive: Primitive) -> Primitive:
        """`primitive`, or an earlier one that holds the same functions, as code traces them in each piece."""
        if not isinstance(primitive, AbstractFunctional) or any(f.acts for f in primitive.functions):
            return primitive
        earlier = self.holders.setdefault(type(primitive), [])
        for other in earlier:
            if is_same(other, primitive):
                return other
        if len(earlier) < _MOST_HOLDERS:
            earlier.append(primitive)
        return primitive

    def runs(self) -> Iterator[Run]:
        """The runs, none of which overlap, in order: at each place the one of the shortest period."""
        taken = 0
        for start, period in self._places():
            if start < taken:
                continue
            run = self._longest(start, period)
            if run is not None:
                taken = run.end
                yield run

    def _places(self) -> list[tuple[int, int]]:
        """Where kinds repeat: first operations and periods, in order; of the same place the shorter period first."""
        found = []
        for period in range(1, min(_LONGEST_PERIOD, len(self.kind) // LEAST_COUNT) + 1):
            same = np.concatenate([[False], self.kind[:-period] == self.kind[period:], [False]])
            edges = np.flatnonzero(same[1:] != same[:-1])
            least = max(period * (LEAST_COUNT - 1), self.least - period)
            for first, last in zip(edges[::2], edges[1::2], strict=True):
                if last - first >= least:
                    found += [(int(first) + shift, period) for shift in range(min(period, last - first))]
        return sorted(found)

    def _longest(self, start: int, period: int) -> Run | None:
        """The run of a period from `start` on, as far as pieces are wired alike; None for one that is too short."""
        count = 1
        while start + period * (count + 1) <= len(self.operations) and self._is_alike(start, period, count):
            count += 1
        run = Run(start, period, count)
        return run if count >= LEAST_COUNT and count * period >= self.least else None

    def _is_alike(self, start: int, period: int, n: int) -> bool:
        """Whether piece number `n` is wired as the one before it."""
        first = start + period * n
        return all(
            self.kind[i] == self.kind[i - period]
            and all(self._match(a, b, start, period, n) for a, b in self._pairs(i - period, i))
            for i in range(first, first + period)
        )

    def _pairs(self, i: int, j: int) -> Iterator[tuple[Tensor, Tensor]]:
        inputs = [self.view.inputs(self.operations[k]) for k in (i, j)]
        return zip(*inputs, strict=True)

    def _match(self, a: Tensor, b: Tensor, start: int, period: int, n: int) -> bool:
        """Whether piece `n` reads `b` as the piece before it reads `a`."""
        known = self.view.known
        if a in known and b in known:
            return (known[a].shape, known[a].dtype) == (known[b].shape, known[b].dtype)
        place = self.number.get(b.op, -1)
        if a is b:
            return place < start
        if max(place, self.number.get(a.op, -1)) < start:
            slabs = slab_of(self.view, a), slab_of(self.view, b)
            if slabs[0] and slabs[1]:
                return slabs[0].is_beside(slabs[1])
        first = start + period * n
        if not first - period <= place < first + period:
            return False
        if n == 1 and place < first:
            return a.type == b.type and self.number.get(a.op, -1) < start
        return self.number.get(a.op, -1) == place - period and a.value_index == b.value_index


@dataclass(frozen=True)
class Wiring:
    """What the pieces of a run read, hand on, and hand out. Tensors are those of the first piece."""

    carried: Mapping[Tensor, Tensor]
    """For tensors that the next piece reads, those that the first piece reads in their places."""
    reads: Mapping[tuple[int, int], Tensor]
    """Which of the carried an operation reads as which of its inputs; by numbers in the piece."""
    last: Sequence[Tensor]
    """What is read behind the run of the last piece only."""
    rows: Sequence[Tensor]
    """What is read behind the run of other pieces too."""


def wiring(view: View, operations: Sequence[Operation], run: Run) -> Wiring | None:
    """How the pieces of a run are wired; None where what one hands on stands for several values at the beginning."""
    number = {op: i for i, op in enumerate(operations[run.start : run.end])}
    carried: dict[Tensor, Tensor] = {}
    reads: dict[tuple[int, int], Tensor] = {}
    for i in range(run.period):
        first, second = [view.inputs(operations[run.start + i + k]) for k in (0, run.period)]
        for k, (a, b) in enumerate(zip(first, second, strict=True)):
            if a is not b and number.get(b.op, run.period) < run.period:
                if carried.setdefault(b, a) is not a:
                    return None
                reads[i, k] = b
    read: dict[Tensor, set[int]] = {}
    outside = {view.stand_in(y) for y in view.results}
    outside.update(x for op in operations[run.end :] for x in view.inputs(op))
    for x in outside:
        place = number.get(x.op)
        if place is not None:
            own = operations[run.start + place % run.period].outputs[x.value_index]
            read.setdefault(own, set()).add(place // run.period)
    last = [y for y, pieces in read.items() if pieces == {run.count - 1}]
    return Wiring(carried, reads, last, [y for y in read if y not in last])
