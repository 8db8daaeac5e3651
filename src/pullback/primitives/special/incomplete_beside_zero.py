"""Incomplete gamma and beta functions by parameters near 0, where they are about as small: to their last digits.

The upper function of gamma and that of beta right of the mean are 1 less almost 1 there. What they are to be taken from
is exp of terms that are all of the size of the parameter, among them an integral without a pole.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .incomplete_kernels import integral, is_right_of_the_mean

_NEAR = 1 / 16
"""Where a parameter is near 0, so that few nodes are enough for what changes along it."""
_NODES = (
    (0.046910077030668, 0.11846344252809454),
    (0.23076534494715845, 0.23931433524968324),
    (0.5, 0.28444444444444444),
    (0.7692346550528415, 0.23931433524968324),
    (0.953089922969332, 0.11846344252809454),
)
"""The nodes of Gauss and Legendre between 0 and 1, and their weights."""


def _changed_if_any(xp: Any, condition: Any, change: Callable[[Any], Any], x: Any) -> Any:
    """`change` of `x`, unless `condition` holds nowhere: few parameters are near 0, and the integrals take long."""
    if xp is np:
        return change(x) if condition.any() else x
    return xp.changed_if(xp.any(condition), change, x)


def igammac(xp: Any, functions: Any, a: Any, x: Any) -> Any:
    """The upper incomplete gamma function, regularised."""
    a, x = xp.broadcast_arrays(a, x)
    near = xp.logical_and(xp.logical_and(a > 0, a < _NEAR), xp.logical_and(x > 0, x <= 1))

    def beside_zero(value: Any) -> Any:
        safe_a, safe_x = xp.where(near, a, _NEAR), xp.where(near, x, 0.5)
        return xp.where(near, -xp.expm1(_log_of_the_rest_of_gamma(xp, functions, safe_a, safe_x)), value)

    return _changed_if_any(xp, near, beside_zero, functions.gammaincc(a, x))


def _log_of_the_rest_of_gamma(xp: Any, functions: Any, a: Any, x: Any) -> Any:
    """log(igamma), from the power series of exp."""

    def density(v: Any) -> Any:
        return xp.exp(-a * v) * xp.expm1(-x * xp.exp(-v))

    sums = integral(xp, density, xp.ones_like(x)).astype(x.dtype)
    return a * (xp.log(x) - _mean_digamma(functions, 1, a)) + xp.log1p(a * sums)


def betainc(xp: Any, functions: Any, a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function; right of the mean, where `b` is near 0, not as 1 less almost 1.

    Elsewhere by that of `functions`, which loses digits of `b` whose squares are 0; I(a, b) (a + b) / b is constant
    there.
    """
    a, b, x = xp.broadcast_arrays(a, b, x)
    floor = math.sqrt(ml_dtypes.finfo(x.dtype).smallest_normal)  # type: ignore[no-untyped-call]
    near = xp.logical_and(xp.logical_and(a > 0, b > 0), xp.logical_and(is_right_of_the_mean(a, b, x), x < 1))
    near = xp.logical_and(near, b < _NEAR)
    tiny = xp.logical_and(xp.logical_and(b > 0, b < floor), x < 1)
    normal = xp.where(tiny, floor, b)
    value = functions.betainc(a, normal, x)
    value = xp.where(tiny, value / normal * b * ((a + normal) / (a + b)), value)

    def beside_zero(value: Any) -> Any:
        safe_a, safe_b, safe_x = xp.where(near, a, 1.0), xp.where(near, b, _NEAR), xp.where(near, x, 0.5)
        return xp.where(near, -xp.expm1(_log_of_the_rest_of_beta(xp, functions, safe_a, safe_b, safe_x)), value)

    return _changed_if_any(xp, near, beside_zero, value)


def _log_of_the_rest_of_beta(xp: Any, functions: Any, a: Any, b: Any, x: Any) -> Any:
    """log(1 - betainc) in terms that are all of the size of `b`, or of b / a."""
    log_y = xp.log1p(-x)

    gammas = _mean_digamma(functions, a + 1, b) - _mean_digamma(functions, 1, b)

    def density(v: Any) -> Any:
        return xp.exp(-b * v) * xp.expm1((a - 1) * xp.log1p((x - 1) * xp.exp(-v)))

    sums = integral(xp, density, xp.ones_like(x)).astype(x.dtype)
    return b * (log_y + gammas) - xp.log1p(b / a) + xp.log1p(b * sums)


def _mean_digamma(functions: Any, start: Any, length: Any) -> Any:
    """The mean of digamma between `start` and `start + length`."""
    return sum(weight * functions.digamma(start + length * node) for node, weight in _NODES)
