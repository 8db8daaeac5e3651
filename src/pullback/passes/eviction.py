"""Dynamic tensor rematerialisation, ahead of the run: what to drop, and when to compute it again, within a budget.

The run is gone through in order. Where the memory is full, that value is dropped which is cheap to compute again, large
and not wanted soon; what is wanted and not there is computed again, and what that needs before (Kirisame et al.,
"Dynamic Tensor Rematerialization", ICLR 2021, with their neighbourhoods by union-find). That costs of the order of n
operations for a chain of n in the memory of sqrt(n), and knows any graph. What a run will read is known here: beside
the time since a value was last read, as there, the time until it is read again decides (Belady, 1966). None is the best
one for all budgets, so several are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Node(NamedTuple):
    """An operation of the run; operands are the numbers of earlier ones."""

    operands: tuple[int, ...]
    size: int
    """The bytes of what it makes."""
    scratch: int
    """The bytes that it takes beside that until it is done."""
    work: int
    """How long it takes to compute it again."""
    view: int | None = None
    """The operand whose memory it shares, where it makes nothing of its own."""
    once: bool = False
    """Whether it cannot be computed again, and stays while it may be needed."""
    kept: bool = False
    """Whether it stays to the end: it is asked for."""


class BudgetError(Exception):
    """There is no room: `node` needs `size` bytes with its operands, beside what stays."""

    def __init__(self, node: int, size: int) -> None:
        super().__init__(node, size)
        self.node, self.size = node, size


class Order(NamedTuple):
    """Which value is dropped first: that of the least loss / distance ** power, where `room` budgets are full."""

    room: float
    """What is there need not stay: a value may be let go of before it is dropped. So the room may be larger."""
    ahead: bool = False
    """Whether the distance is that to the next time that a value is read, else from the last time."""
    neighbours: float = 1
    """How much of the work of the neighbours that are not there counts as lost too."""
    power: float = 1


ORDERS = (
    Order(1.75),
    Order(1),
    Order(2.25),
    Order(1, True, 0, 2),
    Order(2),
    Order(1.5),
    Order(1, True, 1, 2),
    Order(1, True, 0.3, 2),
    Order(3),
    Order(1.25),
)
"""No order is best for all graphs and budgets. The second is that of the paper."""


def blocks_of(nodes: Sequence[Node]) -> list[int]:
    """For each of `nodes` the one that made the memory which its result lies in."""
    block = list(range(len(nodes)))
    for i, node in enumerate(nodes):
        if node.view is not None:
            block[i] = block[node.view]
    return block


def run_steps(nodes: Sequence[Node], budget: int, order: Order) -> list[int]:
    """The numbers of `nodes` in an order in which to compute them; those that come again are computed again.

    Raises:
        BudgetError: there is no such order.
    """
    return _Run(nodes, round(budget * order.room), order).steps()


@dataclass
class _Frame:
    """A node that is to be computed, and what must stay until it is."""

    node: int
    locked: list[int]


class _Run:
    """A run in the memory of `budget` bytes. What shares memory is one block, known by the node that made it."""

    def __init__(self, nodes: Sequence[Node], budget: int, order: Order) -> None:
        self.nodes, self.budget, self.order = nodes, budget, order
        self.block = blocks_of(nodes)
        self.members: list[list[int]] = [[] for _ in nodes]
        for i, a in enumerate(self.block):
            self.members[a].append(i)
        self.kept = {self.block[i] for i, node in enumerate(nodes) if node.kept}
        once = {self.block[i] for i, node in enumerate(nodes) if node.once}
        self.is_held = [i in once or i in self.kept for i in range(len(nodes))]
        """Whether a block is never dropped while it may be needed."""
        self.around = self._neighbours()
        self.reads, self.last = self._reads()
        self.there = [False] * len(nodes)
        self.used = self.now = 0
        self.is_full = [False] * len(nodes)
        """Whether a block takes memory now."""
        self.locks = [0] * len(nodes)
        self.is_free = np.zeros(len(nodes), bool)
        """Whether it may be dropped."""
        self.accessed = np.zeros(len(nodes))
        self.next = np.array([reads[0] if reads else last for reads, last in zip(self.reads, self.last, strict=True)])
        self.passed = [0] * len(nodes)
        """How many of the `reads` of a block are over."""
        self.dropped = _Groups(len(nodes))
        self.losses = np.zeros(len(nodes))
        """What was worked out of `_loss`, but for those blocks around which something has changed since."""
        self.stale: set[int] = set()
        self.made: list[int] = []

    def _neighbours(self) -> list[set[int]]:
        around: list[set[int]] = [set() for _ in self.nodes]
        for i, node in enumerate(self.nodes):
            for j in node.operands:
                a, b = self.block[i], self.block[j]
                if a != b:
                    around[a].add(b)
                    around[b].add(a)
        return around

    def _reads(self) -> tuple[list[list[int]], list[int]]:
        """For each block when it is read for the first computation of something, and when it may last be needed."""
        reads: list[list[int]] = [[] for _ in self.nodes]
        last = list(range(len(self.nodes)))
        for i in reversed(range(len(self.nodes))):
            a = self.block[i]
            last[a] = max(last[a], i)
            for b in {self.block[j] for j in self.nodes[i].operands} - {a}:
                reads[b].append(i)
                last[b] = max(last[b], i if self.is_held[a] else last[a], i)
        return [sorted(places) for places in reads], last

    def steps(self) -> list[int]:
        """The numbers of the nodes, in the order in which they are computed."""
        ends: list[list[int]] = [[] for _ in self.nodes]
        for a, i in enumerate(self.last):
            if self.block[a] == a and a not in self.kept:
                ends[i].append(a)
        for i in range(len(self.nodes)):
            self.now = i
            self._make(i)
            for a in ends[i]:
                self._free(a)
            for a in {self.block[j] for j in self.nodes[i].operands} - {self.block[i]}:
                self._pass(a)
        return self.made

    def _pass(self, a: int) -> None:
        """Block `a` was read as often as it had to be by now."""
        self.passed[a] += 1
        reads = self.reads[a]
        self.next[a] = reads[self.passed[a]] if self.passed[a] < len(reads) else self.last[a]

    def _make(self, target: int) -> None:
        frames = [self._frame(target)]
        while frames:
            frame = frames[-1]
            missing = next((j for j in self.nodes[frame.node].operands if not self.there[j]), None)
            if missing is not None:
                frames.append(self._frame(missing))
                continue
            self._compute(frame.node)
            frames.pop()
            for a in frame.locked:
                self.locks[a] -= 1
                self.is_free[a] = self._is_free(a)
            if frames:
                self._lock(frames[-1], self.block[frame.node])

    def _frame(self, node: int) -> _Frame:
        frame = _Frame(node, [])
        for j in self.nodes[node].operands:
            if self.there[j]:
                self._lock(frame, self.block[j])
        return frame

    def _lock(self, frame: _Frame, block: int) -> None:
        frame.locked.append(block)
        self.locks[block] += 1
        self.is_free[block] = False

    def _is_free(self, a: int) -> bool:
        return self.is_full[a] and not self.locks[a] and not self.is_held[a]

    def _compute(self, i: int) -> None:
        node = self.nodes[i]
        if node.view is None and (node.size or node.scratch):
            self._make_room(i)
            self.used += node.size
            self.is_full[i] = node.size > 0
            self.is_free[i] = self._is_free(i)
            self.stale.add(i)
            self.dropped.leave(i, node.work)
            self._changed_around(i)
        self.there[i] = True
        self.made.append(i)
        for j in (i, *node.operands):
            self.accessed[self.block[j]] = len(self.made)

    def _make_room(self, i: int) -> None:
        needed = self.nodes[i].size + self.nodes[i].scratch
        while self.used + needed > self.budget:
            free = np.flatnonzero(self.is_free)[::-1]
            if not free.size:
                raise BudgetError(i, self.used + needed)
            chosen = self._best(free)
            self._free(chosen)
            near = [b for b in self.around[chosen] if not self.there[b]]
            self.dropped.join(chosen, self.nodes[chosen].work, near)

    def _best(self, free: Array) -> int:
        """The block that is best dropped: of the least work that is lost for a byte, over how long it is of no use.

        Of equals that is the latest. Losses grow as more is dropped: only those that seem least are looked at again.
        """
        for a in self.stale:
            self.losses[a] = self._loss(a) if self.is_full[a] else 0.0
        self.stale.clear()
        distance = self.next[free] - self.now + 1 if self.order.ahead else len(self.made) - self.accessed[free] + 1
        values = self.losses[free] / distance**self.order.power
        while True:
            k = int(values.argmin())
            chosen = int(free[k])
            before, now = self.losses[chosen], self._loss(chosen)
            if now <= before:
                return chosen
            self.losses[chosen] = now
            values[k] *= now / before

    def _free(self, a: int) -> None:
        if self.is_full[a]:
            self.is_full[a] = self.is_free[a] = False
            self.used -= self.nodes[a].size
        for i in self.members[a]:
            self.there[i] = False
        self._changed_around(a)

    def _changed_around(self, a: int) -> None:
        self.stale.update(self.around[a])

    def _loss(self, a: int) -> float:
        near = [b for b in self.around[a] if not self.there[b]]
        return (self.nodes[a].work + self.order.neighbours * self.dropped.work_of(near)) / self.nodes[a].size


class _Groups:
    """What is not there, in groups of neighbours, and the work of each group (union-find)."""

    def __init__(self, count: int) -> None:
        self.parent = list(range(count))
        self.work = [0.0] * count
        self.out = [True] * count

    def join(self, a: int, work: float, near: Iterable[int]) -> None:
        """Add `a`, in a group with those that are near."""
        self.parent.append(len(self.parent))
        self.work.append(work)
        self.out[a] = False
        self.parent[a] = root = len(self.parent) - 1
        for b in near:
            if self.out[b]:
                continue
            other = self._root(b)
            if other != root:
                self.parent[other] = root
                self.work[root] += self.work[other]

    def leave(self, a: int, work: float) -> None:
        """Take `a` out of its group; the others of it stay together, as in the paper."""
        if not self.out[a]:
            root = self._root(a)
            self.work[root] = max(self.work[root] - work, 0.0)
            self.out[a] = True

    def work_of(self, near: Iterable[int]) -> float:
        """The work of the groups of these."""
        return sum([self.work[root] for root in {self._root(b) for b in near if not self.out[b]}])

    def _root(self, a: int) -> int:
        parent = self.parent
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a
