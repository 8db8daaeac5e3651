"""Tridiagonal matrices: products with them, and systems of equations.

Inside, the diagonals stand as rows: above, on and below the main one, [..., 3, n]; the last element of the first and
the first of the last are read by nobody. The rules are made of four operations that are closed under differentiation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.intervals import input_or_zero
from ...core.lengths import known_to_differ
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape, broadcast_static_shape
from ...core.traits import MOVES, PARTLY, SINGULAR, bilinear, linear, links_of_matrices
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..complex.complex import conj
from ..creation.constant import convert_to_tensor
from ..reduction.sum import sum_like
from ..shape.pad import pad
from ..shape.size import shape
from ..shape.squeeze import ExpandDims, squeeze
from ..shape.stacking import stack
from .matrices import diag_part
from .stacks import check_matrices, transpose_of

_FORMATS = ("compact", "sequence", "matrix")


@in_graph_of_inputs
def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """`x` in `matrix @ x = rhs` for a tridiagonal matrix, by elimination with partial pivoting.

    `diagonals` are, by `diagonals_format`: "compact", [..., 3, n], the diagonals above, on and below the main one as
    rows, with one element too many at the end of the first and at the beginning of the last; "sequence", three tensors
    [..., n - 1], [..., n], [..., n - 1], of which the outer ones may have n elements too; "matrix", [..., n, n].
    `transpose_rhs` exchanges the last two axes of `rhs`, `conjugate_rhs` conjugates it. `partial_pivoting` changes
    nothing: elimination without it is less exact, and not faster here.

    Shapes: `rhs` [..., n] or [..., n, k], with as many axes as `diagonals` has fewer or as many; the result as `rhs`.
    Where one of the ranks is not known, `rhs` is [..., n, k].
    Dtypes: float32, float64, complex64, complex128, the same for both.

    Derivative: drhs = the solution with the transpose, of dy; ddiagonals = the three diagonals of -drhs y^T.

    Raises:
        ValueError: another format, or the shapes do not fit. TypeError: another dtype. NotImplementedError:
        `perturb_singular`. A singular matrix gives infinities or NaN.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.tridiagonal_solve([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]], [3.0, 3.0]))
    array([1., 1.], dtype=float32)
    """
    del partial_pivoting
    if perturb_singular:
        raise NotImplementedError("tridiagonal_solve: perturb_singular=True is not supported; add to the main diagonal")
    d, b = operands(_compact("tridiagonal_solve", diagonals, diagonals_format), rhs)
    with b.graph.within(name or "tridiagonal_solve"):
        vector = d.shape.rank is not None and b.shape.rank == d.shape.rank - 1
        b = conj(b) if conjugate_rhs else b
        if transpose_rhs:
            b = ExpandDims((-2,))(b) if vector else b
            b = transpose_of(b)
        elif vector:
            b = ExpandDims((-1,))(b)
        x = TridiagonalSolve()(d, b)
        return squeeze(x, [-1]) if vector else x


@in_graph_of_inputs
def tridiagonal_matmul(
    diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """The product of a tridiagonal matrix, given as to `tridiagonal_solve`, and `rhs`.

    Shapes: `rhs` [..., n, k]; the result too. Dtypes: float32, float64, complex64, complex128, the same for both.

    Derivative: drhs = A^T dy, ddiagonals = the three diagonals of dy rhs^T.

    Raises:
        ValueError: another format, or the shapes do not fit. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.tridiagonal_matmul([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]], [[1.0], [1.0]]))
    array([[3.],
           [3.]], dtype=float32)
    """
    d, b = operands(_compact("tridiagonal_matmul", diagonals, diagonals_format), rhs)
    return TridiagonalMatMul()(d, b, name=name or "tridiagonal_matmul")


def _compact(what: str, diagonals: Any, form: str) -> Tensor:
    """The diagonals as rows."""
    if form not in _FORMATS:
        raise ValueError(f"{what}: diagonals_format must be one of {', '.join(_FORMATS)}, not {form!r}")
    if form == "compact":
        return convert_to_tensor(diagonals)
    if form == "matrix":
        return diag_part(diagonals, k=(-1, 1), align="LEFT_RIGHT")
    if not isinstance(diagonals, list | tuple) or len(diagonals) != 3:
        raise ValueError(f"{what}: with diagonals_format='sequence' three tensors are needed, not {diagonals!r}")
    above, main, below = operands(*diagonals)
    return stack([_filled(what, above, main, (0, 1)), main, _filled(what, below, main, (1, 0))], axis=-2)


def _filled(what: str, x: Tensor, main: Tensor, where: tuple[int, int]) -> Tensor:
    """`x` as long as `main`: with a zero at its beginning or its end, unless it is; of unknown rank it has to be."""
    if x.shape.rank is None:
        return x
    n, length = [y.shape.sizes[-1] if y.shape.sizes else None for y in (main, x)]
    if n is None or length is None:
        missing = shape(main)[-1] - shape(x)[-1]
        return pad(x, [*[(0, 0)] * (x.shape.rank - 1), [missing * i for i in where]])
    if length == n:
        return x
    if length != n - 1:
        raise ValueError(f"{what}: {x.type} must have {n - 1} or {n} elements beside a main diagonal of {n}")
    return pad(x, [*[(0, 0)] * (x.shape.rank - 1), where])


def _infer(what: str, d: TensorType, b: TensorType) -> TensorType:
    first, second = check_matrices(what, d), check_matrices(what, b)
    if d.dtype != b.dtype:
        raise TypeError(f"{what}: dtypes differ: {d} and {b}; convert one with pb.cast")
    if first is None or second is None:
        return TensorType(b.dtype, TensorShape.UNKNOWN)
    if known_to_differ(first[-2], 3):
        raise ValueError(f"{what}: three diagonals are needed, [..., 3, n], not {d}")
    if known_to_differ(first[-1], second[-2]):
        raise ValueError(f"{what}: the diagonals {d} do not fit {b} ({first[-1]} and {second[-2]} rows)")
    try:
        lead = broadcast_static_shape(TensorShape(first[:-2]), TensorShape(second[:-2]))
    except ValueError:
        raise ValueError(f"{what}: the stacks do not broadcast together: {d} and {b}") from None
    return TensorType(b.dtype, TensorShape([*lead, *second[-2:]]))


class TridiagonalSolve(Primitive):
    traits = (linear(1), SINGULAR, PARTLY)

    def infer(self, d: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        return (_infer("tridiagonal_solve", d, b),)

    links = links_of_matrices

    def kernel(self, xp: Any, d: Any, b: Any) -> Any:
        """For NumPy: LAPACK's gtsv, for all matrices of the stack at once."""
        lead = xp.broadcast_shapes(d.shape[:-2], b.shape[:-2])
        rows = xp.moveaxis(xp.broadcast_to(d, (*lead, *d.shape[-2:])), (-2, -1), (0, 1))
        right = xp.moveaxis(xp.broadcast_to(b, (*lead, *b.shape[-2:])), (-2, -1), (0, -1))
        return xp.moveaxis(_eliminated(xp, rows, right), (0, -1), (-2, -1))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (d, b), (x,) = op.inputs, op.outputs

        @cache
        def solved() -> Tensor:
            return TridiagonalSolve()(TridiagonalTranspose()(conj(d)), dy)

        return (
            lambda: sum_like(TridiagonalOuter()(-solved(), conj(x)), d),
            lambda: sum_like(solved(), b),
        )


def _eliminated(xp: Any, rows: Any, right: Any) -> Any:
    """The solutions [n, ..., k] for diagonals [3, n, ...] and right sides [n, ..., k]."""
    above, main, below = (xp.array(row) for row in rows)
    x, n = xp.array(right), right.shape[0]
    second = xp.zeros_like(main)
    for i in range(n - 1):
        under = below[i + 1].copy()
        swap = xp.abs(under) > xp.abs(main[i])
        top = (xp.where(swap, under, main[i]), xp.where(swap, main[i + 1], above[i]))
        low = (xp.where(swap, main[i], under), xp.where(swap, above[i], main[i + 1]))
        last = above[i + 1] if i + 2 < n else xp.zeros_like(under)
        factor = low[0] / top[0]
        main[i], above[i], second[i] = top[0], top[1], xp.where(swap, last, xp.zeros_like(last))
        main[i + 1] = low[1] - factor * top[1]
        above[i + 1] = xp.where(swap, -factor * last, last)
        upper = xp.where(swap[..., None], x[i + 1], x[i])
        x[i + 1] = xp.where(swap[..., None], x[i], x[i + 1]) - factor[..., None] * upper
        x[i] = upper
    for i in range(n - 1, -1, -1):
        if i + 1 < n:
            x[i] -= above[i][..., None] * x[i + 1]
        if i + 2 < n:
            x[i] -= second[i][..., None] * x[i + 2]
        x[i] /= main[i][..., None]
    return x


class TridiagonalMatMul(Primitive):
    traits = (bilinear(0, 1), PARTLY)

    def infer(self, d: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        return (_infer("tridiagonal_matmul", d, b),)

    links = links_of_matrices

    def kernel(self, xp: Any, d: Any, b: Any) -> Any:
        above, main, below = d[..., 0, :, None], d[..., 1, :, None], d[..., 2, :, None]
        return above * _shifted(xp, b, -1) + main * b + below * _shifted(xp, b, 1)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        d, b = op.inputs
        return (
            lambda: sum_like(TridiagonalOuter()(dy, conj(b)), d),
            lambda: sum_like(TridiagonalMatMul()(TridiagonalTranspose()(conj(d)), dy), b),
        )


def _shifted(xp: Any, x: Any, by: int) -> Any:
    """The rows of each matrix moved down by one, or up, and zeros in the place of the one that is missing."""
    lead = [(0, 0)] * (x.ndim - 2)
    if by < 0:
        return xp.pad(x[..., 1:, :], [*lead, (0, min(1, x.shape[-2])), (0, 0)])
    return xp.pad(x[..., : x.shape[-2] - 1, :], [*lead, (min(1, x.shape[-2]), 0), (0, 0)])


class TridiagonalTranspose(Primitive):
    """The diagonals of the transposed matrix; zeros where nobody reads."""

    traits = (MOVES,)

    def infer(self, d: TensorType) -> tuple[TensorType, ...]:
        return (d,)

    def kernel(self, xp: Any, d: Any) -> Any:
        lead = [(0, 0)] * (d.ndim - 2)
        above = xp.pad(d[..., 2, 1:], [*lead, (0, min(1, d.shape[-1]))])
        below = xp.pad(d[..., 0, : max(d.shape[-1] - 1, 0)], [*lead, (min(1, d.shape[-1]), 0)])
        return xp.stack([above, d[..., 1, :], below], axis=-2)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: TridiagonalTranspose()(dy),)

    bounds = input_or_zero


class TridiagonalOuter(Primitive):
    """The three diagonals of the products `x @ transpose(y)`, zeros where nobody reads."""

    traits = (bilinear(0, 1), PARTLY)

    def infer(self, x: TensorType, y: TensorType) -> tuple[TensorType, ...]:
        if x.shape.lengths is None:
            return (x,)
        del y
        return (TensorType(x.dtype, TensorShape([*x.shape.lengths[:-2], 3, x.shape.lengths[-2]])),)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        parts = [x * _shifted(xp, y, -1), x * y, x * _shifted(xp, y, 1)]
        return xp.stack([xp.sum(part, axis=-1, dtype=x.dtype) for part in parts], axis=-2)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, y = op.inputs
        return (
            lambda: TridiagonalMatMul()(dy, conj(y)),
            lambda: sum_like(TridiagonalMatMul()(TridiagonalTranspose()(dy), conj(x)), y),
        )
