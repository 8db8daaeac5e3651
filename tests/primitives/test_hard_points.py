"""Derivatives where a function has a kink, an infinite slope or a tie: TensorFlow's conventions, on both engines."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytestmark = pytest.mark.usefixtures("optimized_programs")
ENGINES = ["numpy", "xla"]
POINTS = [-2.0, -1.0, 0.0, 1.0, 2.0]


def derivatives(f: Callable[[Any], Any], points: list[float], order: int, engine: str) -> list[list[float]]:
    """The first `order` derivatives of an elementwise function at `points`."""
    graph = pb.Graph()
    with graph.as_default():
        x = pb.placeholder(pb.float64, [None])
        ys = [f(x)]
        for _ in range(order):
            ys += pb.gradients(ys[-1], x, unconnected_gradients="zero")
        values = pb.Session(graph=graph, engine=engine).run(ys[1:], {x: np.array(points)})
    return [value.tolist() for value in values]


KINKS = {
    "abs": (pb.abs, [-1, -1, 0, 1, 1]),
    "sign": (pb.sign, [0, 0, 0, 0, 0]),
    "relu": (pb.nn.relu, [0, 0, 0, 1, 1]),
    "relu6": (lambda x: pb.nn.relu6(x * 6), [0, 0, 0, 0, 0]),
    "leaky_relu": (pb.nn.leaky_relu, [0.2, 0.2, 0.2, 1, 1]),
    "elu": (lambda x: pb.nn.elu(pb.maximum(x, 0.0)), [0, 0, 1, 1, 1]),
    "maximum_first": (lambda x: pb.maximum(x, 0.0), [0, 0, 1, 1, 1]),
    "maximum_second": (lambda x: pb.maximum(0.0, x), [0, 0, 0, 1, 1]),
    "minimum_first": (lambda x: pb.minimum(x, 0.0), [1, 1, 1, 0, 0]),
    "minimum_second": (lambda x: pb.minimum(0.0, x), [1, 1, 0, 0, 0]),
    "maximum_of_itself": (lambda x: pb.maximum(x, x), [1, 1, 1, 1, 1]),
    "clip_includes_its_bounds": (lambda x: pb.clip_by_value(x, -1.0, 1.0), [0, 1, 1, 1, 0]),
    "divide_no_nan": (lambda x: pb.math.divide_no_nan(1.0, x), [-0.25, -1, 0, -1, -0.25]),
    "xlogy": (lambda x: pb.math.xlogy(x, 2.0), [math.log(2), math.log(2), 0, math.log(2), math.log(2)]),
    "xdivy": (lambda x: pb.math.xdivy(x, 2.0), [0.5, 0.5, 0, 0.5, 0.5]),
    "power_zero": (lambda x: x**0, [0, 0, 0, 0, 0]),
    "power_one": (lambda x: x**1, [1, 1, 1, 1, 1]),
    "power_two": (lambda x: x**2, [-4, -2, 0, 2, 4]),
    "zero_to_a_power": (lambda x: 0.0**x, [0, 0, 0, 0, 0]),
    "negative_to_a_power": (lambda x: (-1.0) ** x, [0, 0, 0, 0, 0]),
    "atan2_at_the_origin": (lambda x: pb.atan2(x, 0.0 * x), [0, 0, 0, 0, 0]),
}


ODD_SLOPES = {"asin": (pb.asin, 1), "acos": (pb.acos, -1), "atan": (pb.atan, -2), "atanh": (pb.atanh, 2)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ODD_SLOPES)
def test_second_derivatives_keep_their_digits_near_zero(name: str, engine: str) -> None:
    f, slope = ODD_SLOPES[name]
    points = [1e-200, -1e-20, 1e-8]
    np.testing.assert_allclose(derivatives(f, points, 2, engine)[1], [slope * x for x in points], rtol=1e-14)


NAN_POWERS = {"nan_base": (math.nan, 2.0), "fraction_of_negative": (-2.0, 0.5), "nan_exponent": (0.0, math.nan)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAN_POWERS)
def test_a_power_that_is_nan_has_no_number_as_derivative_by_its_exponent(name: str, engine: str) -> None:
    base, exponent = NAN_POWERS[name]
    assert np.isnan(derivatives(lambda x: pb.pow(pb.constant(base, pb.float64), x), [exponent], 1, engine)[0])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", KINKS)
def test_the_derivative_at_a_kink(name: str, engine: str) -> None:
    f, expected = KINKS[name]
    np.testing.assert_allclose(derivatives(f, POINTS, 1, engine)[0], expected)


INFINITE = {
    "sqrt": pb.sqrt,
    "rsqrt": pb.math.rsqrt,
    "log": pb.math.log,
    "log1p": lambda x: pb.math.log1p(x - 1),
    "reciprocal": pb.math.reciprocal,
    "quotient": lambda x: pb.sin(x) / x,
    "power": lambda x: x**0.5,
    "negative_power": lambda x: x**-1.5,
    "self_power": lambda x: x**x,
    "log_of_sqrt": lambda x: pb.math.log(pb.sqrt(x)),
    "quotient_of_roots": lambda x: x / pb.sqrt(x * x),
    "acosh": lambda x: pb.acosh(x + 1),
    "acos": lambda x: pb.acos(1 - x / 4),
    "asin": lambda x: pb.asin(1 - x / 4),
    "atanh": lambda x: pb.atanh(1 - x / 4),
    "xlogy": lambda x: pb.math.xlogy(x, x),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", INFINITE)
def test_what_where_hides_stays_zero(name: str, engine: str) -> None:
    f = INFINITE[name]
    for values in derivatives(lambda x: pb.where(x > 0, f(x), 0.0), POINTS, 2, engine):
        assert values[:3] == [0, 0, 0]
        assert np.isfinite(values).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_rectifier_hides_stays_zero(engine: str) -> None:
    for values in derivatives(lambda x: pb.sqrt(pb.nn.relu(x)), POINTS, 2, engine):
        assert values[:3] == [0, 0, 0]


BORDERS: dict[str, tuple[Any, float, list[float]]] = {
    "acosh": (pb.acosh, 1.0, [1, -1, 1]),
    "asin": (pb.asin, 1.0, [1, 1, 1]),
    "asin_left": (pb.asin, -1.0, [1, -1, 1]),
    "acos": (pb.acos, 1.0, [-1, -1, -1]),
    "acos_left": (pb.acos, -1.0, [-1, 1, -1]),
    "atanh": (pb.atanh, 1.0, [1, 1, 1]),
    "atanh_left": (pb.atanh, -1.0, [1, -1, 1]),
    "sqrt": (pb.sqrt, 0.0, [1, -1, 1]),
    "rsqrt": (pb.math.rsqrt, 0.0, [-1, 1, -1]),
    "power": (lambda x: x**0.5, 0.0, [1, -1, 1]),
    "log": (pb.math.log, 0.0, [1, -1, 1]),
    "log1p": (pb.math.log1p, -1.0, [1, -1, 1]),
    "xlog1py": (lambda x: pb.math.xlog1py(1.0, x), -1.0, [1, -1, 1]),
    "erfinv": (pb.math.erfinv, 1.0, [1, 1, 1]),
    "erfcinv": (pb.math.erfcinv, 0.0, [-1, 1, -1]),
    "ndtri": (pb.math.ndtri, 0.0, [1, -1, 1]),
}
"""Functions, a border of where they are defined, and the signs of their derivatives there."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", BORDERS)
def test_derivatives_at_the_border_are_infinite_as_their_limits_are(name: str, engine: str) -> None:
    f, border, signs = BORDERS[name]
    found = [values[0] for values in derivatives(f, [border], 3, engine)]
    assert found == [sign * np.inf for sign in signs]


OVERFLOWING = {
    **{name: getattr(pb.math, name) for name in ["exp", "expm1", "sinh", "cosh", "tan", "sqrt", "rsqrt"]},
    **{name: getattr(pb.math, name) for name in ["log", "log1p"]},
    **{name: getattr(pb.math, name) for name in ["asin", "acos", "atanh", "acosh", "erfinv", "erfcinv", "ndtri"]},
    **{name: getattr(pb.math, name) for name in ["reciprocal", "reciprocal_no_nan", "lgamma", "digamma", "softplus"]},
    **{name: getattr(pb.math.special, name) for name in dir(pb.math.special) if not name.startswith("_")},
    **{
        name: getattr(pb.math, name)
        for name in ["square", "asinh", "atan", "tanh", "sin", "cos", "sigmoid", "erf", "erfc"]
    },
    **{name: getattr(pb.nn, name) for name in ["elu", "selu", "silu", "softsign", "leaky_relu"]},
    "cube": lambda x: x**3,
    "power_two": lambda x: x**2,
    "squared_difference": lambda x: pb.math.squared_difference(x, 1.0),
    "self_product": lambda x: x * x,
    "power": lambda x: x**-1.5,
    "base": lambda x: 2.0**x,
    "self_power": lambda x: x**x,
    "quotient": lambda x: 1.0 / x,
    "quotient_no_nan": lambda x: pb.math.divide_no_nan(1.0, x) + pb.math.divide_no_nan(x, 1e-320),
    "product_no_nan": lambda x: pb.math.multiply_no_nan(x * 1e300, x * 1e300),
    "xdivy": lambda x: pb.math.xdivy(1.0, x),
    "floormod": lambda x: pb.math.floormod(0.5, x),
    "truncatemod": lambda x: pb.truncatemod(0.5, x),
    "atan2": lambda x: pb.atan2(x, 0.0 * x),
    "gelu": pb.nn.gelu,
    "igamma": lambda x: pb.math.igamma(x, x),
    "betainc": lambda x: pb.math.betainc(x, 0.5, 0.5) + pb.math.betainc(0.5, 0.5, x),
    "zeta": lambda x: pb.math.zeta(x, 1.0) + pb.math.zeta(2.0, x),
    "polygamma": lambda x: pb.math.polygamma(x, 1.0) + pb.math.polygamma(1.0, x),
}


@pytest.mark.parametrize("name", OVERFLOWING)
def test_a_zero_cotangent_gives_zero_to_second_order(name: str) -> None:
    """Whatever the function does at a finite number: it may overflow, have a pole, or not be defined."""
    f = OVERFLOWING[name]
    sizes = [0.0, 1.0, 2.0, 1000.0, 5e-324, 1e-310, 1e-200, 1e200, 1e308]
    points = [sign * size for size in sizes for sign in (1, -1)]
    for values in derivatives(lambda x: pb.where(x != x, f(x), 0.0), points, 2, "numpy"):
        assert values == [0] * len(points)


OF_ROWS = {
    "softmax": pb.nn.softmax,
    "log_softmax": pb.nn.log_softmax,
    "logsumexp": lambda x: pb.reduce_logsumexp(x, 1, keepdims=True),
    "cross_entropy": lambda x: pb.nn.softmax_cross_entropy_with_logits(np.full((4, 3), 0.5), x)[:, None],
    "labels_of_cross_entropy": lambda x: pb.nn.softmax_cross_entropy_with_logits(pb.nn.softmax(x), x)[:, None],
    "sparse_cross_entropy": lambda x: pb.nn.sparse_softmax_cross_entropy_with_logits([0, -1, 0, 0], x)[:, None],
}


@pytest.mark.parametrize("engine", [*ENGINES, "onnxruntime"])
@pytest.mark.parametrize("name", OF_ROWS)
def test_rows_that_are_hidden_have_derivatives_zero(name: str, engine: str) -> None:
    """As in attention whose mask leaves nothing to look at: `where(is_nan(p), 0, p)`."""
    if engine == "onnxruntime":
        pytest.importorskip("onnxruntime")
    weights = np.arange(1.0, 13.0).reshape(4, 3)
    seen = np.array([[True], [False], [False], [False]])
    x = pb.placeholder(pb.float64, [4, 3])
    ys = [OF_ROWS[name](x)]
    for _ in range(3):
        hidden = pb.where(seen, ys[-1], pb.zeros_like(ys[-1]))
        ys += pb.gradients(hidden * weights[:, : hidden.shape[1]], x)
    rows = [[0.5, 1.0, 2.0], [-np.inf] * 3, [np.inf, 0.0, 1.0], [np.nan, 1.0, 2.0]]
    for value in pb.Session(engine=engine).run(ys[1:], {x: np.array(rows)}):
        assert np.isfinite(value[0]).all()
        assert value[0].any()
        assert not value[1:].any()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_that_is_hidden_once_has_derivatives_zero_of_every_order(engine: str) -> None:
    x = pb.placeholder(pb.float64, [2, 3])
    p = pb.nn.softmax(x)
    ys = [pb.where(pb.is_nan(p), pb.zeros_like(p), p)]
    for _ in range(3):
        ys += pb.gradients(ys[-1] * np.arange(1.0, 4.0), x)
    for value in pb.Session(engine=engine).run(ys, {x: np.array([[0.5, 1.0, 2.0], [-np.inf] * 3])}):
        assert np.isfinite(value[0]).all()
        assert value[0].any()
        assert not value[1].any()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_of_nan_that_is_not_hidden_shows_it(engine: str) -> None:
    x = pb.placeholder(pb.float64, [2, 2])
    (dx,) = pb.gradients(pb.nn.softmax(x)[:, 0], x)
    value = pb.Session(engine=engine).run(dx, {x: [[0.0, 0.0], [-np.inf, -np.inf]]})
    np.testing.assert_array_equal(value, [[0.25, -0.25], [np.nan, np.nan]])


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exponential_that_overflows_can_be_masked(engine: str) -> None:
    for values in derivatives(lambda x: pb.where(x < 100, pb.exp(x), 0.0), [1000.0, 0.0], 2, engine):
        assert values == [0, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_infinite_slope_that_nothing_hides_is_infinite(engine: str) -> None:
    assert derivatives(pb.sqrt, [0.0], 1, engine) == [[math.inf]]
    assert derivatives(pb.math.log, [0.0], 1, engine) == [[math.inf]]


def test_second_derivative_counts_where_a_cotangent_passes_through_zero() -> None:
    """`log(x)^2 / 2` has second derivative 1 at 1, where the cotangent of the logarithm is 0."""
    first, second = derivatives(lambda x: pb.square(pb.math.log(x)) / 2, [1.0], 2, "numpy")
    assert (first, second) == ([0], [1])


@pytest.mark.parametrize("function", [pb.floor, pb.math.ceil, pb.round, pb.math.rint])
def test_rounding_has_no_derivative(function: Callable[..., Any]) -> None:
    x = pb.placeholder(pb.float32, [3])
    assert pb.gradients(function(x), x) == [None]


@pytest.mark.parametrize("function", [pb.math.floordiv, pb.truncatediv])
def test_whole_quotients_have_no_derivative(function: Callable[..., Any]) -> None:
    x = pb.placeholder(pb.float32, [3])
    assert pb.gradients(function(x, x), x) == [None]


def test_the_bounds_of_a_clipping_get_what_is_beyond_them() -> None:
    x, low, high = pb.constant([-2.0, -1.0, 0.0, 1.0, 2.0]), pb.constant(-1.0), pb.constant(1.0)
    dxs = pb.gradients(pb.clip_by_value(x, low, high), [low, high])
    assert pb.Session().run(dxs) == [1.0, 1.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_derivative_of_a_complex_absolute_value_is_the_direction(engine: str) -> None:
    z = pb.constant(np.array([3 + 4j, 0]))
    (dz,) = pb.gradients(pb.abs(z), z)
    np.testing.assert_allclose(pb.Session(engine=engine).run(dz), [0.6 + 0.8j, 0])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_zero_to_a_complex_power(engine: str, dtype: str) -> None:
    x, b = pb.constant(0.0, dtype), pb.constant([2.0, 2.5 + 0.5j, 1.5 - 3.0j, 0.0], dtype)
    y = pb.pow(x, b)
    found = pb.Session(engine=engine).run([y, *pb.gradients(y, [x, b], grad_ys=pb.ones_like(y))])
    assert [part.tolist() for part in found] == [[0.0, 0.0, 0.0, 1.0], 0.0, [0.0] * 4]
