"""QR decomposition of matrices of every shape.

The derivative is that of Walter and Lehmann 2018 (arXiv:1009.6112), with their case of wide matrices, and that of the
complement that `full_matrices` adds: rotations inside it, which no derivative can tell, are taken for none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.lengths import least
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import links_of_matrices
from ...core.types import TensorType
from ...core.typing import TensorLike
from .corners import InCorner, corner
from .stacks import LowerPart, adjoint_of, check_matrices, matrices, times
from .triangular import MatrixTriangularSolve


class Factors(NamedTuple):
    """Orthonormal columns and an upper triangle."""

    q: Tensor
    r: Tensor


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Factors:
    """`(q, r)`: `q` with orthonormal columns, `r` upper triangular (trapezoidal), and `q @ r` is `input`.

    All shapes have derivatives of any order where the first `min(m, n)` columns are linearly independent. Of the
    columns that `full_matrices` adds, only the space that they span is determined: the derivative is right for what
    depends on nothing else, such as `q2 @ adjoint(q2)`.

    Shapes: [..., m, n] gives [..., m, min(m, n)] and [..., min(m, n), n], with `full_matrices` [..., m, m] and
    [..., m, n]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx = (dQ + Q copyltu(M)) R^-H with M = R dR^H - dQ^H Q for tall and square matrices; others in blocks.

    Raises:
        ValueError: `input` has less than two axes. TypeError: another dtype. InvalidArgumentError in a run on NumPy of
        the derivative where the columns are dependent; XLA gives infinities or NaN.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.qr([[0.0, -2.0], [-1.0, 3.0]]))[1]
    array([[-1.,  3.],
           [ 0., -2.]], dtype=float32)
    """
    q, r = Qr(bool(full_matrices)).operation(matrices("qr", input), name=name).outputs
    return Factors(q, r)


class Qr(Primitive):
    takes_none = True

    full_matrices: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = check_matrices("qr", x)
        if dims is None:
            unknown = TensorType(x.dtype, TensorShape.UNKNOWN)
            return unknown, unknown
        m, n = dims[-2:]
        k = m if self.full_matrices else None if m is None or n is None else least(m, n)
        return (
            TensorType(x.dtype, TensorShape([*dims[:-2], m, k])),
            TensorType(x.dtype, TensorShape([*dims[:-2], k, n])),
        )

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        q, r = xp.linalg.qr(x, mode="complete" if self.full_matrices else "reduced")
        return q, r

    def gradient(self, op: Operation, dq: Tensor | None, dr: Tensor | None) -> Sequence[Any]:
        if dq is None and dr is None:
            return (None,)
        return (lambda: self._back(op.inputs[0], op.outputs[0], op.outputs[1], dq, dr),)

    def _back(self, x: Tensor, q: Tensor, r: Tensor, dq: Tensor | None, dr: Tensor | None) -> Tensor:
        m, n = (None, None) if x.shape.sizes is None else x.shape.sizes[-2:]
        wide = m is None or n is None or n > m
        if self.full_matrices and (m is None or n is None or m > n):
            dq = None if dq is None else without_complement(x, q, dq)
            q, r, dr = corner(q, q, x), corner(r, x, r, -1), None if dr is None else corner(dr, x, r, -1)
        if dr is None or not wide:
            dx = _back_square(q, corner(r, r, q) if wide else r, dq, dr)
            return InCorner()(dx, x, x) if wide else dx
        first, dfirst = corner(r, r, q), corner(dr, r, q)
        turned = times(q, times(r, dr, adjoint_b=True) - times(first, dfirst, adjoint_b=True))
        dx = _back_square(q, first, turned if dq is None else dq + turned, dfirst)
        return InCorner()(dx - times(q, dfirst), x, x) + times(q, dr)


def without_complement(x: Tensor, q: Tensor, dq: Tensor) -> Tensor:
    """The cotangent of the first columns of a unitary `q`, which belong to `x`; the others move as those make them."""
    first, dfirst = corner(q, q, x), corner(dq, q, x)
    inner = times(dfirst, first, adjoint_a=True)
    return dfirst - times(q, times(dq, first, adjoint_a=True)) + times(first, inner)


def _back_square(q: Tensor, r: Tensor, dq: Tensor | None, dr: Tensor | None) -> Tensor:
    """The cotangent of `x` in `x = q @ r` with square `r`: a product with the inverse of `adjoint(r)`."""
    inner = None if dq is None else times(q, dq, adjoint_a=True)
    if dr is not None:
        along = times(dr, r, adjoint_b=True)
        inner = -along if inner is None else inner - along
    assert inner is not None
    skew = inner - adjoint_of(inner)
    moved = times(q, LowerPart(0.5)(skew) - inner)
    total = moved if dq is None else dq + moved
    back = MatrixTriangularSolve(False, False)(r, adjoint_of(total))
    return adjoint_of(back)
