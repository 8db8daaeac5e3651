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
A, U, V = COMPLEX[:2, :2], RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))
TOEPLITZ = np.array([[1.0, -3.0, 5.0], [2.0, 1.0, -3.0], [4.0, 2.0, 1.0]], np.float32)
TRIDIAGONAL = np.stack([np.diag(f[1]) + np.diag(f[0, :-1], 1) + np.diag(f[2, 1:], -1) for f in FULL])
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
    "kronecker": (
        lambda: L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(A), L.LinearOperatorFullMatrix(COMPLEX)]),
        np.kron(A, COMPLEX),
    ),
    "kroneckers": (
        lambda: L.LinearOperatorKronecker(
            [L.LinearOperatorDiag(DIAG), L.LinearOperatorFullMatrix(A.real), L.LinearOperatorFullMatrix(FULL)]
        ),
        np.stack([np.kron(np.kron(np.diag(d), A.real), f) for d, f in zip(DIAG, FULL, strict=True)]),
    ),
    "blocks": (
        lambda: L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(A.real), L.LinearOperatorDiag(DIAG)]),
        np.stack([np.block([[A.real, np.zeros([2, 3])], [np.zeros([3, 2]), np.diag(d)]]) for d in DIAG]),
    ),
    "update": (
        lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(DIAG), U, [0.5, -2.0], V),
        DIAG[..., None] * np.eye(3) + U * [0.5, -2.0] @ V.T,
    ),
    "complex_update": (
        lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorFullMatrix(COMPLEX), U + 1j * V),
        COMPLEX + (U + 1j * V) @ (U + 1j * V).conj().T,
    ),
    "reflection": (
        lambda: L.LinearOperatorHouseholder(DIAG),
        np.stack([np.eye(3) - 2 * np.outer(d, d) / (d @ d) for d in DIAG]),
    ),
    "toeplitz": (lambda: L.LinearOperatorToeplitz([1.0, 2.0, 4.0], [1.0, -3.0, 5.0]), TOEPLITZ),
    "tridiagonal": (lambda: L.LinearOperatorTridiag(FULL), TRIDIAGONAL),
    "tridiagonal_sequence": (
        lambda: L.LinearOperatorTridiag([FULL[:, 0], FULL[:, 1], FULL[:, 2]], "sequence"),
        TRIDIAGONAL,
    ),
    "tridiagonal_matrix": (
        lambda: L.LinearOperatorTridiag(FULL, "matrix"),
        FULL * (abs(np.subtract.outer(range(3), range(3))) < 2),
    ),
    "permutation": (lambda: L.LinearOperatorPermutation([2, 0, 1], tf.float64), np.eye(3)[[2, 0, 1]]),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_does_what_its_matrix_does(name: str) -> None:
    make, matrix = OPERATORS[name]
    operator = make()
    x = RNG.normal(size=(matrix.shape[-1], 2)).astype(np.float32 if name == "scaled" else matrix.dtype)
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


def test_zeros_are_an_operator() -> None:
    operator = L.LinearOperatorZeros(2, batch_shape=[3])
    got = tf.Session(engine="numpy").run([operator.to_dense(), operator.matvec([1.0, 2.0]), operator.determinant()])
    assert [(x.shape, x.any()) for x in got] == [((3, 2, 2), False), ((3, 2), False), ((3,), False)]
    with pytest.raises(NotImplementedError, match=r"^LinearOperatorZeros: only square ones are there, not 2 x 3$"):
        L.LinearOperatorZeros(2, 3)


@pytest.mark.parametrize("kind", ["LinearOperatorKronecker", "LinearOperatorBlockDiag"])
def test_operators_of_operators_are_made_of_square_ones(kind: str) -> None:
    with pytest.raises(ValueError, match=rf"^{kind}: operators must be square, of known lengths, but one is \(2, 3\)$"):
        getattr(L, kind)([L.LinearOperatorFullMatrix(np.ones([2, 3]))])
    with pytest.raises(ValueError, match=rf"^{kind}: give at least one operator$"):
        getattr(L, kind)([])


def test_what_is_no_matrix_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^LinearOperatorFullMatrix: matrix must have at least 2 axes, not float32\[2\]$"
    ):
        L.LinearOperatorFullMatrix([1.0, 2.0])
    with pytest.raises(ValueError, match=r"^LinearOperatorComposition: give at least one operator$"):
        L.LinearOperatorComposition([])
