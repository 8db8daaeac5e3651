"""Eigenvalue decomposition: eigenvalues and eigenvectors, of symmetric matrices and of others.

Derivatives: Giles 2008, "Collected matrix derivative results"; Boeddeker et al. 2017 (arXiv:1701.00392) for complex
and general matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import COMPLEX, complex64, complex128, float32
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import links_of_matrices, links_of_vectors
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..casting.cast import cast
from ..complex.complex import conj, real
from ..indexing.gather import boolean_mask
from ..logic.comparison import greater, less_equal
from ..logic.logical import logical_and
from ..reduction.reduce import reduce_sum
from ..shape.pad import pad
from ..shape.squeeze import ExpandDims
from .contraction import finite_or_unit, or_nan
from .inverses import MatrixSolve
from .matrices import diag, diag_part
from .stacks import HermitianPart, LowerPart, check_matrices, matrices, times


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """`(e, v)`: ascending eigenvalues of symmetric (Hermitian) matrices, and orthonormal eigenvectors as columns.

    Only the lower triangle of `tensor` is read, and the derivative has only that. `e` of complex matrices is complex,
    as in TensorFlow, with imaginary part 0.

    Eigenvectors of equal eigenvalues (equal but for rounding) are determined up to a rotation among them, and have no
    derivative. What does not depend on that rotation may have one; the rule takes the rotation among them for none,
    which is right for sums over all of them (`v @ adjoint(v)`, the sum of `e`), finite always, and else not to be
    relied on: for functions of matrices use `expm`, `logm`, `sqrtm`, `inv`, `pinv`. Of complex eigenvectors the phase
    is arbitrary; derivatives are right for what does not depend on it.

    Shapes: [..., n, n] gives [..., n] and [..., n, n]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx = V (diag(de) + F * (V^H dV)) V^H with F_ij = 1 / (e_j - e_i), 0 for equal ones; brought to the
    triangle that is read.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])[0])
    array([1., 2.], dtype=float32)
    """
    e, v = SelfAdjointEig().operation(matrices("eigh", tensor, square=True), name=name).outputs
    return e, v


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of symmetric (Hermitian) matrices in ascending order, as of `eigh`.

    Shapes: [..., n, n] gives [..., n]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx = V diag(de) V^H, brought to the triangle that is read.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.], dtype=float32)
    """
    return SelfAdjointEig(False)(matrices("eigvalsh", tensor, square=True), name=name)


@in_graph_of_inputs
def eigh_tridiagonal(
    alpha: TensorLike,
    beta: TensorLike,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Sequence[float] | None = None,
    tol: float | None = None,
    name: str | None = None,
) -> Any:
    """The ascending eigenvalues of the Hermitian matrix with diagonal `alpha` and `beta` below it, by `eigvalsh`.

    Without `eigvals_only` it is the pair of them and their eigenvectors, as columns. `select` "a" gives all, "i" those
    with the numbers from `select_range[0]` to `select_range[1]`, both counted, "v" those above the first number of
    `select_range` and up to the second; how many that are a run decides, so that XLA cannot. `tol` changes nothing: all
    are as exact as the dtype allows.

    Shapes: `alpha` [n], `beta` [n - 1]; the results [k] and [n, k]. Dtypes: float32, float64, complex64, complex128,
    the same for both; eigenvalues are real.

    Derivative: dalpha_i = sum over k of de_k * |v_ik|^2, dbeta_i = sum over k of 2 * de_k * v_(i+1)k * conj(v_ik); of
    eigenvectors that of eigh.

    Raises:
        ValueError: another `select`, a range that does not fit it, or the shapes do not fit. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.eigh_tridiagonal([2.0, 2.0], [1.0]))
    array([1., 3.], dtype=float32)
    """
    del tol
    if select not in ("a", "i", "v") or (select != "a") != (select_range is not None):
        raise ValueError(
            f"eigh_tridiagonal: select 'a' takes no select_range, 'i' and 'v' take two numbers, not {select!r} with "
            f"{select_range!r}"
        )
    main, below = operands(alpha, beta)
    if main.shape.rank not in (1, None) or below.shape.rank not in (1, None):
        raise ValueError(f"eigh_tridiagonal: vectors of n and of n - 1 elements are needed, not {main} and {below}")
    with main.graph.within(name or "eigh_tridiagonal"):
        x = diag(main) + pad(diag(below), [[1, 0], [0, 1]])
        if eigvals_only:
            return _selected(real(eigvalsh(x)), select, select_range)[0]
        e, v = eigh(x)
        return tuple(_selected(real(e), select, select_range, v))


def _selected(e: Tensor, select: str, bounds: Any, *vectors: Tensor) -> list[Tensor]:
    """The eigenvalues within `bounds`, and their columns of `vectors`."""
    if select == "a":
        return [e, *vectors]
    low, high = bounds
    if select == "i":
        return [e[low : high + 1], *[v[:, low : high + 1] for v in vectors]]
    within = logical_and(greater(e, low), less_equal(e, high))
    return [boolean_mask(e, within), *[boolean_mask(v, within, axis=1) for v in vectors]]


class SelfAdjointEig(Primitive):
    type = "SelfAdjointEigV2"
    takes_none = True

    compute_v: bool = True

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return _infer("eigh", x, x.dtype, self.compute_v)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        finite, x = finite_or_unit(xp, xp.tril(x))
        if not self.compute_v:
            return or_nan(xp, finite[..., 0], xp.linalg.eigvalsh(x).astype(x.dtype))
        e, v = xp.linalg.eigh(x)
        return or_nan(xp, finite[..., 0], e.astype(x.dtype)), or_nan(xp, finite, v)

    def gradient(self, op: Operation, de: Tensor | None, dv: Tensor | None = None) -> Sequence[Any]:
        if de is None and dv is None:
            return (None,)

        def back() -> Tensor:
            e, v = op.outputs if self.compute_v else SelfAdjointEig().operation(op.inputs[0]).outputs
            if dv is None:
                assert de is not None
                inner = times(scaled(v, de), v, adjoint_b=True)
            else:
                turned = times(v, dv, adjoint_a=True) * InverseGaps()(e)
                inner = times(v, times(turned if de is None else turned + diag(de), v, adjoint_b=True))
            # Twice below the diagonal: what is above it is not read.
            return LowerPart(1.0, 2.0)(HermitianPart()(inner))

        return (back,)


def scaled(v: Tensor, s: Tensor) -> Tensor:
    """Each column of `v` times a number of `s`."""
    return v * ExpandDims((-2,))(s)


class InverseGaps(Primitive):
    """`1 / (e[j] - e[i])` at `i, j`, and 0 where they are equal but for rounding."""

    def infer(self, e: TensorType) -> tuple[TensorType, ...]:
        dims = e.shape.lengths
        return (TensorType(e.dtype, TensorShape.UNKNOWN if dims is None else TensorShape([*dims, dims[-1]])),)

    links = links_of_vectors

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


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """`(e, v)`: the eigenvalues of each matrix, in no order, and eigenvectors of length 1 as columns; complex always.

    Derivatives of `v` are right for what does not depend on the phase of eigenvectors, where eigenvalues differ; of
    `e` where `v` is regular. Gaps of equal eigenvalues are treated as by `eigh`.

    Shapes: [..., n, n] gives [..., n] and [..., n, n]. Dtypes: float32, complex64 give complex64; float64, complex128
    give complex128.

    Derivative: dx = V^-H (diag(de) + F * (V^H dV - V^H V diag(real(V^H dV)))) V^H with F_ij = 1 / conj(e_j - e_i), 0
    for equal ones.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.eig([[2.0, 0.0], [0.0, 1.0]])[0])
    array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    e, v = Eig().operation(matrices("eig", tensor, square=True), name=name).outputs
    return e, v


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of each matrix, in no order; complex always, as of `eig`.

    Shapes: [..., n, n] gives [..., n]. Dtypes: float32, complex64 give complex64; float64, complex128 give complex128.

    Derivative: dx = V^-H diag(de) V^H.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]))
    array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    return Eig(False)(matrices("eigvals", tensor, square=True), name=name)


class Eig(Primitive):
    takes_none = True

    compute_v: bool = True

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return _infer("eig", x, _complex_dtype(x.dtype), self.compute_v)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        dtype = _complex_dtype(x.dtype)
        finite, x = finite_or_unit(xp, x)
        if not self.compute_v:
            return or_nan(xp, finite[..., 0], xp.linalg.eigvals(x).astype(dtype))
        e, v = xp.linalg.eig(x)
        return or_nan(xp, finite[..., 0], e.astype(dtype)), or_nan(xp, finite, v.astype(dtype))

    def gradient(self, op: Operation, de: Tensor | None, dv: Tensor | None = None) -> Sequence[Any]:
        if de is None and dv is None:
            return (None,)

        def back() -> Tensor:
            x = op.inputs[0]
            e, v = op.outputs if self.compute_v else Eig().operation(x).outputs
            inner = None if de is None else diag(de)
            if dv is not None:
                along = times(v, dv, adjoint_a=True)
                lengths = cast(real(diag_part(along)), v.dtype)
                turned = (along - scaled(times(v, v, adjoint_a=True), lengths)) * conj(InverseGaps()(e))
                inner = turned if inner is None else inner + turned
            assert inner is not None
            dx = MatrixSolve(True)(v, times(inner, v, adjoint_b=True))
            return dx if x.dtype in COMPLEX else real(dx)

        return (back,)


def _complex_dtype(dtype: Any) -> Any:
    return complex64 if dtype in (float32, complex64) else complex128


def _infer(what: str, x: TensorType, dtype: Any, compute_v: bool) -> tuple[TensorType, ...]:
    dims = check_matrices(what, x, square=True)
    e = TensorType(dtype, TensorShape.UNKNOWN if dims is None else TensorShape(dims[:-1]))
    return (e, TensorType(dtype, x.shape)) if compute_v else (e,)
