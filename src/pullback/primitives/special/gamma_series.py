"""Hurwitz zeta and reciprocal gamma functions: derivatives by parameters, of any order; arrays only.

A jet is a list of Taylor coefficients: that of number j belongs to the power j of a small change of the parameter.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330, 854513 / 138,
    -236364091 / 2730,
)  # fmt: skip
"""The Bernoulli numbers of even index, from the second."""
_DIRECT = 12
"""The terms of the sum that are added one by one."""

Jet = list[Any]


def product(a: Jet, b: Jet) -> Jet:
    """The jet of a product."""
    return [sum(a[i] * b[n - i] for i in range(n + 1)) for n in range(len(a))]


def exponential(xp: Any, logarithm: Jet) -> Jet:
    """The jet of the exponential of what `logarithm` is the jet of."""
    result = [xp.exp(logarithm[0])]
    for n in range(1, len(logarithm)):
        result.append(sum(k * logarithm[k] * result[n - k] for k in range(1, n + 1)) / n)
    return result


def zeta_by_exponent(xp: Any, order: int, s: Any, q: Any) -> Any:
    """The derivative of that order by `s` of the sum over k >= 0 of (q + k)^-s; NaN unless s > 1 and q > 0.

    The Euler-Maclaurin formula, in jets: F. Johansson, "Rigorous high-precision computation of the Hurwitz zeta
    function and its derivatives", Numerical Algorithms 69, 2015.
    """
    total = 0
    for k in range(_DIRECT):
        total = total + xp.power(q + k, -s) * xp.power(-xp.log(q + k), order)
    end = q + _DIRECT
    power = _power_jet(xp, order, s, end)
    pole = [(-1) ** j / xp.power(s - 1, j + 1) for j in range(order + 1)]
    tail = end * product(power, pole)[order] + 0.5 * power[order]
    rising: Jet = [s, *([1.0] if order else []), *([0.0] * (order - 1))]
    scale = 1 / end
    for r, number in enumerate(_BERNOULLI, start=1):
        tail = tail + number / math.factorial(2 * r) * scale * product(power, rising)[order]
        for step in (2 * r - 1, 2 * r):
            rising = _times_linear(rising, s + step)
        scale = scale / (end * end)
    inside = xp.logical_and(s > 1, q > 0)
    return xp.where(inside, total + math.factorial(order) * tail, math.nan).astype(s.dtype)


def _power_jet(xp: Any, order: int, s: Any, base: Any) -> Jet:
    """The jet in `s` of base^-s."""
    first, step = xp.power(base, -s), -xp.log(base)
    return [first * xp.power(step, j) / math.factorial(j) for j in range(order + 1)]


def _times_linear(jet: Jet, value: Any) -> Jet:
    """The jet times a factor that is `value` and grows as the parameter does."""
    return [jet[j] * value + (jet[j - 1] if j else 0) for j in range(len(jet))]


def log_gamma_jet(functions: Any, order: int, a: Any) -> Jet:
    """The jet of the logarithm of gamma, of its absolute value."""
    jet = [functions.gammaln(a)]
    if order:
        jet.append(functions.digamma(a))
    return jet + [polygamma(functions, k - 1, a) / math.factorial(k) for k in range(2, order + 1)]


def polygamma(functions: Any, order: int, x: Any) -> Any:
    """The polygamma function of a known order of at least 1."""
    exponent = np.asarray(order + 1, x.dtype)
    return (-1) ** (order + 1) * math.factorial(order) * functions.zeta(exponent, x)


def polygamma_by_order(xp: Any, functions: Any, times: int, a: Any, x: Any) -> Any:
    """The derivative, `times` times by `a`, of gamma(a + 1) * zeta(a + 1, x), with the sign of the nearest integer."""
    sign = xp.where(xp.remainder(xp.round(a), 2) == 1, 1.0, -1.0).astype(a.dtype)
    if times == 0:
        exact = xp.exp(functions.gammaln(a + 1)) * functions.zeta(a + 1, x)
        return xp.where(a == 0, functions.digamma(x), xp.where(a > 0, sign * exact, math.nan)).astype(a.dtype)
    gamma = exponential(xp, log_gamma_jet(functions, times, a + 1))
    zeta = [zeta_by_exponent(xp, j, a + 1, x) / math.factorial(j) for j in range(times + 1)]
    return sign * math.factorial(times) * product(gamma, zeta)[times]
