"""Eigenvalues and eigenvectors.

Derivatives: Giles 2008, "Collected matrix derivative results"; Boeddeker et al. 2017 (arXiv:1701.00392) for complex
and general matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import COMPLEX, complex64, complex128, float32
from ..core.operation import Operation, Tensor
from ..core.primitive import Primitive
from ..core.shape import TensorShape
from ..core.types import TensorType
from .casting import cast
from .complex import conj, real
from .inverses import MatrixSolve
from .matrices import diag, diag_part
from .reduction import reduce_sum
from .reshaping import ExpandDims
from .stacks import HermitianPart, LowerPart, check_matrices, matrices, times


def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """`(e, v)`: ascending eigenvalues of symmetric (Hermitian) matrices, and orthonormal eigenvectors as columns.

    Only the lower triangle of `tensor` is read, and the derivative has only that. `e` of complex matrices is complex,
    as in TensorFlow, with imaginary part 0.

    Eigenvectors of equal eigenvalues (equal but for rounding) are determined up to a rotation among them, and have no
    derivative. What does not depend on that rotation may have one; the rule takes the rotation among them for none,
    which is right for sums over all of them (`v @ adjoint(v)`, the sum of `e`), finite always, and else not to be
    relied on: for functions of matrices use `expm`, `logm`, `sqrtm`, `inv`, `pinv`. Of complex eigenvectors the phase
    is arbitrary; derivatives are right for what does not depend on it.

    Shapes: [..., n, n] gives [..., n] and [..., n, n]. Dtypes: float32, float64, complex64, complex128.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])[0])
    array([1., 2.], dtype=float32)
    """
    e, v = SelfAdjointEig()(matrices("eigh", tensor, square=True), name=name)
    return e, v


def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of symmetric (Hermitian) matrices in ascending order, as of `eigh`.

    Shapes: [..., n, n] gives [..., n]. Dtypes: float32, float64, complex64, complex128.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.], dtype=float32)
    """
    e: Tensor = SelfAdjointEig(False)(matrices("eigvalsh", tensor, square=True), name=name)
    return e


class SelfAdjointEig(Primitive):
    type = "SelfAdjointEigV2"
    takes_none = True

    compute_v: bool = True

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return _infer("eigh", x, x.dtype, self.compute_v)

    def kernel(self, xp: Any, x: Any) -> Any:
        if not self.compute_v:
            return xp.linalg.eigvalsh(x).astype(x.dtype)
        e, v = xp.linalg.eigh(x)
        return e.astype(x.dtype), v

    def gradient(self, op: Operation, de: Tensor | None, dv: Tensor | None = None) -> Sequence[Any]:
        if de is None and dv is None:
            return (None,)

        def back() -> Tensor:
            e, v = op.outputs if self.compute_v else SelfAdjointEig()(op.inputs[0])
            if dv is None:
                assert de is not None
                inner = times(scaled(v, de), v, adjoint_b=True)
            else:
                turned = times(v, dv, adjoint_a=True) * InverseGaps()(e)
                inner = times(v, times(turned if de is None else turned + diag(de), v, adjoint_b=True))
            # Twice below the diagonal: what is above it is not read.
            dx: Tensor = LowerPart(1.0, 2.0)(HermitianPart()(inner))
            return dx

        return (back,)


def scaled(v: Tensor, s: Tensor) -> Tensor:
    """Each column of `v` times a number of `s`."""
    product: Tensor = v * ExpandDims((-2,))(s)
    return product


class InverseGaps(Primitive):
    """`1 / (e[j] - e[i])` at `i, j`, and 0 where they are equal but for rounding."""

    type = "InverseGaps"

    def infer(self, e: TensorType) -> tuple[TensorType, ...]:
        dims = e.shape.dims
        return (TensorType(e.dtype, TensorShape.UNKNOWN if dims is None else TensorShape([*dims, dims[-1]])),)

    def kernel(self, xp: Any, e: Any) -> Any:
        gaps = e[..., None, :] - e[..., :, None]
        rounding = xp.asarray(e.shape[-1] * np.finfo(e.dtype).eps, xp.abs(e).dtype)
        bound = xp.max(xp.abs(e), axis=-1, keepdims=True, initial=0)[..., None] * rounding
        apart = xp.abs(gaps) > bound
        return xp.where(apart, 1 / xp.where(apart, gaps, xp.ones_like(gaps)), xp.zeros_like(gaps))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        def back() -> Tensor:
            y = conj(op.outputs[0])
            change = dy * y * y
            return reduce_sum(change, -1) - reduce_sum(change, -2)

        return (back,)


def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """`(e, v)`: the eigenvalues of each matrix, in no order, and eigenvectors of length 1 as columns; complex always.

    Derivatives of `v` are right for what does not depend on the phase of eigenvectors, where eigenvalues differ; of
    `e` where `v` is regular. Gaps of equal eigenvalues are treated as by `eigh`.

    Shapes: [..., n, n] gives [..., n] and [..., n, n]. Dtypes: float32, complex64 give complex64; float64, complex128
    give complex128.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.eig([[2.0, 0.0], [0.0, 1.0]])[0])
    array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    e, v = Eig()(matrices("eig", tensor, square=True), name=name)
    return e, v


def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of each matrix, in no order; complex always, as of `eig`.

    Shapes: [..., n, n] gives [..., n]. Dtypes: float32, complex64 give complex64; float64, complex128 give complex128.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]))
    array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    e: Tensor = Eig(False)(matrices("eigvals", tensor, square=True), name=name)
    return e


class Eig(Primitive):
    type = "Eig"
    takes_none = True

    compute_v: bool = True

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return _infer("eig", x, _complex_dtype(x.dtype), self.compute_v)

    def kernel(self, xp: Any, x: Any) -> Any:
        dtype = _complex_dtype(x.dtype)
        if not self.compute_v:
            return xp.linalg.eigvals(x).astype(dtype)
        e, v = xp.linalg.eig(x)
        return e.astype(dtype), v.astype(dtype)

    def gradient(self, op: Operation, de: Tensor | None, dv: Tensor | None = None) -> Sequence[Any]:
        if de is None and dv is None:
            return (None,)

        def back() -> Tensor:
            x = op.inputs[0]
            e, v = op.outputs if self.compute_v else Eig()(x)
            inner = None if de is None else diag(de)
            if dv is not None:
                along = times(v, dv, adjoint_a=True)
                lengths = cast(real(diag_part(along)), v.dtype)
                turned = (along - scaled(times(v, v, adjoint_a=True), lengths)) * conj(InverseGaps()(e))
                inner = turned if inner is None else inner + turned
            assert inner is not None
            dx: Tensor = MatrixSolve(True)(v, times(inner, v, adjoint_b=True))
            return dx if x.dtype in COMPLEX else real(dx)

        return (back,)


def _complex_dtype(dtype: Any) -> Any:
    return complex64 if dtype in (float32, complex64) else complex128


def _infer(what: str, x: TensorType, dtype: Any, compute_v: bool) -> tuple[TensorType, ...]:
    dims = check_matrices(what, x, square=True)
    e = TensorType(dtype, TensorShape.UNKNOWN if dims is None else TensorShape(dims[:-1]))
    return (e, TensorType(dtype, x.shape)) if compute_v else (e,)
