"""Decompositions and solvers: messages, static types, hard points, sizes of gradient graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def message_of(error: type[Exception], build: Callable[[], Any]) -> str:
    with pytest.raises(error) as caught:
        build()
    return str(caught.value)


def placeholder(*shape: int | None, dtype: Any = pb.float32) -> pb.Tensor:
    return pb.placeholder(dtype, shape)


def run(fetches: Any, engine: str = "numpy", feeds: Any = None) -> Any:
    with pb.Session(engine=engine) as session:
        return session.run(fetches, feeds)


def gradient_types(y: Any, x: pb.Tensor) -> list[str]:
    """The op types of the gradient, without those of the cotangent."""
    before = len(x.graph.operations)
    pb.gradients(y, x, grad_ys=[placeholder(*v.shape.known) for v in (y if isinstance(y, list) else [y])])
    return [op.type for op in x.graph.operations[before:] if op.type not in ("Placeholder", "Identity")]


def test_inv_of_what_is_not_square() -> None:
    text = message_of(ValueError, lambda: pb.linalg.inv(placeholder(2, 3)))
    assert text.startswith("inv: the matrices must be square: float32[2,3]")


def test_inv_of_a_vector() -> None:
    text = message_of(ValueError, lambda: pb.linalg.inv(placeholder(3)))
    assert text.startswith("inv: a matrix or a stack of them is needed, not float32[3]")


def test_det_of_integers() -> None:
    text = message_of(TypeError, lambda: pb.linalg.det(placeholder(2, 2, dtype=pb.int32)))
    assert text.startswith("det: takes no int32: int32[2,2]; it takes complex128, complex64, float32, float64")


def test_solve_with_rows_that_differ() -> None:
    text = message_of(ValueError, lambda: pb.linalg.solve(placeholder(3, 3), placeholder(2, 1)))
    assert text.startswith("solve: float32[3,3] and float32[2,1] have 3 and 2 rows")


def test_solve_of_stacks_that_do_not_broadcast() -> None:
    text = message_of(ValueError, lambda: pb.linalg.solve(placeholder(2, 3, 3), placeholder(4, 3, 1)))
    assert text.startswith("solve: the stacks do not broadcast together: float32[2,3,3] and float32[4,3,1]")


def test_triangular_solve_of_two_dtypes() -> None:
    x, y = placeholder(3, 3), placeholder(3, 1, dtype=pb.float64)
    text = message_of(TypeError, lambda: pb.linalg.triangular_solve(x, y))
    assert text.startswith("triangular_solve: dtypes differ: float32[3,3] and float64[3,1]; convert one with pb.cast")


def test_cross_of_vectors_of_two() -> None:
    text = message_of(ValueError, lambda: pb.linalg.cross(placeholder(2), placeholder(2)))
    assert text.startswith("cross: vectors of length 3 are needed: float32[2] and float32[2]")


def test_tridiagonal_format_that_there_is_not() -> None:
    x = placeholder(3, 4)
    text = message_of(ValueError, lambda: pb.linalg.tridiagonal_solve(x, x, "rows"))
    assert text.startswith("tridiagonal_solve: diagonals_format must be one of compact, sequence, matrix, not 'rows'")


def test_banded_solve_of_an_unknown_number_of_diagonals() -> None:
    x = placeholder(None, 4)
    text = message_of(ValueError, lambda: pb.linalg.banded_triangular_solve(x, placeholder(4, 1)))
    assert text.startswith("banded_triangular_solve: the number of diagonals of float32[?,4] must be known")


@pytest.mark.parametrize("decompose", [pb.linalg.inv, pb.linalg.cholesky, lambda x: pb.linalg.solve(x, x)])
def test_numpy_refuses_what_xla_makes_not_finite(decompose: Callable[[Any], pb.Tensor]) -> None:
    x = placeholder(2, 2)
    y, feeds = decompose(x), {x: [[-1.0, 2.0], [2.0, -4.0]]}
    with pytest.raises(pb.errors.InvalidArgumentError, match="failed on float32"):
        run(y, feeds=feeds)
    assert not np.isfinite(run(y, "xla", feeds)).all()


def test_static_shapes() -> None:
    x = placeholder(5, 4, 3)
    assert [y.shape.as_list() for y in pb.linalg.qr(x)] == [[5, 4, 3], [5, 3, 3]]
    assert [y.shape.as_list() for y in pb.linalg.qr(x, full_matrices=True)] == [[5, 4, 4], [5, 4, 3]]
    assert [y.shape.as_list() for y in pb.linalg.svd(x)] == [[5, 3], [5, 4, 3], [5, 3, 3]]
    assert [y.shape.as_list() for y in pb.linalg.svd(x, full_matrices=True)] == [[5, 3], [5, 4, 4], [5, 3, 3]]
    assert pb.linalg.pinv(x).shape.as_list() == [5, 3, 4]
    assert pb.linalg.lstsq(x, placeholder(5, 4, 2)).shape.as_list() == [5, 3, 2]


def test_complex_eigenvalues_are_of_the_dtype_of_the_matrices_and_singular_values_real() -> None:
    x = placeholder(2, 2, dtype=pb.complex64)
    assert pb.linalg.eigh(x)[0].dtype == pb.complex64
    assert pb.linalg.svd(x)[0].dtype == pb.float32


def test_the_gradient_of_solve_solves_once() -> None:
    a, b = placeholder(3, 3), placeholder(3, 1)
    x = pb.linalg.solve(a, b)
    before = len(a.graph.operations)
    pb.gradients(x, [a, b], grad_ys=[placeholder(3, 1)])
    types = [op.type for op in a.graph.operations[before:]]
    assert types.count("MatrixSolve") == 1
    assert "MatrixInverse" not in types


def test_gradients_are_lean() -> None:
    x = placeholder(3, 3)
    assert gradient_types(pb.linalg.slogdet(x)[1], x) == ["ExpandDims", "MatrixInverse", "Mul"]
    assert sorted(gradient_types(pb.linalg.inv(x), x)) == ["BatchMatMulV2", "BatchMatMulV2", "Neg"]
    types = gradient_types(pb.linalg.svd(x, compute_uv=False), x)
    assert sorted(types) == ["BatchMatMulV2", "ExpandDims", "Mul", "Svd"]


def test_the_derivative_of_det_at_a_singular_matrix_is_that_of_its_cofactors() -> None:
    x = pb.constant([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]], pb.float64)
    (dx,) = pb.gradients(pb.linalg.det(x), x)
    for engine in ("numpy", "xla"):
        np.testing.assert_allclose(run(dx, engine), [[-2, -2, 2], [1, 1, -1], [0, 0, 0]], atol=1e-6)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_equal_eigenvalues_and_singular_values_give_finite_derivatives(engine: str) -> None:
    x = pb.constant(np.eye(3))
    e, v = pb.linalg.eigh(x)
    s, left, right = pb.linalg.svd(x)
    ys = [pb.reduce_sum(y * y * y) for y in (e, v, s, left, right)]
    assert all(np.isfinite(value).all() for value in run(pb.gradients(ys, x), engine))


def test_the_derivative_of_the_sum_of_equal_eigenvalues_is_that_of_the_trace() -> None:
    x = pb.constant(np.eye(3))
    np.testing.assert_allclose(run(pb.gradients(pb.reduce_sum(pb.linalg.eigvalsh(x)), x)[0]), np.eye(3), atol=1e-12)


def test_the_logarithm_of_the_determinant_of_a_singular_matrix_is_minus_infinity() -> None:
    sign, logarithm = pb.linalg.slogdet(pb.constant(np.zeros((2, 2))))
    for engine in ("numpy", "xla"):
        assert run([sign, logarithm], engine) == [0.0, -np.inf]


def test_a_third_derivative_of_the_exponential() -> None:
    x = pb.constant([[0.3]], pb.float64)
    y = pb.linalg.expm(x * 2.0)
    for _ in range(3):
        (y,) = pb.gradients(y, x)
    np.testing.assert_allclose(run(y), [[8 * np.exp(0.6)]], rtol=1e-10)


def test_independent_calls_of_lapack_on_xla_do_not_wait_for_each_other_for_ever() -> None:
    x = placeholder(64, 32, 32)
    ys = [pb.linalg.solve(x, x), pb.linalg.expm(x), *pb.gradients(pb.linalg.expm(x), x), pb.linalg.eigvalsh(x)]
    values = run(ys, "xla", {x: np.tile(np.eye(32), (64, 1, 1))})
    np.testing.assert_allclose(values[1][0], np.e * np.eye(32), rtol=1e-5)


def test_eigenvalues_of_tridiagonal_matrices_are_selected_by_number_or_by_value() -> None:
    main, below = [2.0, 2.0, 2.0], [1.0, 1.0]
    by_number = pb.linalg.eigh_tridiagonal(main, below, select="i", select_range=(0, 1))
    by_value = pb.linalg.eigh_tridiagonal(main, below, select="v", select_range=(2.5, 4.0))
    lowest, highest = pb.Session(engine="numpy").run([by_number, by_value])
    np.testing.assert_allclose(lowest, [2 - np.sqrt(2), 2], rtol=1e-6)
    np.testing.assert_allclose(highest, [2 + np.sqrt(2)], rtol=1e-6)


def test_eigh_tridiagonal_says_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="select 'a' takes no select_range, 'i' and 'v' take two numbers") as info:
        pb.linalg.eigh_tridiagonal([1.0, 2.0], [1.0], select="x")
    assert str(info.value) == (
        "eigh_tridiagonal: select 'a' takes no select_range, 'i' and 'v' take two numbers, not 'x' with None"
    )
    with pytest.raises(ValueError, match="vectors of n and of n - 1 elements") as info:
        pb.linalg.eigh_tridiagonal([[1.0, 2.0]], [1.0])
    assert str(info.value) == (
        "eigh_tridiagonal: vectors of n and of n - 1 elements are needed, not float32[1,2] 'Const:0' and "
        "float32[1] 'Const_1:0'"
    )


def test_a_constant_matrix_is_decomposed_anew_in_each_compilation() -> None:
    x = placeholder(3, None, dtype=pb.float64)
    matrix = pb.constant(np.diag([1.0, 2.0, 4.0]))
    y = pb.linalg.solve(matrix, x) + pb.linalg.det(matrix) + pb.linalg.inv(matrix) @ x
    with pb.Session(engine="xla") as session:
        for columns in (1, 2, 3):
            np.testing.assert_allclose(session.run(y, {x: np.ones((3, columns))})[:, 0], [10.0, 9.0, 8.5])


@pytest.mark.parametrize("f", [pb.linalg.sqrtm, pb.linalg.logm])
def test_matrices_without_root(f: Callable[[Any], pb.Tensor]) -> None:
    x = pb.placeholder(pb.float64, [2, 2])
    y = f(x)
    for without in (np.diag([1.0, 0.0]), np.diag([4.0, -1.0])):
        with pytest.raises(pb.errors.InvalidArgumentError, match="a matrix has no square root: an eigenvalue is 0 or"):
            pb.Session(engine="numpy").run(y, {x: without})
        assert np.isnan(pb.Session(engine="xla").run(y, {x: without})).all()


@pytest.mark.parametrize(
    "function",
    [
        lambda a: pb.linalg.svd(a, compute_uv=False),
        lambda a: pb.linalg.svd(a)[1],
        pb.linalg.pinv,
        lambda a: pb.gradients(pb.linalg.det(a), a)[0],
        lambda a: pb.linalg.triangular_solve(a, pb.ones_like(a)),
    ],
)
def test_a_matrix_that_is_not_finite_is_nan_and_leaves_the_others_alone(
    function: Callable[[pb.Tensor], pb.Tensor],
) -> None:
    good = np.array([[2.0, 0.0], [1.0, 3.0]])
    a = pb.placeholder(pb.float64, [2, 2, 2])
    session = pb.Session(engine="numpy")
    alone, beside = [session.run(function(a), {a: [good, other]}) for other in (good, np.full([2, 2], np.nan))]
    np.testing.assert_array_equal(beside[0], alone[0])
    assert np.isnan(beside[1]).any()
