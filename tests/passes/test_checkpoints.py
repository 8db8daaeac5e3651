"""Checkpoints of chains: as little work as is known to be possible."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from pullback.passes.checkpoints import checkpointed
from pullback.passes.eviction import Node
from pullback.passes.keeping import keeping_more
from pullback.passes.pieces import peak_of


@cache
def revolve(steps: int, slots: int) -> int:
    """The least forward steps that reverse a chain in so many slots (Griewank and Walther)."""
    if steps == 1 or slots == 0:
        return steps * (steps - 1) // 2
    return min(k + revolve(steps - k, slots - 1) + revolve(k, slots) for k in range(1, steps))


def chain(steps: int, sizes: Sequence[int] = (1,), works: Sequence[int] = (1,)) -> list[Node]:
    """Forward steps, and backward ones that read what the forward ones read."""
    nodes: list[Node] = []
    for i in range(steps):
        nodes.append(Node((i - 1,) if i else (), sizes[i % len(sizes)], 0, works[i % len(works)]))
    for i in reversed(range(steps)):
        operands = [len(nodes) - 1] + ([i - 1] if i else [])
        nodes.append(Node(tuple(operands), sizes[i % len(sizes)], 0, works[i % len(works)], kept=i == 0))
    return nodes


def peak(nodes: Sequence[Node], steps: Sequence[int]) -> int:
    return peak_of(nodes, steps).bytes


@pytest.mark.parametrize(("steps", "slots"), [(12, 2), (20, 3), (40, 6), (90, 12)])
def test_a_chain_takes_as_many_steps_as_revolve(steps: int, slots: int) -> None:
    nodes, budget = chain(steps), slots + 3
    found = next(order for order in checkpointed(nodes, budget) if peak(nodes, order) <= budget)
    forward = [i for i in found if i < steps - 1]
    assert len(forward) <= revolve(steps, slots)


def test_steps_that_are_cheap_are_those_that_come_again() -> None:
    nodes = chain(24, works=(1, 100))
    found = next(order for order in checkpointed(nodes, 15) if peak(nodes, order) <= 15)
    assert all(nodes[i].work == 1 for i in set(found) if found.count(i) > 1)


def test_what_has_room_is_kept() -> None:
    nodes = chain(10)
    everything = list(range(len(nodes)))
    wasteful = [*everything[:10], *[i for n in range(10, 20) for i in (*range(9), n)]]
    assert keeping_more(nodes, wasteful, peak(nodes, everything)) == everything
    fewer = keeping_more(nodes, wasteful, 8)
    assert len(everything) < len(fewer) < len(wasteful)
    assert peak(nodes, fewer) <= 8
