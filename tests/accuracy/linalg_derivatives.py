"""Errors of derivatives of linear algebra: along a direction, beside differences of exact values with 60 digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np

import pullback as pb

from .linalg import Array, la, matrices_of

DIGITS = 60
CONDITIONS = (1e1, 1e4, 1e8, 1e12)
"""At 1 all singular values are equal, and have no derivatives."""


class Derivative(NamedTuple):
    """What is computed of matrices, and the same by mpmath."""

    build: Callable[..., Any]
    exact: Callable[..., Any]
    inputs: str = "a"
    """Of the matrices of `matrices_of`, a letter each; p and h are moved to matrices that are symmetric too."""


def pseudo_inverse(t: Any) -> Any:
    return (t.T * t) ** -1 * t.T


def of_eigenvalues(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function of symmetric matrices that `function` is of their eigenvalues."""

    def of_matrix(h: Any) -> Any:
        e, v = mp.eigsy(h)
        return v * mp.diag([function(x) for x in e]) * v.T

    return of_matrix


def lower(s: Any) -> Any:
    return mp.matrix([[s[i, j] if i >= j else 0 for j in range(s.cols)] for i in range(s.rows)])


DERIVATIVES = {
    "triangular_solve": Derivative(la.triangular_solve, lambda s, b: lower(s) ** -1 * b, "sb"),
    "solve": Derivative(la.solve, lambda a, b: a**-1 * b, "ab"),
    "inv": Derivative(la.inv, lambda a: a**-1),
    "lu_solve": Derivative(lambda a, b: la.lu_solve(*la.lu(a), b), lambda a, b: a**-1 * b, "ab"),
    "cholesky": Derivative(la.cholesky, mp.cholesky, "p"),
    "cholesky_solve": Derivative(lambda p, b: la.cholesky_solve(la.cholesky(p), b), lambda p, b: p**-1 * b, "pb"),
    "svd, singular values": Derivative(lambda a: la.svd(a, compute_uv=False), lambda a: mp.svd_r(a, compute_uv=False)),
    "eigvalsh": Derivative(la.eigvalsh, lambda h: mp.eigsy(h, eigvals_only=True), "h"),
    "det": Derivative(la.det, mp.det, "p"),
    "logdet": Derivative(la.logdet, lambda p: mp.log(mp.det(p)), "p"),
    "expm": Derivative(la.expm, of_eigenvalues(mp.exp), "h"),
    "sqrtm": Derivative(la.sqrtm, of_eigenvalues(mp.sqrt), "p"),
    "logm": Derivative(la.logm, of_eigenvalues(mp.log), "p"),
    "pinv": Derivative(lambda t: la.pinv(t, rcond=1e-15), pseudo_inverse, "t"),
    "lstsq": Derivative(lambda t, u: la.lstsq(t, u, fast=False), lambda t, u: pseudo_inverse(t) * u, "tu"),
    "norm of a matrix": Derivative(lambda a: la.norm(a, 2, axis=(-2, -1)), lambda a: mp.svd_r(a, compute_uv=False)[0]),
}


def missed(
    n: int, dtype: str, engines: Sequence[str], conditions: Sequence[float]
) -> dict[str, dict[str, list[float]]]:
    """For each engine and problem the error at each condition number, in roundings times that number.

    Condition numbers are such as the dtype can tell from those that `lstsq` takes for infinite.
    """
    eps = float(np.finfo(dtype).eps)
    reached = [min(condition, 1e-3 / eps) for condition in conditions]
    given = [{**matrices_of(n, dtype, c), "u": matrices_of(2 * n, dtype, 1.0)["b"]} for c in reached]
    found: dict[str, dict[str, list[float]]] = {engine: {name: [] for name in DERIVATIVES} for engine in engines}
    for name, problem in DERIVATIVES.items():
        cases = [[matrices[key] for key in problem.inputs] for matrices in given]
        directions = [_direction(key, x) for key, x in zip(problem.inputs, cases[0], strict=True)]
        exact = [_exact(problem, arrays, directions) for arrays in cases]
        for engine in engines:
            gradients = _gradients(problem, cases, exact[0][0], engine)
            for dxs, (_, slope), condition in zip(gradients, exact, reached, strict=True):
                pairs = [(dx.astype(np.float64), v) for dx, v in zip(dxs, directions, strict=True)]
                scale = sum(np.linalg.norm(dx) * np.linalg.norm(v) for dx, v in pairs)
                error = abs(float(mp.mpf(float(sum(np.vdot(dx, v) for dx, v in pairs))) - slope))
                found[engine][name].append(error / scale / (eps * condition))
    return found


def _direction(key: str, x: Array) -> Array:
    v = np.random.default_rng(len(x)).normal(size=x.shape)
    return (v + v.T) / 2 if key in "ph" else v


def _exact(problem: Derivative, arrays: Sequence[Array], directions: Sequence[Array]) -> tuple[Array, Any]:
    """Weights for the results, and the derivative of their weighted sum along the directions."""
    with mp.workdps(DIGITS):
        step = mp.mpf(10) ** (-DIGITS // 3)
        pairs = [(mp.matrix(x.tolist()), step * mp.matrix(v.tolist())) for x, v in zip(arrays, directions, strict=True)]
        ends = [problem.exact(*[x + side * v for x, v in pairs]) for side in (1, -1)]
        ends = [end if isinstance(end, mp.matrix) else mp.matrix([end]) for end in ends]
        weights = np.random.default_rng(1).normal(size=(ends[0].rows, ends[0].cols)).astype(arrays[0].dtype)
        slopes = (ends[0] - ends[1]) / (2 * step)
        return weights, sum(mp.mpf(w) * mp.re(d) for w, d in zip(weights.ravel().tolist(), list(slopes), strict=True))


def _gradients(problem: Derivative, cases: Sequence[Sequence[Array]], weights: Array, engine: str) -> list[list[Array]]:
    """The gradients of the weighted sum, for each of the cases."""
    with pb.Graph().as_default() as graph:
        xs = [pb.placeholder(x.dtype, x.shape) for x in cases[0]]
        y = problem.build(*xs)
        dxs = pb.gradients(y, xs, grad_ys=np.reshape(weights, y.shape.as_list()))
    with pb.Session(graph=graph, engine=engine) as session:
        return [session.run(dxs, dict(zip(xs, arrays, strict=True))) for arrays in cases]
