"""Special functions in ONNX's operators: what `scipy.special` has, under its names, in float64.

Sums over many terms are one more axis, so that the graphs stay small. Each says its source where it is not in
`primitives/`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..primitives.special import bessel_series, incomplete_kernels
from ..primitives.special import error_function_kernels as special_kernels

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SHIFT = 10
"""From here on Stirling's series is exact."""
_DIRECT = 64
"""The terms of the zeta function that are added one by one."""
_ENDLESS = 1000.0
"""From this exponent on the terms of the zeta function that are not added one by one are 0."""
_ANGLES = (np.arange(64) + 0.5) * (math.pi / 64)
_SPENCE = (
    1.0, 1 / 36, -1 / 3600, 1 / 211680, -1 / 10886400, 1 / 526901760,
    -4.0647616451442255e-11, 8.9216910204564526e-13, -1.9939295860721076e-14, 4.518980029619918e-16,
)  # fmt: skip
"""Bernoulli's numbers of even index n, divided by (n + 1)!."""
_STEP = 0.1
_FRESNEL_NODES = (np.arange(60) + 0.5) * _STEP
_EULER = 0.57721566490153286061


def in_double(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn` computed in float64, its result, or results, in the dtype of the arguments."""

    @wraps(fn)
    def wide(self: Functions, *arguments: Any) -> Any:
        dtype = next(a.dtype for a in arguments if hasattr(a, "dtype"))
        given = [a.astype(np.float64) if hasattr(a, "dtype") else a for a in arguments]
        result = fn(self, *given)
        return tuple([r.astype(dtype) for r in result]) if isinstance(result, tuple) else result.astype(dtype)

    return wide


def _of_order(series: Callable[..., Any], *order: Any) -> Callable[..., Any]:
    """The Bessel function of that order, by its series."""
    return in_double(lambda self, x: series(self.xp, *order, x))


class Functions:
    """The functions that the primitives ask for, of the arrays of a namespace."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    @in_double
    def gammaln(self, x: Any) -> Any:
        """Stirling's series beyond 10, the product of what lies before; the reflection on the left."""
        xp = self.xp
        left = x < 0.5
        z = xp.where(left, 1.0 - x, x)
        far = z + _SHIFT
        product = z
        for k in range(1, _SHIFT):
            product = product * (z + k)
        small = z < 30.0
        base = xp.where(small, far, z)
        value = _stirling(xp, base) - xp.where(small, xp.log(product), 0.0)
        sine = xp.abs(xp.sin(math.pi * (x - xp.floor(x))))
        reflected = math.log(math.pi) - xp.log(sine) - value
        result = xp.where(left, reflected, value)
        pole = (x <= 0) & (x == xp.floor(x))
        return xp.where(pole | xp.isinf(x), math.inf, result)

    @in_double
    def digamma(self, x: Any) -> Any:
        """The asymptotic series beyond 10, after as many steps of the recurrence; the reflection on the left."""
        xp = self.xp
        left = x < 0.5
        z = xp.where(left, 1.0 - x, x)
        total: Any = 0.0
        for k in range(_SHIFT):
            total = total + 1.0 / (z + k)
        far = z + _SHIFT
        inverse = 1.0 / (far * far)
        series: Any = 0.0
        for k in range(len(_BERNOULLI), 0, -1):
            series = (series + _BERNOULLI[k - 1] / (2 * k)) * inverse
        value = xp.log(far) - 0.5 / far - series - total
        part = math.pi * (x - xp.floor(x))
        reflected = value - math.pi * xp.cos(part) / xp.sin(part)
        pole = (x < 0) & (x == xp.floor(x))
        result = xp.where(left, reflected, value)
        edge = xp.where(x == 0, -1.0 / x, result)
        return xp.where(pole, math.nan, xp.where(x == math.inf, math.inf, edge))

    psi = digamma

    @in_double
    def zeta(self, x: Any, q: Any) -> Any:
        """The formula of Euler and Maclaurin; inf at x = 1, and where `q` is 0 or a negative integer; 0 at q = inf.

        NaN for q below -54, where too many terms would have to be added one by one.
        """
        xp = self.xp
        x, q = xp.broadcast_arrays(x, q)
        pole = ~(x < 1) & (q <= 0) & (q == xp.floor(q))
        safe = xp.where(pole | (q == math.inf), 1.0, q)
        value = xp.sum(xp.power(safe[..., None] + np.arange(_DIRECT), -x[..., None]), axis=-1)
        end = safe + float(_DIRECT)
        whole, endless = x == xp.floor(x), (x == math.inf) & (q > 1) & (q < math.inf)
        x = xp.where(x == math.inf, _ENDLESS, x)
        power = xp.power(end, -x)
        value = value + end * power / (x - 1.0) + 0.5 * power
        factor = x * power / end
        for k, number in enumerate(_BERNOULLI, start=1):
            value = value + number / math.factorial(2 * k) * factor
            factor = factor * (x + (2 * k - 1)) * (x + 2 * k) / (end * end)
        outside = (x < 1) | (end < 10.0) | ((q < 0) & ~whole) | endless
        value = xp.where(outside, math.nan, xp.where((q == math.inf) & (x > 1), 0.0, value))
        return xp.where(pole | (x == 1), math.inf, value)

    @in_double
    def gammainc(self, a: Any, x: Any) -> Any:
        return self._gamma_part(a, x, True)

    @in_double
    def gammaincc(self, a: Any, x: Any) -> Any:
        return self._gamma_part(a, x, False)

    def _gamma_part(self, a: Any, x: Any, lower: bool) -> Any:
        """The integral over the side where the density falls, or what is missing to 1."""
        xp = self.xp
        a, x = xp.broadcast_arrays(a, x)
        safe = xp.where((x <= 0) | xp.isinf(x) | (a <= 0), 1.0, x)
        b = xp.where(a > 0, a, 1.0)
        density = xp.exp((b - 1.0) * xp.log(safe) - safe - self.gammaln(b))
        ratio = incomplete_kernels.igamma_by_a(xp, self, 0, b, safe)
        part = ratio * density
        from_below = ratio > 0
        value = xp.where(from_below, part, 1.0 + part) if lower else xp.where(from_below, 1.0 - part, -part)
        none, whole = (0.0, 1.0) if lower else (1.0, 0.0)
        value = xp.where((x == 0) | (a == math.inf), none, xp.where(xp.isinf(x) | (a == 0), whole, value))
        open_ = ((a == 0) & (x == 0)) | ((a == math.inf) & (x == math.inf))
        return xp.where((a >= 0) & (x >= 0) & ~open_, value, math.nan)

    @in_double
    def betainc(self, a: Any, b: Any, x: Any) -> Any:
        xp = self.xp
        a, b, x = xp.broadcast_arrays(a, b, x)
        below, above = (a == 0) | (b == math.inf), (b == 0) | (a == math.inf)
        inside = (x >= 0) & (x <= 1) & (a >= 0) & (b >= 0) & ~(below & above)
        inner = xp.where((x <= 0) | (x >= 1), 0.5, x)
        a, b = [xp.where(below | above, 1.0, p) for p in (a, b)]
        part = incomplete_kernels.betainc_by_parameters(xp, self, 0, 0, a, b, inner)
        value = xp.where(incomplete_kernels.is_right_of_the_mean(a, b, inner), 1.0 + part, part)
        value = xp.where(below, 1.0, xp.where(above, 0.0, value))
        value = xp.where(x == 0, 0.0, xp.where(x == 1, 1.0, value))
        return xp.where(inside, value, math.nan)

    @in_double
    def i0e(self, x: Any) -> Any:
        return self._scaled_i(0, x)

    @in_double
    def i1e(self, x: Any) -> Any:
        return self._scaled_i(1, x)

    @in_double
    def i0(self, x: Any) -> Any:
        return self._scaled_i(0, x) * self.xp.exp(self.xp.abs(x))

    @in_double
    def i1(self, x: Any) -> Any:
        return self._scaled_i(1, x) * self.xp.exp(self.xp.abs(x))

    def _scaled_i(self, order: int, x: Any) -> Any:
        """The mean over angles of exp(|x| (cos - 1)) cos(n angle), for n = 0 and 1; beyond 40 the asymptotic series.

        For n = 1 opposite angles are taken together, so that nothing cancels near 0 (DLMF 10.32.3, 10.40.1).
        """
        xp = self.xp
        size = xp.abs(x)
        near = xp.minimum(size, 40.0)[..., None]
        cosines = np.cos(_ANGLES[: len(_ANGLES) // (1 + order)])
        terms = xp.exp(near * (cosines - 1.0))
        if order:
            terms = terms * xp.expm1(near * (-2.0 * cosines)) * -cosines
        mean = xp.sum(terms * (1 / len(_ANGLES)), axis=-1)
        far = xp.maximum(size, 40.0)
        factor = 1.0
        total: Any = 1.0
        for k in range(1, 16):
            factor = factor * -(4 * order**2 - (2 * k - 1) ** 2) / (k * 8)
            total = total + factor / far**k
        outer = total / xp.sqrt(2 * math.pi * far)
        value = xp.where(size <= 40.0, mean, outer)
        return xp.where(x < 0, -value, value) if order % 2 else value

    j0, j1 = _of_order(bessel_series.bessel_j, 0), _of_order(bessel_series.bessel_j, 1)
    y0, y1 = _of_order(bessel_series.bessel_y, 0), _of_order(bessel_series.bessel_y, 1)
    k0, k1 = _of_order(bessel_series.bessel_k, 0, False), _of_order(bessel_series.bessel_k, 1, False)
    k0e, k1e = _of_order(bessel_series.bessel_k, 0, True), _of_order(bessel_series.bessel_k, 1, True)

    @in_double
    def jv(self, order: int, x: Any) -> Any:
        return bessel_series.jv(self.xp, order, x)

    @in_double
    def iv(self, order: int, x: Any) -> Any:
        return bessel_series.iv(self.xp, self, order, x)

    @in_double
    def ive(self, order: int, x: Any) -> Any:
        return bessel_series.ive(self.xp, self, order, x)

    @in_double
    def spence(self, x: Any) -> Any:
        """In powers of log(x) with Bernoulli's numbers; far from 1 by the reflections (Lewin, Polylogarithms, 1981)."""
        xp = self.xp
        large = x > 2
        t = xp.where(large, 1 / x, x)
        far = t < 0.5
        beside = xp.log1p(-xp.where(far, t, 0.0))
        u = -xp.where(far, beside, xp.log(x))
        square = u * u
        series: Any = _SPENCE[-1]
        for coefficient in _SPENCE[-2::-1]:
            series = series * square + coefficient
        near = u * series - square / 4
        logarithm = xp.log(t)
        low = math.pi**2 / 6 - xp.where(t == 0, 0.0, logarithm * beside) - near
        value = xp.where(far, low, near)
        return xp.where(large, -xp.square(logarithm) / 2 - value, value)

    @in_double
    def dawsn(self, x: Any) -> Any:
        """G. Rybicki, "Dawson's integral and the sampling theorem", 1989; the asymptotic series beyond 10."""
        xp = self.xp
        inner = xp.clip(x, -10.0, 10.0)
        odd = np.arange(-95, 97, 2)
        h = 0.2
        terms = xp.exp(-xp.square(inner[..., None] - odd * h)) * (1 / odd)
        value = xp.sum(terms, axis=-1) / math.sqrt(math.pi)
        tiny = x * (1.0 - 2.0 / 3.0 * x * x * (1.0 - 0.4 * x * x))
        value = xp.where(xp.abs(x) < 1e-3, tiny, value)
        far = 1.0 / xp.where(xp.abs(x) > 10.0, x, 10.0)
        square = far * far
        series: Any = 1.0
        for k in range(8, 0, -1):
            series = 1.0 + series * square * (2 * k - 1) / 2
        return xp.where(xp.abs(x) > 10.0, 0.5 * far * series, value)

    @in_double
    def erfcx(self, x: Any) -> Any:
        """The rational approximations of erfc without their exponentials; the reflection on the left."""
        xp = self.xp
        size = xp.abs(x)
        y = xp.maximum(size, 0.46875)
        middle = special_kernels._rational(xp, xp.minimum(y, 4.0), special_kernels._MIDDLE)
        inverse = 1.0 / xp.square(y)
        large = (1 / math.sqrt(math.pi) - inverse * special_kernels._rational(xp, inverse, special_kernels._LARGE)) / y
        scaled = xp.where(y <= 4.0, middle, large)
        far = xp.where(x < 0, 2.0 * xp.exp(xp.square(xp.minimum(size, 30.0))) - scaled, scaled)
        small = xp.clip(x, -0.5, 0.5)
        near = xp.exp(xp.square(small)) * special_kernels.erfc(xp, small)
        return xp.where(size <= 0.46875, near, xp.where(x < -30.0, math.inf, far))

    @in_double
    def expi(self, x: Any) -> Any:
        """A power series up to 40, then the asymptotic one; Gauss and Laguerre's quadrature left of -2."""
        xp = self.xp
        logarithm = xp.log(xp.abs(x))
        inner = xp.clip(x, -2.0, 40.0)
        k = np.arange(1, 140)
        size = xp.maximum(xp.abs(inner), 1e-300)
        weights = -np.array([math.lgamma(n + 1) + math.log(n) for n in k])
        signs = xp.where(inner[..., None] < 0, (-1.0) ** k, 1.0)
        terms = xp.exp(xp.log(size)[..., None] * k.astype(np.float64) + weights) * signs
        near = _EULER + logarithm + xp.sum(terms, axis=-1)
        big = xp.maximum(x, 40.0)
        series: Any = 1.0
        for n in range(40, 0, -1):
            series = 1.0 + series * n / big
        far = xp.exp(big) / big * series
        nodes, shares = np.polynomial.laguerre.laggauss(96)
        low = xp.maximum(-x, 2.0)
        left = -xp.exp(-low) * xp.sum(shares / (low[..., None] + nodes), axis=-1)
        value = xp.where(x > 40.0, far, xp.where(x < -2.0, left, near))
        value = xp.where(x == -math.inf, 0.0, xp.where(x == math.inf, math.inf, value))
        return xp.where(x == 0, -math.inf, value)

    @in_double
    def fresnel(self, x: Any) -> tuple[Any, Any]:
        """Power series up to 1.3, then by the auxiliary functions as integrals (DLMF 7.7.10), by the midpoint rule."""
        xp = self.xp
        size = xp.abs(x)
        inner = xp.minimum(size, 1.3)
        t = xp.square(inner) * (math.pi / 2)
        square = -xp.square(t)
        sine: Any = 0.0
        cosine: Any = 0.0
        for k in range(13, -1, -1):
            sine = sine * square + 1 / (math.factorial(2 * k + 1) * (4 * k + 3))
            cosine = cosine * square + 1 / (math.factorial(2 * k) * (4 * k + 1))
        near = inner * t * sine, inner * cosine
        far = xp.clip(size, 1.3, 1e8)
        scale = 1.3 / far
        squares = xp.square(scale)[..., None] * np.square(_FRESNEL_NODES)
        weights = np.exp(-math.pi / 2 * np.square(1.3 * _FRESNEL_NODES)) * (_STEP * math.sqrt(2) / math.pi)
        shares = weights / (xp.square(squares) + 1.0)
        f = xp.sum(shares, axis=-1) * 2.0 * scale
        g = xp.sum(shares * squares, axis=-1) * 2.0 * scale
        part = xp.square(far)
        angle = math.pi / 2 * (part - 4.0 * xp.floor(part / 4.0))
        s, c = xp.sin(angle), xp.cos(angle)
        outer = 0.5 - (f * c + g * s) / 2.0, 0.5 + (f * s - g * c) / 2.0
        sign = xp.sign(x)
        sides = [xp.where(size <= 1.3, a, b) for a, b in zip(near, outer, strict=True)]
        sides = [sign * xp.where(xp.isinf(x), 0.5, side) for side in sides]
        return sides[0], sides[1]


def _stirling(xp: Any, z: Any) -> Any:
    """log gamma of large numbers."""
    inverse = 1.0 / z
    square = inverse * inverse
    series: Any = 0.0
    for k in range(len(_BERNOULLI), 0, -1):
        series = series * square + _BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    return (z - 0.5) * xp.log(z) - z + 0.5 * math.log(2 * math.pi) + inverse * series
