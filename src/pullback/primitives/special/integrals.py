"""Integral functions: Dawson's, the exponential integral, Fresnel's, Spence's, and the scaled erfc."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...core.dtypes import bfloat16, float16, float32
from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR
from ...core.typing import TensorLike
from ..base.broadcasting import Entry, unary
from ..casting.cast import cast
from ..elementwise.arithmetic import multiply
from ..elementwise.masking import multiply_no_nan
from ..elementwise.powers import square
from ..elementwise.trigonometric import cos, sin
from .base import AbstractSpecial, special_function
from .error_function import erfc
from .slopes import GaussSlope


def dawsn(x: TensorLike, name: str | None = None) -> Tensor:
    """Dawson's integral of each element: `exp(-x^2)` times the integral of `exp(t^2)` from 0 to `x`.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * (1 - 2 * x * y).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.dawsn([0.0, 1.0]))
    array([0.       , 0.5380...], dtype=float32)
    """
    return unary(Dawsn(), x, name)


class Dawsn(AbstractSpecial):
    compute = special_function("dawsn")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(GaussSlope(True)(x), dy),)


def expint(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential integral Ei of each element: the principal value of the integral of `exp(t) / t` up to `x`.

    At 0 it is -inf.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * exp(x) / x.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.expint([-1.0, 1.0]))
    array([-0.2193...,  1.8951...], dtype=float32)
    """
    return unary(Expint(), x, name)


class Expint(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    compute = special_function("expi")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(ExpintSlope()(x), dy),)


class ExpintSlope(AbstractSpecial):
    """`exp(x) / x`, differentiated `times` times; at 0 the infinity that it has from the right."""

    traits = (ELEMENTWISE, SINGULAR)

    times: int = 0

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        """By Leibniz's rule, a sum of powers of `1 / x`, whose last outgrows the others near 0."""
        del functions
        (x,) = arrays
        divisor = xp.where(x == 0, xp.ones((), x.dtype), x) if self.times else x
        total = xp.ones_like(x)
        for k in range(1, self.times + 1):
            total = 1 - k / divisor * total
        root = xp.exp(x / 2)  # Of large numbers exp(x) overflows before the result does; their inverse underflows.
        value = root / divisor * total * root
        return xp.where(x == 0, (-1) ** self.times * math.inf, value) if self.times else value

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(ExpintSlope(self.times + 1)(x), dy),)


def fresnel_cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's integral of `cos(pi * t^2 / 2)` from 0 to each element.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * cos(pi / 2 * x^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.fresnel_cos([0.0, 1.0]))
    array([0.       , 0.7798...], dtype=float32)
    """
    return unary(FresnelCos(), x, name)


class FresnelCos(AbstractSpecial):
    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return _of_moderate(xp, lambda x: functions.fresnel(x)[1], arrays[0])

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(_of_square(cos, x), dy),)


def fresnel_sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's integral of `sin(pi * t^2 / 2)` from 0 to each element.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * sin(pi / 2 * x^2).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.fresnel_sin([0.0, 1.0]))
    array([0.       , 0.4382...], dtype=float32)
    """
    return unary(FresnelSin(), x, name)


class FresnelSin(AbstractSpecial):
    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return _of_moderate(xp, lambda x: functions.fresnel(x)[0], arrays[0])

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(_of_square(sin, x), dy),)


def _of_moderate(xp: Any, function: Callable[[Any], Any], x: Any) -> Any:
    """`function` of `x`, and its limits where SciPy's square overflows."""
    return xp.where(xp.abs(x) > 1e30, 0.5 * xp.sign(x), function(x)).astype(x.dtype)


def _of_square(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """`function` of `pi / 2 * x^2`, which 16 bits do not hold."""
    wide = cast(x, float32) if x.dtype in (float16, bfloat16) else x
    return cast(function(square(wide) * (math.pi / 2)), x.dtype)


def spence(x: TensorLike, name: str | None = None) -> Tensor:
    """Spence's function, the integral of `log(t) / (1 - t)` from 1 to each element; NaN below 0, -inf for inf.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * log(x) / (1 - x), and -dy at 1.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.spence([0.5, 1.0]))
    array([0.5822..., 0.       ], dtype=float32)
    """
    return unary(Spence(), x, name)


class Spence(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        (x,) = arrays
        return xp.where(x == math.inf, -math.inf, functions.spence(x)).astype(x.dtype)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(SpenceSlope()(x), dy),)


class SpenceSlope(AbstractSpecial):
    """`log(x) / (1 - x)`, differentiated `times` times; its limits at 1, where that is 0 / 0, and at 0."""

    traits = (ELEMENTWISE, SINGULAR)

    times: int = 0

    @property
    def in_double(self) -> bool:
        return self.times > 0

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        """By `z * f^(k) + k * f^(k-1) = -log1p(z)^(k)` for z = x - 1, and near 0 by the power series."""
        (x,) = arrays
        z = x - 1
        value = xp.where(z == 0, -xp.ones((), x.dtype), -xp.log(x) / z)
        for k in range(1, self.times + 1):
            value = -((-1) ** (k - 1) * math.factorial(k - 1) / xp.power(x, k) + k * value) / z
        if self.times == 0:
            return value
        value = xp.where(xp.abs(z) < 0.3, self._series(xp, xp.clip(z, -0.3, 0.3)), value)
        return xp.where(x == 0, (-1) ** (self.times - 1) * math.inf, value)

    def _series(self, xp: Any, z: Any) -> Any:
        k = self.times
        total = xp.zeros_like(z)
        for j in range(48, -1, -1):
            total = total * z - (-1) ** (j + k) * math.perm(j + k, k) / (j + k + 1)
        return total

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(SpenceSlope(self.times + 1)(x), dy),)


def erfcx(x: TensorLike, name: str | None = None) -> Tensor:
    """`exp(x^2) * erfc(x)`, element by element, which neither overflows nor underflows for large `x`.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * (2 * x * y - 2 / sqrt(pi)).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.erfcx([0.0, 100.0]))
    array([1.       , 0.0056...], dtype=float32)
    """
    return unary(Erfcx(), x, name)


class Erfcx(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    compute = special_function("erfcx")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(GaussSlope(False)(x), dy),)


def ndtr(x: TensorLike, name: str | None = None) -> Tensor:
    """The distribution function of the standard normal distribution at each element.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * exp(-x^2 / 2) / sqrt(2 * pi).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.ndtr([0.0, 1.0]))
    array([0.5      , 0.8413...], dtype=float32)
    """
    return multiply(erfc(multiply(x, -math.sqrt(0.5))), 0.5, name or "ndtr")
