"""Incomplete gamma and beta functions: derivatives by parameters, of any order; arrays only.

The derivative of a distribution function by a parameter is the integral of that of its density, up to the point or from
the point on, whichever is on the side where the density falls. It is computed by the trapezoidal rule after a double
exponential change of variable: H. Takahasi, M. Mori, "Double exponential formulas for numerical integration", 1974.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .gamma_series import polygamma

_STEP = 0.1
_PLACES = np.arange(-3.5, 5.2, _STEP)
_NODES = np.exp(_PLACES - np.exp(-_PLACES))
_WEIGHTS = _STEP * _NODES * (1 + np.exp(-_PLACES))
_SMALL = 0.01
"""Where the derivatives of log gamma begin to hide what they are added to."""
_BLOCK = 16
"""As many nodes as are computed at once: fewer cost time, more cost memory."""


def integral(xp: Any, f: Callable[[Any], Any], scale: Any) -> Any:
    """The integral of `f` over all v > 0, where f falls off within a few times `scale`.

    Where the namespace has loops, node by node, which takes a sixth of the time to compile.
    """
    sum_of = getattr(xp, "sum_of", None)
    if sum_of is not None:
        return sum_of(lambda node, weight: weight * f(node * scale), _NODES, _WEIGHTS) * scale
    total = xp.zeros_like(scale)
    for i in range(0, len(_NODES), _BLOCK):
        shape = (-1, *(1,) * scale.ndim)
        nodes, weights = _NODES[i : i + _BLOCK].reshape(shape), _WEIGHTS[i : i + _BLOCK].reshape(shape)
        total = total + xp.sum(weights * f(nodes * scale), axis=0)
    return total * scale


def bell(order: int, c: list[Any]) -> Any:
    """The derivative of that order of exp(phi), divided by exp(phi), where `c` are the derivatives of phi."""
    values: list[Any] = [1.0]
    for n in range(order):
        values.append(sum(math.comb(n, i) * values[n - i] * c[i] for i in range(n + 1)))
    return values[order]


def igamma_by_a(xp: Any, functions: Any, order: int, a: Any, x: Any) -> Any:
    """The derivative, `order` times by `a`, of the distribution function of gamma, divided by its density.

    Near a = 0 by the recurrence P(a, x) = P(a + 1, x) + x^a exp(-x) / gamma(a + 1), whose terms are moderate there.
    """
    a, x = xp.broadcast_arrays(a, x)
    small = xp.logical_and(a > 0, a < (_SMALL if order else 0.0))
    moved = xp.where(small, a + 1, a)
    psi = _psi(functions, order, moved)
    logarithm = xp.log(x)
    value = _igamma_by_a(xp, order, moved, x, logarithm, psi)
    slopes = [logarithm - y if k == 0 else -y for k, y in enumerate(psi)]
    above = x / xp.where(small, a, 1.0) * (value + bell(order, slopes))
    inside = xp.logical_and(a > 0, x >= 0)
    ends = xp.logical_or(x == 0, xp.isinf(x))
    return xp.where(inside, xp.where(ends, 0.0, xp.where(small, above, value)), math.nan)


def _igamma_by_a(xp: Any, order: int, a: Any, x: Any, logarithm: Any, psi: Sequence[Any]) -> Any:
    """By an integral over the side of `x` where the density falls."""
    lower = x < a + 1
    rate = xp.where(lower, xp.maximum(a - x, 0) + xp.minimum(a, xp.sqrt(a)), x - a + xp.sqrt(x))
    sign = xp.where(lower, -1.0, 1.0)

    def density(v: Any) -> Any:
        moved = sign * v
        slopes = [logarithm + moved - y if k == 0 else -y for k, y in enumerate(psi)]
        return xp.exp(a * moved - x * xp.expm1(moved)) * bell(order, slopes)

    return -sign * x * integral(xp, density, 1 / rate)


def gamma_density(xp: Any, functions: Any, by_a: int, by_x: int, a: Any, x: Any) -> Any:
    """The derivative, `by_a` times by `a` and `by_x` times by `x`, of x^(a-1) exp(-x) / gamma(a).

    Near a = 0, where the derivatives of log gamma are large and cancel, as a x^(a-1) exp(-x) / gamma(a + 1).
    """
    logarithm = xp.log(x)
    small, moved = _off_the_pole(xp, a)
    c = [logarithm - psi if k == 0 else -psi for k, psi in enumerate(_psi(functions, by_a, moved))]
    total: Any = 0.0
    for j in range(by_x + 1):
        exponent = _times_log(xp, a - 1 - j, logarithm) - x - functions.gammaln(moved)
        power = xp.where(x == math.inf, 0.0, xp.exp(exponent))
        sign = (-1) ** (by_x - j) * math.comb(by_x, j)
        for i in range(min(by_a, j + 1) + 1):
            factor = sign * math.comb(by_a, i) * _factor(xp, small, j, i, a)
            total = total + _no_nan_product(xp, factor, power, bell(by_a - i, c))
    return total


def _off_the_pole(xp: Any, a: Any) -> tuple[Any, Any]:
    """Where `a` is near the pole of gamma at 0, and a place to use there, further by 1."""
    small = xp.logical_and(a >= 0, a < _SMALL)
    return small, xp.where(small, a + 1, a)


def is_right_of_the_mean(a: Any, b: Any, x: Any) -> Any:
    """Whether `x` is right of the mean, so that less is missing to 1 than there is."""
    return x * (a + b + 2) > a + 1


def betainc_by_parameters(xp: Any, functions: Any, by_a: int, by_b: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative, `by_a` times by `a` and `by_b` by `b`, of the regularised incomplete beta function.

    Near a = 0 by the recurrence I(a, b) = I(a + 1, b) + x^a (1-x)^b / (a beta(a, b)), and so near b = 0.
    """
    a, b, x = xp.broadcast_arrays(a, b, x)
    swap = is_right_of_the_mean(a, b, x)
    small = xp.where(swap, b, a) < _SMALL
    moved_a, moved_b = [
        xp.where(xp.logical_and(small, side), z + 1, z) for side, z in ((xp.logical_not(swap), a), (swap, b))
    ]
    value = _betainc_by_parameters(xp, functions, by_a, by_b, moved_a, moved_b, x, swap)
    slopes = _beta_slopes(functions, by_a, by_b, moved_a, moved_b, a + b)
    log_x, log_y = xp.log(x), xp.log1p(-x)
    logs = functions.gammaln(moved_a) + functions.gammaln(moved_b) - functions.gammaln(a + b)
    added = xp.exp(a * log_x + b * log_y - logs) * _beta_bells(by_a, by_b, slopes, log_x, log_y)[by_a, by_b]
    value = xp.where(small, value + xp.where(swap, -added, added), value)
    inside = xp.logical_and(xp.logical_and(a > 0, b > 0), xp.logical_and(x >= 0, x <= 1))
    return xp.where(inside, xp.where(xp.logical_or(x == 0, x == 1), 0.0, value), math.nan)


def _betainc_by_parameters(xp: Any, functions: Any, by_a: int, by_b: int, a: Any, b: Any, x: Any, swap: Any) -> Any:
    """By an integral over the side of `x` where the density falls: the right one where `swap`.

    Where the other parameter, q, is near 0, 1 / gamma(q) is q / gamma(q + 1), and q a factor of its own.
    """
    p, q = xp.where(swap, b, a), xp.where(swap, a, b)
    small, moved = _off_the_pole(xp, q)
    factor, by_q = xp.where(small, q, 1.0), xp.where(small, xp.where(swap, by_a, by_b), 0)
    t, s = xp.where(swap, 1 - x, x), xp.where(swap, x, 1 - x)
    rate = xp.maximum(p - (p + q) * t, 0) + xp.minimum(p, xp.sqrt((p + q) * t * s))
    log_t, log_s = xp.log(t), xp.log(s)
    table = _beta_slopes(functions, by_a, by_b, xp.where(swap, moved, a), xp.where(swap, b, moved), a + b)
    logs = functions.gammaln(p) + functions.gammaln(moved) - functions.gammaln(a + b)

    def density(v: Any) -> Any:
        log_c = xp.log1p(t * xp.expm1(-v))
        first, second = log_t - v - log_c, log_s - log_c
        log_x, log_y = xp.where(swap, second, first), xp.where(swap, first, second)
        bells = _beta_bells(by_a, by_b, table, log_x, log_y)
        without_q = xp.where(swap, bells.get((by_a - 1, by_b), 0.0), bells.get((by_a, by_b - 1), 0.0))
        return xp.exp(-p * v - (p + q) * log_c) * (factor * bells[by_a, by_b] + by_q * without_q)

    peak = xp.exp(p * log_t + q * log_s - logs)
    return xp.where(swap, -peak, peak) * integral(xp, density, 1 / rate)


def beta_density(xp: Any, functions: Any, by_a: int, by_b: int, by_x: int, a: Any, b: Any, x: Any) -> Any:
    """The derivative, so many times by each, of x^(a-1) (1-x)^(b-1) / beta(a, b)."""
    log_x, log_y = xp.log(x), xp.log1p(-x)
    if by_a == by_b == by_x == 0:
        return _beta_density(xp, functions, a, b, log_x, log_y)
    (small_a, moved_a), (small_b, moved_b) = _off_the_pole(xp, a), _off_the_pole(xp, b)
    table = _beta_slopes(functions, by_a, by_b, moved_a, moved_b, a + b)
    bells = _beta_bells(by_a, by_b, table, log_x, log_y)
    logs = functions.gammaln(moved_a) + functions.gammaln(moved_b) - functions.gammaln(a + b)
    terms = []
    for j in range(by_x + 1):
        k, total = by_x - j, 0.0
        exponent = _times_log(xp, a - 1 - j, log_x) + _times_log(xp, b - 1 - k, log_y)
        power = (-1) ** k * math.comb(by_x, j) * xp.exp(exponent - logs)
        for m in range(min(by_a, j + 1) + 1):
            for n in range(min(by_b, k + 1) + 1):
                factor = _factor(xp, small_a, j, m, a) * _factor(xp, small_b, k, n, b)
                factor = factor * (math.comb(by_a, m) * math.comb(by_b, n))
                total = total + _no_nan_product(xp, factor, power, bells[by_a - m, by_b - n])
        terms.append(total)
    return xp.where(x == 1, _first_infinite(xp, terms), _first_infinite(xp, terms[::-1]))


def _beta_density(xp: Any, functions: Any, a: Any, b: Any, log_x: Any, log_y: Any) -> Any:
    """Near the poles of gamma, whose products leave the range of floats, as a b / (a + b) times what is about 1."""
    small = xp.logical_and(xp.minimum(a, b) > 0, xp.minimum(a, b) < _SMALL)
    less, more = xp.where(small, xp.minimum(a, b), 1.0), xp.where(small, xp.maximum(a, b), 1.0)
    factor = xp.where(small, xp.log(less) - xp.log1p(less / more), 0.0)
    step = small.astype(a.dtype)
    logs = functions.gammaln(a + step) + functions.gammaln(b + step) - functions.gammaln(a + b + step)
    return xp.exp(_times_log(xp, a - 1, log_x) + _times_log(xp, b - 1, log_y) + (factor - logs))


def _first_infinite(xp: Any, terms: Sequence[Any]) -> Any:
    """The sum of `terms`, of which the first that is infinite outgrows the others."""
    total = terms[0]
    for term in terms[1:]:
        total = xp.where(xp.isinf(total), total, total + term)
    return total


def _no_nan_product(xp: Any, factor: Any, power: Any, rest: Any) -> Any:
    """The product, 0 where the factor or the power is: the other may be infinite there."""
    return xp.where(xp.logical_or(power == 0, factor == 0), 0.0, factor * power * rest)


def _times_log(xp: Any, factor: Any, logarithm: Any) -> Any:
    return xp.where(factor == 0, 0.0, factor * logarithm)


def _factor(xp: Any, small: Any, count: int, order: int, a: Any) -> Any:
    """The derivative of that order of (a-1) ... (a-count), times `a` where it is `small`."""
    return xp.where(small, _falling(count + 1, order, a), _falling(count, order, a - 1))


def _falling(count: int, order: int, z: Any) -> Any:
    """The derivative of that order of z (z-1) ... (z-count+1)."""
    polynomial = np.polynomial.Polynomial.fromroots(range(count)) if count else np.polynomial.Polynomial([1.0])
    value: Any = 0.0
    for c in polynomial.deriv(order).coef[::-1]:
        value = value * z + float(c)
    return value


def _beta_slopes(functions: Any, by_a: int, by_b: int, a: Any, b: Any, total: Any) -> Callable[[int, int], Any]:
    """Those of log(gamma(total) / gamma(a) / gamma(b)): (i, j) -> i times by `a`, j times by `b`; i + j >= 1."""
    both, own_a, own_b = (_psi(functions, n, z) for n, z in ((by_a + by_b, total), (by_a, a), (by_b, b)))

    def slope(i: int, j: int) -> Any:
        value = both[i + j - 1]
        if j == 0:
            value = value - own_a[i - 1]
        if i == 0:
            value = value - own_b[j - 1]
        return value

    return slope


def _psi(functions: Any, count: int, z: Any) -> list[Any]:
    """The first `count` derivatives of log gamma."""
    return [functions.digamma(z) if k == 0 else polygamma(functions, k, z) for k in range(count)]


def _beta_bells(
    by_a: int, by_b: int, slopes: Callable[[int, int], Any], log_x: Any, log_y: Any
) -> dict[tuple[int, int], Any]:
    """The derivatives of x^a (1-x)^b / beta(a, b), up to so many times by each, divided by the function."""

    def c(i: int, j: int) -> Any:
        known = log_x if (i, j) == (1, 0) else log_y if (i, j) == (0, 1) else 0.0
        return slopes(i, j) + known

    values: dict[tuple[int, int], Any] = {(0, 0): 1.0}
    for n in range(by_b):
        values[0, n + 1] = sum(math.comb(n, k) * values[0, n - k] * c(0, k + 1) for k in range(n + 1))
    for m in range(by_a):
        for n in range(by_b + 1):
            values[m + 1, n] = sum(
                math.comb(m, i) * math.comb(n, k) * values[m - i, n - k] * c(i + 1, k)
                for i in range(m + 1)
                for k in range(n + 1)
            )
    return values
