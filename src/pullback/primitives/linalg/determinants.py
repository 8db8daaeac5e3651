"""Determinants and their logarithms.

The derivative of a determinant is the matrix of cofactors, which is there for singular matrices too; it and its own
derivative are computed from singular values, without a division (Magnus and Neudecker 1988, section 8.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import COMPLEX, DType, complex64, complex128, float32, float64
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, same_type
from ...core.shape import TensorShape
from ...core.traits import SINGULAR, linear, links_of_matrices
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..casting.cast import cast
from ..complex.complex import complex as complex_number
from ..complex.complex import conj, imag, real
from ..creation.fill import ones_like
from ..creation.ranges import range_
from ..elementwise.division import divide_no_nan
from ..elementwise.exponential import log
from ..elementwise.sign import absolute
from ..elementwise.trigonometric import cos, sin
from ..identity.identity import stop_gradient
from ..indexing.where import where
from ..logic.comparison import equal
from ..reduction.reduce import reduce_max, reduce_mean, reduce_sum
from ..shape.size import shape
from ..shape.squeeze import ExpandDims
from .contraction import adjoint as adjoint_kernel
from .contraction import svd_kernel
from .inverses import MatrixInverse
from .matrices import diag_part
from .stacks import check_matrices, matrices
from .triangular import cholesky


def det(input: TensorLike, name: str | None = None) -> Tensor:
    """The determinant of each matrix.

    The derivatives of every order are right for every matrix, the singular ones too. From the third on they cost n
    decompositions into singular values.

    Shapes: [..., n, n]; the result [...]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx = dy * cofactors(x), which is dy * y * inv(x)^T where x is regular.

    Raises:
        ValueError: not square. TypeError: another dtype.

    >>> import pullback as pb
    >>> x = pb.constant([[1.0, 2.0], [2.0, 4.0]])
    >>> pb.Session().run(pb.gradients(pb.linalg.det(x), x)[0]).round(3)
    array([[ 4., -2.],
           [-2.,  1.]], dtype=float32)
    """
    return MatrixDeterminant()(matrices("det", input, square=True), name=name)


class MatrixDeterminant(Primitive):
    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = check_matrices("det", x, square=True)
        return (TensorType(x.dtype, TensorShape.UNKNOWN if dims is None else TensorShape(dims[:-2])),)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.asarray(xp.linalg.det(x), x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: _on_matrix(dy) * Cofactors()(conj(op.inputs[0])),)


def _on_matrix(y: Tensor) -> Tensor:
    """`y`, one number for each matrix, so that it broadcasts against the matrices."""
    return ExpandDims((-2, -1))(y)


class Cofactors(Primitive):
    """The derivative of the determinant by each element: `det(x) * transpose(inv(x))`, for singular `x` too."""

    infer = same_type

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        u, s, vh = svd_kernel(xp, x)
        others = _products_of_others(xp, s, 1).astype(x.dtype)
        y = xp.matmul(u * others[..., None, :], vh)
        return _phase(xp, u, vh) * xp.conj(y)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        # The second derivative of det is symmetric, so that this derivative is its own transpose.
        return (lambda: CofactorChange()(conj(op.inputs[0]), dy),)


class CofactorChange(Primitive):
    """The derivative of the cofactors of `x` in the direction `d`."""

    traits = (linear(1),)

    def infer(self, x: TensorType, d: TensorType) -> tuple[TensorType, ...]:
        del d
        return (x,)

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any, d: Any) -> Any:
        u, s, vh = svd_kernel(xp, x)
        others = _products_of_others(xp, s, 2).astype(x.dtype)
        inner = xp.matmul(adjoint_kernel(xp, u), xp.matmul(d, adjoint_kernel(xp, vh)))
        turned = -others * xp.swapaxes(inner, -1, -2)
        sums = xp.matmul(others, xp.diagonal(inner, axis1=-2, axis2=-1)[..., None])
        change = turned + sums * xp.eye(x.shape[-1], dtype=x.dtype)
        back = xp.matmul(xp.conj(u), xp.matmul(change, xp.conj(vh)))
        return _phase(xp, u, vh) * back

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, d = op.inputs
        return lambda: _third(conj(x), conj(d), dy), lambda: CofactorChange()(conj(x), dy)


def _products_of_others(xp: Any, s: Any, count: int) -> Any:
    """The product of all `s` but one, for each one; or but two, for each pair, 0 for those of equal numbers."""
    left_out = np.eye(s.shape[-1], dtype=bool)
    parts, powers = powers_apart(xp, s)
    one, total = xp.ones((), s.dtype), xp.sum(powers, axis=-1)
    if count == 1:
        products = xp.prod(xp.where(left_out, one, parts[..., None, :]), axis=-1, dtype=s.dtype)
        return xp.ldexp(products, total[..., None] - powers)
    pairs = left_out[:, None, :] | left_out[None, :, :]
    products = xp.prod(xp.where(pairs, one, parts[..., None, None, :]), axis=-1, dtype=s.dtype)
    products = xp.ldexp(products, total[..., None, None] - powers[..., :, None] - powers[..., None, :])
    return xp.where(left_out, xp.zeros((), s.dtype), products)


def powers_apart(xp: Any, x: Any) -> tuple[Any, Any]:
    """Numbers of sizes from sqrt(1/2) to sqrt(2), and the powers of two that they are multiplied with to be `x`.

    Products of some hundreds of the first neither overflow nor underflow, where those of `x` do on the way.
    """
    parts, powers = xp.frexp(xp.abs(x))
    powers = powers - (parts < np.sqrt(0.5))
    return x * xp.ldexp(xp.ones((), parts.dtype), -powers), powers


def _phase(xp: Any, u: Any, vh: Any) -> Any:
    """The determinant of `u @ vh`, which has absolute value 1."""
    return xp.asarray(xp.linalg.det(xp.matmul(u, vh)), u.dtype)[..., None, None]


def _third(x: Tensor, f: Tensor, g: Tensor) -> Tensor:
    """The third derivative of det in the directions `f` and `g` and by each element, for singular `x` too.

    It is the part of first order in `t` of the cofactors' change at `x + t f` in the direction `g`, a polynomial of a
    degree below n: a mean over n points of a circle, as wide as `x` is long. Its derivatives are of the same kind.
    """
    wide = complex64 if x.dtype in (float32, complex64) else complex128
    radius = stop_gradient(_ratio_of_lengths(x, f))
    turns = _turns(x, wide)
    points = ExpandDims((-3,))(cast(x, wide)) + turns * ExpandDims((-3,))(cast(f * radius, wide))
    shares = conj(turns) * ExpandDims((-3,))(cast(g / radius, wide))
    result = reduce_mean(CofactorChange()(points, shares), -3)
    return result if x.dtype in COMPLEX else real(result)


def _ratio_of_lengths(x: Tensor, f: Tensor) -> Tensor:
    """The length of `x` divided by that of `f`, or 1 where either is 0."""
    length, other = [reduce_max(absolute(z), (-2, -1), keepdims=True) for z in (x, f)]
    ratio = cast(divide_no_nan(length, other), x.dtype)
    return where(equal(ratio, 0), ones_like(ratio), ratio)


def _turns(x: Tensor, dtype: DType) -> Tensor:
    """The n-th roots of one, for n the length of the last axis of `x`: [n, 1, 1]."""
    n = None if x.shape.sizes is None else x.shape.sizes[-1]
    numbers = range_(shape(x)[-1] if n is None else n)
    parts = float64 if dtype == complex128 else float32
    step = 2 * np.pi / cast(shape(x)[-1] if n is None else n, parts)
    angles = ExpandDims((-2, -1))(cast(numbers, parts) * step)
    return complex_number(cos(angles), sin(angles))


class SignedLogarithm(NamedTuple):
    """The sign of a number, and the logarithm of its absolute value."""

    sign: Tensor
    log_abs_determinant: Tensor


def slogdet(input: TensorLike, name: str | None = None) -> SignedLogarithm:
    """`(sign, log)`: the sign of each determinant, for complex ones its phase, and the logarithm of its absolute value.

    Of a singular matrix they are 0 and -inf, without a derivative. The logarithm of complex matrices is complex, as
    in TensorFlow, with imaginary part 0.

    Shapes: [..., n, n]; the results [...]. Dtypes: float32, float64, complex64, complex128.

    Derivative: dx = dlog * inv(x)^T; of complex matrices the phase has one too.

    Raises:
        ValueError: not square. TypeError: another dtype. InvalidArgumentError in a run on NumPy of the derivative at a
        singular matrix; XLA gives infinities or NaN.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]]))
    SignedLogarithm(sign=np.float32(-1.0), log_abs_determinant=np.float32(0.0))
    """
    sign, logarithm = LogMatrixDeterminant().operation(matrices("slogdet", input, square=True), name=name).outputs
    return SignedLogarithm(sign, logarithm)


class LogMatrixDeterminant(Primitive):
    traits = (SINGULAR,)
    takes_none = True

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = check_matrices("slogdet", x, square=True)
        y = TensorType(x.dtype, TensorShape.UNKNOWN if dims is None else TensorShape(dims[:-2]))
        return y, y

    links = links_of_matrices

    def kernel(self, xp: Any, x: Any) -> Any:
        sign, logarithm = xp.linalg.slogdet(x)
        return xp.asarray(sign, x.dtype), xp.asarray(logarithm).astype(x.dtype)

    def gradient(self, op: Operation, dsign: Tensor | None, dlog: Tensor | None) -> Sequence[Any]:
        x, sign = op.inputs[0], op.outputs[0]
        if x.dtype not in COMPLEX:
            if dlog is None:
                return (None,)
            return (lambda: _on_matrix(dlog) * MatrixInverse(True)(x),)

        def back() -> Tensor:
            zero = real(sign) * 0
            along = zero if dlog is None else real(dlog)
            around = zero if dsign is None else imag(dsign * conj(sign))
            return _on_matrix(complex_number(along, around)) * MatrixInverse(True)(x)

        return (back,)


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of each symmetric (Hermitian) positive definite matrix.

    Shapes: [..., n, n]; the result [...]. Dtypes: float32, float64, complex64, complex128; of complex ones real.

    Derivative: dx = dy * inv(x).

    Raises:
        ValueError: not square. TypeError: another dtype. InvalidArgumentError in a run on NumPy: not positive definite;
        XLA gives NaN.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.logdet([[1.0, 0.0], [0.0, 1.0]]))
    np.float32(0.0)
    """
    x = matrices("logdet", matrix, square=True)
    with x.graph.within(name or "logdet"):
        return 2.0 * reduce_sum(log(real(diag_part(cholesky(x)))), -1)
