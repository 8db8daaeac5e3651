"""Exponentials, logarithms and roots of matrices, and their derivatives, where sizes are far apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

SIZES = [1e-8, 1.0, 1e3, 1e6, 1e9, 1e12]


@pytest.fixture(params=["numpy", "xla"])
def session(request: pytest.FixtureRequest) -> pb.Session:
    return pb.Session(engine=request.param)


@pytest.mark.parametrize(("dtype", "accuracy"), [("float32", 3e-5), ("float64", 3e-14), ("complex128", 3e-14)])
@pytest.mark.parametrize("b", SIZES)
def test_a_large_element_off_the_diagonal_costs_no_digits(
    session: pb.Session, b: float, dtype: str, accuracy: float
) -> None:
    x = pb.placeholder(pb.as_dtype(dtype), [3, 2, 2])
    given = np.array([[[1, b], [0, -1]], [[1, b], [0, 1]], [[0, b], [0, 0]]])
    e = np.e
    expected = np.array([[[e, b * np.sinh(1)], [0, 1 / e]], [[e, b * e], [0, e]], [[1, b], [0, 1]]])
    found = session.run(pb.linalg.expm(x), {x: given})
    np.testing.assert_allclose(found, expected, rtol=accuracy)


@pytest.mark.parametrize("size", [1e20, 1e280])
def test_a_nilpotent_matrix_may_be_large(session: pb.Session, size: float) -> None:
    x = pb.placeholder(pb.float64, [2, 2])
    found = session.run(pb.linalg.expm(x), {x: np.array([[0.0, size], [0.0, 0.0]])})
    np.testing.assert_allclose(found, [[1.0, size], [0.0, 1.0]], rtol=1e-9)


def test_many_squarings_lose_no_more_than_the_condition_says(session: pb.Session) -> None:
    angle = 1e6
    x = pb.placeholder(pb.float64, [2, 2])
    found = session.run(pb.linalg.expm(x), {x: np.array([[0.0, -angle], [angle, 0.0]])})
    np.testing.assert_allclose(found, [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]], atol=1e-9)


def test_a_logarithm_far_from_one_is_exact_to_rounding(session: pb.Session) -> None:
    x = pb.placeholder(pb.float64, [2, 2])
    found = session.run(pb.linalg.logm(x), {x: np.diag([1e3, 1e-3])})
    np.testing.assert_allclose(np.diag(found), np.log([1e3, 1e-3]), rtol=1e-9)


POSITIVE = np.array([[3.0, 1.0, 0.5], [0.2, 2.0, 0.1], [0.3, 0.4, 4.0]])
FUNCTIONS: dict[str, Callable[..., Any]] = {"expm": pb.linalg.expm, "logm": pb.linalg.logm, "sqrtm": pb.linalg.sqrtm}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
@pytest.mark.parametrize("scale", [1e-12, *[pytest.param(scale, marks=pytest.mark.slow) for scale in (1e6, 1e12)]])
def test_derivatives_are_linear_in_cotangents_of_any_size(session: pb.Session, function: Any, scale: float) -> None:
    x = pb.placeholder(pb.float64, [3, 3])
    factor = pb.placeholder(pb.float64, [])
    weights = pb.constant(np.random.default_rng(0).normal(size=(3, 3)))
    y = factor * pb.reduce_sum(weights * function(x))
    derivatives = []
    for _ in range(3):
        (d,) = pb.gradients(y, x)
        derivatives.append(d)
        y = pb.reduce_sum(weights * d)
    large, small = (session.run(derivatives, {x: POSITIVE, factor: f}) for f in (scale, 1.0))
    for order, (a, b) in enumerate(zip(large, small, strict=True)):
        np.testing.assert_allclose(a / scale, b, rtol=10 ** (order - 12), atol=10 ** (order - 13) * np.abs(b).max())


def test_jets_along_the_matrix_itself_are_known(session: pb.Session) -> None:
    order = 6
    x = pb.placeholder(pb.float64, [3, 3])
    jets = [pb.jet(function(x), x, order, x) for function in FUNCTIONS.values()]
    values, found = session.run([[f(x) for f in FUNCTIONS.values()], jets], {x: POSITIVE})
    exponential, _, root = values
    factors, falling = [], 1.0
    for k in range(order):
        falling *= 0.5 - k
        factors.append(falling)
    for k in range(order):
        power = np.linalg.matrix_power(POSITIVE, k + 1)
        np.testing.assert_allclose(found[0][k], power @ exponential, rtol=1e-11)
        expected = (-1) ** k * float(np.prod(np.arange(1, k + 1))) * np.eye(3)
        np.testing.assert_allclose(found[1][k], expected, rtol=1e-10, atol=1e-10 * expected[0, 0] ** 2)
        np.testing.assert_allclose(found[2][k], factors[k] * root, rtol=1e-11)
