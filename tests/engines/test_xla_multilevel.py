"""States kept between two checkpoints of a loop on XLA: how often blocks are run again, and from what."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

from pullback.engines.xla.loops.multilevel import Cursor, Shelf, nothing_kept


def runs(goals: list[int], entry: int, levels: int, reverse: bool = False) -> int:
    """The blocks that are run until all `goals` have been, one after the other; the state is the block's number."""
    step = -1 if reverse else 1

    def run(kept: Cursor | Shelf, goal: int) -> tuple[int, Cursor | Shelf]:
        low, high = (goal, entry) if reverse else (entry, goal)
        block = np.int32(kept.nearest(low, high, np.int32(entry), reverse))
        (state,) = kept.state_before(block, np.int32(entry), [np.int32(entry)], True)
        assert state == block
        after = np.int32(block + step)
        return int(block), kept.moved(after, np.int32(entry), [after], True, True)

    count, kept = 0, nothing_kept([np.int32(0)], levels)
    for goal in goals:
        block = None
        while block != goal:
            block, kept = run(kept, goal)
            count += 1
    return count


@pytest.mark.parametrize("reverse", [False, True])
def test_going_back_takes_n_log_n_runs_of_a_block(reverse: bool) -> None:
    n, goals = 32, list(range(9, 41))
    entry = 40 if reverse else 9
    goals = goals if reverse else goals[::-1]
    assert runs(goals, entry, 6, reverse) <= n * (math.log2(n) / 2 + 1)
    assert runs(goals, entry, 0, reverse) == n * (n + 1) // 2


@pytest.mark.parametrize("levels", [0, 6])
def test_going_on_runs_no_block_twice(levels: int) -> None:
    assert runs(list(range(3, 20)), 3, levels) == 17


def test_few_levels_are_enough_for_any_number_of_blocks() -> None:
    assert runs([11, 4, 9, 10, 2], 0, 2) < 12 + 5 + 10 + 11 + 3


@pytest.mark.parametrize("reverse", [pytest.param(False, marks=pytest.mark.slow), True])
def test_derivatives_within_a_tight_budget_are_those_without(reverse: bool) -> None:
    steps = 150
    x, n = pb.placeholder(pb.float64, [3]), pb.placeholder(pb.int32, [])
    rows = np.linspace(-1.0, 1.0, steps)

    def chain(x: pb.Tensor) -> pb.Tensor:
        if reverse:
            return pb.foldr(lambda y, row: pb.tanh(y * 1.1 + row * x), pb.constant(rows), x)
        return pb.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, pb.tanh(y * 1.1 + 0.1 * x)], [0, x])[1]

    y = pb.reduce_sum(chain(x))
    found = []
    for memory in (pb.Memory(budget=100), None):
        (dx,) = pb.gradients(y, x, memory=memory)
        found.append([dx, *pb.gradients(pb.reduce_sum(dx * dx), x, memory=memory)])
    tight, free = pb.Session(engine="xla").run(found, {x: [0.1, -0.2, 0.5], n: steps})
    np.testing.assert_allclose(tight[0], free[0], rtol=1e-12)
    np.testing.assert_allclose(tight[1], free[1], rtol=1e-10)
