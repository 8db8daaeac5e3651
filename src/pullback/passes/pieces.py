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


def peak_of(nodes: Sequence[Node], pieces: Sequence[Piece]) -> tuple[int, Made]:
    """The most bytes that are alive at once, and what is computed then."""
    blocks = _Blocks(nodes, pieces)
    alive, highest, where = 0, 0, Made(0, 0)
    for n, piece in enumerate(pieces):
        within, at = blocks.highest_within(piece)
        if alive + within > highest:
            highest, where = alive + within, at
        made = {*piece.nodes}
        alive += sum([blocks.size(b) for b in {blocks.of(x) for x in piece.gives} if b in made])
        alive -= sum([blocks.size(b) for b in blocks.freed[n]])
    return highest, where


class _Blocks:
    """Which memory what was made lies in, and after which piece it is free."""

    def __init__(self, nodes: Sequence[Node], pieces: Sequence[Piece]) -> None:
        self.nodes = nodes
        self.block: dict[Made, Made] = {}
        last: dict[Made, int] = {}
        present: dict[int, Made] = {}
        for n, piece in enumerate(pieces):
            for made in piece.nodes:
                view = nodes[made.node].view
                self.block[made] = made if view is None else self.block[present[view]]
                present[made.node] = made
            for x in (*piece.gives, *piece.reads):
                last[self.block[x]] = n
        for i, node in enumerate(nodes):
            if node.kept:
                last.pop(self.block[present[i]], None)
        self.freed: list[list[Made]] = [[] for _ in pieces]
        for x, n in last.items():
            self.freed[n].append(x)

    def of(self, x: Made) -> Made:
        return self.block[x]

    def size(self, block: Made) -> int:
        return self.nodes[block.node].size

    def highest_within(self, piece: Piece) -> tuple[int, Made]:
        """The most bytes that a piece makes and has not let go of, and what it computes then."""
        last: dict[Made, int] = {}
        present: dict[int, Made] = {}
        for k, made in enumerate(piece.nodes):
            present[made.node] = made
            for j in (*self.nodes[made.node].operands, made.node):
                if j in present:
                    last[self.of(present[j])] = k
        stays = {self.of(x) for x in piece.gives}
        freed = [0] * len(piece.nodes)
        for x in piece.nodes:
            if x in last and x not in stays:
                freed[last[x]] += self.size(x)
        alive, highest, where = 0, -1, piece.nodes[0]
        for k, made in enumerate(piece.nodes):
            if self.of(made) == made:
                alive += self.size(made)
            now = alive + self.nodes[made.node].scratch
            if now > highest:
                highest, where = now, made
            alive -= freed[k]
        return highest, where
