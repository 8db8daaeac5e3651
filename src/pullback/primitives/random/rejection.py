"""Rejection sampling of the gamma and Poisson distributions, in a fixed number of rounds.

G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26, 2000; W. Hörmann, "The
transformed rejection method for generating Poisson random variables", Insurance: Mathematics and Economics 12, 1993.
Where no round accepts, with a probability of less than 1e-10, the centre of the distribution is taken.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtypes import float32, float64
from ..casting.cast import saturate
from . import threefry

ROUNDS = 8
GAMMA_WORDS = 2 * ROUNDS + 1
"""Pairs of words for each number of the gamma distribution: one normal and one uniform in each round, and one more."""
POISSON_WORDS = 14
_SMALL_MEANS = 60
"""As many terms of the distribution function as are added up for means below 10."""


def gamma(xp: Any, pair: tuple[Any, Any], alpha: Any, dtype: Any) -> Any:
    """Numbers of the gamma distribution with shape `alpha` [...] from words [GAMMA_WORDS, ...]."""
    wide = float64 if dtype == float64 else float32
    a = alpha.astype(wide)
    small = a < 1
    d = xp.where(small, a + 1, a) - wide.type(1 / 3)
    c = wide.type(1) / xp.sqrt(9 * d)
    result, found = d, xp.zeros(a.shape, bool)
    for i in range(ROUNDS):
        x = threefry.normal(xp, _pair(pair, 2 * i), wide)
        u = _open_uniform(_pair(pair, 2 * i + 1), wide)
        cube = xp.power(1 + c * x, 3)
        v = xp.where(cube > 0, cube, wide.type(1))
        bound = wide.type(0.5) * x * x + d * (1 - v + xp.log(v))
        accepted = xp.logical_and(cube > 0, xp.log(u) < bound)
        result = xp.where(xp.logical_and(accepted, xp.logical_not(found)), d * v, result)
        found = xp.logical_or(found, accepted)
    boost = xp.exp(xp.log(_open_uniform(_pair(pair, 2 * ROUNDS), wide)) / xp.where(small, a, 1))
    result = xp.where(small, result * boost, result)
    return xp.where(a > 0, result, wide.type(math.nan)).astype(dtype)


def _pair(pair: tuple[Any, Any], i: int) -> tuple[Any, Any]:
    return pair[0][i], pair[1][i]


def _open_uniform(pair: tuple[Any, Any], dtype: Any) -> Any:
    """Uniform numbers strictly between 0 and 1."""
    if dtype == float64:
        whole = (pair[0] >> np.uint32(6)).astype(float64) * 67108864.0 + (pair[1] >> np.uint32(6)).astype(float64)
        return (whole + 0.5) * 2.0**-52
    return ((pair[0] >> np.uint32(9)).astype(np.int32).astype(float32) + float32.type(0.5)) * float32.type(2.0**-23)


def poisson(xp: Any, pair: tuple[Any, Any], mean: Any, dtype: Any) -> Any:
    """Numbers of the Poisson distribution with `mean` [...] from words [POISSON_WORDS, ...]."""
    mean = mean.astype(float64)
    small = _by_inversion(xp, _open_uniform(_pair(pair, 0), float64), xp.clip(mean, 0, 10))
    large = _by_rejection(xp, pair, xp.maximum(mean, 10))
    value = xp.where(mean < 10, small, large)
    if np.dtype(dtype).kind in "iu":
        return saturate(xp, value, dtype)
    return xp.where(mean >= 0, value, math.nan).astype(dtype)


def _by_inversion(xp: Any, u: Any, mean: Any) -> Any:
    term = xp.exp(-mean)
    total, count = term, xp.zeros(u.shape, float64)
    for k in range(1, _SMALL_MEANS):
        count = count + (u > total)
        term = term * mean / k
        total = total + term
    return count


def _by_rejection(xp: Any, pair: tuple[Any, Any], mean: Any) -> Any:
    """Hörmann's algorithm PTRS."""
    b = 0.931 + 2.53 * xp.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    result, found = xp.floor(mean), xp.zeros(mean.shape, bool)
    for i in range(1, POISSON_WORDS):
        u = (pair[0][i].astype(float64) + 0.5) * 2.0**-32 - 0.5
        v = (pair[1][i].astype(float64) + 0.5) * 2.0**-32
        us = 0.5 - xp.abs(u)
        k = xp.floor((2 * a / us + b) * u + mean + 0.43)
        left = xp.log(v * inverse / (a / (us * us) + b))
        accepted = left <= k * xp.log(mean) - mean - _log_factorial(xp, xp.maximum(k, 0))
        accepted = xp.logical_and(accepted, k >= 0)
        result = xp.where(xp.logical_and(accepted, xp.logical_not(found)), k, result)
        found = xp.logical_or(found, accepted)
    return result


def _log_factorial(xp: Any, k: Any) -> Any:
    """Stirling's series at k + 8, carried back."""
    z = k + 9
    series = (
        (z - 0.5) * xp.log(z)
        - z
        + 0.5 * math.log(2 * math.pi)
        + (1 / 12 - (1 / 360 - 1 / (1260 * z * z)) / (z * z)) / z
    )
    product = (k + 1) * (k + 2) * (k + 3) * (k + 4) * (k + 5) * (k + 6) * (k + 7) * (k + 8)
    return series - xp.log(product)
