"""Trigonometric functions, their inverses, and angles of complex numbers, in radians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import FLOATING, INEXACT
from ...core.intervals import SIGNED_UNIT, Interval
from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR, linear, zero_wins
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, binary, in_float32, unary, unary_kernel
from ..complex.complex import conj
from .masking import kept, masked_divide, multiply_no_nan
from .powers import OneMinusSquare, sqrt, square


def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The sine of each element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy * cos(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sin([0.0, 1.0]))
    array([0.      , 0.8414...], dtype=float32)
    """
    return unary(Sin(), x, name)


class Sin(AbstractElementwise):
    dtypes = INEXACT
    kernel = unary_kernel("sin")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(cos(conj(x)), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return SIGNED_UNIT._replace(nan=not xs[0].finite)


def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The cosine of each element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = -dy * sin(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.cos([0.0, 1.0]))
    array([1.       , 0.5403...], dtype=float32)
    """
    return unary(Cos(), x, name)


class Cos(AbstractElementwise):
    dtypes = INEXACT
    kernel = unary_kernel("cos")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: -multiply_no_nan(sin(conj(x)), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return SIGNED_UNIT._replace(nan=not xs[0].finite)


def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """The tangent of each element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy * (1 + y^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tan([0.0, 1.0]))
    array([0.       , 1.5574...], dtype=float32)
    """
    return unary(Tan(), x, name)


class Tan(AbstractElementwise):
    dtypes = INEXACT
    kernel = unary_kernel("tan")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: multiply_no_nan(square(conj(y)) + 1, dy),)


def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """The angle in [-pi/2, pi/2] whose sine is each element; NaN for a real one outside [-1, 1].

    Shapes: any. Dtypes: any float or complex. The derivative at -1 and 1 is infinite, and 0 for a cotangent that is 0.

    Derivative: dx = dy / sqrt(1 - x^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.asin([0.0, 1.0]))
    array([0.       , 1.5707...], dtype=float32)
    """
    return unary(Asin(), x, name)


class Asin(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("arcsin")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: masked_divide(dy, _cosine(conj(x))),)


def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """The angle in [0, pi] whose cosine is each element; NaN for a real one outside [-1, 1].

    Shapes: any. Dtypes: any float or complex. The derivative at -1 and 1 is infinite, and 0 for a cotangent that is 0.

    Derivative: dx = -dy / sqrt(1 - x^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.acos([0.0, 1.0]))
    array([1.5707..., 0.       ], dtype=float32)
    """
    return unary(Acos(), x, name)


class Acos(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("arccos")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: -masked_divide(dy, _cosine(conj(x))),)


def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """The angle in [-pi/2, pi/2] whose tangent is each element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy / (1 + x^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.atan([0.0, 1.0]))
    array([0.       , 0.7853...], dtype=float32)
    """
    return unary(Atan(), x, name)


class Atan(AbstractElementwise):
    dtypes = INEXACT
    kernel = unary_kernel("arctan")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: masked_divide(dy, square(conj(x)) + 1),)


def _cosine(x: Tensor) -> Tensor:
    """`sqrt(1 - x^2)`, written so that nothing cancels near -1 and 1."""
    return sqrt(OneMinusSquare()(x))


def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The angle in [-pi, pi] of the point with coordinates `x` and `y`.

    Shapes: any that broadcast together. Dtypes: any float, the same for both. At the origin the derivatives are 0.

    Derivative: dy = dz * x / (x^2 + y^2), dx = -dz * y / (x^2 + y^2).

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.atan2([0.0, 1.0], [-1.0, 0.0]))
    array([3.1415..., 1.5707...], dtype=float32)
    """
    return binary(Atan2(), y, x, name)


class Atan2(AbstractElementwise):
    dtypes = FLOATING

    def kernel(self, xp: Any, y: Any, x: Any) -> Any:
        return xp.arctan2(y, x)

    def partials(self, dy: Tensor, angle: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del angle
        return lambda: Atan2Grad()(x, y, dy), lambda: -Atan2Grad()(y, x, dy)


class Atan2Grad(AbstractElementwise):
    """`dy * a / (a^2 + b^2)`, 0 where `dy` is 0 and at the origin."""

    traits = (ELEMENTWISE, linear(2), zero_wins(2))
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, a: Any, b: Any, dy: Any) -> Any:
        length = xp.hypot(a, b)
        return kept(xp, xp.logical_and(dy, length), xp.multiply(xp.divide(xp.divide(a, length), length), dy))

    def partials(self, dy: Tensor, out: Tensor, a: Tensor, b: Tensor, seed: Tensor) -> Sequence[Entry]:
        """By `a` the derivative is `(b^2 - a^2) / r^4`, by `b` it is `-2 a b / r^4`."""
        del out
        return (
            lambda: Atan2Grad()(b, a, Atan2Grad()(b, a, dy * seed)) - Atan2Grad()(a, b, Atan2Grad()(a, b, dy * seed)),
            lambda: Atan2Grad()(b, a, Atan2Grad()(a, b, dy * seed * -2)),
            lambda: Atan2Grad()(a, b, dy),
        )
