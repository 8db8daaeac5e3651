"""Bounds that XLA finds in conditions of loops."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

NEEDS_BOUND = "loop: to keep one row per step, XLA needs a bound on the steps; pass maximum_iterations="


def _small(y: Any) -> Any:
    return pb.reduce_sum(y) > 1e-3


_CONDITIONS = {
    "less": (lambda i, y: i < 4, 0, 1),
    "less_or_equal": (lambda i, y: i <= 5, 0, 2),
    "downward": (lambda i, y: i > -3, 4, -2),
    "downward_to": (lambda i, y: i >= 0, 4, -1),
    "number_first": (lambda i, y: pb.constant(9) > i, 2, 3),
    "and_something_else": (lambda i, y: (i < 9) & _small(y), 0, 1),
    "no_step": (lambda i, y: i < 0, 0, 1),
    "another_dtype": (lambda i, y: i < pb.constant(4, pb.int64), np.int64(1), np.int64(1)),
}


@pytest.mark.parametrize("what", _CONDITIONS)
def test_rows_have_room_where_a_counter_says_how_many_there_are(what: str) -> None:
    condition, start, step = _CONDITIONS[what]
    x = pb.placeholder(pb.float64, [2])
    y = pb.while_loop(condition, lambda i, y: (i + step, pb.sin(y) * x), (start, x))[1]
    fetches = [y, pb.history(y), pb.gradients(y, x)[0]]
    found, expected = [pb.Session(engine=e).run(fetches, {x: [0.1, 0.3]}) for e in ("xla", "numpy")]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b)


def test_what_a_step_adds_may_stand_outside_of_the_loop() -> None:
    end, by = pb.constant(7), pb.constant(2)
    x = pb.constant(0.5)
    y = pb.while_loop(lambda i, y: i < end, lambda i, y: (by + i, y * x), (0, x))[1]
    np.testing.assert_allclose(pb.Session(engine="xla").run(pb.history(y)), [0.5, 0.25, 0.125, 0.0625])


_NO_COUNTERS = {
    "data": (lambda i, y: _small(y), lambda i: i + 1),
    "or": (lambda i, y: (i < 3) | _small(y), lambda i: i + 1),
    "away": (lambda i, y: (i > -1) & _small(y), lambda i: i + 1),
    "times": (lambda i, y: i < 8, lambda i: 2 * i + 1),
    "standing": (lambda i, y: (i < 8) & _small(y), lambda i: i + 0),
}


@pytest.mark.parametrize("what", _NO_COUNTERS)
def test_what_is_no_counter_bounds_nothing(what: str) -> None:
    condition, following = _NO_COUNTERS[what]
    x = pb.placeholder(pb.float64, [2])
    y = pb.while_loop(condition, lambda i, y: (following(i), pb.sin(y) * x), (0, x))[1]
    with pytest.raises(pb.errors.InvalidArgumentError, match=re.escape(NEEDS_BOUND)):
        pb.Session(engine="xla", mesh={"x": 1}).run(pb.history(y), {x: [0.1, 0.3]})
    assert len(pb.Session(engine="xla").run(pb.gradients(y, x)[0], {x: [0.1, 0.3]})) == 2


def test_number_far_above_the_steps_is_no_bound() -> None:
    x = pb.placeholder(pb.float64, [2])
    y = pb.while_loop(lambda i, y: (i < 10**9) & _small(y), lambda i, y: (i + 1, pb.sin(y) * x), (0, x))[1]
    session = pb.Session(engine="xla", mesh={"x": 1})
    with pytest.raises(pb.errors.InvalidArgumentError, match=re.escape(NEEDS_BOUND)):
        session.run(pb.history(y), {x: [0.1, 0.3]})
    (dx,) = pb.gradients(y, x)
    expected = pb.Session(engine="numpy").run(dx, {x: [0.1, 0.3]})
    np.testing.assert_allclose(session.run(dx, {x: [0.1, 0.3]}), expected)


def test_counter_that_starts_before_its_dtype_ends_is_no_bound() -> None:
    x = pb.placeholder(pb.float64, [])
    last = np.iinfo(np.int32).max - 1
    y = pb.while_loop(lambda i, y: (i <= last) & (y > 0.1), lambda i, y: (i + 3, 0.5 * y), (0, x))[1]
    assert pb.Session(engine="xla").run(pb.gradients(y, x)[0], {x: 1.0}) == 0.0625


@pytest.mark.parametrize("rows_of", [pb.jacobian, lambda y, x: pb.hessians(y, x)[0]], ids=["jacobian", "hessians"])
def test_derivatives_of_all_rows_at_once_have_derivatives_where_a_counter_bounds_the_steps(rows_of: Any) -> None:
    x = pb.placeholder(pb.float64, [3])
    y = pb.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, pb.sin(y) * x), (0, x))[1]
    (dx,) = pb.gradients(rows_of(y, x), x)
    found, expected = [pb.Session(engine=e).run(dx, {x: [0.1, 0.2, 0.3]}) for e in ("xla", "numpy")]
    np.testing.assert_allclose(found, expected)
