"""LU decomposition, and what is solved with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, as_dtype, int32
from ...core.intervals import UNIT, Interval, hull
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, same_type
from ...core.shape import TensorShape
from ...core.traits import MOVES, SINGULAR, Links, all_axes_but, links_of_matrices
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..base.broadcasting import operands
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from .matrices import MatrixBandPart
from .stacks import IdentityLike, LowerPart, adjoint_of, check_matrices, matrices, times
from .triangular import MatrixTriangularSolve


class Triangles(NamedTuple):
    """Both triangles in one matrix, and the order of the rows."""

    lu: Tensor
    p: Tensor


def lu(input: TensorLike, output_idx_type: DTypeLike = int32, name: str | None = None) -> Triangles:
    """`(lu, p)`: the rows `p` of `input` are the product of the lower triangular matrix and the upper one in `lu`.

    The lower one has ones on its diagonal, which `lu` leaves out.

    Shapes: [..., n, n] gives [..., n, n] and [..., n]. Dtypes: float32, float64, complex64, complex128; `p` is int32 or
    int64.

    Derivative: dx = P^T L^-T (tril(L^T dL, -1) + triu(dU U^T)) U^-T for square matrices, with dL and dU the two
    triangles of the cotangent.

    Raises:
        ValueError: not square. TypeError: another dtype.

    Derivative, for regular matrices: de Hoog, Anderssen and Lukas 2011, "Differentiation of matrix functionals".

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.lu([[0.0, 2.0], [4.0, 2.0]]))
    Triangles(lu=array([[4., 2.],
           [0., 2.]], dtype=float32), p=array([1, 0], dtype=int32))
    """
    both, order = Lu().operation(matrices("lu", input, square=True), name=name or "lu").outputs
    return Triangles(both, cast(order, as_dtype(output_idx_type)))


class Lu(Primitive):
    traits = (SINGULAR,)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = check_matrices("lu", x, square=True)
        return x, TensorType(int32, TensorShape.UNKNOWN if dims is None else TensorShape(dims[:-1]))

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        """For NumPy, which has none: column by column, all matrices of the stack at once."""
        n = x.shape[-1]
        y = xp.array(x).reshape((-1, n, n)) if x.size else xp.array(x).reshape((0, n, n))
        order = xp.tile(xp.arange(n, dtype=np.int32), (y.shape[0], 1))
        each = xp.arange(y.shape[0])
        for k in range(n):
            pivot = k + xp.argmax(xp.abs(y[:, k:, k]), axis=1) if y.shape[0] else each
            y[each, k], y[each, pivot] = y[each, pivot], y[each, k]
            order[each, k], order[each, pivot] = order[each, pivot], order[each, k]
            top = y[:, k, k, None]
            y[:, k + 1 :, k] /= xp.where(top == 0, xp.ones_like(top), top)
            y[:, k + 1 :, k + 1 :] -= y[:, k + 1 :, k, None] * y[:, k, None, k + 1 :]
        return y.reshape(x.shape), order.reshape(x.shape[:-1])

    def gradient(self, op: Operation, dy: Tensor, dorder: None) -> Sequence[Any]:
        del dorder
        both, order = op.outputs

        def back() -> Tensor:
            lower, upper = UnitLower()(both), MatrixBandPart(0, -1)(both)
            inner = LowerPart(0.0)(times(lower, LowerPart(0.0)(dy), adjoint_a=True))
            inner = inner + MatrixBandPart(0, -1)(times(MatrixBandPart(0, -1)(dy), upper, adjoint_b=True))
            left = MatrixTriangularSolve(True, True)(lower, inner)
            dx = adjoint_of(MatrixTriangularSolve(False, False)(upper, adjoint_of(left)))
            return MoveRows(True)(dx, order)

        return (back,)


class UnitLower(Primitive):
    """What is below the diagonal, and ones on it."""

    traits = (MOVES,)
    infer = same_type

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.tril(x, -1) + xp.eye(x.shape[-1], dtype=x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: LowerPart(0.0)(dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return hull([xs[0], UNIT])


class MoveRows(Primitive):
    """The rows of each matrix in the order of its indices, which hold each once; or with `back` as they were before."""

    traits = (MOVES,)

    back: bool = False

    def infer(self, x: TensorType, order: TensorType) -> tuple[TensorType, ...]:
        del order
        return (x,)

    def kernel(self, xp: Any, x: Any, order: Any) -> Any:
        indices = xp.argsort(order, axis=-1) if self.back else order
        return xp.take_along_axis(x, xp.broadcast_to(indices, x.shape[:-1])[..., None], axis=-2)

    def links(self, i: int, x: TensorType, order: TensorType) -> Links | None:
        del i, order
        return all_axes_but(x.shape.rank, -2)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return lambda: MoveRows(not self.back)(dy, op.inputs[1]), None


def _parts(what: str, lower_upper: Any, perm: Any) -> tuple[Tensor, Tensor]:
    both, order = matrices(what, lower_upper, square=True), convert_to_tensor(perm)
    if order.dtype not in INTEGER:
        raise TypeError(f"{what}: perm must be integers, not {order.type}")
    return both, order


@in_graph_of_inputs
def lu_solve(
    lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """`x` in `matrix @ x = rhs`, where `lower_upper` and `perm` are what `lu` makes of `matrix`.

    `validate_args` changes nothing.

    Shapes: `lower_upper` [..., n, n], `perm` [..., n], `rhs` [..., n, k]. Dtypes: float32, float64, complex64,
    complex128, the same for both; `perm` integers.

    Derivative: drhs = the solution with the transpose, of dy; dlower_upper = -(drhs y^T), brought to the factors.

    Raises:
        ValueError: the shapes do not fit. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.lu_solve(*pb.linalg.lu([[0.0, 2.0], [4.0, 2.0]]), [[2.0], [6.0]]))
    array([[1.],
           [1.]], dtype=float32)
    """
    del validate_args
    both, order = _parts("lu_solve", lower_upper, perm)
    both, b = operands(both, rhs)
    with both.graph.within(name or "lu_solve"):
        lower = MatrixTriangularSolve(True)(UnitLower()(both), MoveRows()(b, order))
        return MatrixTriangularSolve(False)(both, lower)


@in_graph_of_inputs
def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverse of each matrix of which `lu` makes `lower_upper` and `perm`.

    Shapes: [..., n, n] and [..., n] give [..., n, n]. Dtypes: float32, float64, complex64, complex128.

    Derivative: that of inv, brought to the factors.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.lu_matrix_inverse(*pb.linalg.lu([[0.0, 2.0], [4.0, 0.0]])))
    array([[0.  , 0.25],
           [0.5 , 0.  ]], dtype=float32)
    """
    both, order = _parts("lu_matrix_inverse", lower_upper, perm)
    with both.graph.within(name or "lu_matrix_inverse"):
        return lu_solve(both, order, IdentityLike()(both), validate_args)


@in_graph_of_inputs
def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrices of which `lu` makes `lower_upper` and `perm`.

    Shapes: [..., n, n] and [..., n] give [..., n, n]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dlower_upper = tril(dy_P U^T, -1) + triu(L^T dy_P), with dy_P the rows of dy as they were permuted.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.lu_reconstruct(*pb.linalg.lu([[0.0, 2.0], [4.0, 2.0]])))
    array([[0., 2.],
           [4., 2.]], dtype=float32)
    """
    del validate_args
    both, order = _parts("lu_reconstruct", lower_upper, perm)
    with both.graph.within(name or "lu_reconstruct"):
        return MoveRows(True)(times(UnitLower()(both), MatrixBandPart(0, -1)(both)), order)
