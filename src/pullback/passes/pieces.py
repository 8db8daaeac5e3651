"""Peak memory of a schedule: what is alive at each of its pieces, and how much that is at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .eviction import Node


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
    freed, freed_behind = [0] * count, [0] * (number + 2)
    for i, node in enumerate(nodes):
        if node.kept:
            last[block[now[i]]] = number + 1
    for t, i in enumerate(steps):
        if block[t] == t and last[t] < 0:
            freed[until[t]] += nodes[i].size
        elif block[t] == t:
            freed_behind[last[t]] += nodes[i].size
    alive, highest = 0, Peak(0, 0)
    for t, i in enumerate(steps):
        if t and piece[t] != piece[t - 1]:
            alive -= freed_behind[piece[t - 1]]
        alive += nodes[i].size if block[t] == t else 0
        if alive + nodes[i].scratch > highest.bytes:
            highest = Peak(alive + nodes[i].scratch, i)
        alive -= freed[t]
    return highest
