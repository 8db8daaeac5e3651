"""Singular value decomposition of matrices of every shape, and rank and condition, which it tells.

The derivative is that of Wan and Zhang 2019 (arXiv:1909.02659), with that of the complements that `full_matrices`
adds: rotations inside them, which no derivative can tell, are taken for none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int32, real_dtype
from ...core.lengths import least
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import ELEMENTWISE, links_of_matrices
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..logic.comparison import greater
from ..reduction.reduce import reduce_max, reduce_sum
from ..shape.squeeze import ExpandDims
from .contraction import adjoint, finite_matrices, or_nan, svd_kernel
from .corners import corner
from .eigen import InverseGaps, scaled
from .matrices import diag
from .qr import without_complement
from .stacks import adjoint_of, check_matrices, matrices, times


def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """`(s, u, v)`: descending singular values, and orthonormal columns with `tensor = u @ diag(s) @ adjoint(v)`.

    Without `compute_uv` it is `s` only. All shapes have derivatives of any order where singular values differ and are
    not 0. Vectors of equal singular values (equal but for rounding) are determined up to a common rotation and have no
    derivative; the rule takes that rotation for none, which gives finite numbers, right for what does not tell such
    rotations: `u @ adjoint(v)`, sums over all of them.
    Likewise terms with the inverse of a singular value 0 are left out. Of the columns that `full_matrices` adds, only
    the space that they span is determined; of complex vectors, the phase is arbitrary: derivatives are right for what
    depends on neither. For pseudo-inverses use `pinv`, whose derivative needs no gaps.

    Shapes: [..., m, n] gives [..., k], [..., m, k] and [..., n, k] with k = min(m, n); with `full_matrices` `u` is
    [..., m, m] and `v` [..., n, n]. Dtypes: float32, float64, complex64, complex128; `s` is real.

    Derivative: dx = U (diag(ds) + K) V^H with K_ij = (A + B)_ij / (s_j - s_i) + (A - B)_ij / (s_j + s_i), A and B the
    skew parts of U^H dU and V^H dV; and what leaves both spaces.

    Raises:
        ValueError: `tensor` has less than two axes. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.svd([[0.0, 2.0], [1.0, 0.0]], compute_uv=False))
    array([2., 1.], dtype=float32)
    """
    x = matrices("svd", tensor)
    return Svd(bool(compute_uv), bool(full_matrices and compute_uv)).operation(x, name=name).result


class Svd(Primitive):
    takes_none = True

    compute_uv: bool = True
    full_matrices: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = check_matrices("svd", x)
        parts = real_dtype(x.dtype)
        if dims is None:
            unknown = TensorType(x.dtype, TensorShape.UNKNOWN)
            return (TensorType(parts, TensorShape.UNKNOWN), *[unknown] * (2 if self.compute_uv else 0))
        m, n = dims[-2:]
        k = None if m is None or n is None else least(m, n)
        s = TensorType(parts, TensorShape([*dims[:-2], k]))
        if not self.compute_uv:
            return (s,)
        u = TensorShape([*dims[:-2], m, m if self.full_matrices else k])
        v = TensorShape([*dims[:-2], n, n if self.full_matrices else k])
        return s, TensorType(x.dtype, u), TensorType(x.dtype, v)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        if not self.compute_uv:
            finite = finite_matrices(xp, x)
            s = xp.linalg.svd(xp.where(finite, x, xp.zeros((), x.dtype)), compute_uv=False)
            return or_nan(xp, finite[..., 0], s)
        u, s, vh = svd_kernel(xp, x, self.full_matrices)
        return s, u, adjoint(xp, vh)

    def gradient(
        self, op: Operation, ds: Tensor | None, du: Tensor | None = None, dv: Tensor | None = None
    ) -> Sequence[Any]:
        if ds is None and du is None and dv is None:
            return (None,)
        return (lambda: self._back(op, ds, du, dv),)

    def _back(self, op: Operation, ds: Tensor | None, du: Tensor | None, dv: Tensor | None) -> Tensor:
        x = op.inputs[0]
        s, u, v = op.outputs if self.compute_uv else Svd().operation(x).outputs
        if self.full_matrices:
            du = None if du is None else without_complement(v, u, du)
            dv = None if dv is None else without_complement(u, v, dv)
            u, v = corner(u, u, v), corner(v, v, u)
        if du is None and dv is None:
            assert ds is not None
            return times(scaled(u, cast(ds, x.dtype)), v, adjoint_b=True)
        m, n = (None, None) if x.shape.sizes is None else x.shape.sizes[-2:]
        inverse = cast(InverseOrZero()(s), x.dtype)
        turned_u = None if du is None else times(u, du, adjoint_a=True)
        turned_v = None if dv is None else times(v, dv, adjoint_a=True)
        inner = _turned_back(s, turned_u, turned_v)
        if ds is not None:
            inner = inner + diag(cast(ds, x.dtype))
        total = times(u, times(inner, v, adjoint_b=True))
        if turned_u is not None and (m is None or n is None or m > n):
            total = total + times(scaled(du - times(u, turned_u), inverse), v, adjoint_b=True)
        if turned_v is not None and (m is None or n is None or n > m):
            total = total + times(scaled(u, inverse), dv - times(v, turned_v), adjoint_b=True)
        return total


def _turned_back(s: Tensor, du: Tensor | None, dv: Tensor | None) -> Tensor:
    """What turns both sides alike, which needs gaps, and what turns them against each other, which does not.

    With `a` and `b` twice the skew parts of `du` and `dv`, both in the coordinates of the vectors:
    `(a + b) / (s[j] - s[i]) / 2 + (a - b) / (s[j] + s[i]) / 2` at `i, j`.
    """
    a: Tensor | None = None if du is None else 0.5 * (du - adjoint_of(du))
    b: Tensor | None = None if dv is None else 0.5 * (dv - adjoint_of(dv))
    gaps, sums = InverseGaps()(s), InverseOrZero()(ExpandDims((-2,))(s) + ExpandDims((-1,))(s))
    result: Tensor
    if a is not None and b is not None:
        result = (a + b) * cast(gaps, a.dtype) + (a - b) * cast(sums, a.dtype)
    elif a is not None:
        result = a * cast(gaps + sums, a.dtype)
    else:
        assert b is not None
        result = b * cast(gaps - sums, b.dtype)
    return result


class InverseOrZero(Primitive):
    """`1 / s`, and 0 where `s` is 0 but for rounding."""

    traits = (ELEMENTWISE,)

    def infer(self, s: TensorType) -> tuple[TensorType, ...]:
        return (s,)

    def kernel(self, xp: Any, s: Any) -> Any:
        rounding = xp.asarray(s.shape[-1] * np.finfo(s.dtype).eps, s.dtype)
        positive = s > xp.max(s, axis=-1, keepdims=True, initial=0) * rounding
        return xp.where(positive, 1 / xp.where(positive, s, xp.ones((), s.dtype)), xp.zeros((), s.dtype))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        y = op.outputs[0]
        return (lambda: -dy * y * y,)


@in_graph_of_inputs
def matrix_rank(
    a: TensorLike, tol: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values of each matrix are above `tol`: int32, without a derivative.

    `tol` is `eps * max(m, n)` times the largest singular value unless given. `validate_args` changes nothing.

    Shapes: [..., m, n]; the result [...]; `tol` broadcasts to it. Dtypes: float32, float64, complex64, complex128.

    Raises:
        ValueError: `a` has less than two axes, or with no `tol` lengths are unknown. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]))
    np.int32(1)
    """
    del validate_args
    x = matrices("matrix_rank", a)
    with x.graph.within(name or "matrix_rank"):
        s = svd(x, compute_uv=False)
        if tol is None:
            m, n = (None, None) if x.shape.sizes is None else x.shape.sizes[-2:]
            if m is None or n is None:
                raise ValueError(f"matrix_rank: the lengths of {x.type} must be known, or tol= given")
            bound = reduce_max(s, -1, keepdims=True) * float(np.finfo(s.dtype).eps * max(m, n))
        else:
            bound = ExpandDims((-1,))(convert_to_tensor(tol, s.dtype))
        return reduce_sum(cast(greater(s, bound), int32), -1)
