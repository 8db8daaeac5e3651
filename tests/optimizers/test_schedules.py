"""Learning-rate schedules against their formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

train = pb.train
STEPS = [0, 1, 5, 10, 11, 25]


def restarted(t: int) -> float:
    """Three waves from 0.5, 0.4 and 0.32 over 6, 12 and 24 steps."""
    top, start, period = (0.5, 0, 6) if t < 6 else (0.4, 6, 12) if t < 18 else (0.32, 18, 24)
    return top * (1 + math.cos(math.pi * (t - start) / period)) / 2


@pytest.mark.parametrize(
    ("schedule", "formula"),
    [
        (lambda t: train.exponential_decay(0.5, t, 10, 0.9), lambda t: 0.5 * 0.9 ** (t / 10)),
        (lambda t: train.exponential_decay(0.5, t, 10, 0.9, staircase=True), lambda t: 0.5 * 0.9 ** (t // 10)),
        (lambda t: train.natural_exp_decay(0.5, t, 10, 0.9), lambda t: 0.5 * math.exp(-0.9 * t / 10)),
        (lambda t: train.inverse_time_decay(0.5, t, 10, 0.9), lambda t: 0.5 / (1 + 0.9 * t / 10)),
        (lambda t: train.inverse_time_decay(0.5, t, 10, 0.9, True), lambda t: 0.5 / (1 + 0.9 * (t // 10))),
        (
            lambda t: train.polynomial_decay(0.5, t, 10, 0.1, power=2.0),
            lambda t: 0.4 * (1 - min(t, 10) / 10) ** 2 + 0.1,
        ),
        (
            lambda t: train.polynomial_decay(0.5, t, 10, 0.1, cycle=True),
            lambda t: 0.4 * (1 - t / (10 * max(math.ceil(t / 10), 1))) + 0.1,
        ),
        (
            lambda t: train.cosine_decay(0.5, t, 10, alpha=0.2),
            lambda t: 0.5 * (0.8 * (1 + math.cos(math.pi * min(t, 10) / 10)) / 2 + 0.2),
        ),
        (
            lambda t: train.cosine_decay_restarts(0.5, t, 4, 1.0, 0.5, 0.1),
            lambda t: 0.5 * (0.9 * 0.5 ** (t // 4) * (1 + math.cos(math.pi * (t % 4) / 4)) / 2 + 0.1),
        ),
        (
            lambda t: train.cosine_decay_restarts(0.5, t, 6, 2.0, 0.8),
            restarted,
        ),
        (
            lambda t: train.linear_cosine_decay(0.5, t, 10, 2.0, 0.1, 0.01),
            lambda t: 0.5 * ((1.1 - min(t, 10) / 10) * (1 + math.cos(4 * math.pi * min(t, 10) / 10)) / 2 + 0.01),
        ),
        (
            lambda t: train.piecewise_constant(t, [1, 10], [0.5, 0.2, 0.1]),
            lambda t: 0.5 if t <= 1 else 0.2 if t <= 10 else 0.1,
        ),
        (lambda t: train.piecewise_constant(t, [], [0.5]), lambda t: 0.5),
    ],
)
@pytest.mark.parametrize("dtype", [pb.int32, pb.int64, pb.float32])
def test_the_rate_is_the_formula(schedule: Callable[[Any], Any], formula: Callable[[int], float], dtype: Any) -> None:
    t = pb.placeholder(dtype, [])
    rate = schedule(t)
    session = pb.Session(engine="numpy")
    values = [float(session.run(rate, {t: step})) for step in STEPS]
    np.testing.assert_allclose(values, [formula(step) for step in STEPS], rtol=1e-6)


def test_a_schedule_follows_the_global_step(engine: str) -> None:
    count = pb.train.get_or_create_global_step()
    rate = train.exponential_decay(1.0, count, 1, 0.5)
    w = pb.Variable(0.0)
    step = train.GradientDescentOptimizer(rate).apply_gradients([(pb.constant(-1.0), w)], global_step=count)
    session = pb.Session(engine=engine)
    session.run(pb.global_variables_initializer())
    for _ in range(3):
        session.run(step)
    assert session.run(w) == 1.75


def test_a_missing_step_is_named() -> None:
    with pytest.raises(ValueError, match=r"^global_step is required for exponential_decay\.$"):
        train.exponential_decay(1.0, None, 10, 0.5)


def test_a_value_too_few_is_named() -> None:
    with pytest.raises(ValueError, match=r"^The length of boundaries should be 1 less than the length of values$"):
        train.piecewise_constant(1, [10], [0.5])


def test_a_root_of_what_is_left_is_0_at_the_end(engine: str) -> None:
    count = pb.placeholder(pb.int32, [])
    rate = train.polynomial_decay(0.1, count, 30, 0.01, power=0.5)
    session = pb.Session(engine=engine)
    np.testing.assert_allclose([session.run(rate, {count: n}) for n in (25, 30, 35)], [0.046742, 0.01, 0.01], rtol=1e-5)
