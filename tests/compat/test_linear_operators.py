"""`tf.linalg.LinearOperator...`: what each does is what its matrix does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

L = tf.linalg
RNG = np.random.default_rng(5)
FULL = RNG.normal(size=(2, 3, 3))
DIAG = RNG.normal(size=(2, 3))
COMPLEX = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
OPERATORS: dict[str, tuple[Any, Any]] = {
    "full": (lambda: L.LinearOperatorFullMatrix(FULL), FULL),
    "complex": (lambda: L.LinearOperatorFullMatrix(COMPLEX), COMPLEX),
    "lower": (lambda: L.LinearOperatorLowerTriangular(FULL), np.tril(FULL)),
    "diag": (lambda: L.LinearOperatorDiag(DIAG), DIAG[..., None] * np.eye(3)),
    "complex_diag": (lambda: L.LinearOperatorDiag(COMPLEX[0]), np.diag(COMPLEX[0])),
    "scaled": (
        lambda: L.LinearOperatorScaledIdentity(3, [2.0, -3.0]),
        np.array([2.0, -3.0])[:, None, None] * np.eye(3),
    ),
    "identity": (lambda: L.LinearOperatorIdentity(3, dtype=tf.float64), np.eye(3)),
    "identities": (lambda: L.LinearOperatorIdentity(3, [2], tf.float64), np.stack([np.eye(3)] * 2)),
    "product": (
        lambda: L.LinearOperatorFullMatrix(FULL).matmul(L.LinearOperatorDiag(DIAG)),
        FULL @ (DIAG[..., None] * np.eye(3)),
    ),
    "adjoint": (lambda: L.LinearOperatorFullMatrix(COMPLEX).H, COMPLEX.conj().T),
    "inverse": (lambda: L.LinearOperatorLowerTriangular(FULL).inverse(), np.linalg.inv(np.tril(FULL))),
    "quotient": (
        lambda: L.LinearOperatorDiag(DIAG).solve(L.LinearOperatorFullMatrix(FULL)),
        FULL / DIAG[..., None],
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_does_what_its_matrix_does(name: str) -> None:
    make, matrix = OPERATORS[name]
    operator = make()
    x = RNG.normal(size=(3, 2)).astype(np.float32 if name == "scaled" else matrix.dtype)
    adjoint = np.swapaxes(matrix, -1, -2).conj()
    expected = [
        (operator.to_dense(), matrix),
        (operator.matmul(x), matrix @ x),
        (operator.matmul(x, adjoint=True), adjoint @ x),
        (operator.matmul(x.T, adjoint_arg=True), matrix @ x.conj()),
        (operator.matvec(x[:, 0]), matrix @ x[:, 0]),
        (operator.solve(matrix @ x), np.broadcast_to(x, (matrix @ x).shape)),
        (operator.solve(adjoint @ x, adjoint=True), np.broadcast_to(x, (matrix @ x).shape)),
        (operator.solvevec(matrix @ x[:, 0]), np.broadcast_to(x[:, 0], (matrix @ x[:, 0]).shape)),
        (operator.determinant(), np.linalg.det(matrix)),
        (operator.log_abs_determinant(), np.linalg.slogdet(matrix)[1]),
        (operator.trace(), np.trace(matrix, axis1=-2, axis2=-1)),
        (operator.add_to_tensor(matrix), 2 * matrix),
        (operator.shape_tensor(), matrix.shape),
    ]
    got = tf.Session(engine="numpy").run([tensor for tensor, _ in expected])
    for value, (_, wanted) in zip(got, expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)
    assert operator.shape.as_list() == list(matrix.shape)


def test_derivatives_reach_what_an_operator_is_made_of() -> None:
    diag = tf.constant(DIAG)
    operator = L.LinearOperatorDiag(diag)
    loss = tf.reduce_sum(operator.solvevec(np.ones(3))) + tf.reduce_sum(operator.log_abs_determinant())
    got = tf.Session(engine="numpy").run(tf.gradients(loss, diag)[0])
    np.testing.assert_allclose(got, -1 / DIAG**2 + 1 / DIAG)


def test_lengths_may_be_those_of_a_run() -> None:
    n = tf.placeholder(tf.int32, [])
    mask = L.LinearOperatorLowerTriangular(tf.ones([n, n])).to_dense()
    scaled = L.LinearOperatorScaledIdentity(n, 2.0)
    session = tf.Session(engine="numpy")
    got = session.run([mask, scaled.to_dense(), scaled.determinant(), scaled.range_dimension_tensor()], {n: 3})
    np.testing.assert_array_equal(got[0], np.tri(3))
    np.testing.assert_array_equal(got[1], 2 * np.eye(3))
    assert got[2:] == [8.0, 3]
    assert scaled.range_dimension == tf.Dimension(None) or scaled.shape.as_list() == [None, None]


def test_the_triangle_of_a_positive_matrix() -> None:
    operator = L.LinearOperatorFullMatrix(FULL @ np.swapaxes(FULL, -1, -2), is_positive_definite=True)
    lower = operator.cholesky()
    got = tf.Session(engine="numpy").run(lower.matmul(lower.adjoint()).to_dense())
    np.testing.assert_allclose(got, FULL @ np.swapaxes(FULL, -1, -2))
    assert (operator.is_positive_definite, operator.is_square, operator.name) == (
        True,
        None,
        "LinearOperatorFullMatrix",
    )


def test_what_is_no_matrix_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^LinearOperatorFullMatrix: matrix must have at least 2 axes, not float32\[2\]$"
    ):
        L.LinearOperatorFullMatrix([1.0, 2.0])
    with pytest.raises(ValueError, match=r"^LinearOperatorComposition: give at least one operator$"):
        L.LinearOperatorComposition([])
