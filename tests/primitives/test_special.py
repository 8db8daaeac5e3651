"""Special functions: XLA against SciPy in float64, their ends, derivatives of high order, and life without SciPy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as special

import pullback as pb

X = np.concatenate([np.linspace(-20.03, 20, 401), np.geomspace(1e-8, 1e3, 100), [0.0, np.nan]])
S = pb.math.special
ENGINES = ["numpy", pytest.param("xla", marks=pytest.mark.slow)]
UNARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "lgamma": (pb.math.lgamma, special.gammaln),
    "digamma": (pb.math.digamma, special.digamma),
    "dawsn": (S.dawsn, special.dawsn),
    "expint": (S.expint, special.expi),
    "erfcx": (S.erfcx, special.erfcx),
    "fresnel_sin": (S.fresnel_sin, lambda x: special.fresnel(x)[0]),
    "fresnel_cos": (S.fresnel_cos, lambda x: special.fresnel(x)[1]),
    "spence": (S.spence, special.spence),
    **{
        name: (getattr(S, f"bessel_{name}"), getattr(special, name))
        for name in ["i0", "i0e", "i1", "i1e", "j0", "j1", "y0", "y1", "k0", "k0e", "k1", "k1e"]
    },
}


def run(y: Any, engine: str = "numpy", feeds: Any = None) -> Any:
    return pb.Session(engine=engine).run(y, feeds)


def derivative(f: Callable[[Any], Any], x: list[float], order: int, engine: str) -> np.ndarray:
    """The derivative of that order at points that are fed, so that XLA computes it."""
    point = pb.placeholder(pb.float64, [None])
    y = f(point)
    for _ in range(order):
        (y,) = pb.gradients(y, point)
    value: np.ndarray = run(y, engine, {point: np.array(x)})
    return value


@pytest.mark.parametrize("name", UNARY)
def test_xla_agrees_with_scipy_in_float64(name: str) -> None:
    ours, theirs = UNARY[name]
    x = pb.placeholder(pb.float64, [None])
    np.testing.assert_allclose(run(ours(x), "xla", {x: X}), theirs(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_poles_of_zeta(engine: str) -> None:
    s, q = np.meshgrid([0.5, 1.0, 1.5, 2.0], [0.0, -1.0, -0.5, np.inf, 0.3])
    first, second = pb.placeholder(pb.float64, s.shape), pb.placeholder(pb.float64, s.shape)
    value = run(pb.math.zeta(first, second), engine, {first: s, second: q})
    np.testing.assert_allclose(value, special.zeta(s, q), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_left_of_zero_are_the_same_beside_nan(order: int) -> None:
    points = [-1.3, -0.55, 0.3, 2.0]
    beside = derivative(pb.digamma, [np.nan, *points], order, "xla")
    np.testing.assert_allclose(beside[1:], special.polygamma(order, points), rtol=1e-12)
    assert np.isnan(beside[0])


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_derivative_of_zeta_at_one_half_shifted(order: int) -> None:
    """zeta(s, 1/2) = (2^s - 1) zeta(s): one sum of two that are computed apart."""
    half = derivative(lambda s: pb.math.zeta(s, 0.5), [2.0, 3.5], order, "numpy")
    whole = derivative(lambda s: (2.0**s - 1.0) * pb.math.zeta(s, 1.0), [2.0, 3.5], order, "numpy")
    np.testing.assert_allclose(half, whole, rtol=1e-12)


@pytest.mark.parametrize(("engine", "order"), [("numpy", 3), pytest.param("xla", 2, marks=pytest.mark.slow)])
def test_igamma_of_integers_is_a_finite_sum_in_its_parameter(engine: str, order: int) -> None:
    """P(a, x) - P(a + 1, x) is the density at a + 1: by quadrature against elementary functions."""
    a = pb.placeholder(pb.float64, [None])
    left = [pb.math.igamma(a, 2.5) - pb.math.igamma(a + 1.0, 2.5)]
    right = [pb.exp(a * np.log(2.5) - 2.5 - pb.math.lgamma(a + 1.0))]
    for ys in (left, right):
        for _ in range(order):
            ys += pb.gradients(ys[-1], a)
    values, expected = run([left, right], engine, {a: np.array([0.7, 2.0, 6.0])})
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_betainc_is_symmetric_in_all_its_derivatives(engine: str) -> None:
    a, b = pb.placeholder(pb.float64, []), pb.placeholder(pb.float64, [])

    def second(y: Any) -> Any:
        first = pb.gradients(y, [a, b])
        return pb.gradients(first[0] * 2.0 + first[1], [a, b])

    both = [second(pb.math.betainc(a, b, 0.03)), second(1.0 - pb.math.betainc(b, a, 0.97))]
    plain, mirrored = run(both, engine, {a: 0.6, b: 30.0})
    np.testing.assert_allclose(plain, mirrored, rtol=1e-9)


@pytest.mark.parametrize("shape_parameter", [0.0, 1e-20, 1e-9])
def test_derivatives_of_incomplete_functions_near_the_pole_of_gamma_are_those_at_it(shape_parameter: float) -> None:
    """Of the densities: a exp(-x) / (x gamma(a + 1)) x^a, and that of x^a."""
    a, x, log_x = pb.placeholder(pb.float64, []), pb.placeholder(pb.float64, []), np.log(0.7)

    def mixed(y: Any) -> list[Any]:
        by_a = pb.gradients(y, a)[0]
        twice = pb.gradients(by_a, a)[0]
        return [pb.gradients(dy, x)[0] for dy in (by_a, twice, pb.gradients(twice, a)[0])]

    of_gamma, of_beta = run(
        [mixed(pb.math.igamma(a, x)), mixed(pb.math.betainc(a, 1.0, x))], "numpy", {a: shape_parameter, x: 0.7}
    )
    constants = [1, 2 * (log_x + np.euler_gamma), 3 * ((log_x + np.euler_gamma) ** 2 - np.pi**2 / 6)]
    np.testing.assert_allclose(of_gamma, np.exp(-0.7) / 0.7 * np.array(constants), rtol=1e-7)
    np.testing.assert_allclose(of_beta, np.array([1, 2 * log_x, 3 * log_x**2]) / 0.7, rtol=1e-7)


def test_derivatives_of_igamma_by_a_at_zero_are_those_from_the_right() -> None:
    """Q(a, x) is a expint(x) + ... there."""
    (found,) = pb.gradients(pb.math.igammac(a := pb.placeholder(pb.float64, []), 1.0), a)
    np.testing.assert_allclose(run(found, "numpy", {a: 0.0}), 0.21938393439552029, rtol=1e-12)


def test_the_third_derivative_of_betainc_by_a_small_parameter() -> None:
    """betainc(a, 1, x) is x^a, integrated from the right."""
    np.testing.assert_allclose(
        derivative(lambda a: pb.math.betainc(a, 1.0, 0.8), [1e-12, 1e-3], 3, "numpy"),
        np.log(0.8) ** 3 * 0.8 ** np.array([1e-12, 1e-3]),
        rtol=1e-9,
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_derivatives_at_zero_are_exact(engine: str) -> None:
    zero, one = pb.placeholder(pb.float64, []), pb.placeholder(pb.float64, [])

    def to_third(f: Callable[[Any], Any], x: Any) -> list[Any]:
        ys = [f(x)]
        for _ in range(3):
            ys += pb.gradients(ys[-1], x)
        return ys

    fetches = [to_third(S.bessel_j1, zero), to_third(S.bessel_i1, zero), to_third(S.spence, one)]
    fetches += [to_third(lambda x: pb.math.igamma(1.0, x), zero)[:3]]
    j1, i1, spence, igamma = run(fetches, engine, {zero: 0.0, one: 1.0})
    np.testing.assert_allclose([*j1, *i1], [0, 0.5, 0, -0.375, 0, 0.5, 0, 0.375])
    np.testing.assert_allclose(spence, [0, -1, 0.5, -2 / 3], atol=1e-15)
    np.testing.assert_allclose(igamma, [0, 1, -1])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "f",
    [pb.math.lgamma, pb.math.digamma, S.expint, S.bessel_k0, S.bessel_k1, S.bessel_y0, S.bessel_y1, S.bessel_k1e],
)
def test_a_pole_that_is_masked_has_derivative_zero(f: Callable[[Any], Any], engine: str) -> None:
    masked = lambda x: pb.where(x > 0, f(x), pb.zeros_like(x))  # noqa: E731
    assert derivative(masked, [0.0], 1, engine) == [0.0]
    assert derivative(masked, [0.0], 2, engine) == [0.0]


def test_without_scipy_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(pb.errors.InvalidArgumentError) as info:
        run(pb.math.lgamma(1.0))
    assert (
        "lgamma: the NumPy engine computes special functions with SciPy, which is not installed. "
        "Install it with: pip install 'pullback[special]'; or use Session(engine='xla')"
    ) in str(info.value)


POLES: dict[str, tuple[Callable[..., Any], float, list[float]]] = {
    "expint": (S.expint, 0.0, [np.inf, -np.inf, np.inf]),
    "spence": (S.spence, 0.0, [-np.inf, np.inf, -np.inf]),
    "bessel_y0": (S.bessel_y0, 0.0, [np.inf, -np.inf]),
    "bessel_y1": (S.bessel_y1, 0.0, [np.inf, -np.inf]),
    "betainc at 0": (lambda x: pb.math.betainc(x * 0 + 0.5, x * 0 + 0.5, x), 0.0, [np.inf, -np.inf, np.inf]),
    "betainc at 1": (lambda x: pb.math.betainc(x * 0 + 0.5, x * 0 + 0.5, x), 1.0, [np.inf, np.inf, np.inf]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", POLES)
def test_derivatives_at_a_pole_are_infinite_in_the_direction_of_their_limit(name: str, engine: str) -> None:
    f, at, expected = POLES[name]
    x, fetches = pb.placeholder(pb.float64, [1]), []
    y = f(x)
    for _ in expected:
        (y,) = pb.gradients(y, x)
        fetches.append(y)
    assert [float(value[0]) for value in run(fetches, engine, {x: [at]})] == expected


@pytest.mark.parametrize("order", [1, 2])
def test_the_density_of_igamma_ends_in_zero(order: int) -> None:
    x = pb.placeholder(pb.float64, [1])
    y = pb.math.igamma(2.0 * pb.ones([1], pb.float64), x)
    for _ in range(order):
        (y,) = pb.gradients(y, x)
    assert run(y, feeds={x: [np.inf]}).tolist() == [0.0]


@pytest.mark.parametrize("engine", ["numpy", pytest.param("xla", marks=pytest.mark.slow)])
def test_derivatives_of_igamma_by_a_parameter_near_zero(engine: str) -> None:
    """There it is 1 - a * E1(x), so that no digit of its slope stands in its value."""
    points = [1e-20, 0.5, 3.0]
    a, x = pb.placeholder(pb.float64, [3]), pb.placeholder(pb.float64, [3])
    first = pb.gradients(pb.math.igamma(a, x), a)
    fetches = [*first, *pb.gradients(pb.math.igammac(a, x), a), *pb.gradients(first, a)]
    found, upper, second = run(fetches, engine, {a: [1e-20] * 3, x: points})
    np.testing.assert_allclose(found, -special.exp1(points), rtol=1e-12)
    np.testing.assert_allclose(upper, special.exp1(points), rtol=1e-12)
    np.testing.assert_allclose(second, run(fetches[-1], engine, {a: [1e-7] * 3, x: points}), rtol=1e-4)


@pytest.mark.parametrize("engine", ["numpy", pytest.param("xla", marks=pytest.mark.slow)])
def test_derivatives_of_betainc_by_parameters_near_zero(engine: str) -> None:
    """Beside a parameter of 1 it is a power: x^a, or 1 - (1-x)^b."""
    small, x = np.array([1e-20, 1e-12, 1e-6, 1e-3]), 0.1
    fed, ones, at = pb.placeholder(pb.float64, [4]), pb.ones([4], pb.float64), pb.placeholder(pb.float64, [4])
    by_a = pb.gradients(pb.math.betainc(fed, ones, at), fed)
    by_b = pb.gradients(pb.math.betainc(ones, fed, 1.0 - at), fed)
    first, other, second = run([*by_a, *by_b, *pb.gradients(by_a, fed)], engine, {fed: small, at: [x] * 4})
    np.testing.assert_allclose(first, x**small * np.log(x), rtol=1e-12)
    np.testing.assert_allclose(other, -first, rtol=1e-12)
    np.testing.assert_allclose(second, x**small * np.log(x) ** 2, rtol=1e-11)


EXTREMES = [np.finfo(float).max, -np.finfo(float).max, np.inf, -np.inf, np.nan, 0.0, -0.0, 1e3, -1e3, 1e5]


@pytest.mark.parametrize(
    "names", [["spence", "expint", "lgamma", "fresnel_sin"], pytest.param(list(UNARY), marks=pytest.mark.slow)]
)
def test_engines_agree_at_the_ends(names: list[str]) -> None:
    x = pb.placeholder(pb.float64, [len(EXTREMES)])
    ys = {name: UNARY[name][0](x) for name in names}
    ys |= {f"the derivative of {name}": pb.gradients(y, x)[0] for name, y in ys.items()}
    found, wanted = (run(ys, engine, {x: EXTREMES}) for engine in ("xla", "numpy"))
    for name, y in found.items():
        np.testing.assert_allclose(y, wanted[name], rtol=1e-8, atol=1e-100, err_msg=name)


def test_limits_far_out() -> None:
    x = pb.placeholder(pb.float64, [2])
    fetches = [S.spence(x), S.fresnel_cos(x), pb.math.lgamma(-x)]
    found = run(fetches, "numpy", {x: [np.inf, np.finfo(float).max]})
    np.testing.assert_allclose(found, [[-np.inf, -251897.394695], [0.5, 0.5], [np.inf, np.inf]], rtol=1e-6)
