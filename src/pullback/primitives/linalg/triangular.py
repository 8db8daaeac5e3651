"""Triangular solves and the Cholesky decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import PARTLY, SINGULAR, linear, links_of_matrices
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..reduction.sum import sum_like
from .contraction import adjoint as adjoint_kernel
from .contraction import finite_or_unit, or_nan
from .matrices import MatrixBandPart, diag
from .stacks import HermitianPart, LowerPart, adjoint_of, check_matrices, infer_solve, matrices, times

_BLOCK = 64


@in_graph_of_inputs
def triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """`x` in `matrix @ x = rhs`, of which only the lower (or upper) triangle of `matrix` is read.

    With `adjoint` the transposed and conjugated triangle takes its place.

    Shapes: `matrix` [..., n, n], `rhs` [..., n, k]; the stacks broadcast together. Dtypes: float32, float64, complex64,
    complex128, the same for both.

    Derivative: drhs = the solution with the transpose, of dy; dmatrix = the triangle of -drhs y^T.

    Raises:
        ValueError: the shapes do not fit. TypeError: another dtype. InvalidArgumentError in a run on NumPy: there is a
        zero on the diagonal; XLA gives infinities or NaN.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[2.0], [3.0]]))
    array([[1.],
           [2.]], dtype=float32)
    """
    a, b = operands(matrix, rhs)
    return MatrixTriangularSolve(bool(lower), bool(adjoint))(a, b, name=name)


class MatrixTriangularSolve(Primitive):
    traits = (linear(1), SINGULAR, PARTLY)

    lower: bool = True
    adjoint: bool = False

    def infer(self, a: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        return (infer_solve("triangular_solve", a, b),)

    links = links_of_matrices

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        """For NumPy, which has no triangular solver."""
        a = adjoint_kernel(xp, a) if self.adjoint else a
        if self.lower == self.adjoint:
            return _back_substitute(xp, xp.triu(a), b)
        flipped = _back_substitute(xp, xp.tril(a)[..., ::-1, ::-1], b[..., ::-1, :])
        return flipped[..., ::-1, :]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (a, b), (x,) = op.inputs, op.outputs

        @cache
        def solved() -> Tensor:
            return MatrixTriangularSolve(self.lower, not self.adjoint)(a, dy)

        def by_matrix() -> Tensor:
            product = times(x, -solved(), False, True) if self.adjoint else times(-solved(), x, False, True)
            return sum_like(LowerPart(1.0)(product) if self.lower else MatrixBandPart(0, -1)(product), a)

        return by_matrix, lambda: sum_like(solved(), b)


def _back_substitute(xp: Any, upper: Any, b: Any) -> Any:
    """`x` in `upper @ x = b`, by halves.

    A general solver exchanges no rows of an upper triangle; those of a lower one it does, and loses all digits.
    """
    n = upper.shape[-1]
    if n <= _BLOCK:
        finite, upper = finite_or_unit(xp, upper)
        return or_nan(xp, finite, xp.linalg.solve(upper, b))
    h = n // 2
    last = _back_substitute(xp, upper[..., h:, h:], b[..., h:, :])
    rest = b[..., :h, :] - xp.matmul(upper[..., :h, h:], last)
    return xp.concatenate([_back_substitute(xp, upper[..., :h, :h], rest), last], axis=-2)


@in_graph_of_inputs
def banded_triangular_solve(
    bands: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """`x` in `matrix @ x = rhs` for a triangular matrix given by its diagonals.

    For a lower matrix the first row of `bands` is the main diagonal and the others those below it, padded on the left;
    for an upper one the last row is the main diagonal and the others those above it, padded on the right.

    Shapes: `bands` [..., diagonals, n], `rhs` [..., n, k]; the stacks broadcast together. Dtypes: as triangular_solve.

    Derivative: drhs = the solution with the transpose, of dy; dbands = the bands of -drhs y^T.

    Raises:
        ValueError: the shapes do not fit, or the number of diagonals is unknown. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.banded_triangular_solve([[2.0, 1.0], [0.0, 1.0]], [[2.0], [3.0]]))
    array([[1.],
           [2.]], dtype=float32)
    """
    x, b = operands(bands, rhs)
    check_matrices("banded_triangular_solve", x.type)
    count, n = (None, None) if x.shape.sizes is None else x.shape.sizes[-2:]
    if count is None:
        raise ValueError(f"banded_triangular_solve: the number of diagonals of {x.type} must be known")
    with x.graph.within(name or "banded_triangular_solve"):
        if n is not None and 0 < n < count:  # All of the others is padding.
            x, count = (x[..., :n, :] if lower else x[..., count - n :, :]), n
        matrix = diag(x, k=(1 - count, 0) if lower else (0, count - 1), align="LEFT_RIGHT")
        return triangular_solve(matrix, b, lower, adjoint)


def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """The lower triangular `y` with a positive diagonal for which `y @ adjoint(y)` is `input`.

    Only the lower triangle of `input`, which is symmetric (Hermitian) and positive definite, is read; the derivative
    is symmetric (Hermitian).

    Shapes: [..., n, n]. Dtypes: float32, float64, complex64, complex128.

    Raises:
        ValueError: not square. TypeError: another dtype. InvalidArgumentError in a run on NumPy: not positive definite;
        XLA gives NaN.

    Derivative: Murray 2016, arXiv:1602.07527.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    return Cholesky()(matrices("cholesky", input, square=True), name=name)


class Cholesky(Primitive):
    traits = (SINGULAR,)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        check_matrices("cholesky", x, square=True)
        return (x,)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        finite, x = finite_or_unit(xp, xp.tril(x))
        return or_nan(xp, finite, xp.linalg.cholesky(x))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        def back() -> Tensor:
            y = op.outputs[0]
            inner = LowerPart(0.5)(times(y, dy, adjoint_a=True))
            left = MatrixTriangularSolve(True, True)(y, inner)
            return HermitianPart()(MatrixTriangularSolve(True, True)(y, adjoint_of(left)))

        return (back,)


@in_graph_of_inputs
def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """`x` in `a @ x = rhs`, where `chol` is the Cholesky decomposition of `a`.

    Shapes: `chol` [..., n, n], `rhs` [..., n, k]; the stacks broadcast together. Dtypes: float32, float64, complex64,
    complex128, the same for both.

    Derivative: those of two triangular solutions.

    Raises:
        ValueError: the shapes do not fit. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.cholesky_solve([[2.0, 0.0], [1.0, 2.0]], [[8.0], [8.0]]))
    array([[1.5],
           [1. ]], dtype=float32)
    """
    a, b = operands(chol, rhs)
    with a.graph.within(name or "cholesky_solve"):
        return triangular_solve(a, triangular_solve(a, b), adjoint=True)
