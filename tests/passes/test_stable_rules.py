"""Stabilisation: at a hard point for each rule, values and derivatives that are right where the plain ones are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import pullback as pb
from pullback.passes.rules import stable
from pullback.passes.ruleset import library


class Hard(NamedTuple):
    """A rule, what a user writes, and a point at which that goes wrong in float32."""

    rule: str
    build: Callable[[Any], Any]
    x: Sequence[float]
    y: Sequence[float] | float
    dx: Sequence[float]
    """The derivative of the sum of the values."""


E = np.exp
LOG3 = np.log(np.float32([3, 3]))
LOG2 = np.log(np.float32([2, 2]))
ROWS = [
    Hard("logarithm of a softmax", lambda x: pb.log(pb.nn.softmax(x)), [0, 200], [-200, 0], [1, -1]),
    Hard("logarithm of moved elements", lambda x: pb.log(pb.nn.softmax(x)[0]), [0, 200], -200, [1, -1]),
    Hard("logarithm of picked elements", lambda x: pb.log(pb.gather_nd(pb.exp(x), [1])), [0, 200], 200, [0, 1]),
    Hard("softmax by a widened sum", lambda x: _rows(x)[0, 1], [0, 200], 1, [0, 0]),
    Hard("softmax by hand", lambda x: _last(pb.exp(x) / _total(x)), [0, 200], 1, [0, 0]),
    Hard("logarithm of a sum of exponentials", lambda x: pb.log(_sum(x)), [100, 100], 100 + np.log(2), [0.5, 0.5]),
    Hard(
        "logarithm of two exponentials",
        lambda x: pb.log(pb.exp(x) + pb.exp(x)),
        [-110, 100],
        np.add(LOG2, [-110, 100]),
        [1, 1],
    ),
    Hard(
        "logarithm of a mean of exponentials", lambda x: pb.log(pb.reduce_mean(pb.exp(x))), [100, 100], 100, [0.5, 0.5]
    ),
    Hard(
        "logarithm of a multiple of an exponential",
        lambda x: pb.log(0.5 * pb.exp(x)),
        [-120, 100],
        [-120, 100] - LOG2,
        [1, 1],
    ),
    Hard(
        "logarithm of a part of an exponential",
        lambda x: pb.log(pb.exp(x) / 3.0),
        [-120, 100],
        [-120, 100] - LOG3,
        [1, 1],
    ),
    Hard("softplus by hand", lambda x: pb.log(1.0 + pb.exp(x)), [-30, 100], [E(-30), 100], [E(-30), 1]),
    Hard("softplus by log1p", lambda x: pb.math.log1p(pb.exp(x)), [-30, 100], [E(-30), 100], [E(-30), 1]),
    Hard("logarithm of a sigmoid", lambda x: pb.log(pb.sigmoid(x)), [-120, 30], [-120, -E(-30)], [1, E(-30)]),
    Hard("one minus a sigmoid", lambda x: 1.0 - pb.sigmoid(x), [0, 30], [0.5, E(-30)], [-0.25, -E(-30)]),
    Hard("sigmoid by a quotient", lambda x: pb.exp(x) / (1.0 + pb.exp(x)), [0, 120], [0.5, 1], [0.25, 0]),
    Hard("hyperbolic tangent by hand", lambda x: _odd(x) / _even(x), [-100, 1e-10], [-1, 1e-10], [0, 1]),
    Hard(
        "hyperbolic tangent of a half",
        lambda x: (pb.exp(x) - 1.0) / (pb.exp(x) + 1.0),
        [1e-10, 100],
        [5e-11, 1],
        [0.5, 0],
    ),
    Hard("logarithm of one minus", lambda x: pb.log(1.0 - x), [1e-10, 0.5], [-1e-10, -np.log(2)], [-1, -2]),
    Hard("logarithm of one plus", lambda x: pb.log(1.0 + x), [1e-10, 1], [1e-10, np.log(2)], [1, 0.5]),
    Hard("exponential minus one", lambda x: pb.exp(x) - 1.0, [1e-10, 0], [1e-10, 0], [1, 1]),
    Hard("minus one and an exponential", lambda x: -1.0 + pb.exp(x), [1e-10, 0], [1e-10, 0], [1, 1]),
    Hard("one minus an exponential", lambda x: 1.0 - pb.exp(x), [1e-10, 0], [-1e-10, 0], [-1, -1]),
    Hard("logarithm of an exponential", lambda x: pb.log(pb.exp(x)), [-200, 200], [-200, 200], [1, 1]),
    Hard("norm by hand", lambda x: pb.sqrt(pb.reduce_sum(pb.square(x))), [0, 0], 0, [0, 0]),
    Hard("norm by a power", lambda x: pb.reduce_sum(pb.square(x)) ** 0.5, [0, 0], 0, [0, 0]),
    Hard("norm by a contraction", lambda x: pb.sqrt(pb.tensordot(x, x, 1)), [0, 0], 0, [0, 0]),
    Hard("root of a mean square", lambda x: pb.sqrt(pb.reduce_mean(pb.square(x))), [0, 0], 0, [0, 0]),
    Hard("entropy by hand", lambda x: x * pb.log(x), [0, 1], [0, 0], [0, 1]),
    Hard("square root of a square", lambda x: pb.sqrt(pb.square(x)), [1e30, 0], [1e30, 0], [1, 0]),
]


def _sum(x: Any) -> Any:
    return pb.reduce_sum(pb.exp(x))


def _total(x: Any) -> Any:
    return pb.reduce_sum(pb.exp(x), 0, keepdims=True)


def _rows(x: Any) -> Any:
    x = x[None]
    return pb.exp(x) / pb.expand_dims(pb.reduce_sum(pb.exp(x), 1), 1)


def _odd(x: Any) -> Any:
    return pb.exp(x) - pb.exp(-x)


def _even(x: Any) -> Any:
    return pb.exp(x) + pb.exp(-x)


def _last(x: Any) -> Any:
    return x[1]


def _values(build: Callable[[Any], Any], row: Hard, engine: str) -> list[Any]:
    x = pb.placeholder(pb.float32, [2])
    y = build(x)
    return list(pb.Session(engine=engine).run([y, *pb.gradients(y, x)], {x: np.array(row.x, np.float32)}))


@pytest.mark.parametrize("engine", ["numpy", pytest.param("xla", marks=pytest.mark.slow)])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_values_and_derivatives_are_right_at_the_hard_point(row: Hard, engine: str) -> None:
    found = _values(lambda x: pb.optimize(row.build(x)).fetches, row, engine)
    for value, expected in zip(found, [row.y, row.dx], strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_the_point_is_hard(row: Hard) -> None:
    found = _values(row.build, row, "numpy")
    assert not all(np.allclose(a, b, rtol=1e-3, atol=0) for a, b in zip(found, [row.y, row.dx], strict=True))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_the_rule_of_the_row_is_the_one_that_is_used(row: Hard) -> None:
    report = pb.optimize(row.build(pb.placeholder(pb.float32, [2]))).report
    assert row.rule in report.counts


def test_every_rule_that_stabilises_has_a_row() -> None:
    own = {rule.name for rule in library() if rule in vars(stable).values()}
    assert own == {row.rule for row in ROWS} == {rule.name for rule in library() if rule.stabilises}
