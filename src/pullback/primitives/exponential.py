"""Exponentials and logarithms, and the sigmoid with its kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import FLOATING, INEXACT
from ..core.operation import Tensor
from ..core.traits import ELEMENTWISE, linear
from ..core.typing import TensorLike
from .arithmetic import Neg
from .comparison import not_equal
from .complex import conj
from .elementwise import AbstractElementwise, Entry, binary, in_float32, unary
from .masking import kept, mask, masked_divide, multiply_no_nan, quotient_grad


def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """`e` to the power of each element.

    Shapes: any. Dtypes: any float or complex. The derivative is 0 for a cotangent that is 0, even where it overflows.

    Derivative: dx = dy * y.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.exp([0.0, 1.0]))
    array([1.      , 2.7182...], dtype=float32)
    """
    return unary(Exp(), x, name)


class Exp(AbstractElementwise):
    type = "Exp"
    dtypes = INEXACT

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.exp(x)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: multiply_no_nan(conj(y), dy),)


def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """`exp(x) - 1`, element by element, exact for small `x`.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy * exp(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.expm1([0.0, 1.0]))
    array([0.       , 1.7182...], dtype=float32)
    """
    return unary(Expm1(), x, name)


class Expm1(AbstractElementwise):
    type = "Expm1"
    dtypes = INEXACT

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.expm1(x)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(exp(conj(x)), dy),)


def log(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm of each element; -inf for 0, NaN for a negative real one.

    Shapes: any. Dtypes: any float or complex. The derivative at 0 is infinite, and 0 for a cotangent that is 0.

    Derivative: dx = dy / x.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.log([1.0, 2.0]))
    array([0.       , 0.6931...], dtype=float32)
    """
    return unary(Log(), x, name)


class Log(AbstractElementwise):
    type = "Log"
    dtypes = INEXACT

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.log(x)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: masked_divide(dy, conj(x)),)


def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + x)`, element by element, exact for small `x`.

    Shapes: any. Dtypes: any float or complex. The derivative at -1 is infinite, and 0 for a cotangent that is 0.

    Derivative: dx = dy / (1 + x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.log1p([0.0, 1.0]))
    array([0.       , 0.6931...], dtype=float32)
    """
    return unary(Log1p(), x, name)


class Log1p(AbstractElementwise):
    type = "Log1p"
    dtypes = INEXACT

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.log1p(x)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: masked_divide(dy, conj(x) + 1),)


def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 / (1 + exp(-x))`, element by element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy * y * (1 - y).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sigmoid([0.0, 1.0]))
    array([0.5      , 0.7310...], dtype=float32)
    """
    return unary(Sigmoid(), x, name)


class Sigmoid(AbstractElementwise):
    type = "Sigmoid"
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.reciprocal(xp.add(xp.exp(xp.negative(x)), 1))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: SigmoidGrad()(conj(y), dy),)


class SigmoidGrad(AbstractElementwise):
    """`dy * y * (1 - y)`."""

    type = "SigmoidGrad"
    traits = (ELEMENTWISE, linear(1))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, y: Any, dy: Any) -> Any:
        return xp.multiply(xp.multiply(xp.subtract(1, y), y), dy)

    def partials(self, dy: Tensor, dx: Tensor, y: Tensor, seed: Tensor) -> Sequence[Entry]:
        del dx
        return lambda: dy * conj(seed) * (1 - conj(y) * 2), lambda: SigmoidGrad()(conj(y), dy)


def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + exp(x))`, element by element, without overflow.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * sigmoid(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.softplus([0.0, 100.0]))
    array([  0.6931..., 100.       ], dtype=float32)
    """
    return unary(Softplus(), features, name)


class Softplus(AbstractElementwise):
    type = "Softplus"
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.add(xp.maximum(x, 0), xp.log1p(xp.exp(xp.negative(xp.abs(x)))))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: SoftplusGrad()(dy, x),)


class SoftplusGrad(AbstractElementwise):
    """`dy * sigmoid(x)`."""

    type = "SoftplusGrad"
    traits = (ELEMENTWISE, linear(0))
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, dy: Any, x: Any) -> Any:
        return xp.divide(dy, xp.add(xp.exp(xp.negative(x)), 1))

    def partials(self, dy: Tensor, dx: Tensor, seed: Tensor, x: Tensor) -> Sequence[Entry]:
        del dx
        return lambda: SoftplusGrad()(dy, x), lambda: SigmoidGrad()(sigmoid(x), dy * seed)


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """`log(sigmoid(x))`, element by element, without underflow.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * sigmoid(-x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.log_sigmoid([0.0, -100.0]))
    array([  -0.6931..., -100.       ], dtype=float32)
    """
    return unary(Neg(), softplus(unary(Neg(), x)), name or "LogSigmoid")


def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * log(y)`, element by element, and 0 where `x` is 0.

    Shapes: any that broadcast together. Dtypes: any float or complex, the same for both. The derivative by `x` is 0
    where `x` is 0.

    Derivative: dx = dz * log(y), 0 where x is 0, dy = dz * x / y.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.xlogy([2.0, 0.0], [3.0, 0.0]))
    array([2.1972..., 0.       ], dtype=float32)
    """
    return binary(Xlogy(), x, y, name)


class Xlogy(AbstractElementwise):
    type = "Xlogy"
    traits = (ELEMENTWISE, linear(0))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        return kept(xp, x != 0, xp.multiply(x, xp.log(y)))

    def partials(self, dy: Tensor, z: Tensor, x: Tensor, y: Tensor) -> Sequence[Entry]:
        del z
        return lambda: xlogy(mask(not_equal(x, 0), dy), conj(y)), lambda: xdivy(dy * conj(x), conj(y))


def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * log(1 + y)`, element by element, and 0 where `x` is 0.

    Shapes: any that broadcast together. Dtypes: any float or complex, the same for both. The derivative by `x` is 0
    where `x` is 0.

    Derivative: dx = dz * log1p(y), 0 where x is 0, dy = dz * x / (1 + y).

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.xlog1py([2.0, 0.0], [3.0, -1.0]))
    array([2.7725..., 0.       ], dtype=float32)
    """
    return binary(Xlog1py(), x, y, name)


class Xlog1py(AbstractElementwise):
    type = "Xlog1py"
    traits = (ELEMENTWISE, linear(0))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        return kept(xp, x != 0, xp.multiply(x, xp.log1p(y)))

    def partials(self, dy: Tensor, z: Tensor, x: Tensor, y: Tensor) -> Sequence[Entry]:
        del z
        return lambda: xlog1py(mask(not_equal(x, 0), dy), conj(y)), lambda: xdivy(dy * conj(x), conj(y) + 1)


def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`, element by element, and 0 where `x` is 0.

    Shapes: any that broadcast together. Dtypes: any float or complex, the same for both. The derivative by `x` is 0
    where `x` is 0.

    Derivative: dx = dz / y, dy = -dz * z / y, both 0 where x is 0.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.xdivy([2.0, 0.0], [4.0, 0.0]))
    array([0.5, 0. ], dtype=float32)
    """
    return binary(Xdivy(), x, y, name)


class Xdivy(AbstractElementwise):
    type = "Xdivy"
    traits = (ELEMENTWISE, linear(0))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        return kept(xp, x != 0, xp.divide(x, y))

    def partials(self, dy: Tensor, z: Tensor, x: Tensor, y: Tensor) -> Sequence[Entry]:
        return lambda: xdivy(mask(not_equal(x, 0), dy), conj(y)), lambda: quotient_grad(dy, conj(z), conj(y))
