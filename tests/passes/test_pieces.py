"""Peak memory of schedules: that of a run in which each piece holds what it reads of others until it is done."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from pullback.passes.eviction import ORDERS, BudgetError, Node, run_steps
from pullback.passes.pieces import peak_of, pieces_of


def random_nodes(random: Random) -> list[Node]:
    nodes: list[Node] = []
    for i in range(random.randint(2, 30)):
        operands = tuple(random.sample(range(i), min(i, random.randint(0, 3))))
        view = operands[0] if operands and random.random() < 0.3 else None
        size = 0 if view is not None else random.randint(0, 9)
        once = view is None and random.random() < 0.1
        nodes.append(
            Node(operands, size, random.randint(0, 3), random.randint(0, 5), view, once, random.random() < 0.1)
        )
    return nodes


def followed(nodes: Sequence[Node], steps: Sequence[int]) -> int:
    """The peak, by looking at each step which memory somebody still wants."""
    pieces = [n for n, piece in enumerate(pieces_of(nodes, steps)) for _ in piece.nodes]
    now: dict[int, int] = {}
    memory: list[int] = []
    within: set[tuple[int, int]] = set()
    behind: set[tuple[int, int]] = set()
    for t, i in enumerate(steps):
        view = nodes[i].view
        memory.append(t if view is None else memory[now[view]])
        for s in [now[j] for j in nodes[i].operands]:
            (within if pieces[s] == pieces[t] else behind).add((memory[s], t))
        within.add((memory[t], t))
        now[i] = t
    ends = {memory[now[i]] for i, node in enumerate(nodes) if node.kept}

    def is_alive(m: int, t: int) -> bool:
        if m in ends or any(a == m and pieces[u] >= pieces[t] for a, u in behind):
            return True
        return m not in {a for a, _ in behind} and any(
            a == m and u >= t and pieces[u] == pieces[t] == pieces[m] for a, u in within
        )

    return max(
        sum(nodes[steps[m]].size for m in range(t + 1) if memory[m] == m and is_alive(m, t)) + nodes[i].scratch
        for t, i in enumerate(steps)
    )


@pytest.mark.parametrize("seed", range(60))
def test_the_peak_is_that_of_a_run_step_by_step(seed: int) -> None:
    nodes = random_nodes(Random(seed))
    plain = list(range(len(nodes)))
    peak = peak_of(nodes, plain).bytes
    assert peak == followed(nodes, plain)
    for order in ORDERS[:4]:
        try:
            steps = run_steps(nodes, round(0.6 * peak), order)
        except BudgetError:
            continue
        assert peak_of(nodes, steps).bytes == followed(nodes, steps)
