"""Every function that takes an x counts all reads of a variable, those before the call too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

VALUE = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
V = np.array([[1.0, 2.0, -1.0], [0.0, 0.5, 3.0]])


def _loss(x: Any) -> Any:
    return pb.reduce_sum(pb.sin(x) * x * x)


def _rows(x: Any) -> Any:
    return x * pb.reduce_sum(x, axis=1, keepdims=True)


FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "gradients": lambda loss, rows, x: pb.gradients(loss, x)[0],
    "jvp": lambda loss, rows, x: pb.jvp(rows, x, [V])[0],
    "jacobian": lambda loss, rows, x: pb.jacobian(rows, x),
    "batch_jacobian": lambda loss, rows, x: pb.batch_jacobian(rows, x),
    "hessians": lambda loss, rows, x: pb.hessians(loss, x)[0],
    "hessian_diagonal": lambda loss, rows, x: pb.hessian_diagonal(loss, x)[0],
    "hessian_vector_product": lambda loss, rows, x: pb.hessian_vector_product(loss, x, [V])[0],
    "gauss_newton_vector_product": lambda loss, rows, x: pb.gauss_newton_vector_product(
        pb.reduce_sum(rows * rows), rows, x, [V]
    )[0],
    "sparse_jacobian": lambda loss, rows, x: pb.sparse_jacobian(rows, x).values,
    "sparse_hessian": lambda loss, rows, x: pb.sparse_hessian(loss, x).values,
    "per_example_gradients": lambda loss, rows, x: pb.per_example_gradients(
        lambda e: pb.reduce_sum(pb.sin(x) * e), x, pb.constant(V)
    )[0],
    "a gradient in a loop": lambda loss, rows, x: pb.map_fn(
        lambda e: pb.gradients(_loss(x) * e, x)[0], pb.constant([1.0, 2.0], pb.float64)
    ),
    "a gradient in a branch": lambda loss, rows, x: pb.cond(
        pb.constant(True), lambda: pb.gradients(_loss(x), x)[0] + 0.0, lambda: pb.zeros([2, 3], pb.float64)
    ),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_derivative_by_a_variable_is_that_by_its_value(function: str) -> None:
    variable, tensor = pb.Variable(VALUE), pb.constant(VALUE)
    session = pb.Session(engine="numpy")
    session.run(variable.initializer)
    by_variable, by_tensor = [FUNCTIONS[function](_loss(x), _rows(x), x) for x in (variable, tensor)]
    found, expected = session.run([by_variable, by_tensor])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.abs(expected).max() > 0.1


def test_implicit_solutions_are_differentiated_by_variables() -> None:
    variable, tensor = pb.Variable(np.array(2.0)), pb.constant(np.array(2.0))
    session = pb.Session(engine="numpy")
    session.run(variable.initializer)
    roots = [pb.implicit.root(lambda y, k=k: y * y - k, pb.constant(1.0, pb.float64)) for k in (variable, tensor)]
    found = [pb.gradients(y, k)[0] for y, k in zip(roots, (variable, tensor), strict=True)]
    np.testing.assert_allclose(session.run(found), [0.5 / np.sqrt(2.0)] * 2, rtol=1e-6)


def test_explain_gradient_finds_the_reads_of_a_variable() -> None:
    variable = pb.Variable(VALUE)
    assert pb.explain_gradient(_loss(variable), variable).connected


@pytest.mark.parametrize("sparse", [False, True])
def test_an_objective_of_a_variable(sparse: bool) -> None:
    variable = pb.Variable(VALUE[0])
    objective = pb.scipy.Objective(_loss(variable), variable, sparse=sparse, engine="numpy")
    hessian = objective.hess(VALUE[0])
    hessian = hessian.toarray() if sparse else hessian
    x = VALUE[0]
    np.testing.assert_allclose(hessian, np.diag((2 - x * x) * np.sin(x) + 4 * x * np.cos(x)), atol=1e-12)


def test_gradients_are_checked_by_a_variable() -> None:
    variable = pb.Variable(VALUE[0])
    loss = _loss(variable)
    with pb.Session(engine="numpy") as session:
        session.run(variable.initializer)
        assert pb.test.compute_gradient_error(variable, [3], loss, [], VALUE[1]) < 1e-5
        np.testing.assert_array_equal(session.run(variable), VALUE[0])
