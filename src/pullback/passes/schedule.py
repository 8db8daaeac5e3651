"""Rematerialisation schedules: operations in an order that keeps to a budget of bytes, some of them more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from math import inf, isqrt

from ..control_flow.loop import Loop
from ..core.dtypes import resource
from ..core.errors import ResourceExhaustedError
from ..core.function import AbstractFunctional
from ..core.graph import Operation, Tensor, site_of
from ..core.traits import ADDS, ELEMENTWISE, GIVEN, VIEWS, bilinear, multiplies, zero_wins
from ..primitives.activations.rectifiers import ReluGrad
from ..primitives.convolution.conv import DepthwiseConv2dNativeBackpropFilter, DepthwiseConv2dNativeBackpropInput
from ..primitives.pooling.max_pool import MaxPoolGrad
from .checkpoints import checkpointed
from .costs import HALVES, compiled_scratch, made_early, scratch, widened, work
from .eviction import ORDERS, BudgetError, Node, blocks_of, run_steps
from .keeping import keeping_more
from .pieces import Peak, peak_beside, peak_of, pieces_of
from .run_lengths import Lengths
from .variable_changes import handles_changed
from .view import View

_TRIED = 5
_MANY = 1500
"""For graphs of more operations few orders are tried."""


_SPREAD = 4
"""How many times as large as what it is made of something is that is spread out of little."""
_SOON = 8
"""The steps up to which something is not kept long."""


class NoScheduleError(Exception):
    """No order was found for a budget."""

    def __init__(self, schedule: Schedule) -> None:
        super().__init__(schedule)
        self.schedule = schedule

    def explained(self) -> ResourceExhaustedError:
        """The error for users, which names the least budget that there is an order for: it takes a while to find."""
        return self.schedule.too_small()


class Schedule:
    """The operations of a view as nodes, and the schedule that was chosen for them."""

    def __init__(
        self, view: View, lengths: Lengths, budget: int, lean: Mapping[Operation, AbstractFunctional] | None = None
    ) -> None:
        self.view, self.lengths, self.budget = view, lengths, budget
        self.lean = lean or {}
        """What takes the place of primitives, whose functions need more memory."""
        changed = _changed_before(view)
        operations = [op for op in view.operations if op in changed or not _is_given(op, view)]
        self.results = {view.stand_in(y) for y in view.results}
        self.read = {x for op in operations for x in view.inputs(op)} | self.results
        self.operations: list[Operation] = []
        """One for each node. Of which some outputs are fetched and others are not, those have a second node."""
        self.number: dict[Operation, int] = {}
        self.fetched: dict[Operation, int] = {}
        for op in operations:
            self.number[op] = len(self.operations)
            self.operations.append(op)
            if self._is_fetched_in_part(op):
                self.fetched[op] = len(self.operations)
                self.operations.append(op)
        self.nodes = self._nodes(self.lean)
        plain = list(range(len(self.nodes)))
        before = self._nodes({}) if lean else self.nodes
        self.plain_peak = peak_of(before, plain).bytes
        self.steps = plain if self._peak(plain).bytes <= budget else self._cheapest()
        self.pieces = pieces_of(self.nodes, self.steps)

    def is_again_apart(self, y: Tensor) -> bool:
        """Whether `y` is fetched, and what is beside it may be computed again without it."""
        return y.op in self.fetched and y in self.results

    def is_fetched_part(self, i: int) -> bool:
        """Whether a node is what is fetched of an operation, which is another node."""
        return self.number[self.operations[i]] != i

    def _is_fetched_in_part(self, op: Operation) -> bool:
        kept = [y in self.results for y in op.outputs if y in self.read]
        return any(kept) and not all(kept) and VIEWS not in op.primitive.traits

    def _nodes(self, lean: Mapping[Operation, AbstractFunctional]) -> list[Node]:
        return [
            self._fetched_part(op) if self.is_fetched_part(i) else self._node(op, lean.get(op))
            for i, op in enumerate(self.operations)
        ]

    def _node(self, op: Operation, lean: AbstractFunctional | None = None) -> Node:
        inputs = self.view.inputs(op)
        operands = tuple(dict.fromkeys(self._maker(x) for x in inputs if x.op in self.number))
        once = op.primitive.stateful or op.primitive.acts or bool(op.controls) or self._keeps_rows(op)
        made = [] if {VIEWS, GIVEN}.intersection(op.primitive.traits) else [y for y in op.outputs if y in self.read]
        apart = sum([self.lengths.bytes(y) for y in made if self.is_again_apart(y)])
        size = sum([self.lengths.bytes(y) for y in made]) - apart
        view = self._view(op)
        cost = 0 if view is not None else work(op, self.lengths)
        kept = op not in self.fetched and not self.results.isdisjoint(op.outputs)
        beside = scratch(op, self.lengths, lean) + apart + self._unread(op)
        return Node(operands, size, beside, cost, view, once, kept)

    def _unread(self, op: Operation) -> int:
        """The bytes that a kernel gives and nobody reads."""
        if VIEWS in op.primitive.traits or isinstance(op.primitive, AbstractFunctional):
            return 0
        return sum([self.lengths.bytes(y) for y in op.outputs if y not in self.read and self.lengths.knows(y)])

    def _fetched_part(self, op: Operation) -> Node:
        size = sum([self.lengths.bytes(y) for y in op.outputs if y in self.results])
        return Node((self.number[op],), size, 0, 0, None, False, True)

    def _maker(self, x: Tensor) -> int:
        return self.fetched[x.op] if self.is_again_apart(x) else self.number[x.op]

    def _keeps_rows(self, op: Operation) -> bool:
        """Whether it is a loop that hands out what it kept of its steps: XLA has no room for these in a call."""
        p = op.primitive
        return isinstance(p, Loop) and any(op.outputs[i] in self.read for i in p.places.history)

    def _view(self, op: Operation) -> int | None:
        """The node whose memory the output of `op` lies in."""
        if VIEWS not in op.primitive.traits:
            return None
        return self.number.get(self.view.stand_in(op.inputs[0]).op)

    def compiled_peak(self) -> int:
        """The peak of a compiled program: elementwise operations are fused, and write where what they read was.

        Results have memory from the start, which is lent to other values until they are made.
        """
        block = blocks_of(self.nodes)
        results = {block[i] for i, node in enumerate(self.nodes) if node.kept}
        before, fused = self._made_before(), self._fused()
        replaced = self._replaced(fused)
        nodes = [
            node._replace(
                size=0 if i in fused else node.size * (1 + self._is_wide(i)),
                scratch=0 if self.is_fetched_part(i) else self._compiled_scratch(op) + before[i],
                operands=self._operands_in_full(i, node),
                view=node.view if i in results else replaced.get(i, node.view),
            )
            for i, (op, node) in enumerate(zip(self.operations, self.nodes, strict=True))
        ]
        return peak_beside(nodes, self.steps, results)

    def _operands_in_full(self, i: int, node: Node) -> tuple[int, ...]:
        """The operands of a node, without those of which it reads the shape only."""
        op = self.operations[i]
        shapes = [t.inputs for t in op.primitive.traits if t.name == "reads shape"]
        if not shapes or self.is_fetched_part(i):
            return node.operands
        read = [x for k, x in enumerate(self.view.inputs(op)) if k not in shapes[0]]
        return tuple(dict.fromkeys(self._maker(x) for x in read if x.op in self.number))

    def _compiled_scratch(self, op: Operation) -> int:
        """What an operation takes beside its result in a compiled program.

        The derivative of a depthwise convolution by images is worked into what reads it, which waits for that by
        filters: what both are made of is gone by then.
        """
        own = compiled_scratch(op, self.lengths, self.lean.get(op), self._wide)
        if not isinstance(op.primitive, DepthwiseConv2dNativeBackpropInput):
            return own
        dy = self.view.stand_in(op.inputs[1])
        beside = [compiled_scratch(x, self.lengths) for x in self._by_filters.get(dy, [])]
        if not beside:
            return own
        return own + max(max(beside) - self.lengths.bytes(op.outputs[0]), -self.lengths.bytes(dy))

    def _is_wide(self, i: int) -> bool:
        return not self._wide.isdisjoint(self.operations[i].outputs)

    @cached_property
    def _wide(self) -> set[Tensor]:
        return widened(list(self.number), self.view.inputs, self.results)

    @cached_property
    def _by_filters(self) -> dict[Tensor, list[Operation]]:
        """By what they read the derivatives by filters of depthwise convolutions."""
        found: dict[Tensor, list[Operation]] = {}
        for op in self.operations:
            if isinstance(op.primitive, DepthwiseConv2dNativeBackpropFilter):
                found.setdefault(self.view.stand_in(op.inputs[1]), []).append(op)
        return found

    def _made_before(self) -> list[int]:
        """For each node what is made of given values already for those that come later."""
        found, ahead = [0] * len(self.nodes), 0
        for i in reversed(list(dict.fromkeys(self.steps))):
            found[i] = ahead
            ahead += 0 if self.is_fetched_part(i) else made_early(self.operations[i], self.lengths)
        return found

    def _replaced(self, fused: Collection[int]) -> dict[int, int]:
        """For elementwise nodes the one whose value nothing else reads, and which theirs takes the place of.

        Not of what was put together of pieces, as by pools, but for a rectifier's mask, which the pool itself takes;
        what is spread out of little is computed where it is read. Where something is computed again there are as large
        gaps between arrays instead.
        """
        readers = Counter(j for node in self.nodes for j in node.operands)
        found = {i: j for i, j in self._masks_of_pools() if readers[j] == 1 and not self.nodes[j].kept}
        if len(self.steps) > len(self.nodes):
            return found
        for i, (op, node) in enumerate(zip(self.operations, self.nodes, strict=True)):
            if ELEMENTWISE not in op.primitive.traits or node.view is not None or i in found:
                continue
            for j in node.operands:
                read, traits = self.nodes[j], self.operations[j].primitive.traits
                is_spread = all(_SPREAD * self.nodes[k].size < read.size for k in read.operands)
                is_one = is_spread or ELEMENTWISE in traits or ADDS in traits or multiplies(traits)
                if not is_one or j in fused:
                    continue
                is_alike = read.size == node.size and self._is_wide(i) == self._is_wide(j)
                if readers[j] == 1 and is_alike and read.view is None and not read.kept:
                    found[i] = j
        return found

    def _fused(self) -> set[int]:
        """The nodes of what is computed where it is read, and no array.

        That is what is spread out of little, for elementwise readers, and products of two that are only added up. A
        square may be what the derivative of an activation computes as well.
        """
        readers: dict[int, list[int]] = {}
        for i, node in enumerate(self.nodes):
            for j in node.operands:
                readers.setdefault(j, []).append(i)
        found = self._computed_late(readers) if len(self.steps) == len(self.nodes) else set()
        for i, (op, node) in enumerate(zip(self.operations, self.nodes, strict=True)):
            traits, by = op.primitive.traits, readers.get(i, [])
            is_plain = not isinstance(op.primitive, AbstractFunctional) and not multiplies(traits)
            if node.kept or node.once or node.view is not None or not is_plain or not by:
                continue
            read = [x for x in self.view.inputs(op) if self.lengths.knows(x)]
            is_spread = bool(read) and _SPREAD * sum(map(self.lengths.bytes, read)) < node.size
            is_product = bilinear(0, 1) in traits and len({*read}) == 2 and zero_wins(0, 1) not in traits
            is_summed = is_product and all(_SPREAD * self.nodes[k].size < node.size for k in by)
            reader = ELEMENTWISE if is_spread else ADDS
            if (is_spread or is_summed) and all(reader in self.operations[k].primitive.traits for k in by):
                found.add(i)
        return found

    def _computed_late(self, readers: Mapping[int, Sequence[int]]) -> set[int]:
        """The nodes of sums and products that are read late, by elementwise operations, of what is there then, too.

        Halves are kept: a program rounds them.
        """
        found: set[int] = set()
        until: list[float] = []
        """Up to which node each value is there, or what it can be computed of."""
        for i, (op, node) in enumerate(zip(self.operations, self.nodes, strict=True)):
            by, traits = readers.get(i, [i]), op.primitive.traits
            there = min([until[j] for j in node.operands if _SPREAD * self.nodes[j].size >= node.size], default=inf)
            is_whole = ELEMENTWISE in traits and op.outputs[0].dtype not in HALVES
            is_cheap = is_whole and any(t.name in ("linear", "bilinear") for t in traits)
            is_read_so = all(ELEMENTWISE in self.operations[k].primitive.traits for k in by)
            is_late = by[-1] - i > _SOON and by[-1] <= there + _SOON
            if is_cheap and is_read_so and is_late and not node.kept and node.view is None:
                found.add(i)
            until.append(there if i in found else by[-1] if not node.kept else inf)
        return found

    def _masks_of_pools(self) -> Iterator[tuple[int, int]]:
        """The nodes of rectifiers' derivatives, with those of max pools that give back to what was rectified."""
        for i, op in enumerate(self.operations):
            if isinstance(op.primitive, ReluGrad) and not self.is_fetched_part(i):
                dy, y = [self.view.stand_in(x) for x in op.inputs]
                is_pool = isinstance(dy.op.primitive, MaxPoolGrad) and dy.op in self.number
                if is_pool and self.view.stand_in(dy.op.inputs[0]) is y:
                    yield i, self.number[dy.op]

    def _cheapest(self) -> list[int]:
        """The steps of the least work whose peak is within the budget."""
        found = self._found(self.budget)
        if not found:
            raise NoScheduleError(self)
        return min([keeping_more(self.nodes, steps, self.budget) for steps in found], key=self._work)

    def _found(self, budget: int) -> list[list[int]]:
        """The best steps of each way to look for them, of those whose peak is within a budget."""
        fitting = [steps for steps in self._evicted(budget) if self._peak(steps).bytes <= budget]
        chained = (steps for steps in self._chained(budget) if self._peak(steps).bytes <= budget)
        return [steps for steps in (min(fitting, key=self._work, default=None), next(chained, None)) if steps]

    def _evicted(self, budget: int) -> Iterator[list[int]]:
        if budget < self._least():
            return
        for order in ORDERS if len(self.nodes) < _MANY else ORDERS[:3]:
            with suppress(BudgetError):
                yield run_steps(self.nodes, budget, order)

    def _chained(self, budget: int) -> Iterator[list[int]]:
        return iter(()) if budget < self._least() else checkpointed(self.nodes, budget)

    def _work(self, steps: Sequence[int]) -> int:
        return sum([self.nodes[i].work for i in steps])

    def _peak(self, steps: Sequence[int]) -> Peak:
        return peak_of(self.nodes, steps)

    def _least(self) -> int:
        """What no order can do with less than: what one operation needs, or what is asked for."""
        block = blocks_of(self.nodes)
        needs = [
            node.scratch + sum([self.nodes[a].size for a in {block[j] for j in (i, *node.operands)}])
            for i, node in enumerate(self.nodes)
        ]
        kept = {block[i] for i, node in enumerate(self.nodes) if node.kept}
        return max([*needs, sum([self.nodes[a].size for a in kept])], default=0)

    def too_small(self) -> ResourceExhaustedError:
        """For the least budget that has an order, by bisection, and where the memory is fullest then."""
        below, (least, at) = max(self.budget, self._least() - 1), self._peak(range(len(self.nodes)))
        for _ in range(_TRIED):
            budget = isqrt(below * least)
            peaks = map(self._peak, chain(self._chained(budget), self._evicted(budget)))
            found = next((peak for peak in peaks if peak.bytes <= budget), None)
            below, (least, at) = (below, found) if found else (budget, (least, at))
        op = self.operations[at]
        return ResourceExhaustedError(
            f"rematerialize: the budget is {self.budget:,} bytes, and the least for which an order was found "
            f"{least:,} (plain: {self.plain_peak:,}); the memory is fullest at '{op.name}' ({op.type}, made at "
            f"{site_of(op)})."
        )


def _changed_before(view: View) -> set[Operation]:
    """The reads of variables that something before them changes, or may: what comes again must not move that behind."""
    found: set[Operation] = set()
    changed: set[Tensor] = set()
    for op in view.operations:
        if GIVEN in op.primitive.traits:
            found.update([op] if op.controls or not changed.isdisjoint(op.inputs) else [])
        changed.update(handles_changed(op))
    return found


def _is_given(op: Operation, view: View) -> bool:
    """Whether what an operation gives is there anyway: constants, what is fed, variables."""
    if not op.outputs or GIVEN in op.primitive.traits:
        return bool(op.outputs)
    return op.outputs[0] in view.known or op.outputs[0].dtype is resource
