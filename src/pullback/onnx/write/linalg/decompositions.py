"""ONNX export of decompositions and solvers: step by step, with `linear_algebra` in the place of LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.dtypes import bool as bool_
from ....core.dtypes import int64
from ....primitives.linalg.blocks_of_matrices import AtUpperRight, DiagonalBlocks, Excess, UpperBlocks, UpperRight
from ....primitives.linalg.corners import Corner, InCorner
from ....primitives.linalg.cross import Cross
from ....primitives.linalg.determinants import CofactorChange, Cofactors, LogMatrixDeterminant, MatrixDeterminant
from ....primitives.linalg.eigen import Eig, InverseGaps, SelfAdjointEig
from ....primitives.linalg.inverses import MatrixInverse, MatrixSolve, PositiveSolve, PseudoInverse
from ....primitives.linalg.lu import Lu, MoveRows, UnitLower
from ....primitives.linalg.matrices import MatrixBandPart, MatrixDiag, MatrixDiagPart, MatrixSetDiag
from ....primitives.linalg.matrix_functions import (
    MatrixExponential,
    MatrixLogarithm,
    MatrixSquareRoot,
    approximant,
    first_of_root,
    last_of_root,
    log_near_one,
    next_of_root,
)
from ....primitives.linalg.qr import Qr
from ....primitives.linalg.stacks import HermitianPart, IdentityLike, LowerPart
from ....primitives.linalg.svd import InverseOrZero, Svd
from ....primitives.linalg.triangular import Cholesky, MatrixTriangularSolve
from ....primitives.linalg.tridiagonal import (
    TridiagonalMatMul,
    TridiagonalOuter,
    TridiagonalSolve,
    TridiagonalTranspose,
)
from ...linear_algebra import Linalg, adjoint
from ...namespace import Namespace
from ...pairs import as_array, as_value, repeated
from ...records import Value
from ...registry import writer
from ...tracing import as_traced
from ...writing import Writer
from ..shapes import rank_of
from ..traced import traced

_ROOT_STEPS = 30
_ROOTS = 8


def _made(w: Writer, *arrays: Any) -> list[Any]:
    return [as_value(w, x, y.dtype) for x, y in zip(arrays, w.op.outputs, strict=True)]


@writer(MatrixTriangularSolve, pairs=True)
def triangular_solve(w: Writer, p: Any, a: Any, b: Any) -> Any:
    xp = Namespace(w)
    matrix = as_array(w, a)
    matrix = adjoint(xp, matrix) if p.adjoint else matrix
    return _made(w, Linalg(xp).triangular_solve(matrix, as_array(w, b), p.lower != p.adjoint))


@writer(Lu, pairs=True)
def lu(w: Writer, p: Any, x: Any) -> Any:
    both, order, _ = Linalg(Namespace(w)).lu(as_array(w, x))
    return _made(w, both, order)


@writer(MatrixDeterminant, pairs=True)
def determinant(w: Writer, p: Any, x: Any) -> Any:
    """ONNX's Det where there is a kernel; by elimination elsewhere."""
    if isinstance(x, Value) and not x.type.shape.is_fully_defined():
        return w.node("Det", x, shape=w.op.outputs[0].shape)
    array = as_array(w, x)
    if w.op.outputs[0].dtype == np.float32 and array.size:
        return w.node("Det", x, shape=array.shape[:-2])
    return _made(w, Linalg(Namespace(w)).det(array))


@writer(Cofactors, pairs=True)
def cofactors(w: Writer, p: Any, x: Any) -> Any:
    """Each is the determinant of what is left without its row and its column: exact for singular matrices too."""
    if isinstance(x, Value) and not x.type.shape.is_fully_defined():
        return _cofactors_at_run_time(w, x)
    xp, array = Namespace(w), as_array(w, x)
    n = array.shape[-1]
    if not array.size:
        return _made(w, array)
    if n == 1:
        return _made(w, xp.ones_like(array))
    others = np.array([[j for j in range(n) if j != i] for i in range(n)])
    minors = array[..., others, :]
    minors = minors[..., others]
    rank = minors.ndim
    lead = list(range(rank - 4))
    minors = minors.transpose([*lead, rank - 4, rank - 2, rank - 3, rank - 1])
    signs = np.where(np.add.outer(np.arange(n), np.arange(n)) % 2, -1, 1).astype(np.float32)
    if array.dtype == np.float32:
        squares: Any = as_value(w, minors, array.dtype)
        dets: Any = as_array(w, w.node("Det", squares, shape=minors.shape[:-2]))
    else:
        dets = Linalg(xp).det(minors)
    return _made(w, dets * signs.astype(array.dtype))


def _cofactors_at_run_time(w: Writer, x: Value) -> Value:
    """The same for matrices of any size, of which there are any number."""
    rank = rank_of(x)
    lead = list(range(rank - 2))
    zero, one, two = [w.constant(i, int64) for i in range(3)]
    n = w.reshape(w.lengths(x, [rank - 1]), [])
    numbers = w.node("Range", zero, n, one)
    fewer = w.node("Range", zero, w.node("Sub", n, one), one)
    left_out = w.unsqueeze(numbers, [1])
    others = w.node("Add", fewer, w.cast(w.node("GreaterOrEqual", fewer, left_out), int64))
    minors = w.gather(w.gather(x, others, rank - 2), others, rank)
    minors = w.transpose(minors, [*lead, rank - 2, rank, rank - 1, rank + 1])
    dets = w.node("Det", minors, shape=x.type.shape)
    odd = w.node("Mod", w.node("Add", numbers, left_out), two)
    return w.where(w.cast(odd, bool_), w.node("Neg", dets), dets)


@writer(TridiagonalSolve, pairs=True)
def tridiagonal_solve(w: Writer, p: Any, d: Any, b: Any) -> Any:
    """As a whole matrix, by elimination."""
    xp, rows, right = Namespace(w), as_array(w, d), as_array(w, b)
    n = rows.shape[-1]
    if not right.size:
        return _made(w, right)
    numbers = np.arange(n)
    total: Any = None
    for row, step in ((0, 1), (1, 0), (2, -1)):
        hot = (numbers[None, :] == numbers[:, None] + step).astype(np.float32).astype(rows.dtype)
        part = rows[..., row, :, None] * hot
        total = part if total is None else total + part
    return _made(w, Linalg(xp).solve(total, right))


@writer(MatrixExponential, pairs=True)
def exponential(w: Writer, p: Any, x: Any) -> Any:
    """As many squarings as the largest matrix needs."""
    xp, array = Namespace(w), as_array(w, x)
    if not array.size:
        return _made(w, array)
    y, halvings = approximant(xp, array, lambda holds, computed, other: computed())
    times = xp.max(halvings).astype(np.int64)

    def squared(inner: Any, y: Any, left: Any) -> tuple[Any, Any]:
        return inner.where(left > 0, inner.matmul(y, y), y), left - np.int32(1)

    return _made(w, repeated(w, times, squared, y, halvings)[0])


@writer(MatrixSquareRoot, pairs=True)
def square_root(w: Writer, p: Any, x: Any) -> Any:
    xp, array = Namespace(w), as_array(w, x)
    return _made(w, _root(xp, array) if array.size else array)


def _root(xp: Any, x: Any) -> Any:
    first = [as_traced(xp.w, part) for part in first_of_root(xp, x)]
    state = repeated(xp.w, _ROOT_STEPS, lambda inner, *state: next_of_root(inner, state), *first)
    return last_of_root(xp, tuple(state))


@writer(MatrixLogarithm, pairs=True)
def logarithm(w: Writer, p: Any, x: Any) -> Any:
    """So many roots for all matrices; those near 1 stay near 1."""
    xp, array = Namespace(w), as_array(w, x)
    if not array.size:
        return _made(w, array)
    (array,) = repeated(w, _ROOTS, lambda inner, x: [_root(inner, x)], array)
    return _made(w, log_near_one(xp, array) * np.asarray(2.0**_ROOTS, array.dtype))


# Where all lengths are known, the kernels of these say how they are written.
writer(
    UpperBlocks,
    DiagonalBlocks,
    UpperRight,
    AtUpperRight,
    Excess,
    Corner,
    InCorner,
    CofactorChange,
    LogMatrixDeterminant,
    SelfAdjointEig,
    InverseGaps,
    Eig,
    MatrixInverse,
    MatrixSolve,
    PositiveSolve,
    PseudoInverse,
    Cross,
    UnitLower,
    MoveRows,
    MatrixDiagPart,
    MatrixDiag,
    MatrixSetDiag,
    MatrixBandPart,
    Qr,
    Svd,
    InverseOrZero,
    Cholesky,
    LowerPart,
    HermitianPart,
    IdentityLike,
    TridiagonalMatMul,
    TridiagonalTranspose,
    TridiagonalOuter,
    pairs=True,
)(traced)
