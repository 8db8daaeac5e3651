"""What is said of the lengths of broadcasts holds in every run: all pairs of small formulas, all numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

import pullback as pb
from pullback.core.lengths import greatest, known_to_differ, least, named
from pullback.core.shape import TensorShape, broadcast_static_shape, fit, summed_axes

M, N = named("m"), named("n")
FORMULAS: list[Any] = [
    *(0, 1, 2, 3, M, N, M + 1, M + N, 2 * M, M * N, M // 2, (M + 1) // 2, M % 3),
    *(least(1, M), least(2, M), least(3, M), least(M, N), least(2, M, N), least(2, 2 * M), least(2, M + 1)),
    *(greatest(0, M - 1), greatest(1, M), greatest(2, M), greatest(M, N), least(3, greatest(0, M - 1))),
]
RUNS = [{M: m, N: n} for m, n in product(range(5), repeat=2)]


def numbers(a: Any, b: Any) -> Iterator[tuple[dict[Any, int], int, int]]:
    """The numbers that two formulas are, for all lengths of a run."""
    for run in RUNS:
        yield run, *[x if isinstance(x, int) else x.substitute(run) for x in (a, b)]


@pytest.mark.parametrize("a", FORMULAS, ids=repr)
def test_what_is_said_of_two_lengths_is_true_in_every_run(a: Any) -> None:
    for b in FORMULAS:
        for run, x, y in numbers(a, b):
            broadcasts = x == y or 1 in (x, y)
            assert not (broadcasts and fit(a, b) and x != y), f"{a} and {b} are said to fit, but {run}"
            assert not (known_to_differ(a, b) and x == y), f"{a} and {b} are said to differ, but {run}"


@pytest.mark.parametrize("a", FORMULAS, ids=repr)
def test_the_inferred_length_of_a_broadcast_is_that_of_every_run(a: Any) -> None:
    for b in [b for b in FORMULAS if not (isinstance(a, int) and isinstance(b, int))]:
        small, large = TensorShape([a]), broadcast_static_shape(TensorShape([a]), TensorShape([b]))
        assert large.lengths is not None
        (inferred,), summed = large.lengths, summed_axes(small, large)
        for run, x, y in numbers(a, b):
            if x == y or 1 in (x, y):
                found = y if x == 1 else x
                said = inferred.substitute(run) if inferred is not None and not isinstance(inferred, int) else inferred
                assert said in (found, None), f"{a} beside {b} is said to be {inferred}, but {run}"
                repeated = x == 1 and found != 1
                assert summed is None or not repeated or summed == (0,), f"{a} is repeated along {inferred}: {run}"


def test_the_gradient_of_a_part_that_may_be_one_is_summed() -> None:
    x = pb.placeholder(pb.float64, ["m"])
    part = x[:2]
    (dx,) = pb.gradients(part * [3.0, 5.0], part)
    with pb.Session(engine="numpy") as session:
        assert session.run(dx, {x: [7.0]}).tolist() == [8.0]
        assert session.run(dx, {x: [7.0, 9.0, 11.0]}).tolist() == [3.0, 5.0]
