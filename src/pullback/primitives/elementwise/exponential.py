"""Exponentials and logarithms, and the sigmoid with its kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import intervals
from ...core.dtypes import INEXACT
from ...core.intervals import Interval
from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR, linear, zero_wins
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, binary, in_float32, unary, unary_kernel
from ..complex.complex import conj
from ..logic.comparison import not_equal
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
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("exp")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: multiply_no_nan(conj(y), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.exp(xs[0])


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
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("expm1")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(exp(conj(x)), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.add(intervals.exp(xs[0]), Interval(-1.0, -1.0))


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
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT
    kernel = unary_kernel("log")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: masked_divide(dy, conj(x)),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.log(xs[0])


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
    traits = (ELEMENTWISE, SINGULAR)
    dtypes = INEXACT

    def kernel(self, xp: Any, x: Any) -> Any:
        if x.dtype.kind == "c" and xp is np:
            return _complex_log1p(x)
        return xp.log1p(x)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: masked_divide(dy, conj(x) + 1),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.log(intervals.add(xs[0], Interval(1.0, 1.0)))


def _complex_log1p(x: Any) -> Any:
    """The logarithm of `1 + x`, exact for small `x`, whose real part NumPy loses, and on the side of the cut of `x`."""
    small = np.abs(x) < 0.5
    near = np.where(small, x, 0)
    size = np.log1p(near.real * (2 + near.real) + near.imag * near.imag) / 2
    return np.where(
        small, size + 1j * np.arctan2(near.imag, 1 + near.real), np.log(np.where(small, 0, x) - (-1))
    ).astype(x.dtype)


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
    traits = (ELEMENTWISE, linear(0), SINGULAR, zero_wins(0))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        return kept(xp, x != 0, xp.multiply(x, xp.log(y)))

    def partials(self, dy: Tensor, z: Tensor, x: Tensor, y: Tensor) -> Sequence[Entry]:
        del z
        seen = mask(not_equal(x, 0), dy)
        return lambda: multiply_no_nan(log(conj(y)), seen), lambda: masked_divide(seen * conj(x), conj(y))


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
    traits = (ELEMENTWISE, linear(0), SINGULAR, zero_wins(0))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        return kept(xp, x != 0, xp.multiply(x, xp.log1p(y)))

    def partials(self, dy: Tensor, z: Tensor, x: Tensor, y: Tensor) -> Sequence[Entry]:
        del z
        seen = mask(not_equal(x, 0), dy)
        return lambda: multiply_no_nan(log1p(conj(y)), seen), lambda: masked_divide(seen * conj(x), conj(y) + 1)


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
    traits = (ELEMENTWISE, linear(0), SINGULAR, zero_wins(0))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        return kept(xp, x != 0, xp.divide(x, y))

    def partials(self, dy: Tensor, z: Tensor, x: Tensor, y: Tensor) -> Sequence[Entry]:
        return lambda: masked_divide(mask(not_equal(x, 0), dy), conj(y)), lambda: quotient_grad(dy, conj(z), conj(y))
