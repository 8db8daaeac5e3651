"""Fixed points, roots and minima, whose derivatives are linear solves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.fixture(params=["numpy", "xla"])
def run(request: pytest.FixtureRequest) -> Any:
    return lambda fetches, feeds=None: pb.Session(engine=request.param).run(fetches, feeds)


def derivatives(y: pb.Tensor, x: pb.Tensor, order: int) -> list[pb.Tensor]:
    found = [y]
    for _ in range(order):
        found += pb.gradients(found[-1], x)
    return found


def test_a_fixed_point_to_the_third_order(run: Any) -> None:
    a = pb.constant(2.0, pb.float64)
    x = pb.implicit.fixed_point(lambda x: 0.5 * (x + a / x), pb.constant(1.0, pb.float64))
    # The square root of a.
    expected = [2**0.5, 0.5 * 2**-0.5, -0.25 * 2**-1.5, 0.375 * 2**-2.5]
    np.testing.assert_allclose(run(derivatives(x, a, 3)), expected, rtol=1e-8)


def test_a_fixed_point_that_contracts_slowly(run: Any) -> None:
    a = pb.constant(np.array([0.3, 0.6]))
    x = pb.implicit.fixed_point(lambda x: 0.8 * pb.cos(x) * a, pb.zeros([2], pb.float64), tolerance=1e-13)
    (j,) = [run(pb.jacobian(x, a))]
    v = run(x)
    np.testing.assert_allclose(j, np.diag(0.8 * np.cos(v) / (1.0 + 0.8 * np.array([0.3, 0.6]) * np.sin(v))), rtol=1e-8)


def test_unknowns_may_be_nested(run: Any) -> None:
    a = pb.constant(3.0, pb.float64)
    start = {"x": pb.constant(1.0, pb.float64), "y": pb.constant([1.0, 1.0], pb.float64)}
    found = pb.implicit.fixed_point(lambda s: {"x": 0.5 * a, "y": 0.5 * s["y"] + s["x"]}, start)
    x, y, dy = run([found["x"], found["y"], *pb.gradients(found["y"], a)])
    np.testing.assert_allclose(x, 1.5)
    np.testing.assert_allclose(y, [3.0, 3.0])
    np.testing.assert_allclose(dy, 2.0, rtol=1e-8)


def test_a_root_to_the_third_order(run: Any) -> None:
    a = pb.constant(2.0, pb.float64)
    x = pb.implicit.root(lambda x: x * x * x - a, pb.constant(1.0, pb.float64))
    p = 1.0 / 3.0
    expected = [2**p, p * 2 ** (p - 1), p * (p - 1) * 2 ** (p - 2), p * (p - 1) * (p - 2) * 2 ** (p - 3)]
    np.testing.assert_allclose(run(derivatives(x, a, 3)), expected, rtol=1e-8)


def test_the_root_of_a_system(run: Any) -> None:
    m, b = np.array([[3.0, 1.0], [0.5, 2.0]]), pb.constant(np.array([1.0, 2.0]))
    x = pb.implicit.root(lambda x: pb.linalg.matvec(pb.constant(m), x) - b, pb.zeros([2], pb.float64))
    np.testing.assert_allclose(run(x), np.linalg.solve(m, [1.0, 2.0]))
    np.testing.assert_allclose(run(pb.jacobian(x, b)), np.linalg.inv(m))


@pytest.mark.parametrize("linear", [pytest.param("dense", marks=pytest.mark.slow), "cg"])
def test_a_minimum(run: Any, linear: str) -> None:
    a = pb.constant(np.array([1.0, 2.0]))
    x = pb.implicit.argmin(lambda x: pb.reduce_sum(pb.exp(x) - a * x), pb.zeros([2], pb.float64), linear=linear)
    # log(a)
    np.testing.assert_allclose(run(x), np.log([1.0, 2.0]), atol=1e-9)
    np.testing.assert_allclose(run(pb.jacobian(x, a)), np.diag([1.0, 0.5]), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(run(derivatives(x[1], a, 2)[-1]), [0.0, -0.25], rtol=1e-7, atol=1e-9)


def test_the_derivative_by_the_first_guess_is_none() -> None:
    start = pb.constant(1.0)
    x = pb.implicit.fixed_point(lambda x: 0.5 * x, start)
    assert pb.gradients(x, start) == [None]


def test_how_the_solution_was_found_does_not_matter(run: Any) -> None:
    a = pb.constant(4.0, pb.float64)
    x = pb.implicit.root(lambda x: x * x - a, pb.constant(1.0, pb.float64), solver=lambda f, x0: pb.sqrt(a))
    np.testing.assert_allclose(run([x, *pb.gradients(x, a)]), [2.0, 0.25])


def test_a_result_of_another_dtype_is_refused() -> None:
    with pytest.raises(TypeError, match=r"fixed_point: the result is .*, but x0 is .*; convert it with pb.cast"):
        pb.implicit.fixed_point(lambda x: pb.cast(x, pb.float64), pb.constant(1.0))


def test_a_minimum_of_more_than_a_scalar_is_refused() -> None:
    with pytest.raises(ValueError, match="argmin: f must return a scalar"):
        pb.implicit.argmin(lambda x: x, pb.zeros([2]))


def test_the_derivative_is_no_loop_over_the_iterations() -> None:
    a = pb.constant(2.0)
    x = pb.implicit.root(lambda x: x * x - a, pb.constant(1.0))
    before = len(a.graph.operations)
    pb.gradients(x, a)
    added = [op.type for op in a.graph.operations[before:]]
    assert added.count("Loop") <= 1  # the rows of the Jacobian
    assert "MatrixSolve" in added
