"""Backward errors of linear algebra: by how much a result misses what defines it, at any condition number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

Array = np.ndarray[Any, Any]
la = pb.linalg


class Problem(NamedTuple):
    """What is computed of matrices, and by how much of its scale the result misses what defines it."""

    build: Callable[..., Any]
    miss: Callable[..., tuple[Any, Any]]
    """From the inputs and the results, in double precision: a difference and what it is compared with, by element."""
    inputs: str = "a"
    """Of the matrices of `matrices_of`, a letter each."""
    factor: float = 1.0
    """Rounding errors per row that are allowed."""


def matrices_of(n: int, dtype: Any, condition: float) -> dict[str, Array]:
    """Matrices by letter: a any, h Hermitian, p positive definite of determinant 1, t tall, all of that condition
    number, or what the dtype can tell from singular ones; s near 1, b columns, d diagonals.
    """
    random = np.random.default_rng(n)
    condition = min(condition, 0.01 / float(np.finfo(dtype).eps))

    def normal(*shape: int) -> Array:
        x = random.normal(size=shape)
        return x + 1j * random.normal(size=shape) if np.dtype(dtype).kind == "c" else x

    u, v, tall = [np.linalg.qr(normal(m, n))[0] for m in (n, n, 2 * n)]
    sizes = np.geomspace(condition**0.5, condition**-0.5, n) if n > 1 else np.ones(1)
    p = (u * sizes) @ adjoint(u)
    h = (u * (sizes / sizes[0] * np.where(np.arange(n) % 2, -1, 1))) @ adjoint(u)
    found = {
        "a": (u * sizes) @ adjoint(v),
        "h": (h + adjoint(h)) / 2,
        "p": (p + adjoint(p)) / 2,
        "t": (tall * sizes) @ adjoint(v),
        "s": np.eye(n) + normal(n, n) / 2,
        "b": normal(n, 3),
        "d": np.array([[2.0], [1.0], [1.0]]) + normal(3, n) / 2,
    }
    return {key: x.astype(dtype) for key, x in found.items()}


def adjoint(x: Array) -> Array:
    return np.conj(np.swapaxes(x, -1, -2))


def by_element(a: Array, x: Array, b: Array) -> tuple[Array, Array]:
    """What `a @ x` misses of `b`, beside the sum of the sizes of what was added: the bound for substitution."""
    return a @ x - b, np.abs(a) @ np.abs(x) + np.abs(b)


def by_norm(difference: Array, *factors: Array) -> tuple[Any, Any]:
    """The norm of a difference, beside the product of the norms of `factors`."""
    return np.linalg.norm(difference), np.prod([np.linalg.norm(x) for x in factors])


def solved(a: Array, b: Array, x: Array) -> tuple[Any, Any]:
    return np.linalg.norm(a @ x - b), np.linalg.norm(a) * np.linalg.norm(x) + np.linalg.norm(b)


def triangular(lower: bool, adjoint_: bool) -> Problem:
    def miss(a: Array, b: Array, x: Array) -> tuple[Array, Array]:
        triangle = np.tril(a) if lower else np.triu(a)
        return by_element(adjoint(triangle) if adjoint_ else triangle, x, b)

    return Problem(lambda a, b: la.triangular_solve(a, b, lower, adjoint_), miss, "sb")


def tridiagonal(d: Array) -> Array:
    return np.diag(d[0, :-1], 1) + np.diag(d[1]) + np.diag(d[2, 1:], -1)


def banded(d: Array) -> Array:
    total: Array = sum(np.eye(d.shape[1], k=-k) * d[k][:, None] for k in range(3))
    return total


def lu_product(both: Array, order: Array) -> Array:
    x = np.empty_like(both)
    x[order] = (np.tril(both, -1) + np.eye(len(both))) @ np.triu(both)
    return x


def as_complex(x: Any) -> Any:
    return x if x.dtype in (pb.complex64, pb.complex128) else pb.complex(x, pb.zeros_like(x))


PI = np.arctan2(np.longdouble(0), np.longdouble(-1))


def waves(n: int, sign: int) -> Array:
    """The matrix of the discrete Fourier transform, from exact remainders, in extended precision."""
    turns = np.outer(np.arange(n), np.arange(n)) % n
    return np.exp(sign * 2j * PI * turns.astype(np.longdouble) / n)


PROBLEMS = {
    "triangular_solve of a lower triangle": triangular(True, False),
    "triangular_solve of an upper triangle": triangular(False, False),
    "triangular_solve of a lower triangle turned": triangular(True, True),
    "triangular_solve of an upper triangle turned": triangular(False, True),
    "banded_triangular_solve": Problem(
        lambda d, b: la.banded_triangular_solve(d, b),
        lambda d, b, x: by_element(banded(d), x, b),
        "db",
    ),
    "tridiagonal_solve": Problem(la.tridiagonal_solve, lambda d, b, x: solved(tridiagonal(d), b, x), "db"),
    "tridiagonal_matmul": Problem(
        la.tridiagonal_matmul, lambda d, b, y: (y - tridiagonal(d) @ b, np.abs(tridiagonal(d)) @ np.abs(b)), "db"
    ),
    "solve": Problem(la.solve, solved, "ab"),
    "solve of an adjoint": Problem(
        lambda a, b: la.solve(a, b, adjoint=True), lambda a, b, x: solved(adjoint(a), b, x), "ab"
    ),
    "inv": Problem(la.inv, lambda a, x: by_norm(a @ x - np.eye(len(a)), a, x)),
    "lu": Problem(la.lu, lambda a, both, order: by_norm(lu_product(both, order) - a, a), factor=10),
    "lu_solve": Problem(lambda a, b: la.lu_solve(*la.lu(a), b), solved, "ab", factor=10),
    "lu_matrix_inverse": Problem(
        lambda a: la.lu_matrix_inverse(*la.lu(a)), lambda a, x: by_norm(a @ x - np.eye(len(a)), a, x), factor=10
    ),
    "cholesky": Problem(la.cholesky, lambda p, y: by_norm(y @ adjoint(y) - p, p), "p"),
    "cholesky_solve": Problem(lambda p, b: la.cholesky_solve(la.cholesky(p), b), solved, "pb"),
    "qr": Problem(la.qr, lambda a, q, r: by_norm(q @ r - a, a)),
    "q of qr": Problem(la.qr, lambda t, q, r: by_norm(adjoint(q) @ q - np.eye(len(r)), np.eye(len(r))), "t"),
    "svd": Problem(la.svd, lambda a, s, u, v: by_norm((u * s) @ adjoint(v) - a, a)),
    "vectors of svd": Problem(la.svd, lambda t, s, u, v: by_norm(adjoint(u) @ u - np.eye(len(s)), np.eye(len(s))), "t"),
    "singular values": Problem(
        lambda a: la.svd(a, compute_uv=False),
        lambda a, s: (s - np.linalg.svd(a, compute_uv=False), np.linalg.norm(a, 2)),
    ),
    "eigh": Problem(la.eigh, lambda h, e, v: by_norm(h @ v - v * e, h), "h"),
    "eigvalsh": Problem(la.eigvalsh, lambda h, e: (e - np.linalg.eigvalsh(h), np.linalg.norm(h, 2)), "h"),
    "eig": Problem(la.eig, lambda a, e, v: by_norm(a @ v - v * e, a)),
    "slogdet": Problem(
        la.slogdet, lambda p, sign, size: (size - np.linalg.slogdet(p)[1], len(p) * np.linalg.cond(p)), "p"
    ),
    "det": Problem(
        la.det,
        lambda p, y: (y - np.linalg.det(p), len(p) * np.linalg.cond(p) * abs(np.linalg.det(p))),
        "p",
        factor=10,
    ),
    "expm": Problem(lambda h: la.expm(h), lambda h, y: by_norm(y - expm(h), expm(h)), "h", factor=10),
    "logm": Problem(la.logm, lambda p, y: by_norm(expm((y + adjoint(y)) / 2) - p, p), "p", factor=10),
    "sqrtm": Problem(la.sqrtm, lambda p, y: by_norm(y @ y - p, p), "p", factor=10),
    "pinv": Problem(lambda t: la.pinv(t, rcond=1e-15), lambda t, x: by_norm(x @ t - np.eye(t.shape[1]), t, x), "t"),
    "lstsq": Problem(lambda p, b: la.lstsq(p, b, fast=False), solved, "pb", factor=10),
    "norm of a matrix": Problem(
        lambda a: la.norm(a, 2, axis=(-2, -1)), lambda a, y: (y - np.linalg.norm(a, 2), np.linalg.norm(a, 2))
    ),
    "matmul": Problem(la.matmul, lambda a, b, y: (y - a @ b, np.abs(a) @ np.abs(b)), "ab"),
    "trace": Problem(la.trace, lambda a, y: (y - np.trace(a), np.abs(np.diag(a)).sum())),
    "logdet": Problem(
        la.logdet, lambda p, y: (y - np.linalg.slogdet(p)[1], len(p) * np.linalg.cond(p)), "p", factor=10
    ),
    "norm of vectors": Problem(
        lambda a: la.norm(a, axis=-1), lambda a, y: (y - np.linalg.norm(a, axis=-1), np.linalg.norm(a, axis=-1))
    ),
    "fft": Problem(
        lambda a: pb.signal.fft(as_complex(a)), lambda a, y: by_norm(y - a @ waves(len(a), -1), a, waves(len(a), 1)[0])
    ),
    "ifft": Problem(
        lambda a: pb.signal.ifft(as_complex(a)) * float(a.shape.size(-1)),
        lambda a, y: by_norm(y - a @ waves(len(a), 1), a, waves(len(a), 1)[0]),
    ),
    "irfft of rfft": Problem(
        lambda a: pb.signal.irfft(pb.signal.rfft(pb.math.real(a)), [a.shape.size(-1)]),
        lambda a, y: by_norm(y - a.real, a),
    ),
}


def expm(h: Array) -> Array:
    """The exponential of a Hermitian matrix."""
    e, v = np.linalg.eigh(h)
    return (v * np.exp(e)) @ adjoint(v)


def missed(n: int, dtype: str, engine: str, conditions: Sequence[float]) -> dict[str, dict[float, float]]:
    """By how many roundings each problem misses, for matrices of n rows of each condition number."""
    found: dict[str, dict[float, float]] = {name: {} for name in PROBLEMS}
    with pb.Graph().as_default() as graph:
        first = matrices_of(n, dtype, 1.0)
        xs = {key: pb.placeholder(dtype, x.shape) for key, x in first.items()}
        ys = {name: p.build(*[xs[key] for key in p.inputs]) for name, p in PROBLEMS.items()}
    with pb.Session(graph=graph, engine=engine) as session:
        for condition in conditions:
            matrices = matrices_of(n, dtype, condition)
            values = session.run(ys, {xs[key]: x for key, x in matrices.items()})
            for name, p in PROBLEMS.items():
                found[name][condition] = misses(p, matrices, values[name], float(np.finfo(dtype).eps))
    return found


def misses(problem: Problem, matrices: dict[str, Array], values: Any, eps: float) -> float:
    """By how many roundings the values of a problem miss."""
    results = values if isinstance(values, tuple) else (values,)
    arrays = [*[matrices[key] for key in problem.inputs], *map(np.asarray, results)]
    wide = [x if x.dtype.kind == "i" else x.astype(np.result_type(x, np.float64)) for x in arrays]
    difference, scale = problem.miss(*wide)
    return float(np.max(np.abs(difference) / np.abs(scale)) / eps)
