"""Linear solvers: inverses, systems of equations, and least squares."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import real_dtype
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import PARTLY, SINGULAR, linear, links_of_matrices
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..creation.constant import convert_to_tensor
from ..creation.eye import eye
from ..reduction.sum import sum_like
from .contraction import adjoint as adjoint_kernel
from .contraction import finite_or_unit, or_nan, svd_kernel
from .stacks import IdentityLike, check_matrices, infer_solve, matrices, times


def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverse of each matrix, or of its transposed conjugate.

    Shapes: [..., n, n]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx = -y^T dy y^T.

    Raises:
        ValueError: not square. TypeError: another dtype. InvalidArgumentError in a run on NumPy: a matrix is singular;
        XLA gives infinities or NaN.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.inv([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return MatrixInverse(bool(adjoint))(matrices("inv", input, square=True), name=name)


class MatrixInverse(Primitive):
    traits = (SINGULAR,)

    adjoint: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        check_matrices("inv", x, square=True)
        return (x,)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        finite, x = finite_or_unit(xp, adjoint_kernel(xp, x) if self.adjoint else x)
        return or_nan(xp, finite, xp.linalg.inv(x))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        y = op.outputs[0]
        if self.adjoint:
            return (lambda: -times(y, times(dy, y, adjoint_a=True)),)
        return (lambda: -times(y, times(dy, y, adjoint_b=True), adjoint_a=True),)


@in_graph_of_inputs
def solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """`x` in `matrix @ x = rhs`, or with `adjoint` in `adjoint(matrix) @ x = rhs`.

    Shapes: `matrix` [..., n, n], `rhs` [..., n, k]; the stacks broadcast together. Dtypes: float32, float64, complex64,
    complex128, the same for both.

    Derivative: drhs = solve(matrix^T, dy), dmatrix = -drhs y^T.

    Raises:
        ValueError: the shapes do not fit. TypeError: another dtype. InvalidArgumentError in a run on NumPy: a matrix is
        singular; XLA gives infinities or NaN.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]))
    array([[1. ],
           [0.5]], dtype=float32)
    """
    a, b = operands(matrix, rhs)
    return MatrixSolve(bool(adjoint))(a, b, name=name)


class MatrixSolve(Primitive):
    traits = (linear(1), SINGULAR, PARTLY)

    adjoint: bool = False

    def infer(self, a: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        return (infer_solve("solve", a, b),)

    links = links_of_matrices

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        finite, a = finite_or_unit(xp, adjoint_kernel(xp, a) if self.adjoint else a)
        return or_nan(xp, finite, xp.linalg.solve(a, b))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (a, b), (x,) = op.inputs, op.outputs

        @cache
        def solved() -> Tensor:
            return MatrixSolve(not self.adjoint)(a, dy)

        def by_matrix() -> Tensor:
            product = times(x, -solved(), False, True) if self.adjoint else times(-solved(), x, False, True)
            return sum_like(product, a)

        return by_matrix, lambda: sum_like(solved(), b)


class PositiveSolve(Primitive):
    """`x` in `a @ x = b` for symmetric (Hermitian) positive definite `a`; its derivative is right for those only."""

    traits = (linear(1), SINGULAR, PARTLY)

    def infer(self, a: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        return (infer_solve("lstsq", a, b),)

    links = links_of_matrices

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        """For NumPy, which has no triangular solver."""
        finite, a = finite_or_unit(xp, a)
        return or_nan(xp, finite, xp.linalg.solve(a, b))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (a, b), (x,) = op.inputs, op.outputs

        @cache
        def solved() -> Tensor:
            return PositiveSolve()(a, dy)

        return lambda: sum_like(times(-solved(), x, False, True), a), lambda: sum_like(solved(), b)


@in_graph_of_inputs
def lstsq(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """The `x` for which `matrix @ x - rhs`, in the sense of least squares, is smallest; of several the smallest.

    With `fast` the normal equations are solved, for matrices of full rank: of the least
    `sum(abs(matrix @ x - rhs)**2) + l2_regularizer * sum(abs(x)**2)`. Otherwise the pseudo-inverse is used, which needs
    no full rank, and `l2_regularizer` is ignored, as in TensorFlow. Both can be differentiated, the latter where the
    rank does not change nearby.

    Shapes: `matrix` [..., m, n], `rhs` [..., m, k]; the result [..., n, k]. Dtypes: float32, float64, complex64,
    complex128, the same for both.

    Derivative: drhs = pinv^T dy, dmatrix = residual (pinv pinv^T dy)^T - drhs y^T, for tall matrices of full rank; for
    wide ones its kin.

    Raises:
        ValueError: the shapes do not fit. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.lstsq([[1.0], [1.0]], [[1.0], [2.0]]))
    array([[1.5]], dtype=float32)
    """
    a, b = operands(matrix, rhs)
    infer_solve("lstsq", a.type, b.type, square=False)
    m, n = (None, None) if a.shape.sizes is None else a.shape.sizes[-2:]
    penalty = isinstance(l2_regularizer, Tensor) or l2_regularizer != 0
    with a.graph.within(name or "lstsq"):
        if not fast or (not penalty and (m is None or n is None)):
            return times(pinv(a), b)
        wide = m is not None and n is not None and m < n
        gram = times(a, a, adjoint_b=True) if wide else times(a, a, adjoint_a=True)
        if penalty:
            strength = convert_to_tensor(l2_regularizer, a.dtype)
            gram = gram + strength * (IdentityLike()(gram) if m is None or n is None else eye(min(m, n), dtype=a.dtype))
        if wide:
            return times(a, PositiveSolve()(gram, b), adjoint_a=True)
        return PositiveSolve()(gram, times(a, b, adjoint_a=True))


@in_graph_of_inputs
def pinv(
    a: TensorLike, rcond: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The pseudo-inverse of each matrix; singular values below `rcond` times the largest count as zeros.

    The derivative (Golub and Pereyra 1973) is right where the rank does not change nearby; singular values may be
    equal. `rcond` is `10 * max(m, n) * eps` unless given. `validate_args` changes nothing.

    Shapes: [..., m, n] gives [..., n, m]; `rcond` broadcasts to [...]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx = -y^T dy y^T + (1 - x y) dy^T y y^T + y^T y dy^T (1 - y x), for matrices of constant rank.

    Raises:
        ValueError: `a` has less than two axes. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    del validate_args
    x = matrices("pinv", a)
    inputs = () if rcond is None else (convert_to_tensor(rcond, real_dtype(x.dtype)),)
    return PseudoInverse()(x, *inputs, name=name or "pinv")


class PseudoInverse(Primitive):
    """The pseudo-inverse of `x`; a second input is the relative bound below which singular values count as zeros."""

    traits = (SINGULAR,)

    def infer(self, x: TensorType, bound: TensorType | None = None) -> tuple[TensorType, ...]:
        del bound
        dims = check_matrices("pinv", x)
        shape = TensorShape.UNKNOWN if dims is None else TensorShape([*dims[:-2], dims[-1], dims[-2]])
        return (TensorType(x.dtype, shape),)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any, bound: Any = None) -> Any:
        u, s, vh = svd_kernel(xp, x, full_matrices=False)
        if bound is None:
            bound = xp.asarray(10 * max(x.shape[-2:]) * np.finfo(x.dtype).eps, s.dtype)
        kept = s > bound[..., None] * xp.max(s, axis=-1, keepdims=True, initial=0)
        inverse = xp.where(kept, 1 / xp.where(kept, s, xp.ones_like(s)), xp.zeros_like(s))
        return xp.matmul(adjoint_kernel(xp, vh) * inverse[..., None, :].astype(x.dtype), adjoint_kernel(xp, u))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        a, y = op.inputs[0], op.outputs[0]

        def back() -> Tensor:
            inner = -times(y, times(dy, y, adjoint_b=True), adjoint_a=True)
            rows = times(times(dy, y, adjoint_a=True), y, adjoint_b=True)
            columns = times(times(y, y, adjoint_a=True), dy, adjoint_b=True)
            outside = rows - times(a, times(y, rows)) + columns - times(times(columns, y), a)
            return inner + outside

        return (back, None)[: len(op.inputs)]
