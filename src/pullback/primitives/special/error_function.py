"""Error function and its kin: erf, erfc, their inverses, the normal quantile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.dtypes import FLOATING
from ...core.intervals import ANY, SIGNED_UNIT, Interval
from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, in_float32, unary
from ..elementwise.arithmetic import multiply
from ..elementwise.masking import multiply_no_nan
from . import error_function_kernels as special_kernels


def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """The error function of each element, `2 / sqrt(pi)` times the integral of `exp(-t^2)` from 0 to `x`.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * 2 / sqrt(pi) * exp(-x^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.erf([0.0, 1.0]))
    array([0.       , 0.8427...], dtype=float32)
    """
    return unary(Erf(), x, name)


class Erf(AbstractElementwise):
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return special_kernels.erf(xp, x)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(ExpSquare(-1.0, 2 / math.sqrt(math.pi))(x), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return SIGNED_UNIT._replace(nan=xs[0].nan)


def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 - erf(x)`, element by element, exact for large `x`.

    Shapes: any. Dtypes: any float.

    Derivative: dx = -dy * 2 / sqrt(pi) * exp(-x^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.erfc([0.0, 1.0]))
    array([1.       , 0.1572...], dtype=float32)
    """
    return unary(Erfc(), x, name)


class Erfc(AbstractElementwise):
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return special_kernels.erfc(xp, x)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(ExpSquare(-1.0, -2 / math.sqrt(math.pi))(x), dy),)


def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The number whose `erf` is each element; -inf and inf for -1 and 1, NaN beyond.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * sqrt(pi) / 2 * exp(y^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.erfinv([0.0, 0.5]))
    array([0.       , 0.4769...], dtype=float32)
    """
    return unary(Erfinv(), x, name)


class Erfinv(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        quantile = special_kernels.quantile(xp, xp.multiply(x, 0.5), xp.multiply(xp.subtract(1, xp.abs(x)), 0.5))
        return xp.multiply(quantile, math.sqrt(0.5))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: multiply_no_nan(ExpSquare(1.0, math.sqrt(math.pi) / 2)(y), dy),)


def ndtri(x: TensorLike, name: str | None = None) -> Tensor:
    """The quantile function of the standard normal distribution; -inf and inf for 0 and 1, NaN beyond.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * sqrt(2 * pi) * exp(y^2 / 2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.ndtri([0.5, 0.975]))
    array([0.      , 1.9599...], dtype=float32)
    """
    return unary(Ndtri(), x, name)


class Ndtri(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return special_kernels.quantile(xp, xp.subtract(x, 0.5), xp.minimum(x, xp.subtract(1, x)))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: multiply_no_nan(ExpSquare(0.5, math.sqrt(2 * math.pi))(y), dy),)


def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The number whose `erfc` is each element; inf and -inf for 0 and 2, NaN beyond.

    Shapes: any. Dtypes: any float.

    Derivative: dx = -dy * sqrt(pi) / 2 * exp(y^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.erfcinv([0.5, 1.5]))
    array([ 0.4769..., -0.4769...], dtype=float32)
    """
    return multiply(ndtri(multiply(x, 0.5)), -math.sqrt(0.5), name or "erfcinv")


class ExpSquare(AbstractElementwise):
    """`factor * exp(scale * x^2)`: the derivative of the error functions, as one operation."""

    traits = (ELEMENTWISE, SINGULAR)
    dtypes = FLOATING

    scale: float
    factor: float

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.multiply(xp.exp(xp.multiply(xp.square(x), self.scale)), self.factor)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        return (lambda: multiply_no_nan(y * x * (2 * self.scale), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        if self.scale > 0:
            return ANY
        return Interval(min(0.0, self.factor), max(0.0, self.factor), xs[0].nan)
