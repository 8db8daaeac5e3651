"""Incomplete gamma and beta functions by parameters near 0: small results have all their digits on every engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as special

import pullback as pb

SMALL = np.array([1e-290, 1e-100, 1e-30, 1e-12, 1e-6, 1e-3, 0.05])
POINTS = np.array([1e-200, 1e-9, 0.1, 0.45, 0.55, 0.9, 1 - 1e-9])
ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla", "onnxruntime"])


def run(f: Any, arrays: list[Any], engine: str, dtype: Any = np.float64) -> Any:
    """The function of all pairs of the first array with the last, the others in their places; fed."""
    pairs = np.meshgrid(*arrays, indexing="ij")
    given = [x.astype(dtype) for x in pairs]
    fed = [pb.placeholder(dtype, x.shape) for x in given]
    return pb.Session(engine=engine).run(f(*fed), dict(zip(fed, given, strict=True)))


@ENGINES
def test_betainc_of_a_second_parameter_near_zero(engine: str) -> None:
    """Beside 1 it is 1 - (1-x)^b, beside 2 that less b x (1-x)^b."""
    b, x = np.meshgrid(SMALL, POINTS, indexing="ij")
    powers = np.exp(b * np.log1p(-x))
    beside_1 = -np.expm1(b * np.log1p(-x))
    found = run(lambda b, x: pb.math.betainc(pb.ones_like(b), b, x), [SMALL, POINTS], engine)
    usual = beside_1 > 1e-290
    np.testing.assert_allclose(found[usual], beside_1[usual], rtol=1e-12)
    found = run(lambda b, x: pb.math.betainc(2.0 * pb.ones_like(b), b, x), [SMALL, POINTS], engine)
    right = (x > 0.1) & usual
    np.testing.assert_allclose(found[right], (beside_1 - b * x * powers)[right], rtol=1e-11)


@ENGINES
def test_betainc_of_two_parameters_near_zero(engine: str) -> None:
    """b / (a + b), up to factors that are 1 but for the parameters times a logarithm."""
    tiny = np.array([1e-290, 1e-250, 1e-100, 1e-30, 1e-17])
    a, b, _ = np.meshgrid(tiny, tiny, POINTS, indexing="ij")
    found = run(pb.math.betainc, [tiny, tiny, POINTS], engine)
    usual = b / (a + b) > 1e-290
    np.testing.assert_allclose(found[usual], (b / (a + b))[usual], rtol=1e-12)


@pytest.mark.parametrize("engine", ["numpy", "onnxruntime"])
def test_betainc_of_subnormal_parameters(engine: str) -> None:
    """XLA takes them for 0."""
    tiny = np.array([5e-324, 1e-310, 1e-300])
    a, b, _ = np.meshgrid(tiny, tiny, POINTS, indexing="ij")
    found = run(pb.math.betainc, [tiny, tiny, POINTS], engine)
    np.testing.assert_allclose(found, 1 / (1 + a / b), rtol=1e-10)
    assert run(pb.math.betainc, [np.ones(1), tiny, np.ones(1)], engine).tolist() == [[[1.0]] * 3]


@ENGINES
def test_betainc_of_a_first_parameter_near_zero(engine: str) -> None:
    """Beside 1 it is x^a; beside large numbers about 1, too."""
    a, x = np.meshgrid(SMALL, POINTS, indexing="ij")
    found = run(lambda a, x: pb.math.betainc(a, pb.ones_like(a), x), [SMALL, POINTS], engine)
    np.testing.assert_allclose(found, x**a, rtol=1e-12)
    found = run(lambda a, x: pb.math.betainc(a, 300.0 * pb.ones_like(a), x), [SMALL[:5], POINTS[1:]], engine)
    np.testing.assert_allclose(found, 1, rtol=1e-3)


@ENGINES
def test_the_density_of_beta_near_the_poles_of_gamma(engine: str) -> None:
    """a b / (a + b) / x / (1 - x), where both are near 0."""

    def density(a: Any, b: Any, x: Any) -> Any:
        return pb.gradients(pb.math.betainc(a, b, x), x)[0]

    tiny, points = np.array([1e-290, 1e-200, 1e-100, 1e-17]), np.array([0.1, 0.55, 0.9])
    a, b, x = np.meshgrid(tiny, tiny, points, indexing="ij")
    found = run(density, [tiny, tiny, points], engine)
    np.testing.assert_allclose(found, np.minimum(a, b) / (1 + np.minimum(a, b) / np.maximum(a, b)) / x / (1 - x), 1e-11)


@ENGINES
def test_igammac_of_a_parameter_near_zero(engine: str) -> None:
    """It is a times the exponential integral, where a is small enough."""
    tiny, points = SMALL[:4], np.array([1e-200, 1e-9, 0.1, 0.5, 1.0])
    a, x = np.meshgrid(tiny, points, indexing="ij")
    small = (-np.log(x) * a < 1e-8) & (a * special.exp1(x) > 1e-290)
    found = run(pb.math.igammac, [tiny, points], engine)
    np.testing.assert_allclose(found[small], (a * special.exp1(x))[small], rtol=1e-7)
    np.testing.assert_allclose(found, special.gammaincc(a, x), rtol=1e-11, atol=1e-290)


@ENGINES
@pytest.mark.parametrize("function", ["betainc", "igammac"])
def test_in_float32_they_are_those_of_float64(function: str, engine: str) -> None:
    narrow = [np.array([1e-18, 1e-9, 1e-5, 1e-3, 0.05]), np.array([1e-9, 0.1, 0.55, 0.9], np.float32).astype(float)]
    arrays = [narrow[0], *narrow] if function == "betainc" else narrow
    wide = [x.astype(np.float32).astype(np.float64) for x in arrays]
    expected = run(getattr(pb.math, function), wide, "numpy")
    found = run(getattr(pb.math, function), arrays, engine, np.float32)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=3e-5)
