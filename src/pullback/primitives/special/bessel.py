"""Bessel functions of the orders 0 and 1, plain and scaled by exp(|x|) or exp(x), and their derivatives to any order.

Derivatives by the recurrences of NIST's Digital Library of Mathematical Functions, 10.6 and 10.29. Those of J1 and I1
go to the next order of the function rather than divide by `x`, so that they are exact at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR
from ...core.typing import TensorLike
from ..base.broadcasting import Entry, unary
from ..elementwise.masking import multiply_no_nan
from .base import AbstractSpecial, special_function
from .slopes import ScaledBesselSlope


def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0 of each element.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * I1(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_i0([1.0, 2.0]))
    array([1.2660..., 2.2795...], dtype=float32)
    """
    return unary(BesselI0(), x, name)


class BesselI0(AbstractSpecial):
    compute = special_function("i0")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(bessel_i1(x), dy),)


def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """`exp(-|x|) * bessel_i0(x)`, element by element; its derivative at 0, a kink, is 0.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * (i1e(x) - sign(x) * y).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_i0e([1.0, 2.0]))
    array([0.4657..., 0.3085...], dtype=float32)
    """
    return unary(BesselI0e(), x, name)


class BesselI0e(AbstractSpecial):
    compute = special_function("i0e")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        return (lambda: multiply_no_nan(ScaledBesselSlope(False, 0)(x), dy),)


def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1 of each element.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * (I0(x) - y / x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_i1([1.0, 2.0]))
    array([0.5651..., 1.5906...], dtype=float32)
    """
    return unary(BesselI1(), x, name)


class BesselI1(AbstractSpecial):
    compute = special_function("i1")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        return (lambda: multiply_no_nan(BesselI1Slope()(x, y), dy),)


def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """`exp(-|x|) * bessel_i1(x)`, element by element.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * (i0e(x) - y * (sign(x) + 1 / x)).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_i1e([1.0, 2.0]))
    array([0.2079..., 0.2152...], dtype=float32)
    """
    return unary(BesselI1e(), x, name)


class BesselI1e(AbstractSpecial):
    compute = special_function("i1e")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        return (lambda: multiply_no_nan(ScaledBesselSlope(False, 1)(x), dy),)


def bessel_k0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0 of each element; inf at 0, NaN for a negative one.

    Shapes: any. Dtypes: any float.

    Derivative: dx = -dy * K1(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_k0([1.0, 2.0]))
    array([0.4210..., 0.1138...], dtype=float32)
    """
    return unary(BesselK0(), x, name)


class BesselK0(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    compute = special_function("k0")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(-bessel_k1(x), dy),)


def bessel_k0e(x: TensorLike, name: str | None = None) -> Tensor:
    """`exp(x) * bessel_k0(x)`, element by element; inf at 0, NaN for a negative one.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * (y - k1e(x)).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_k0e([1.0, 2.0]))
    array([1.1444..., 0.8415...], dtype=float32)
    """
    return unary(BesselK0e(), x, name)


class BesselK0e(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    compute = special_function("k0e")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        return (lambda: multiply_no_nan(ScaledBesselSlope(True, 0)(x), dy),)


def bessel_k1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1 of each element; inf at 0, NaN for a negative one.

    Shapes: any. Dtypes: any float.

    Derivative: dx = -dy * (K0(x) + y / x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_k1([1.0, 2.0]))
    array([0.6019..., 0.1398...], dtype=float32)
    """
    return unary(BesselK1(), x, name)


class BesselK1(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    compute = special_function("k1")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        return (lambda: multiply_no_nan(-(bessel_k0(x) + y / x), dy),)


def bessel_k1e(x: TensorLike, name: str | None = None) -> Tensor:
    """`exp(x) * bessel_k1(x)`, element by element; inf at 0, NaN for a negative one.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * (y * (1 - 1 / x) - k0e(x)).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_k1e([1.0, 2.0]))
    array([1.6361..., 1.0334...], dtype=float32)
    """
    return unary(BesselK1e(), x, name)


class BesselK1e(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    compute = special_function("k1e")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        return (lambda: multiply_no_nan(ScaledBesselSlope(True, 1)(x), dy),)


def bessel_j0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0 of each element.

    Shapes: any. Dtypes: any float.

    Derivative: dx = -dy * J1(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_j0([1.0, 2.0]))
    array([0.7651..., 0.2238...], dtype=float32)
    """
    return unary(BesselJ0(), x, name)


class BesselJ0(AbstractSpecial):
    compute = special_function("j0")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(-bessel_j1(x), dy),)


def bessel_j1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1 of each element.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * (J0(x) - y / x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_j1([1.0, 2.0]))
    array([0.4400..., 0.5767...], dtype=float32)
    """
    return unary(BesselJ1(), x, name)


class BesselJ1(AbstractSpecial):
    compute = special_function("j1")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(BesselJ1Slope()(x), dy),)


def bessel_y0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind of order 0 of each element; -inf at 0, NaN for a negative one.

    Shapes: any. Dtypes: any float.

    Derivative: dx = -dy * Y1(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_y0([1.0, 2.0]))
    array([0.0882..., 0.5103...], dtype=float32)
    """
    return unary(BesselY0(), x, name)


class BesselY0(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    compute = special_function("y0")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(-bessel_y1(x), dy),)


def bessel_y1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind of order 1 of each element; -inf at 0, NaN for a negative one.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * (Y0(x) - y / x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.special.bessel_y1([1.0, 2.0]))
    array([-0.7812..., -0.1070...], dtype=float32)
    """
    return unary(BesselY1(), x, name)


class BesselY1(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    compute = special_function("y1")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        return (lambda: multiply_no_nan((multiply_no_nan(bessel_y0(x), x) - y) / x, dy),)


class BesselI1Slope(AbstractSpecial):
    """The derivative of bessel_i1, `i0 - i1 / x`; 1/2 at 0, inf where that overflows.

    The second input is the function's value at the first, computed already; it depends on nothing else.
    """

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        x, y = arrays
        safe = xp.where(x == 0, xp.ones_like(x), x)
        slope = xp.where(xp.isinf(y), xp.abs(y), functions.i0(safe) - y / safe)
        return xp.where(x == 0, xp.full_like(x, 0.5), slope)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor, known: Tensor) -> Sequence[Entry]:
        """`(3 i1 + i3) / 4`."""
        del y, known
        return lambda: multiply_no_nan((bessel_i1(x) * 3 + BesselIn(3)(x)) * 0.25, dy), None


class BesselJ1Slope(AbstractSpecial):
    """The derivative of bessel_j1, `j0 - j1 / x`; 1/2 at 0."""

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        (x,) = arrays
        return functions.j0(x) - xp.where(x == 0, 0.5, functions.j1(x) / x).astype(x.dtype)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan((BesselJn(3)(x) - bessel_j1(x) * 3) * 0.25, dy),)


class BesselIn(AbstractSpecial):
    """The modified Bessel function of the first kind of a known order of at least 2."""

    order: int

    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return functions.iv(self.order, arrays[0])

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y

        def slope() -> Tensor:
            before = bessel_i1(x) if self.order == 2 else BesselIn(self.order - 1)(x)
            return multiply_no_nan((before + BesselIn(self.order + 1)(x)) * 0.5, dy)

        return (slope,)


class BesselJn(AbstractSpecial):
    """The Bessel function of the first kind of a known order of at least 2."""

    order: int

    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return functions.jv(self.order, arrays[0])

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y

        def slope() -> Tensor:
            before = bessel_j1(x) if self.order == 2 else BesselJn(self.order - 1)(x)
            return multiply_no_nan((before - BesselJn(self.order + 1)(x)) * 0.5, dy)

        return (slope,)
