"""Solvers and decompositions on XLA, with those of `lax.linalg`: batched, of one triangle where only that is read."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..primitives.eigen import SelfAdjointEig
from ..primitives.inverses import MatrixSolve, PositiveSolve
from ..primitives.lu import Lu
from ..primitives.triangular import Cholesky, MatrixTriangularSolve
from ..primitives.tridiagonal import TridiagonalSolve
from .xla_registry import xla_kernel


@xla_kernel(MatrixTriangularSolve)
def _triangular_solve(p: MatrixTriangularSolve, a: Any, b: Any) -> Any:
    a, b = _with_one_stack(a, b)
    return _substitute(a, b, p.lower, p.adjoint)


@xla_kernel(Cholesky)
def _cholesky(p: Cholesky, x: Any) -> Any:
    del p
    return lax.linalg.cholesky(x, symmetrize_input=False)


@xla_kernel(PositiveSolve)
def _positive_solve(p: PositiveSolve, a: Any, b: Any) -> Any:
    del p
    a, b = _with_one_stack(a, b)
    y = lax.linalg.cholesky(a, symmetrize_input=False)
    return _substitute(y, _substitute(y, b, True, False), True, True)


@xla_kernel(MatrixSolve)
def _solve(p: MatrixSolve, a: Any, b: Any) -> Any:
    """By the decomposition that the derivative uses too; XLA makes it once."""
    a, b = _with_one_stack(a, b)
    lu, _, order = lax.linalg.lu(a)
    if not p.adjoint:
        moved = jnp.take_along_axis(b, order[..., None], axis=-2)
        return _substitute(lu, _substitute(lu, moved, True, False, unit=True), False, False)
    x = _substitute(lu, _substitute(lu, b, False, True), True, True, unit=True)
    return jnp.take_along_axis(x, jnp.argsort(order, axis=-1)[..., None], axis=-2)


@xla_kernel(SelfAdjointEig)
def _eigh(p: SelfAdjointEig, x: Any) -> Any:
    if not p.compute_v:
        return jnp.linalg.eigvalsh(x, symmetrize_input=False).astype(x.dtype)
    v, e = lax.linalg.eigh(x, symmetrize_input=False)
    return e.astype(x.dtype), v


@xla_kernel(Lu)
def _lu(p: Lu, x: Any) -> Any:
    del p
    both, _, order = lax.linalg.lu(x)
    return both, order


@xla_kernel(TridiagonalSolve)
def _tridiagonal_solve(p: TridiagonalSolve, d: Any, b: Any) -> Any:
    del p
    d, b = _with_one_stack(d, b)
    n = d.shape[-1]
    if not b.size:
        return b
    if n == 1:
        return b / d[..., 1, :, None]
    above = d[..., 0, :] * (np.arange(n) < n - 1)
    below = d[..., 2, :] * (np.arange(n) > 0)
    return lax.linalg.tridiagonal_solve(below, d[..., 1, :], above, b)


def _with_one_stack(a: Any, b: Any) -> tuple[Any, Any]:
    """The arrays with their leading axes broadcast."""
    stack = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return jnp.broadcast_to(a, (*stack, *a.shape[-2:])), jnp.broadcast_to(b, (*stack, *b.shape[-2:]))


def _substitute(a: Any, b: Any, lower: bool, adjoint: bool, unit: bool = False) -> Any:
    return lax.linalg.triangular_solve(
        jnp.asarray(a),
        jnp.asarray(b),
        left_side=True,
        lower=lower,
        transpose_a=adjoint,
        conjugate_a=adjoint and a.dtype.kind == "c",
        unit_diagonal=unit,
    )
