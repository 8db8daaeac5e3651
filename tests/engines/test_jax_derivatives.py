"""Functions for jax: their derivatives are those of `gradients`, in all ways in which jax asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.engines.plan import make_plan

from ..cases.case import Case
from ..cases.table import building, differentiable, differentiate, each, rows, weights_like

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
SCALES = np.array([0.5, 1.0, 2.0])
random = np.random.default_rng(0)
X, W, TIMES = random.normal(size=3), random.normal(size=(3, 3)), np.int32(2)
MANY = random.normal(size=(4, 3))


@pytest.fixture(autouse=True)
def wide() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def by_jax(x: Any, w: Any, times: Any) -> Any:
    y = jnp.tanh(w @ x) * SCALES * times + jnp.max(x * x)
    return jnp.sum(jnp.sin(y) * jnp.exp(-y * y))


def by_pullback() -> Callable[..., Any]:
    with pb.Graph().as_default():
        x, w = pb.placeholder(pb.float64, [3]), pb.placeholder(pb.float64, [3, 3])
        times = pb.placeholder(pb.int32, [])
        scales = pb.Variable(SCALES)
        y = pb.tanh(pb.linalg.matvec(w, x)) * scales * pb.cast(times, pb.float64) + pb.reduce_max(x * x)
        total = pb.reduce_sum(pb.sin(y) * pb.exp(-y * y))
        with pb.Session() as session:
            session.run(scales.initializer)
            return pb.xla.to_jax(total, [x, w, times], session)  # type: ignore[no-any-return]


def over_many(f: Any, axis: int = 0) -> Any:
    return jax.vmap(f, (axis, None, None))


WAYS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: jax.grad(f, (0, 1))(X, W, TIMES),
    "grad of jit": lambda f: jax.grad(jax.jit(f))(X, W, TIMES),
    "hessian": lambda f: jax.hessian(f, (0, 1))(X, W, TIMES),
    "reverse of reverse": lambda f: jax.jacrev(jax.jacrev(f))(X, W, TIMES),
    "forward of forward": lambda f: jax.jacfwd(jax.jacfwd(f))(X, W, TIMES),
    "reverse of forward": lambda f: jax.jacrev(jax.jacfwd(f))(X, W, TIMES),
    "third": lambda f: jax.jit(jax.jacfwd(jax.hessian(f)))(X, W, TIMES),
    "vmap of grad": lambda f: over_many(jax.grad(f, (0, 1)))(jnp.asarray(MANY), W, TIMES),
    "grad of vmap": lambda f: jax.grad(lambda x, w: over_many(f)(x, w, TIMES).sum(), (0, 1))(MANY, W),
    "hessian of vmap": lambda f: jax.hessian(lambda w: over_many(f, 1)(MANY.T, w, TIMES).sum())(W),
    "jvp of vmap": lambda f: jax.jvp(lambda w: over_many(f)(jnp.asarray(MANY), w, TIMES), (W,), (W,)),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f))(X, W, TIMES),
    "linearize": lambda f: jax.linearize(lambda x: f(x, W, TIMES), X)[1](2 * X),
    "cond": lambda f: jax.grad(lambda x: jax.lax.cond(x[0] > 0, lambda x: f(x, W, 1), lambda x: f(x, W, 2), x))(X),
}


@pytest.mark.parametrize("way", [pytest.param(f, id=name) for name, f in WAYS.items()])
def test_jax_finds_the_same_as_of_its_own_functions(way: Callable[[Any], Any]) -> None:
    f = by_pullback()
    found, expected = jax.jit(lambda: [way(lambda x, w, times: f(x, w, jnp.int32(times))), way(by_jax)])()
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), found, expected)


def test_nothing_needs_to_be_compiled() -> None:
    f = by_pullback()
    for found, expected in zip(jax.grad(f, (0, 1))(X, W, TIMES), jax.grad(by_jax, (0, 1))(X, W, TIMES), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pb.custom_gradient
def clipped(x: Any) -> Any:
    return pb.identity(x), lambda dy: pb.clip_by_value(dy, -0.1, 0.1)


def twice_by_python(x: Any) -> Any:
    y = pb.py_function(lambda a: a * 2.0, [x], pb.float64, gradient=lambda a, dy: [dy * 2.0])
    y.set_shape(x.shape)
    return y


MEANT: dict[str, Callable[[Any], Any]] = {
    "stop_gradient": lambda x: x * pb.stop_gradient(x),
    "custom_gradient": lambda x: clipped(x) * 5.0,
    "rounding": lambda x: pb.cast(pb.quantization.fake_quant_with_min_max_args(pb.cast(x, pb.float32)), x.dtype),
    "largest of many": lambda x: pb.reduce_max(pb.tile(x, [20]) ** 2),
    "masked": lambda x: pb.where(x > 0.0, pb.sqrt(x), pb.zeros_like(x)),
    "norm": lambda x: pb.norm(x - x),
    "Python": twice_by_python,
    "loop of unknown length": lambda x: pb.while_loop(
        lambda i, y: i < pb.cast(pb.reduce_sum(pb.abs(x)), pb.int32),
        lambda i, y: [i + 1, pb.sin(y) * 1.5],
        [pb.constant(0), x],
    )[1],
}


@pytest.mark.parametrize("function", [pytest.param(f, id=name) for name, f in MEANT.items()])
def test_what_the_graph_means_is_differentiated(function: Callable[[Any], Any]) -> None:
    x = pb.placeholder(pb.float64, [3])
    y = pb.reduce_sum(function(x))
    given = np.array([1.0, 2.0, -3.0])
    expected = pb.Session(engine="numpy").run(pb.gradients(y, x)[0], {x: given})
    before = len(pb.get_default_graph().get_operations())
    f = pb.xla.to_jax(y, [x])
    np.testing.assert_allclose(jax.grad(f)(given), expected, rtol=1e-9)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(given), expected, rtol=1e-9)
    assert len(pb.get_default_graph().get_operations()) == before


def test_rules_that_are_given_later_hold() -> None:
    graph = pb.get_default_graph()
    x = pb.placeholder(pb.float64, [3])
    with graph.gradient_override_map({"Square": "TenTimesSquare"}):
        y = pb.reduce_sum(pb.square(x))
    pb.RegisterGradient("TenTimesSquare")(lambda op, dy: 20.0 * op.inputs[0] * dy)
    np.testing.assert_allclose(jax.grad(pb.xla.to_jax(y, [x]))(X), 20 * X)


def test_complex_derivatives_are_those_of_jax() -> None:
    z = pb.placeholder(pb.complex128, [3])
    f = pb.xla.to_jax([pb.sin(z) * pb.conj(z), pb.abs(z * z)], [z])
    own = lambda z: [jnp.sin(z) * jnp.conj(z), jnp.abs(z * z)]  # noqa: E731
    at, along = X + 1j * X[::-1], 1j - X
    for find in (
        lambda f: jax.jvp(f, (at,), (along,))[1],
        lambda f: jax.vjp(f, at)[1]([along, X])[0],
        lambda f: jax.jvp(jax.grad(lambda z: f(z)[1].sum()), (at,), (along,))[1],
    ):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), find(f), find(own))


def test_an_operation_without_a_derivative_is_named_with_the_line_of_the_user() -> None:
    x = pb.placeholder(pb.float64, [3])
    y = pb.py_function(lambda a: a * 2.0, [x], pb.float64, name="double", gradient=lambda a, dy: [dy * 2.0])
    y.set_shape([3])
    f = pb.xla.to_jax(pb.reduce_sum(y), [x])
    with pytest.raises(LookupError, match=r"made at test_jax_derivatives.py:\d+: jax.hessian\(f\)\(X\)"):
        jax.hessian(f)(X)


def test_rows_that_a_loop_counts_are_those_that_there_are() -> None:
    x = pb.placeholder(pb.float64, [2], name="x")

    def step(i: Any, y: Any, rows: Any) -> Any:
        return i + 1, y * 2.0, rows.write(i, y)

    rows = pb.TensorArray(pb.float64, size=0, dynamic_size=True, element_shape=[2])
    *_, rows = pb.while_loop(lambda i, y, _: pb.reduce_sum(y) < 10.0, step, [0, x, rows], maximum_iterations=6)
    f = pb.xla.to_jax(rows.stack(name="stack"), [x])
    given = np.array([1.0, 2.0])
    value, back = jax.vjp(f, given)
    np.testing.assert_array_equal(value, [[1, 2], [2, 4]])
    np.testing.assert_array_equal(back(np.ones((2, 2)))[0], [3, 3])
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        jax.jit(f)(given)
    text, site, remedy = str(error.value).splitlines()
    assert text == (
        "to_jax: how many rows float64[?,2] 'stack:0' has is known when the loop 'while/Loop' ends, and what jax "
        "traces has fixed shapes."
    )
    assert site.startswith("  made at test_jax_derivatives.py:")
    assert remedy == (
        "Call the function outside of jax.jit and jax.vmap, or give the loop a number of steps that is known."
    )


SOME = 64
"""One row of so many is tried among the quick tests."""
ALL = [p for p in rows("not_differentiable", "not_on_numpy", "not_compiled") if p.values[0].differentiated()]


@each([pytest.param(*p.values, id=p.id, marks=[] if i % SOME == 0 else pytest.mark.slow) for i, p in enumerate(ALL)])
def test_rows_of_the_case_table_have_the_derivatives_of_the_graph(case: Case) -> None:
    with building(case) as built, pb.Session() as session:
        session.run(pb.global_variables_initializer())
        ys, moved = differentiable(built.ys), built.case.differentiated()
        given = [built.arrays[i] for i in moved]
        if make_plan(ys, (), built.xs).written:
            with pytest.raises(pb.errors.InvalidArgumentError, match="a function has no effects, but this assigns to"):
                pb.xla.to_jax(ys, built.xs, session)
            return
        function = pb.xla.to_jax(ys, built.xs, session)

        def of_moved(*arrays: Any) -> Any:
            full = list(built.arrays)
            for i, array in zip(moved, arrays, strict=True):
                full[i] = array
            return function(*full)

        weights, along = weights_like(built.run(ys), 1), weights_like(given, 11)
        slopes = [np.conj(g) * v for g, v in zip(built.run(differentiate(built, ys, 1)), along, strict=True)]
        scale = case.tolerance * max(sum(float(abs(s).sum()) for s in slopes), 1e-2)
        expected = sum(float(s.real.sum()) for s in slopes)
        _, back = jax.vjp(of_moved, *given)
        pulled = back([np.conj(w) for w in weights])
        assert abs(sum(float((g * v).real.sum()) for g, v in zip(pulled, along, strict=True)) - expected) < scale
        if not case.not_second_order:
            _, pushed = jax.jvp(of_moved, given, along)
            found = sum(float((np.conj(w) * t).real.sum()) for w, t in zip(weights, pushed, strict=True))
            assert abs(found - expected) < scale
