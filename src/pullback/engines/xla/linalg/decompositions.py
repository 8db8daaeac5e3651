"""XLA lowering of solvers and matrix decompositions, by `lax.linalg`: batched, of one triangle where it suffices."""

from __future__ import annotations

from threading import local
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ....core.primitive import Primitive
from ....primitives.linalg.contraction import adjoint
from ....primitives.linalg.determinants import (
    CofactorChange,
    Cofactors,
    LogMatrixDeterminant,
    MatrixDeterminant,
    powers_apart,
)
from ....primitives.linalg.eigen import Eig, SelfAdjointEig
from ....primitives.linalg.inverses import MatrixInverse, MatrixSolve, PositiveSolve, PseudoInverse
from ....primitives.linalg.lu import Lu, MoveRows
from ....primitives.linalg.qr import Qr
from ....primitives.linalg.svd import Svd
from ....primitives.linalg.triangular import Cholesky, MatrixTriangularSolve
from ....primitives.linalg.tridiagonal import TridiagonalSolve
from ..jax_internals import current_trace
from ..registry import xla_kernel
from ..turns import after, in_turn, waiting


@xla_kernel(CofactorChange, Eig, PseudoInverse, Qr, Svd)
@in_turn
def _as_written(p: Primitive, *arrays: Any) -> Any:
    return p.kernel(jnp, *[jnp.asarray(x) for x in arrays])


@xla_kernel(MatrixTriangularSolve)
@in_turn
def _triangular_solve(p: MatrixTriangularSolve, a: Any, b: Any) -> Any:
    a, b = _with_one_stack(a, b)
    return _substitute(a, b, p.lower, p.adjoint)


@xla_kernel(Cholesky)
@in_turn
def _cholesky(p: Cholesky, x: Any) -> Any:
    del p
    return lax.linalg.cholesky(x, symmetrize_input=False)


@xla_kernel(PositiveSolve)
@in_turn
def _positive_solve(p: PositiveSolve, a: Any, b: Any) -> Any:
    del p
    a, b = _with_one_stack(a, b)
    y = lax.linalg.cholesky(a, symmetrize_input=False)
    return _substitute(y, _substitute(y, b, True, False), True, True)


class _Decomposed(local):
    """The matrices that were decomposed last, in which trace, and their decomposition: derivatives use it again."""

    trace: Any = None
    matrices: Any = None
    both: Any = None
    order: Any = None


_decomposed = _Decomposed()


def _lu_of(x: Any) -> tuple[Any, Any]:
    """The decomposition of `x` as `lax.linalg.lu` gives it, without pivots; the same again for the same array."""
    last, here = _decomposed, current_trace()
    if last.matrices is not x or last.trace is not here:
        both, _, order = lax.linalg.lu(*[jnp.asarray(y) for y in waiting(x)])
        last.trace, last.matrices = here, x
        last.both, last.order = after((both, order))
    return last.both, last.order


def _solved(both: Any, order: Any, b: Any) -> Any:
    moved = jnp.take_along_axis(b, order[..., None], axis=-2)
    return _substitute(both, _substitute(both, moved, True, False, unit=True), False, False)


def _inverted(both: Any, order: Any) -> Any:
    return _solved(both, order, jnp.broadcast_to(jnp.eye(both.shape[-1], dtype=both.dtype), both.shape))


def _parity(order: Any, dtype: Any) -> Any:
    """1 or -1 for an even or an odd permutation."""
    swaps = jnp.sum(jnp.triu(order[..., :, None] > order[..., None, :], 1), axis=(-2, -1))
    return (1 - 2 * (swaps % 2)).astype(dtype)


@xla_kernel(MatrixSolve)
def _solve(p: MatrixSolve, a: Any, b: Any) -> Any:
    both, order = _lu_of(a)
    (b,) = waiting(jnp.asarray(b))
    both, b = _with_one_stack(both, b)
    order = jnp.broadcast_to(order, both.shape[:-1])
    if not p.adjoint:
        return after(_solved(both, order, b))
    x = _substitute(both, _substitute(both, b, False, True), True, True, unit=True)
    return after(jnp.take_along_axis(x, jnp.argsort(order, axis=-1)[..., None], axis=-2))


@xla_kernel(MatrixInverse)
def _inverse(p: MatrixInverse, x: Any) -> Any:
    if not x.size:
        return x
    y = after(_inverted(*_lu_of(x)))
    return adjoint(jnp, y) if p.adjoint else y


@xla_kernel(MatrixDeterminant)
def _determinant(p: MatrixDeterminant, x: Any) -> Any:
    if not x.size:
        return p.kernel(jnp, x)
    both, order = _lu_of(x)
    pivots, powers = powers_apart(jnp, jnp.diagonal(both, axis1=-2, axis2=-1))
    y, power = jnp.prod(pivots, axis=-1) * _parity(order, x.dtype), jnp.sum(powers, axis=-1)
    if jnp.iscomplexobj(y):
        return lax.complex(jnp.ldexp(y.real, power), jnp.ldexp(y.imag, power))
    return jnp.ldexp(y, power)


@xla_kernel(LogMatrixDeterminant)
def _log_determinant(p: LogMatrixDeterminant, x: Any) -> Any:
    if not x.size:
        return p.kernel(jnp, x)
    both, order = _lu_of(x)
    pivots = jnp.diagonal(both, axis1=-2, axis2=-1)
    sign = jnp.prod(jnp.sign(pivots), axis=-1) * _parity(order, x.dtype)
    return sign, jnp.sum(jnp.log(jnp.abs(pivots)), axis=-1).astype(x.dtype)


@xla_kernel(SelfAdjointEig)
@in_turn
def _eigh(p: SelfAdjointEig, x: Any) -> Any:
    if not p.compute_v:
        return jnp.linalg.eigvalsh(x, symmetrize_input=False).astype(x.dtype)
    v, e = lax.linalg.eigh(x, symmetrize_input=False)
    return e.astype(x.dtype), v


@xla_kernel(Lu)
def _lu(p: Lu, x: Any) -> Any:
    del p
    return _lu_of(x)


@xla_kernel(MoveRows)
def _move_rows(p: MoveRows, x: Any, order: Any) -> Any:
    """The order turned around by writing it: sorting takes five times as long."""
    if p.back:
        places = jnp.broadcast_to(jnp.arange(order.shape[-1], dtype=order.dtype), order.shape)
        order = jnp.put_along_axis(jnp.zeros_like(order), order, places, -1, inplace=False)
    return MoveRows(False).kernel(jnp, x, order)


@xla_kernel(TridiagonalSolve)
@in_turn
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


@xla_kernel(Cofactors)
def _cofactors(p: Cofactors, x: Any) -> Any:
    """By LU where all matrices are regular by a wide margin: singular values take six times as long."""
    if not x.size:
        return x
    both, order = _lu_of(x)
    pivots = jnp.diagonal(both, axis1=-2, axis2=-1)
    margin = x.shape[-1] * 100 * np.finfo(x.dtype).eps
    regular = jnp.min(jnp.abs(pivots), axis=-1) > margin * jnp.max(jnp.abs(pivots), axis=-1)

    def by_lu() -> Any:
        values = jnp.prod(pivots, axis=-1) * _parity(order, x.dtype)
        return values[..., None, None] * jnp.swapaxes(_inverted(both, order), -1, -2)

    (first,) = waiting(jnp.asarray(x))
    return after(lax.cond(jnp.all(regular), by_lu, lambda: p.kernel(jnp, first)))


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
