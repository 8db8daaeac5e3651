"""Peak memory of a schedule: what is alive at each of its pieces, and how much that is at most."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from .eviction import Node

_TRIED = 500
"""So many of the fullest moments are looked at."""


class Made(NamedTuple):
    """What a node made when it was computed for the nth time."""

    node: int
    time: int


@dataclass
class Piece:
    """What is run at once: one node, for the first time, or several that are computed again, in a call."""

    nodes: list[Made] = field(default_factory=list)
    reads: dict[Made, None] = field(default_factory=dict)
    """What is read of what was made before."""
    gives: dict[Made, None] = field(default_factory=dict)
    """What is read afterwards, or is asked for."""

    @property
    def again(self) -> bool:
        """Whether it computes again."""
        return self.nodes[0].time > 0


def pieces_of(nodes: Sequence[Node], steps: Sequence[int]) -> list[Piece]:
    """The pieces of a schedule."""
    pieces: list[Piece] = []
    present: dict[int, Made] = {}
    maker: dict[Made, Piece] = {}
    for i in steps:
        made = Made(i, present[i].time + 1 if i in present else 0)
        if not pieces or made.time == 0 or not pieces[-1].again:
            pieces.append(Piece())
        piece = pieces[-1]
        for x in dict.fromkeys(present[j] for j in nodes[i].operands):
            if maker[x] is not piece:
                piece.reads[x] = maker[x].gives[x] = None
        piece.nodes.append(made)
        present[i], maker[made] = made, piece
    for i, node in enumerate(nodes):
        if node.kept:
            maker[present[i]].gives[present[i]] = None
    return pieces


class Peak(NamedTuple):
    """The most bytes that are alive at once, and the node that is computed then."""

    bytes: int
    node: int


def peak_of(nodes: Sequence[Node], steps: Sequence[int]) -> Peak:
    """The peak of a schedule in pieces: what one reads of others stays until it is done."""
    freed = [0] * len(steps)
    ends = _ends(nodes, steps)
    for t, end in enumerate(ends):
        if end >= 0:
            freed[end] += nodes[steps[t]].size
    alive, highest = 0, Peak(0, 0)
    for t, i in enumerate(steps):
        alive += nodes[i].size if ends[t] >= 0 else 0
        if alive + nodes[i].scratch > highest.bytes:
            highest = Peak(alive + nodes[i].scratch, i)
        alive -= freed[t]
    return highest


def peak_beside(nodes: Sequence[Node], steps: Sequence[int], results: Collection[int]) -> int:
    """The same in bytes, where the memory for `results` is there from the start.

    Until such a node is made its memory is lent to one value at a time, which is no larger and gone by then.
    """
    ends = _ends(nodes, steps)
    made = {i: t for t, i in enumerate(steps) if i in results}
    room = sorted([(nodes[i].size, t) for i, t in made.items()])
    whole = sum([size for size, _ in room])
    values = [(nodes[i].size, t, ends[t]) for t, i in enumerate(steps) if ends[t] >= 0 and i not in results]
    change = [0] * (len(steps) + 1)
    for size, start, end in values:
        change[start] += size
        change[end + 1] -= size
    beside = [alive + nodes[i].scratch for i, alive in zip(steps, accumulate(change), strict=False)]
    highest = 0
    for t in sorted(range(len(steps)), key=beside.__getitem__, reverse=True)[:_TRIED]:
        if beside[t] <= highest:
            break
        there = sorted([(size, end) for size, start, end in values if start <= t <= end], reverse=True)
        highest = max(highest, beside[t] - _lent(there, [(size, at) for size, at in room if at > t]))
    return whole + highest


def _lent(values: list[tuple[int, int]], room: Sequence[tuple[int, int]]) -> int:
    """The bytes of `values`, the largest first, each with its last step, that fit into `room` until that is needed."""
    total = 0
    for most, at in room:
        found = next((value for value in values if value[0] <= most and value[1] < at), None)
        if found is not None:
            values.remove(found)
            total += found[0]
    return total


def _ends(nodes: Sequence[Node], steps: Sequence[int]) -> list[int]:
    """For each step after which one the memory is free that it takes for its result; -1 where it takes none."""
    count = len(steps)
    now = [-1] * len(nodes)
    """For each node the step that made it last."""
    piece, block, until, last = [0] * count, list(range(count)), list(range(count)), [-1] * count
    """For each step its piece and the step that made the memory its result lies in; for each such step where that is
    read last in its own piece, and, if another one reads it, the last that does."""
    number, is_again = -1, False
    for t, i in enumerate(steps):
        node = nodes[i]
        if now[i] < 0 or not is_again:
            number, is_again = number + 1, now[i] >= 0
        piece[t] = number
        for j in node.operands:
            s = now[j]
            b = block[s]
            if piece[s] != number:
                last[b] = number
            elif piece[b] == number:
                until[b] = t
        if node.view is not None:
            block[t] = b = block[now[node.view]]
            until[b] = t if piece[b] == number else until[b]
        now[i] = t
    for i, node in enumerate(nodes):
        if node.kept:
            last[block[now[i]]] = number + 1
    done = [0] * (number + 1)
    for t, n in enumerate(piece):
        done[n] = t
    done.append(count - 1)
    return [-1 if block[t] != t else until[t] if last[t] < 0 else done[last[t]] for t in range(count)]
