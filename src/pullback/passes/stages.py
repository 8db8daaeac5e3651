"""Chains of stages: the forward part of a run cut into stages, and its backward part by the stage that it reads.

The forward part ends where the memory is fullest. A cut is made where little is alive. What crosses it is the state
from which the next stage can be computed again; what the backward part reads of a stage beside its states is the tape
of that stage. This is the chain of Beaumont et al. (see `checkpoints`), of any graph: what skips stages is a part of
each state on its way.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from .eviction import Node, blocks_of

MOST_STAGES = 48
"""The time to find the best checkpoints is cubic in the stages."""
_SHARES = (0.25, 0.5, 0.75, 1.0)
"""Parts of a tape that may be kept."""

Blocks = frozenset[int]
NONE: Blocks = frozenset()


class Advance(NamedTuple):
    """Computing the end of a stage from its beginning, and so much of its tape."""

    kept: Blocks
    """The part of the tape that is kept from then on."""
    size: int
    work: int
    peak: int
    """The most bytes that are alive meanwhile, beside the state at the beginning."""
    rest: int
    """The work of computing the rest of the tape later."""


class Stage(NamedTuple):
    """A piece of the forward part, and the piece of the backward part that reads it."""

    forward: range
    backward: range
    state: Blocks
    """What is alive at its end, of what later stages read, or their backward parts do."""
    tape: Blocks
    advances: tuple[Advance, ...]
    """Without a tape at first."""
    tape_peak: int
    """The most bytes that are alive while the tape is computed."""
    before: int
    """The bytes that the backward part has when it comes to this stage."""
    highest: int
    """The most that it has in this stage, with the tape."""


class Stages:
    """The stages of a run: `stages[0]` reads what is given only. None where there are not two."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes, self.block = nodes, blocks_of(nodes)
        self.held = {self.block[i] for i, node in enumerate(nodes) if node.once or node.kept}
        """The blocks that are never computed again, and stay."""
        self.readers: list[list[int]] = [[] for _ in nodes]
        for i, node in enumerate(nodes):
            for a in {self.block[j] for j in node.operands} - {self.block[i]}:
                self.readers[a].append(i)
        self.last = list(range(len(nodes)))
        self.inside: list[list[int]] = [[] for _ in nodes]
        for i, node in enumerate(nodes):
            self.inside[self.block[i]].append(i)
            for j in node.operands:
                self.last[j] = i
        self.end = self._fullest()
        self.cuts = self._cuts()
        """The first node of each stage but the first."""
        self.stages = self._stages()

    def members(self, blocks: Collection[int], before: int) -> list[int]:
        """The nodes before `before` that lie in these blocks and are read from there on."""
        return sorted([i for a in blocks for i in self.inside[a] if i < before and self.last[i] >= before])

    def _fullest(self) -> int:
        """The node before which the most bytes wait to be read."""
        change = [0] * (len(self.nodes) + 1)
        for a, readers in enumerate(self.readers):
            if readers and a not in self.held:
                change[a + 1] += self.nodes[a].size
                change[readers[-1] + 1] -= self.nodes[a].size
        alive = list(accumulate(change))
        return max(range(len(alive)), key=alive.__getitem__)

    def _cuts(self) -> list[int]:
        """Where no more bytes are alive than before and behind; what the backward part does not read counts twice."""
        change = [0] * (self.end + 2)
        for a, readers in enumerate(self.readers[: self.end]):
            ahead = bisect_right(readers, self.end - 1)
            if ahead and a not in self.held:
                weight = self.nodes[a].size * (1 + (ahead == len(readers)))
                change[a + 1] += weight
                change[readers[ahead - 1] + 1] -= weight
        alive = list(accumulate(change))
        places = [p for p in range(1, self.end) if alive[p] and self.nodes[p].size]
        lows = [p for p in places if alive[p] <= (alive[p + 1] or alive[p]) and alive[p] <= (alive[p - 1] or alive[p])]
        done = list(accumulate([node.work for node in self.nodes[: self.end]], initial=0))
        share = max(done[-1] / MOST_STAGES, 1)
        best: dict[int, int] = {}
        for p in lows if len(lows) >= MOST_STAGES else ():
            bucket = int(done[p] / share)
            best[bucket] = min(best.get(bucket, p), p, key=alive.__getitem__)
        return sorted(best.values()) or lows

    def _stage(self, i: int) -> int:
        return bisect_right(self.cuts, i)

    def _stages(self) -> list[Stage]:
        count = len(self.cuts) + 1
        levels, starts = self._levels(count)
        states: list[set[int]] = [set() for _ in range(count)]
        tapes: list[set[int]] = [set() for _ in range(count)]
        for a in range(self.end):
            readers = self.readers[a]
            if a in self.held or not readers:
                continue
            first = self._stage(a)
            behind = [levels[b - self.end] for b in readers if b >= self.end]
            for n in range(first, max(self._stage(self._last_read(a)), *behind, first)):
                states[n].add(a)
            if first in behind:
                tapes[first].add(a)
        before, peaks = self._backward(starts)
        made = []
        for n, (state, tape) in enumerate(zip(states, tapes, strict=True)):
            forward = range([0, *self.cuts][n], [*self.cuts, self.end][n])
            given = states[n - 1] if n else set()
            advances = self._advances(forward, given, state, tape)
            tape_peak = self._peak(self._needed(forward, tape, given), tape)
            top = peaks[n] + self.size(tape)
            backward = range(starts[n], starts[n - 1] if n else len(self.nodes))
            made.append(Stage(forward, backward, Blocks(state), Blocks(tape), advances, tape_peak, before[n], top))
        return made

    def _levels(self, count: int) -> tuple[list[int], list[int]]:
        """For each node of the backward part its stage, never less than that of a later one; where each begins.

        The last one that has all it reads in its first state; but none before what is read from there on is made.
        """
        least, lowest = 0, []
        for b in reversed(range(self.end, len(self.nodes))):
            least = max([least, *[self._stage(a) for a in self._read_of(b)]])
            lowest.append(least)
        level, levels = count - 1, []
        for b, least in zip(range(self.end, len(self.nodes)), reversed(lowest), strict=True):
            level = max(least, min([level, *[self._stage(self._last_read(a)) for a in self._read_of(b)]]))
            levels.append(level)
        starts = [self.end + sum(level > n for level in levels) for n in range(count)]
        return levels, starts

    def _read_of(self, b: int) -> list[int]:
        """The blocks of the forward part that node `b` of the backward part reads, and that may not be there."""
        blocks = [self.block[j] for j in self.nodes[b].operands]
        return [a for a in blocks if a < self.end and a not in self.held]

    def _last_read(self, a: int) -> int:
        """The last node of the forward part that reads block `a`; itself if none does."""
        ahead = bisect_right(self.readers[a], self.end - 1)
        return self.readers[a][ahead - 1] if ahead else a

    def _backward(self, starts: Sequence[int]) -> tuple[list[int], list[int]]:
        """The bytes that the backward part has before each stage, and the most that it has in it."""
        always = sum([self.nodes[a].size for a in self.held if a < self.end])
        freed = [0] * (len(self.nodes) + 1)
        for a in range(self.end, len(self.nodes)):
            if a not in self.held and self.block[a] == a:
                freed[(self.readers[a] or [a])[-1]] += self.nodes[a].size
        alive, before, during = always, [], []
        for b in range(self.end, len(self.nodes)):
            before.append(alive)
            alive += self.nodes[b].size
            during.append(alive + self.nodes[b].scratch)
            alive -= freed[b]
        before.append(alive)
        ends = [len(self.nodes), *starts[:-1]]
        peaks = [max(during[i - self.end : j - self.end], default=0) for i, j in zip(starts, ends, strict=True)]
        return [before[i - self.end] for i in starts], peaks

    def _advances(self, forward: range, given: set[int], state: set[int], tape: set[int]) -> tuple[Advance, ...]:
        def worth(a: int) -> float:
            return self._work(self._needed(forward, [a], given)) / max(self.nodes[a].size, 1)

        order = sorted(tape, key=worth, reverse=True)
        total = self.size(tape)
        parts = {NONE: None}
        sizes = list(accumulate([self.nodes[a].size for a in order]))
        for share in _SHARES if order else ():
            parts[Blocks(order[: bisect_right(sizes, share * total)])] = None
        found = []
        for kept in parts:
            nodes = self._needed(forward, state | kept, given)
            rest = self._work(self._needed(forward, tape - kept, given | kept))
            found.append(Advance(kept, self.size(kept), self._work(nodes), self._peak(nodes, state | kept), rest))
        return tuple(found)

    def _needed(self, forward: range, wanted: Iterable[int], given: Collection[int]) -> list[int]:
        """The nodes of a stage that it takes to compute the wanted blocks from the given ones."""
        found: set[int] = set()
        todo = [a for a in wanted if a in forward]
        while todo:
            i = todo.pop()
            if i in found or i not in forward or self.block[i] in self.held or self.block[i] in given:
                continue
            found.add(i)
            todo += self.nodes[i].operands
        return sorted(found)

    def _work(self, nodes: Iterable[int]) -> int:
        return sum([self.nodes[i].work for i in nodes])

    def size(self, blocks: Iterable[int]) -> int:
        """The bytes of these blocks."""
        return sum([self.nodes[a].size for a in blocks])

    def _peak(self, nodes: Sequence[int], stays: Collection[int]) -> int:
        """The most bytes that these nodes have at once."""
        last = {self.block[j]: i for i in nodes for j in (*self.nodes[i].operands, i)}
        made, alive, highest = set(nodes), 0, 0
        for i in nodes:
            alive += self.nodes[i].size
            highest = max(highest, alive + self.nodes[i].scratch)
            ends = {self.block[j] for j in (*self.nodes[i].operands, i)}
            alive -= self.size([a for a in ends if a in made and a not in stays and last[a] == i])
        return highest
