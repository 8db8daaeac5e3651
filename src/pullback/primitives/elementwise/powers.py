"""Powers and roots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core import intervals
from ...core.dtypes import COMPLEX, INEXACT
from ...core.intervals import ORIGIN, Interval
from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR, bilinear, linear, zero_wins
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, binary, in_float32, unary, unary_kernel
from ..complex.complex import conj
from ..logic.comparison import greater
from .arithmetic import NUMBERS
from .division import divide_no_nan
from .masking import kept, mask, multiply_no_nan, quotient_grad


def square(x: TensorLike, name: str | None = None) -> Tensor:
    """`x * x`, element by element.

    Shapes: any. Dtypes: any number.

    Derivative: dx = dy * 2 * x.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.square([1.0, -3.0]))
    array([1., 9.], dtype=float32)
    """
    return unary(Square(), x, name)


class Square(AbstractElementwise):
    dtypes = NUMBERS
    kernel = unary_kernel("square")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: dy * 2 * conj(x),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.square(xs[0])


class OneMinusSquare(AbstractElementwise):
    """`(1 - x)(1 + x)`, in which nothing cancels near -1 and 1; nor near 0 in its derivative, which is `-2 x`.

    Of complex numbers by differences from x: they keep the sign of an imaginary part that is zero, which says on which
    side of its cut the square root is.
    """

    dtypes = INEXACT

    def kernel(self, xp: Any, x: Any) -> Any:
        if x.dtype.kind == "c":
            return xp.multiply(xp.negative(xp.subtract(x, 1)), xp.subtract(x, -1))
        return xp.multiply(xp.subtract(1, x), xp.add(x, 1))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: dy * -2 * conj(x),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.add(Interval(1.0, 1.0), intervals.negative(intervals.square(xs[0])))


def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """The square root of each element; NaN for a negative real one.

    Shapes: any. Dtypes: any float or complex. The derivative at 0 is infinite, and 0 for a cotangent that is 0.

    Derivative: dx = dy / (2 * y).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sqrt([4.0, 2.25]))
    array([2. , 1.5], dtype=float32)
    """
    return unary(Sqrt(), x, name)


class Sqrt(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("sqrt")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: SqrtGrad()(conj(y), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.rising(math.sqrt, xs[0], 0.0)


class SqrtGrad(AbstractElementwise):
    """`dy / (2 * y)`, 0 where `dy` is 0."""

    traits = (ELEMENTWISE, linear(1), SINGULAR, zero_wins(1))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, y: Any, dy: Any) -> Any:
        return kept(xp, dy != 0, xp.divide(xp.multiply(dy, 0.5), y))

    def partials(self, dy: Tensor, dx: Tensor, y: Tensor, seed: Tensor) -> Sequence[Entry]:
        del seed
        return lambda: quotient_grad(dy, conj(dx), conj(y)), lambda: SqrtGrad()(conj(y), dy)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.multiply(Interval(0.5, 0.5), intervals.quotient(xs[1], xs[0]))


def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 / sqrt(x)`, element by element.

    Shapes: any. Dtypes: any float or complex. The derivative at 0 is infinite, and 0 for a cotangent that is 0.

    Derivative: dx = -dy * y^3 / 2.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.rsqrt([4.0, 0.25]))
    array([0.5, 2. ], dtype=float32)
    """
    return unary(Rsqrt(), x, name)


class Rsqrt(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.reciprocal(xp.sqrt(x))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: RsqrtGrad()(conj(y), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.reciprocal(intervals.rising(math.sqrt, xs[0], 0.0))


class RsqrtGrad(AbstractElementwise):
    """`-dy * y^3 / 2`, 0 where `dy` is 0."""

    traits = (ELEMENTWISE, linear(1), zero_wins(1))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, y: Any, dy: Any) -> Any:
        cube = xp.multiply(xp.multiply(y, y), y)
        return kept(xp, dy != 0, xp.multiply(xp.multiply(cube, -0.5), dy))

    def partials(self, dy: Tensor, dx: Tensor, y: Tensor, seed: Tensor) -> Sequence[Entry]:
        del dx
        return (
            lambda: multiply_no_nan(conj(y), multiply_no_nan(conj(y), multiply_no_nan(dy, conj(seed)) * -1.5)),
            lambda: RsqrtGrad()(conj(y), dy),
        )


def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 / x`, element by element.

    Shapes: any. Dtypes: any float or complex. The derivative at 0 is infinite, and 0 for a cotangent that is 0.

    Derivative: dx = -dy * y^2.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.reciprocal([4.0, 0.5]))
    array([0.25, 2.  ], dtype=float32)
    """
    return unary(Reciprocal(), x, name)


class Reciprocal(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("reciprocal")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: ReciprocalGrad()(conj(y), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.reciprocal(xs[0])


class ReciprocalGrad(AbstractElementwise):
    """`-dy * y^2`, 0 where `dy` is 0."""

    traits = (ELEMENTWISE, linear(1), zero_wins(1))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, y: Any, dy: Any) -> Any:
        return kept(xp, dy != 0, xp.multiply(xp.negative(xp.multiply(y, y)), dy))

    def partials(self, dy: Tensor, dx: Tensor, y: Tensor, seed: Tensor) -> Sequence[Entry]:
        del dx
        return (
            lambda: multiply_no_nan(conj(y), multiply_no_nan(dy, conj(seed)) * -2),
            lambda: ReciprocalGrad()(conj(y), dy),
        )


def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x` to the power `y`, element by element.

    Shapes: any that broadcast together. Dtypes: any number, the same for both; an integer to a negative power is
    truncated to an integer, and 0 to one is 0. The derivative by `x` is 0 where `y` is 0; the derivative by `y` is 0
    where `x` is real and not positive.

    Derivative: dx = dz * y * x^(y - 1), dy = dz * z * log(x), 0 where x is 0.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.pow([1.0, 2.0, 3.0], 2.0))
    array([1., 4., 9.], dtype=float32)
    """
    return binary(Pow(), x, y, name)


class Pow(AbstractElementwise):
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = NUMBERS

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        if a.dtype.kind != "i":
            return xp.power(a, b)
        power = xp.power(a, xp.maximum(b, 0))
        return xp.where(b >= 0, power, inverse_power(xp, a, b))

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        return lambda: PowGradX()(conj(a), conj(b), dy), lambda: PowGradY()(conj(a), conj(y), dy)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.power(*xs)


def inverse_power(xp: Any, a: Any, b: Any) -> Any:
    """Integers `a` to negative powers `b`, without the fraction: what is not 1 or -1 gives 0."""
    sign = xp.where(xp.bitwise_and(b, 1) == 1, a, xp.ones((), a.dtype))
    return kept(xp, xp.abs(a) == 1, sign)


class PowGradX(AbstractElementwise):
    """`dy * b * a^(b - 1)`, 0 where `dy` or `b` is 0."""

    traits = (ELEMENTWISE, linear(2), SINGULAR, zero_wins(2))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, a: Any, b: Any, dy: Any) -> Any:
        slope = xp.multiply(b, xp.power(a, xp.subtract(b, 1)))
        return kept(xp, xp.logical_and(dy, b), xp.multiply(slope, dy))

    def partials(self, dy: Tensor, dx: Tensor, a: Tensor, b: Tensor, seed: Tensor) -> Sequence[Entry]:
        """By `b` the derivative is `a^(b - 1) * (1 + b * log(a))`."""
        del dx

        def by_exponent() -> Tensor:
            base, exponent = conj(a), conj(b)
            weight = multiply_no_nan(dy, conj(seed))
            power = pow(base, exponent - 1)
            return multiply_no_nan(power, weight) + PowGradY()(base, power, weight * exponent)

        return (
            lambda: PowGradX()(conj(a), conj(b) - 1, multiply_no_nan(dy, conj(seed)) * conj(b)),
            by_exponent,
            lambda: PowGradX()(conj(a), conj(b), dy),
        )

    def bounds(self, *xs: Interval) -> Interval:
        slope = intervals.power(xs[0], intervals.add(xs[1], Interval(-1.0, -1.0)))
        return ORIGIN if xs[2] == ORIGIN else intervals.multiply(xs[2], intervals.multiply(slope, xs[1]))


class PowGradY(AbstractElementwise):
    """`dy * y * log(a)`, 0 where `dy` is 0, and where `a` is 0 or a negative real number and `y` is not NaN."""

    traits = (ELEMENTWISE, bilinear(1, 2), zero_wins(2))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, a: Any, y: Any, dy: Any) -> Any:
        inside = xp.logical_and(dy, xp.logical_or(_has_logarithm(xp, a), y != y))
        return kept(xp, inside, xp.multiply(xp.multiply(y, xp.log(a)), dy))

    def partials(self, dy: Tensor, out: Tensor, a: Tensor, y: Tensor, seed: Tensor) -> Sequence[Entry]:
        del out
        return (
            lambda: _divide_inside(multiply_no_nan(conj(y), multiply_no_nan(dy, conj(seed))), a),
            lambda: PowGradY()(conj(a), conj(seed), dy),
            lambda: PowGradY()(conj(a), conj(y), dy),
        )


def _has_logarithm(xp: Any, a: Any) -> Any:
    return a != 0 if a.dtype.kind == "c" else xp.logical_not(a <= 0)


def _divide_inside(dy: Tensor, a: Tensor) -> Tensor:
    """`dy / a`, 0 where `a` has no logarithm."""
    if a.dtype in COMPLEX:
        return divide_no_nan(dy, conj(a))
    return divide_no_nan(mask(greater(a, 0), dy), a)
