"""The adapters for SciPy: one graph, all the functions that an optimizer asks for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import least_squares, minimize, root
from scipy.sparse.linalg import cg

import pullback as pb

SOLUTION = np.ones(4)


def rosenbrock(x: pb.Tensor) -> pb.Tensor:
    return pb.reduce_sum(100.0 * pb.square(x[1:] - pb.square(x[:-1])) + pb.square(1.0 - x[:-1]))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("method", ["BFGS", "Newton-CG", "trust-krylov", "trust-exact"])
def test_minimize_takes_all_four_functions(method: str, engine: str) -> None:
    x = pb.placeholder(pb.float64, [4])
    f = pb.scipy.Objective(rosenbrock(x), x, engine=engine)
    second = {"hessp": f.hessp} if method in ("Newton-CG", "trust-krylov") else {"hess": f.hess}
    found = minimize(f.fun, np.zeros(4), jac=f.jac, method=method, tol=1e-9, **({} if method == "BFGS" else second))
    np.testing.assert_allclose(found.x, SOLUTION, atol=1e-5)


def test_value_and_gradient_of_one_run() -> None:
    x = pb.placeholder(pb.float64, [4])
    f = pb.scipy.Objective(rosenbrock(x), x, engine="numpy")
    found = minimize(f.fun_and_jac, np.zeros(4), jac=True, method="L-BFGS-B", tol=1e-12)
    np.testing.assert_allclose(found.x, SOLUTION, atol=1e-3)


def test_several_tensors_and_variables_are_one_vector() -> None:
    v, x = pb.Variable(np.ones((2, 1))), pb.placeholder(pb.float64, [2])
    f = pb.scipy.Objective(pb.reduce_sum(pb.matmul(pb.reshape(x, [1, 2]), v)) ** 2.0, [v, x], engine="numpy")
    point = np.array([1.0, 2.0, 3.0, 4.0])
    assert f.fun(point) == 121.0
    np.testing.assert_allclose(f.jac(point), 22.0 * np.array([3.0, 4.0, 1.0, 2.0]))
    np.testing.assert_allclose(f.hess(point) @ point, f.hessp(point, point))
    assert [part.shape for part in f.split(point)] == [(2, 1), (2,)]


def test_the_point_to_start_at_is_what_the_variables_are() -> None:
    v = pb.Variable([1.0, 2.0])
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    f = pb.scipy.Objective(pb.reduce_sum(v * v), v, session=session)
    np.testing.assert_array_equal(f.x0, [1.0, 2.0])


def test_other_tensors_are_fed_once() -> None:
    x, a = pb.placeholder(pb.float64, [2]), pb.placeholder(pb.float64, [])
    f = pb.scipy.Objective(a * pb.reduce_sum(x * x), x, {a: 3.0}, engine="numpy")
    assert f.fun([1.0, 2.0]) == 15.0


def test_a_sparse_hessian() -> None:
    x = pb.placeholder(pb.float64, [4])
    sparse, full = [pb.scipy.Objective(rosenbrock(x), x, sparse=s, engine="numpy") for s in (True, False)]
    point = np.linspace(0.0, 1.0, 4)
    assert sp.issparse(sparse.hess(point))
    np.testing.assert_allclose(sparse.hess(point).toarray(), full.hess(point))


@pytest.mark.parametrize("sparse", [False, True])
def test_least_squares_takes_residuals_and_their_jacobian(sparse: bool) -> None:
    x = pb.placeholder(pb.float64, [3])
    f = pb.scipy.Residuals(pb.concat([10.0 * (x[1:] - x[:-1] ** 2.0), 1.0 - x], 0), x, sparse=sparse, engine="numpy")
    found = least_squares(f.fun, np.zeros(3), jac=f.jac, xtol=1e-12, ftol=1e-12, gtol=1e-12)
    np.testing.assert_allclose(found.x, np.ones(3), atol=1e-6)


def test_root_takes_residuals_of_several_tensors() -> None:
    x = pb.placeholder(pb.float64, [2])
    f = pb.scipy.Residuals([x[0] * x[0] - 2.0, x[0] * x[1] - 1.0], x, engine="numpy")
    np.testing.assert_allclose(root(f.fun, np.ones(2), jac=f.jac).x, [2**0.5, 0.5**0.5], rtol=1e-6)


def test_operators_multiply_without_the_matrix() -> None:
    x = pb.placeholder(pb.float64, [4])
    y = pb.sin(x[1:] * x[:-1])
    point = np.linspace(0.5, 1.0, 4)
    j = pb.Session(engine="numpy").run(pb.jacobian(y, x), {x: point})
    operator = pb.scipy.jacobian_operator(y, x, point, engine="numpy")
    assert operator.shape == (3, 4)
    np.testing.assert_allclose(operator @ np.eye(4), j)
    np.testing.assert_allclose(operator.T @ np.eye(3), j.T)


def test_a_linear_system_with_a_hessian_operator() -> None:
    x = pb.placeholder(pb.float64, [4])
    loss = pb.reduce_sum(pb.square(x)) + pb.reduce_sum(x) ** 2.0
    operator = pb.scipy.hessian_operator(loss, x, np.zeros(4), engine="numpy")
    found, info = cg(operator, np.ones(4), rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(found, np.full(4, 0.1))


def test_a_shape_that_is_not_known_is_refused() -> None:
    x = pb.placeholder(pb.float64, [None], name="x")
    with pytest.raises(ValueError, match=r"pb.scipy: float64\[\?\] 'x:0' has no known shape; a vector of known length"):
        pb.scipy.Objective(pb.reduce_sum(x), x)


def test_what_is_no_vector_of_the_length_is_refused() -> None:
    x = pb.placeholder(pb.float64, [3])
    f = pb.scipy.Objective(pb.reduce_sum(x * x), x)
    with pytest.raises(ValueError, match=r"pb\.scipy: a vector of 3 elements is needed, not an array \(4,\)"):
        f.fun(np.zeros(4))


def test_an_objective_is_a_scalar_of_tensors() -> None:
    x = pb.placeholder(pb.float64, [3], name="x")
    with pytest.raises(ValueError, match=r"pb\.scipy: float64\[3\] 'x:0' is not a scalar; use Residuals, or add it up"):
        pb.scipy.Objective(x, x)
    with pytest.raises(TypeError, match=r"pb\.scipy: 1\.0 is neither a tensor nor a variable of a graph"):
        pb.scipy.Objective(pb.reduce_sum(x), 1.0)
