"""What a mask hides has derivative zero, whatever stands between the mask and a pole; nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

from .masked_table import AT, MASKS, WEIGHTS, F, compositions, faults

pytestmark = pytest.mark.usefixtures("optimized_programs")
ENGINES = ["numpy", "xla", "onnxruntime"]


def test_no_mixer_lets_a_pole_through_a_mask() -> None:
    assert faults(compositions()[::97], "numpy") == []


@pytest.mark.slow
@pytest.mark.parametrize("mask", MASKS)
def test_every_composition(mask: str) -> None:
    assert faults([names for names in compositions() if names[0] == mask], "numpy") == []


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("part", range(8))
def test_other_engines_agree(part: int, engine: str) -> None:
    assert faults(compositions()[part::97][::8], engine) == []


THIRTEEN: dict[str, F] = {
    "sqrt(x)": pb.sqrt,
    "log(x)": pb.math.log,
    "1/x": lambda x: 1.0 / x,
    "x**0.5": lambda x: x**0.5,
    "sin(x)/x": lambda x: pb.sin(x) / x,
    "log(sqrt(x))": lambda x: pb.math.log(pb.sqrt(x)),
    "acosh(1+x)": lambda x: pb.acosh(1.0 + x),
    "lgamma(x)": pb.math.lgamma,
    "x*log(x)": lambda x: x * pb.math.log(x),
    "sqrt(x)*log(x)": lambda x: pb.sqrt(x) * pb.math.log(x),
    "x**0.5*x**-0.5": lambda x: x**0.5 * x**-0.5,
    "cumsum": lambda x: pb.cumsum(x * pb.math.log(x)),
    "softmax(log(x))": lambda x: pb.nn.softmax(pb.math.log(x)),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_thirteen_masked_expressions(engine: str) -> None:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float64, [3])
        fetches = []
        for f in THIRTEEN.values():
            dx = pb.gradients(pb.where(x > 0, f(x), pb.zeros_like(x)), x)
            fetches.append([dx, pb.gradients(dx, x, grad_ys=[pb.constant([1.0, 2.0, 3.0], pb.float64)])])
        found = pb.Session(graph=graph, engine=engine).run(fetches, {x: [2.0, 0.5, 0.0]})
    for name, values in zip(THIRTEEN, found, strict=True):
        if (name, engine) == ("softmax(log(x))", "onnxruntime"):
            values = values[:1]  # In a file the zeros of the softmax do not win over infinite cotangents.
        assert all(np.isfinite(v).all() and not np.ravel(v)[-1] for v in values), (name, values)


def derivative(f: F, at: Any, order: int = 1) -> Any:
    """The derivative of the sum of `f` at an array."""
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float64, np.shape(at))
        y = f(x)
        for _ in range(order):
            (y,) = pb.gradients(y, x)
        return pb.Session(graph=graph, engine="numpy").run(y, {x: at})


FADING: dict[str, F] = {
    "exp(-1/x)": lambda x: pb.exp(-1.0 / x),
    "1/(1+1/x)": lambda x: 1.0 / (1.0 + 1.0 / x),
    "softmax(log(x))": lambda x: pb.nn.softmax(pb.math.log(x)) * [1.0, 3.0, 2.0],
    "cross_entropy": lambda x: pb.nn.softmax_cross_entropy_with_logits([0.3, 0.7, 0.0], pb.math.log(x)),
}


@pytest.mark.parametrize("f", FADING)
def test_a_zero_that_an_infinity_makes_hides_it(f: str) -> None:
    """What is left has the derivatives that it has without the pole."""

    def second(x: Any) -> Any:
        return pb.gradients(FADING[f](x), x)[0][:2]

    for g in (FADING[f], second):
        found, nearly = derivative(g, [2.0, 0.5, 0.0]), derivative(g, [2.0, 0.5, 1e-12])
        np.testing.assert_allclose(found[:2], nearly[:2], rtol=1e-9)
        assert found[2] == 0


SATURATED: dict[str, F] = {
    "elu": pb.nn.elu,
    "erf": pb.math.erf,
    "erfc": pb.math.erfc,
    "expm1": pb.math.expm1,
    "atan": pb.atan,
    "selu": pb.nn.selu,
    "sigmoid": pb.sigmoid,
    "softplus": pb.nn.softplus,
    "softmax": lambda t: pb.nn.softmax(pb.stack([t, pb.zeros_like(t)]), 0)[0],
    "tanh": pb.tanh,
}
INFINITE: dict[str, F] = {"log(x)": pb.math.log, "-1/x": lambda x: -1.0 / x, "-rsqrt(x)": lambda x: -pb.math.rsqrt(x)}


@pytest.mark.parametrize("pole", INFINITE)
@pytest.mark.parametrize("f", SATURATED)
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_an_infinity_saturates_has_no_slope_there_to_any_order(engine: str, f: str, pole: str) -> None:
    x = pb.placeholder(pb.float64, [2])
    ys = [SATURATED[f](INFINITE[pole](x))]
    for _ in range(3):
        ys += pb.gradients(ys[-1], x)
    with pb.Session(engine=engine) as session:
        found, nearly = session.run(ys, {x: [0.0, 0.5]}), session.run(ys, {x: [1.0, 0.5]})
    assert [float(dx[0]) for dx in found[1:]] == [0.0, 0.0, 0.0]
    np.testing.assert_allclose([y[1] for y in found], [y[1] for y in nearly], rtol=1e-12)


@pytest.mark.parametrize("pole", ["1/x", "log(x)", "rsqrt(x)", "x**-2", "lgamma(x)"])
@pytest.mark.parametrize("f", [*SATURATED, "1/(1+t)", "rsqrt(1+t*t)"])
def test_a_factor_of_an_infinity_that_saturates_has_no_slope(f: str, pole: str) -> None:
    poles = {**INFINITE, "1/x": lambda x: 1.0 / x, "rsqrt(x)": pb.math.rsqrt, "lgamma(x)": pb.math.lgamma}
    shares = {"1/(1+t)": lambda t: 1.0 / (1.0 + t), "rsqrt(1+t*t)": lambda t: pb.math.rsqrt(1.0 + t * t)}
    factor, x = pb.placeholder(pb.float64, [2]), pb.placeholder(pb.float64, [2])
    infinite = pb.pow(x, -2.0) if pole == "x**-2" else poles[pole](x)
    sign = -1.0 if f in ("elu", "selu", "expm1", "softmax", "softplus") else 1.0
    y = (SATURATED | shares)[f](sign * pb.abs(factor * infinite))
    (first,) = pb.gradients(y, factor)
    ys = [first, *pb.gradients(first, factor)]
    with pb.Session(engine="numpy") as session:
        found, nearly = [session.run(ys, {factor: [1.0, 2.0], x: [x0, 0.5]}) for x0 in (0.0, 1.5)]
    assert [float(dx[0]) for dx in found] == [0.0, 0.0]
    np.testing.assert_allclose([y[1] for y in found], [y[1] for y in nearly], rtol=1e-12)


def test_a_sigmoid_that_is_zero_without_an_infinity_hides_nothing() -> None:
    assert np.isnan(derivative(lambda x: pb.math.log(pb.sigmoid(x)), [-1000.0])).all()


def test_what_is_not_hidden_shows() -> None:
    hidden = lambda x: pb.where([True, True, False], x * pb.math.log(x), 0.0)  # noqa: E731
    np.testing.assert_array_equal(derivative(hidden, [0.0, -1.0, 0.0]), [-np.inf, np.nan, 0.0])
    rows = lambda x: pb.where([[True], [False]], pb.nn.softmax(pb.math.log(x)), 0.0)  # noqa: E731
    values = derivative(rows, [[-1.0, 1.0], [-1.0, 1.0]])
    assert np.isnan(values[0]).all()
    assert not values[1].any()


def test_a_column_that_only_hidden_elements_read_is_hidden() -> None:
    """In `w @ x` a column of x is read by one column of the result."""

    def f(x: Any) -> Any:
        return pb.where([True, False, True], pb.matmul(pb.constant(WEIGHTS), pb.math.log(x) * x), 0.0)

    values = derivative(f, [[1.0, 0.0, 2.0], [3.0, -1.0, 0.5], [2.0, 0.0, 1.0]])
    assert np.isfinite(values).all()
    assert not values[:, 1].any()


def test_a_factor_that_meets_a_hidden_pole_has_a_derivative() -> None:
    """d/dw of `where(mask, x log(x) @ w, 0)` reads the products, which are NaN where they are hidden."""
    with pb.Graph().as_default() as graph:
        x, w = pb.placeholder(pb.float64, [3, 3]), pb.placeholder(pb.float64, [3, 3])
        y = pb.where([[False], [True], [True]], pb.matmul(x * pb.math.log(x), w), 0.0)
        dw = pb.gradients(y, w)
        (found,) = pb.Session(graph=graph, engine="numpy").run(dw, {x: AT, w: WEIGHTS})
    expected = (AT[1:] * np.log(AT[1:])).sum(0)
    np.testing.assert_allclose(found, np.broadcast_to(expected[:, None], (3, 3)))


@pytest.mark.parametrize("engine", ENGINES)
def test_running_products_hand_zeros_on(engine: str) -> None:
    assert faults([("where", "cumprod", "log"), ("slice", "cumprod_to_rows", "x*log(x)")], engine) == []


def test_a_mask_outside_a_call_hides_a_pole_inside() -> None:
    product_of = pb.function(lambda x: x * pb.math.log(x))
    values = derivative(lambda x: pb.where(x > 0, product_of(x), 0.0), [0.0, 1.0])
    assert values.tolist() == [0.0, 1.0]


def test_a_pole_outside_a_call_is_hidden_by_a_mask_outside() -> None:
    times = pb.function(lambda p, x: p * x)
    values = derivative(lambda x: pb.where(x > 0, times(pb.math.log(x), x), 0.0), [0.0, 1.0])
    assert values.tolist() == [0.0, 1.0]


def test_a_mask_in_a_loop_hides_a_pole_of_an_earlier_step() -> None:
    def step(i: Any, y: Any) -> Any:
        return [i + 1, pb.where(y > 0.5, y * pb.math.log(y) / y, pb.ones_like(y))]

    values = derivative(lambda x: pb.while_loop(lambda i, y: i < 3, step, [0, x])[1], [0.0, 4.0])
    assert np.isfinite(values).all()
    assert values[0] == 0


ROWS: dict[str, F] = {
    "jacobian": lambda y, x: pb.jacobian(y, x),
    "jacobian_of_a_slope": lambda y, x: pb.jacobian(pb.gradients(y, x)[0], x),
    "hessians": lambda y, x: pb.hessians(pb.reduce_sum(y), x)[0],
    "sparse_jacobian": lambda y, x: pb.sparse_jacobian(y, x).values,
    "sparse_hessian": lambda y, x: pb.sparse_hessian(y, x).values,
    "map_fn": lambda y, x: pb.map_fn(lambda dy: pb.gradients(y, x, dy)[0], pb.ones([2, 3], pb.float64)),
    "loop": lambda y, x: pb.while_loop(lambda i, a: i < 2, lambda i, a: [i + 1, a + pb.gradients(y, x)[0]], [0, x])[1],
}


@pytest.mark.parametrize("rows", ROWS)
def test_a_mask_and_a_pole_outside_a_body_are_known_in_it(rows: str) -> None:
    x = pb.placeholder(pb.float64, [3])
    p = x * pb.math.log(x)
    values = pb.Session(engine="numpy").run(ROWS[rows](pb.where(x > 1, p * p, 0.0), x), {x: [0.0, 0.5, 2.0]})
    assert np.isfinite(values).all()
    assert np.any(values)


def types_of_gradient(f: F, *shapes: list[int]) -> list[str]:
    """The types of the operations that `gradients` adds."""
    with pb.Graph().as_default() as graph:
        xs = [pb.placeholder(pb.float32, shape) for shape in shapes]
        y = f(*xs)
        before = len(graph.operations)
        pb.gradients(y, xs)
        return [op.type for op in graph.operations[before:]]


def test_without_a_pole_nothing_is_masked_again() -> None:
    types = types_of_gradient(lambda x, w: pb.matmul(pb.nn.relu(pb.matmul(x, w)) * x, w), [3, 3], [3, 3])
    assert {"MaskedMul", "MulNoNan", "MaskUnseen"}.isdisjoint(types)


def test_without_a_mask_nothing_is_masked() -> None:
    types = types_of_gradient(lambda x, w: pb.matmul(x * pb.math.log(x), w), [3, 3], [3, 3])
    assert {"MaskedMul", "MulNoNan", "MaskUnseen"}.isdisjoint(types)


def layer(x: Any, w: Any, epsilon: float) -> Any:
    """A normalised layer behind a rectifier."""
    mean, variance = pb.nn.moments(x, [1], keepdims=True)
    return pb.nn.relu(pb.matmul((x - mean) / pb.sqrt(variance + epsilon), w))


def test_a_root_that_is_kept_from_zero_is_no_pole() -> None:
    types = types_of_gradient(lambda x, w: layer(x, w, 1e-5), [3, 3], [3, 3])
    assert {"MaskedMul", "MulNoNan", "MaskUnseen"}.isdisjoint(types)
    assert "MaskUnseen" in types_of_gradient(lambda x, w: layer(x, w, 0.0), [3, 3], [3, 3])


def test_sums_of_exponentials_and_one_are_no_poles() -> None:
    types = types_of_gradient(lambda x: pb.nn.relu(x / (1.0 + pb.exp(-pb.square(x)))) * x, [3])
    assert {"MaskedMul", "MaskUnseen"}.isdisjoint(types)
    assert types.count("MulNoNan") == 1, "that of the exponential's own derivative"


def test_a_product_takes_another_form_and_no_more_operations() -> None:
    types = types_of_gradient(lambda x: pb.where(x > 0, x * pb.math.log(x), 0.0), [3])
    assert (types.count("MulNoNan"), types.count("Mul")) == (1, 1)
    assert "MaskUnseen" not in types


def test_of_a_weight_that_is_never_infinite_only_the_zeros_are_looked_for() -> None:
    def f(x: Any, w: Any) -> Any:
        return pb.reduce_logsumexp(-pb.square(x * pb.exp(w)), 1)

    types = types_of_gradient(f, [2, 3], [3])
    assert (types.count("MulNoNan"), types.count("MaskedMul"), types.count("Mul")) == (3, 1, 2)
    x, w = pb.constant([[1.0, 1.0, 1.0], [2.0, 1e3, 0.5]]), pb.constant([1.0, 90.0, 0.5])
    dx, dw = pb.Session().run(pb.gradients(f(x, w), [x, w]))
    assert (dx[:, 1].tolist(), dw[1]) == ([0.0, 0.0], 0.0)
    assert np.all(np.isfinite(dx) & np.isfinite(dw))


@pytest.mark.parametrize("rectifier", [pb.nn.relu, pb.nn.relu6])
def test_what_takes_the_place_of_zeros_needs_no_product_with_a_mask(rectifier: Any) -> None:
    x = pb.placeholder(pb.float32, [3])
    z = rectifier(pb.math.log(x))
    y = pb.sqrt(z)
    before = len(y.graph.get_operations())
    (dx,) = pb.gradients(y, x)
    types = [op.type for op in y.graph.get_operations()[before:]]
    assert types.count(f"{z.op.type}Grad") == 1
    assert "MaskedMul" not in types
    given = np.array([0.0, 1.0, np.e], np.float32)
    np.testing.assert_allclose(pb.Session(engine="numpy").run(dx, {x: given}), [0, 0, 0.5 / np.e], rtol=1e-6)
