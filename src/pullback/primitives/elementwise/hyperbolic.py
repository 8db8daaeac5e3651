"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import COMPLEX, INEXACT
from ...core.intervals import SIGNED_UNIT, Interval
from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR, linear
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, in_float32, unary, unary_kernel
from ..complex.complex import conj
from .masking import masked_divide, multiply_no_nan
from .powers import OneMinusSquare, sqrt


def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic sine of each element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy * cosh(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sinh([0.0, 1.0]))
    array([0.       , 1.1752...], dtype=float32)
    """
    return unary(Sinh(), x, name)


class Sinh(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("sinh")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(cosh(conj(x)), dy),)


def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic cosine of each element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy * sinh(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.cosh([0.0, 1.0]))
    array([1.       , 1.5430...], dtype=float32)
    """
    return unary(Cosh(), x, name)


class Cosh(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("cosh")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(sinh(conj(x)), dy),)


def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent of each element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy * (1 - y^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tanh([0.0, 1.0]))
    array([0.       , 0.7615...], dtype=float32)
    """
    return unary(Tanh(), x, name)


class Tanh(AbstractElementwise):
    dtypes = INEXACT
    kernel = unary_kernel("tanh")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: TanhGrad()(conj(y), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return SIGNED_UNIT._replace(nan=xs[0].nan)


class TanhGrad(AbstractElementwise):
    """`dy * (1 - y^2)`."""

    traits = (ELEMENTWISE, linear(1))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, y: Any, dy: Any) -> Any:
        return xp.multiply(xp.subtract(1, xp.multiply(y, y)), dy)

    def partials(self, dy: Tensor, dx: Tensor, y: Tensor, seed: Tensor) -> Sequence[Entry]:
        del dx
        return lambda: dy * conj(seed) * (conj(y) * -2), lambda: TanhGrad()(conj(y), dy)


def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine of each element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy / cosh(y).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.asinh([0.0, 1.0]))
    array([0.       , 0.8813...], dtype=float32)
    """
    return unary(Asinh(), x, name)


class Asinh(AbstractElementwise):
    dtypes = INEXACT
    kernel = unary_kernel("arcsinh")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: masked_divide(dy, cosh(conj(y))),)


def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine of each element; NaN for a real one below 1.

    Shapes: any. Dtypes: any float or complex. The derivative at 1 is infinite, and 0 for a cotangent that is 0.

    Derivative: dx = dy / sinh(y).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.acosh([1.0, 2.0]))
    array([0.      , 1.3169...], dtype=float32)
    """
    return unary(Acosh(), x, name)


class Acosh(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("arccosh")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        """`dy / sinh(y)`; of real numbers by `x`, by two roots, for the square of a large number is infinite.

        One after the other, for the derivative by the root that is finite at 1 is 0 * inf of their product.
        """
        if x.dtype in COMPLEX:
            return (lambda: masked_divide(dy, sinh(conj(y))),)
        return (lambda: masked_divide(masked_divide(dy, sqrt(x - 1)), sqrt(x + 1)),)


def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent of each element; NaN for a real one outside [-1, 1].

    Shapes: any. Dtypes: any float or complex. The derivative at -1 and 1 is infinite, and 0 for a cotangent that is 0.

    Derivative: dx = dy / (1 - x^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.atanh([0.0, 0.5]))
    array([0.        , 0.5493...], dtype=float32)
    """
    return unary(Atanh(), x, name)


class Atanh(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("arctanh")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: masked_divide(dy, OneMinusSquare()(conj(x))),)
