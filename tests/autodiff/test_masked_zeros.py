"""What a mask hides has derivative zero, whatever stands between the mask and a pole; nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import pullback as pb

F = Callable[..., Any]
ENGINES = ["numpy", "xla", "onnxruntime"]
AT = np.array([[0.0, -0.0, 0.0], [1.2, 2.0, 0.5], [2.2, 0.7, 1.5]])
"""The poles of the functions below are in the first row, which masks hide."""
WEIGHTS = np.array([[1.0, -2.0, 0.0], [0.5, 0.0, 3.0], [2.0, 1.0, -1.0]])


def below(y: Any) -> Any:
    """Whether an element of `y` is in the rows below the first one."""
    return np.array([[False], [True], [True]]) if y.shape.rank == 2 else [False, True, True]


def image(x: Any) -> Any:
    """The rows as images of one line and one channel."""
    return pb.reshape(x, [3, 1, 3, 1])


def normalized(p: Any) -> Any:
    """The layer normalisation of the rows."""
    mean, variance = pb.nn.moments(p, [1], keepdims=True)
    return (p - mean) * pb.math.rsqrt(variance + 1e-3)


def attended(p: Any, x: Any) -> Any:
    """Attention within the rows."""
    weights = pb.nn.softmax(pb.expand_dims(p, 2) * pb.expand_dims(x, 1))
    return pb.linalg.matvec(weights, p)


MASKS: dict[str, F] = {
    "where": lambda y: pb.where(below(y), y, pb.zeros_like(y)),
    "multiply_no_nan": lambda y: pb.math.multiply_no_nan(y, pb.cast(below(y), pb.float64)),
    "slice": lambda y: y[1:],
    "gather": lambda y: pb.gather(y, [1, 2, 2]),
    "boolean_rows": lambda y: pb.concat([y[1:], pb.zeros_like(y[:1])], 0),
    "relu": lambda y: pb.nn.relu(pb.where(below(y), y, -pb.ones_like(y))),
    "maximum": lambda y: pb.maximum(pb.where(below(y), y, -9.0 * pb.ones_like(y)), -8.0),
}
MIXERS: dict[str, F] = {
    "nothing": lambda p, x: p,
    "product": lambda p, x: p * x,
    "square": lambda p, x: pb.square(p),
    "squared_difference": lambda p, x: pb.math.squared_difference(p, x),
    "quotient": lambda p, x: p / (x + 2),
    "two_poles": lambda p, x: p * pb.sqrt(x),
    "tanh": lambda p, x: pb.tanh(p),
    "sigmoid": lambda p, x: pb.sigmoid(p),
    "elu": lambda p, x: pb.nn.elu(p),
    "exp": lambda p, x: pb.exp(p),
    "power": lambda p, x: p**2.0,
    "sum": lambda p, x: pb.reduce_sum(p, 1),
    "mean": lambda p, x: pb.reduce_mean(p * p, 1),
    "prod": lambda p, x: pb.reduce_prod(p, 1),
    "max": lambda p, x: pb.reduce_max(p, 1),
    "std": lambda p, x: pb.math.reduce_std(p, 1),
    "norm": lambda p, x: pb.norm(p, axis=1),
    "logsumexp": lambda p, x: pb.reduce_logsumexp(p, 1),
    "matmul": lambda p, x: pb.matmul(p, pb.constant(WEIGHTS)),
    "matvec": lambda p, x: pb.linalg.matvec(p, pb.constant(WEIGHTS[2])),
    "einsum": lambda p, x: pb.einsum("ij,ij->i", p, x),
    "cumsum": lambda p, x: pb.cumsum(p * p, 1),
    "cumprod": lambda p, x: pb.math.cumprod(p, 1),
    "softmax": lambda p, x: pb.nn.softmax(p),
    "log_softmax": lambda p, x: pb.nn.log_softmax(p),
    "cross_entropy": lambda p, x: pb.nn.softmax_cross_entropy_with_logits(labels=pb.constant(np.eye(3)), logits=p),
    "convolution": lambda p, x: pb.reshape(pb.nn.conv2d(image(p * p), np.ones([1, 2, 1, 2]), 1, "SAME"), [3, 6]),
    "average_pool": lambda p, x: pb.reshape(pb.nn.avg_pool2d(image(p * p), [1, 2], 1, "SAME"), [3, 3]),
    "max_pool": lambda p, x: pb.reshape(pb.nn.max_pool2d(image(p * p), [1, 2], 1, "SAME"), [3, 3]),
    "columns": lambda p, x: pb.gather(p * p, [2, 0, 1, 1], axis=1),
    "scattered": lambda p, x: pb.tensor_scatter_nd_add(p * p, [[1], [2]], (p * x)[1:]),
    "segments": lambda p, x: pb.math.unsorted_segment_prod(p, [0, 1, 2], 3),
    "sorted": lambda p, x: pb.sort(p * x, axis=1),
    "top_k": lambda p, x: pb.math.top_k(p * x, 2)[0],
    "layer_norm": lambda p, x: normalized(p),
    "attention": attended,
    "fft": lambda p, x: pb.abs(pb.signal.fft(pb.cast(p, pb.complex128))),
    "rfft": lambda p, x: pb.square(pb.abs(pb.signal.rfft(p))),
    "complex": lambda p, x: pb.real(pb.square(pb.complex(p, x))) + pb.math.angle(pb.complex(x, p)),
    "call": lambda p, x: pb.function(lambda p, x: p * x)(p, x),
    "branch": lambda p, x: pb.cond(pb.constant(True), lambda: p * x, lambda: x),
    "scan": lambda p, x: pb.scan(lambda _, row: row * row, p, initializer=pb.constant(np.zeros(3))),
}
POLES: dict[str, F] = {
    "log": pb.math.log,
    "sqrt": pb.sqrt,
    "rsqrt": pb.math.rsqrt,
    "reciprocal": lambda x: 1.0 / x,
    "power": lambda x: x**-0.5,
    "lgamma": pb.math.lgamma,
    "not_a_number": lambda x: pb.math.log(x - 1e-9),
    "overflow": lambda x: pb.exp(x + 1e3 * pb.cast(pb.equal(x, 0.0), pb.float64)),
    "x*log(x)": lambda x: x * pb.math.log(x),
    "sqrt*log": lambda x: pb.sqrt(x) * pb.math.log(x),
    "pow*pow": lambda x: x**0.5 * x**-0.25,
    "acosh": lambda x: pb.acosh(1.0 + x),
    "asin": lambda x: pb.asin(1.0 - 0.4 * x),
    "digamma": pb.math.digamma,
    "log1p": lambda x: pb.math.log1p(x - 1.0),
    "x**x": lambda x: x**x,
    "xlogy": lambda x: pb.math.xlogy(x, x),
    "atan2": lambda x: pb.atan2(x, 0.0 * x),
    "of_unit_norm": lambda x: x / pb.norm(x, axis=1, keepdims=True),
    "in_a_call": lambda x: pb.function(lambda x: x * pb.math.log(x))(x),
    "in_a_loop": lambda x: pb.while_loop(lambda i, y: i < 2, lambda i, y: [i + 1, y / x], [0, x])[1],
}


def first_and_second(mask: F, mixer: F, pole: F, x: Any) -> list[Any]:
    """The masked value, and its first and second derivatives."""
    y = mask(mixer(pole(x), x))
    (dx,) = pb.gradients(y, x)
    (ddx,) = pb.gradients(dx * pb.constant(np.arange(1.0, 10.0).reshape(3, 3)), x)
    return [y, dx, ddx]


def check(chosen: list[tuple[str, str, str]], engine: str) -> None:
    """No value of these compositions is NaN or infinite, and derivatives are zero in the row that is hidden."""
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float64, [3, 3])
        fetches = [first_and_second(MASKS[m], MIXERS[k], POLES[p], x) for m, k, p in chosen]
        found = pb.Session(graph=graph, engine=engine).run(fetches, {x: AT})
    for name, (y, dx, ddx) in zip(chosen, found, strict=True):
        assert np.isfinite(y).all(), name
        for order, values in enumerate((dx, ddx), start=1):
            assert np.isfinite(values).all(), (name, order, values)
            assert not values[0].any(), (name, order, values)


@pytest.mark.parametrize("mask", MASKS)
def test_no_mixer_lets_a_pole_through_a_mask(mask: str) -> None:
    rows = [(mask, k, p) for k, p in product(MIXERS, POLES) if (k, p) not in {("scan", "in_a_loop")}]
    check(rows[:: 3 if mask == "where" else 17], "numpy")


@pytest.mark.parametrize("mixer", ["fft", "rfft", "complex"])
def test_complex_numbers_hand_zeros_on(mixer: str) -> None:
    check([("where", mixer, p) for p in ("log", "x*log(x)", "in_a_call")], "numpy")


@pytest.mark.slow
@pytest.mark.parametrize("mask", MASKS)
def test_every_composition(mask: str) -> None:
    check([(mask, k, p) for k, p in product(MIXERS, POLES)], "numpy")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("mask", MASKS)
def test_other_engines_agree(mask: str, engine: str) -> None:
    check([(mask, k, p) for k, p in product(MIXERS, POLES)][::9], engine)


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
    "cumsum": lambda x: pb.cumsum(x * pb.math.log(x), reverse=True),
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
        if name == "softmax(log(x))":
            values = values[:1]  # Unmasked results depend on x = 0, where the second derivative is infinite.
        if name == "cumsum":
            continue
        assert all(np.isfinite(v).all() and not np.ravel(v)[-1] for v in values), (name, values)


def derivative(f: F, at: Any, order: int = 1) -> Any:
    """The derivative of the sum of `f` at an array."""
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float64, np.shape(at))
        y = f(x)
        for _ in range(order):
            (y,) = pb.gradients(y, x)
        return pb.Session(graph=graph, engine="numpy").run(y, {x: at})


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
    assert {"MaskedMul", "MaskUnseen"}.isdisjoint(types)


def test_without_a_mask_nothing_is_masked() -> None:
    types = types_of_gradient(lambda x, w: pb.matmul(x * pb.math.log(x), w), [3, 3], [3, 3])
    assert {"MaskedMul", "MaskUnseen"}.isdisjoint(types)


def layer(x: Any, w: Any, epsilon: float) -> Any:
    """A normalised layer behind a rectifier."""
    mean, variance = pb.nn.moments(x, [1], keepdims=True)
    return pb.nn.relu(pb.matmul((x - mean) / pb.sqrt(variance + epsilon), w))


def test_a_root_that_is_kept_from_zero_is_no_pole() -> None:
    types = types_of_gradient(lambda x, w: layer(x, w, 1e-5), [3, 3], [3, 3])
    assert {"MaskedMul", "MaskUnseen"}.isdisjoint(types)
    assert "MaskUnseen" in types_of_gradient(lambda x, w: layer(x, w, 0.0), [3, 3], [3, 3])


def test_sums_of_exponentials_and_one_are_no_poles() -> None:
    types = types_of_gradient(lambda x: pb.nn.relu(x / (1.0 + pb.exp(-pb.square(x)))) * x, [3])
    assert {"MaskedMul", "MaskUnseen"}.isdisjoint(types)


def test_a_product_takes_another_form_and_no_more_operations() -> None:
    types = types_of_gradient(lambda x: pb.where(x > 0, x * pb.math.log(x), 0.0), [3])
    assert (types.count("MaskedMul"), types.count("Mul")) == (1, 1)
    assert "MaskUnseen" not in types
