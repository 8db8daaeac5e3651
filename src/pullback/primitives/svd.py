"""The singular value decomposition of matrices of every shape, and what is told by singular values.

The derivative is that of Wan and Zhang 2019 (arXiv:1909.02659), with that of the complements that `full_matrices`
adds: rotations inside them, which no derivative can tell, are taken for none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import COMPLEX, int32, real_dtype
from ..core.operation import Operation, Tensor
from ..core.primitive import Primitive
from ..core.shape import TensorShape
from ..core.types import TensorType
from .casting import cast
from .comparison import greater
from .complex import complex as complex_number
from .complex import imag
from .constant import convert_to_tensor
from .contraction import adjoint
from .corners import corner
from .eigen import scaled
from .matrices import diag, diag_part
from .qr import without_complement
from .reduction import reduce_max, reduce_sum
from .reshaping import ExpandDims
from .stacks import adjoint_of, check_matrices, matrices, times


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """`(s, u, v)`: descending singular values, and orthonormal columns with `tensor = u @ diag(s) @ adjoint(v)`.

    Without `compute_uv` it is `s` only. All shapes have derivatives of any order where singular values differ and are
    not 0. Vectors of equal singular values (equal but for rounding) are determined up to a common rotation and have no
    derivative; the rule takes that rotation for none, which gives finite numbers, right for sums over all of them.
    Likewise terms with the inverse of a singular value 0 are left out. Of the columns that `full_matrices` adds, only
    the space that they span is determined; of complex vectors, the phase is arbitrary: derivatives are right for what
    depends on neither. For pseudo-inverses use `pinv`, whose derivative needs no gaps.

    Shapes: [..., m, n] gives [..., k], [..., m, k] and [..., n, k] with k = min(m, n); with `full_matrices` `u` is
    [..., m, m] and `v` [..., n, n]. Dtypes: float32, float64, complex64, complex128; `s` is real.

    Raises:
        ValueError: `tensor` has less than two axes. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.svd([[0.0, 2.0], [1.0, 0.0]], compute_uv=False))
    array([2., 1.], dtype=float32)
    """
    x = matrices("svd", tensor)
    return Svd(bool(compute_uv), bool(full_matrices and compute_uv))(x, name=name)


class Svd(Primitive):
    type = "Svd"
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
        k = None if m is None or n is None else min(m, n)
        s = TensorType(parts, TensorShape([*dims[:-2], k]))
        if not self.compute_uv:
            return (s,)
        u = TensorShape([*dims[:-2], m, m if self.full_matrices else k])
        v = TensorShape([*dims[:-2], n, n if self.full_matrices else k])
        return s, TensorType(x.dtype, u), TensorType(x.dtype, v)

    def kernel(self, xp: Any, x: Any) -> Any:
        if not self.compute_uv:
            return xp.linalg.svd(x, compute_uv=False)
        u, s, vh = xp.linalg.svd(x, full_matrices=self.full_matrices)
        return s, u, adjoint(xp, vh)

    def gradient(
        self, op: Operation, ds: Tensor | None, du: Tensor | None = None, dv: Tensor | None = None
    ) -> Sequence[Any]:
        if ds is None and du is None and dv is None:
            return (None,)
        return (lambda: self._back(op, ds, du, dv),)

    def _back(self, op: Operation, ds: Tensor | None, du: Tensor | None, dv: Tensor | None) -> Tensor:
        x = op.inputs[0]
        s, u, v = op.outputs if self.compute_uv else Svd()(x)
        if self.full_matrices:
            du = None if du is None else without_complement(v, u, du)
            dv = None if dv is None else without_complement(u, v, dv)
            u, v = corner(u, u, v), corner(v, v, u)
        if du is None and dv is None:
            assert ds is not None
            return times(scaled(u, cast(ds, x.dtype)), v, adjoint_b=True)
        m, n = (None, None) if x.shape.dims is None else x.shape.dims[-2:]
        sizes = cast(s, x.dtype)
        inverse = cast(InverseOrZero()(s), x.dtype)
        inner = None if ds is None else diag(cast(ds, x.dtype))
        gaps = cast(InverseSquareGaps()(s), x.dtype)
        outside = []
        if du is not None:
            turned = times(u, du, adjoint_a=True)
            term = scaled(gaps * (turned - adjoint_of(turned)), sizes)
            if x.dtype in COMPLEX:
                around = imag(diag_part(turned))
                term = term + diag(complex_number(around * 0, around) * inverse)
            inner = term if inner is None else inner + term
            if m is None or n is None or m > n:
                outside.append(times(scaled(du - times(u, turned), inverse), v, adjoint_b=True))
        if dv is not None:
            turned = times(v, dv, adjoint_a=True)
            term = ExpandDims((-1,))(sizes) * (gaps * (turned - adjoint_of(turned)))
            inner = term if inner is None else inner + term
            if m is None or n is None or n > m:
                outside.append(times(scaled(u, inverse), dv - times(v, turned), adjoint_b=True))
        assert inner is not None
        total = times(u, times(inner, v, adjoint_b=True))
        for term in outside:
            total = total + term
        return total


class InverseSquareGaps(Primitive):
    """`1 / (s[j]**2 - s[i]**2)` at `i, j`, and 0 where they are equal but for rounding."""

    type = "InverseSquareGaps"

    def infer(self, s: TensorType) -> tuple[TensorType, ...]:
        dims = s.shape.dims
        return (TensorType(s.dtype, TensorShape.UNKNOWN if dims is None else TensorShape([*dims, dims[-1]])),)

    def kernel(self, xp: Any, s: Any) -> Any:
        a, b = s[..., None, :], s[..., :, None]
        rounding = xp.asarray(s.shape[-1] * np.finfo(s.dtype).eps, s.dtype)
        bound = xp.max(s, axis=-1, keepdims=True, initial=0)[..., None] * rounding
        apart = xp.abs(a - b) > bound
        gaps = xp.where(apart, (a - b) * (a + b), xp.ones((), s.dtype))
        return xp.where(apart, 1 / gaps, xp.zeros((), s.dtype))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        def back() -> Tensor:
            s, y = op.inputs[0], op.outputs[0]
            change = dy * y * y
            return 2.0 * s * (reduce_sum(change, -1) - reduce_sum(change, -2))

        return (back,)


class InverseOrZero(Primitive):
    """`1 / s`, and 0 where `s` is 0 but for rounding."""

    type = "InverseOrZero"

    def infer(self, s: TensorType) -> tuple[TensorType, ...]:
        return (s,)

    def kernel(self, xp: Any, s: Any) -> Any:
        rounding = xp.asarray(s.shape[-1] * np.finfo(s.dtype).eps, s.dtype)
        positive = s > xp.max(s, axis=-1, keepdims=True, initial=0) * rounding
        return xp.where(positive, 1 / xp.where(positive, s, xp.ones((), s.dtype)), xp.zeros((), s.dtype))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        y = op.outputs[0]
        return (lambda: -dy * y * y,)


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
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
    with x.graph.name_scope(name or "matrix_rank"):
        s = svd(x, compute_uv=False)
        if tol is None:
            m, n = (None, None) if x.shape.dims is None else x.shape.dims[-2:]
            if m is None or n is None:
                raise ValueError(f"matrix_rank: the lengths of {x.type} must be known, or tol= given")
            bound = reduce_max(s, -1, keepdims=True) * float(np.finfo(s.dtype).eps * max(m, n))
        else:
            bound = ExpandDims((-1,))(convert_to_tensor(tol, s.dtype))
        return reduce_sum(cast(greater(s, bound), int32), -1)
