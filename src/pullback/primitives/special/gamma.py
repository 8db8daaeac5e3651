"""Gamma function: its logarithm and derivatives (polygamma), the Hurwitz zeta function, the log-beta function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR
from ...core.typing import TensorLike
from ..base.broadcasting import Entry, binary, unary
from ..creation.constant import convert_to_tensor
from ..elementwise.arithmetic import Sub
from ..elementwise.masking import multiply_no_nan
from ..reduction.reduce import reduce_sum
from . import gamma_series
from .base import AbstractSpecial, special_function


def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of gamma(x), element by element; inf at 0, -1, -2, ...

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * digamma(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.lgamma([1.0, 4.0]))
    array([0.      , 1.7917...], dtype=float32)
    """
    return unary(Lgamma(), x, name)


class Lgamma(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        (x,) = arrays
        return xp.where(x == -math.inf, math.inf, functions.gammaln(x)).astype(x.dtype)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(digamma(x), dy),)


def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of lgamma, psi(x) = gamma'(x) / gamma(x), element by element.

    At 0 it is -inf, at -1, -2, ... NaN.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * polygamma(1, x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.digamma([1.0, 2.0]))
    array([-0.5772...,  0.4227...], dtype=float32)
    """
    return unary(Digamma(), x, name)


class Digamma(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)
    compute = special_function("digamma")

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(PolygammaOf(1)(x), dy),)


def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of order `a` of digamma at `x`, element by element: (-1)^(a+1) * gamma(a+1) * zeta(a+1, x).

    Between integers it is the same, with the sign of the nearest one: this is what the derivative by `a` is that of.
    NaN for negative `a`, as in SciPy and TensorFlow, though the derivative by `x` is still that of the formula, as
    TensorFlow's; the derivative by `a` is NaN at `a` = 0, where zeta has a pole, and for `x` <= 0.

    Shapes: any that broadcast together. Dtypes: any float, the same for both.

    Derivative: dx = dy * polygamma(a + 1, x); da by the series of its values between integers.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.polygamma([0.0, 1.0], 1.0))
    array([-0.5772...,  1.6449...], dtype=float32)
    """
    return binary(Polygamma(), a, x, name)


class Polygamma(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)

    times: int = 0
    """How many times it is differentiated by `a`."""

    @property
    def in_double(self) -> bool:
        return self.times > 0

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        a, x = arrays
        return gamma_series.polygamma_by_order(xp, functions, self.times, a, x)

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (
            lambda: multiply_no_nan(Polygamma(self.times + 1)(a, x), dy),
            lambda: multiply_no_nan(Polygamma(self.times)(a + 1, x), dy),
        )


class PolygammaOf(AbstractSpecial):
    """The polygamma function of a known order of at least 1."""

    traits = (ELEMENTWISE, SINGULAR)

    order: int

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return gamma_series.polygamma(functions, self.order, arrays[0])

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(PolygammaOf(self.order + 1)(x), dy),)


def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function, the sum over k >= 0 of (q + k)^-x, element by element; NaN for `x` < 1, inf at 1.

    The derivative by `x` is NaN for `q` <= 0, and on XLA all is for `q` < -1000.

    Shapes: any that broadcast together. Dtypes: any float, the same for both.

    Derivative: dq = -dy * x * zeta(x + 1, q), dx = -dy * sum(log(q + k) / (q + k)^x) over k >= 0.

    Raises:
        TypeError: another dtype, or the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.zeta([2.0, 4.0], 1.0))
    array([1.6449..., 1.0823...], dtype=float32)
    """
    return binary(Zeta(), x, q, name)


class Zeta(AbstractSpecial):
    traits = (ELEMENTWISE, SINGULAR)

    times: int = 0
    """How many times it is differentiated by `x`."""

    @property
    def in_double(self) -> bool:
        return self.times > 0

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        x, q = arrays
        return gamma_series.zeta_by_exponent(xp, self.times, x, q) if self.times else functions.zeta(x, q)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor, q: Tensor) -> Sequence[Entry]:
        del y
        return lambda: multiply_no_nan(Zeta(self.times + 1)(x, q), dy), lambda: self._by_q(dy, x, q)

    def _by_q(self, dy: Tensor, x: Tensor, q: Tensor) -> Tensor:
        """The derivative of `-x * zeta(x + 1, q)`, `times` times by `x`."""
        slope = -x * Zeta(self.times)(x + 1, q)
        if self.times:
            slope = slope - Zeta(self.times - 1)(x + 1, q) * self.times
        return multiply_no_nan(slope, dy)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the beta function of the numbers along the last axis: the sum of lgamma, less lgamma of the sum.

    Of no numbers it is -inf.

    Shapes: `x` [..., n]; the result [...]. Dtypes: any float.

    Derivative: dx = dy * (digamma(x) - digamma(sum(x))).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.lbeta([[1.0, 1.0], [2.0, 3.0]]))
    array([ 0.       , -2.4849...], dtype=float32)
    """
    x = convert_to_tensor(x)
    with x.graph.within(name or "lbeta") as scope:
        return Sub()(reduce_sum(lgamma(x), -1), lgamma(reduce_sum(x, -1)), name=scope)
