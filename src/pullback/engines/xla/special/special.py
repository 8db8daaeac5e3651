"""XLA lowering of special functions: jax's, where it has them and agrees with SciPy's at the ends."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as special
from jax import lax

from ....primitives.special import bessel, gamma, incomplete, integrals, slopes
from ....primitives.special.base import AbstractSpecial
from ....primitives.special.igamma_ratio import IgammaRatio
from ..array_namespace import NAMESPACE
from ..registry import xla_kernel
from . import bessel as xla_bessel
from .blocks import in_blocks

_SPENCE = [
    1.0, 1 / 36, -1 / 3600, 1 / 211680, -1 / 10886400, 1 / 526901760,
    -4.0647616451442255e-11, 8.9216910204564526e-13, -1.9939295860721076e-14, 4.518980029619918e-16,
]  # fmt: skip
"""Bernoulli's numbers of even index n, divided by (n + 1)!."""
_MOST_STEPS = 1000.0
_SERIES, _FRACTION = 130, 100
"""The terms of the exponential integral's series, up to 50, and of its continued fraction, up to -1, in float64."""
_FAR, _ASYMPTOTIC = 50.0, 25
"""From where on so many terms of its asymptotic series are enough."""
_gammainc = in_blocks(special.gammainc, 4096)


class Functions:
    """The functions of `scipy.special` that the primitives ask for, under its names."""

    betainc = staticmethod(in_blocks(special.betainc, 32))
    dawsn = staticmethod(special.dawsn)
    fresnel = staticmethod(special.fresnel)
    gammaincc = staticmethod(in_blocks(special.gammaincc, 4096))
    gammaln = staticmethod(special.gammaln)
    i0, i0e, i1, i1e = map(staticmethod, (special.i0, special.i0e, special.i1, special.i1e))
    iv, ive, jv = map(staticmethod, (xla_bessel.iv, xla_bessel.ive, xla_bessel.jv))
    j0, j1, y0, y1 = map(staticmethod, (xla_bessel.j0, xla_bessel.j1, xla_bessel.y0, xla_bessel.y1))
    k0, k0e, k1, k1e = map(staticmethod, (xla_bessel.k0, xla_bessel.k0e, xla_bessel.k1, xla_bessel.k1e))

    @staticmethod
    def spence(x: jax.Array) -> jax.Array:
        """In powers of log(x) with Bernoulli's numbers; far from 1 by the reflections (Lewin, Polylogarithms, 1981)."""
        large = x > 2
        t = jnp.where(large, 1 / x, x)
        far = t < 0.5
        beside = NAMESPACE.log1p(-jnp.where(far, t, 0))
        u = -jnp.where(far, beside, jnp.log(x))
        square = u * u
        series = jnp.full_like(x, _SPENCE[-1])
        for coefficient in _SPENCE[-2::-1]:
            series = series * square + coefficient
        near = u * series - square / 4
        logarithm = jnp.where(large, -jnp.log(x), jnp.log(t))
        low = math.pi**2 / 6 - jnp.where(t == 0, 0, logarithm * beside) - near
        value = jnp.where(far, low, near)
        return jnp.where(large, -jnp.square(logarithm) / 2 - value, value)

    @staticmethod
    def digamma(x: jax.Array) -> jax.Array:
        """-inf at 0, inf at -0."""
        return jnp.where(x == 0, -jnp.copysign(jnp.inf, x), special.digamma(x))

    @staticmethod
    def erfcx(x: jax.Array) -> jax.Array:
        """Where erfc is nearly 0 by jax's for larger numbers: there it loses digits, or is 0, before that begins."""
        last = 26.3 if x.dtype == jnp.float64 else 9.0
        square = jnp.square(jnp.maximum(x, last))
        series = jnp.ones_like(x)
        for n in range(17, 0, -2):
            series = 1 - series * (n / (2 * square))
        far = series / (jnp.maximum(x, last) * math.sqrt(math.pi))
        return jnp.where(x > last, far, special.erfcx(jnp.minimum(x, last)))

    @staticmethod
    def expi(x: jax.Array) -> jax.Array:
        """Without jax's loops, which may not end left of 0, and its exp(x), which overflows before the result."""
        left, right = _expi_left(jnp.clip(x, -1e3, -1.0)), _expi_right(jnp.clip(x, _FAR, 1e4))
        return jnp.where(x < -1, left, jnp.where(x > _FAR, right, _expi_near(jnp.clip(x, -1.0, _FAR))))

    @staticmethod
    def gammainc(a: jax.Array, x: jax.Array) -> jax.Array:
        """1 where `a` is 0 and `x` is not."""
        return jnp.where((a == 0) & (x > 0), 1.0, _gammainc(a, x))

    @staticmethod
    def zeta(x: jax.Array, q: jax.Array) -> jax.Array:
        """In float64; sums that begin left of 0 up to there one by one, where jax's formula does not hold.

        inf at x = 1, and where `q` is 0 or a negative integer; 0 at q = inf; NaN left of -1000. Where `q` is NaN it
        says nothing of how many numbers there are before the others.
        """
        dtype = x.dtype
        x, q = jnp.broadcast_arrays(x.astype(jnp.float64), q.astype(jnp.float64))
        pole = (x > 1) & (q <= 0) & (q == jnp.floor(q))
        start = jnp.where(pole | jnp.isposinf(q), 1.0, q)
        steps = jnp.ceil(jnp.clip(jnp.where(start < 0, -start, 0), 0, _MOST_STEPS))

        def add(k: Any, total: jax.Array) -> jax.Array:
            return total + jnp.where(k < steps, jnp.power(start + k, -x), 0.0)

        count = jnp.max(steps, initial=0).astype(jnp.int32)
        inside = special.zeta(x, start + steps) + lax.fori_loop(0, count, add, jnp.zeros_like(x))
        inside = jnp.where(start < -_MOST_STEPS, jnp.nan, inside)
        limited = jnp.where(jnp.isposinf(q) & (x > 1), 0.0, inside)
        return jnp.where(pole | (x == 1), jnp.inf, limited).astype(dtype)


def _expi_near(x: Any) -> Any:
    """The power series, whose terms have one sign right of 0."""

    def term(i: Any, series: Any) -> Any:
        n = jnp.asarray(_SERIES - i, x.dtype)
        return x / n * (series + 1 / n)

    return jnp.euler_gamma + jnp.log(jnp.abs(x)) + lax.fori_loop(0, _SERIES, term, jnp.zeros_like(x))


def _expi_left(x: Any) -> Any:
    """The continued fraction, from its last term on, left of -1: Abramowitz and Stegun, 5.1.22, contracted."""

    def term(i: Any, below: Any) -> Any:
        n = jnp.asarray(_FRACTION - i, x.dtype)
        return 2 * n - 1 - x - n * n / below

    below = lax.fori_loop(0, _FRACTION, term, 2 * _FRACTION + 1 - x)
    return -jnp.exp(x) / below


def _expi_right(x: Any) -> Any:
    """The asymptotic series."""
    series = jnp.ones_like(x)
    for n in range(_ASYMPTOTIC, 0, -1):
        series = 1 + series * (n / x)
    root = jnp.exp(x / 2)
    return root * (series / x) * root


@xla_kernel(
    *(gamma.Lgamma, gamma.Digamma, gamma.Polygamma, gamma.PolygammaOf, gamma.Zeta),
    *(incomplete.Igamma, incomplete.Igammac, incomplete.IgammaByA, incomplete.GammaDensity),
    IgammaRatio,
    *(incomplete.Betainc, incomplete.BetaincByParameters, incomplete.BetaDensity),
    *(integrals.Dawsn, integrals.Expint, integrals.ExpintSlope, integrals.FresnelCos, integrals.FresnelSin),
    *(integrals.Spence, integrals.SpenceSlope, integrals.Erfcx),
    *(bessel.BesselI0, bessel.BesselI0e, bessel.BesselI1, bessel.BesselI1e, bessel.BesselI1Slope, bessel.BesselIn),
    *(bessel.BesselK0, bessel.BesselK0e, bessel.BesselK1, bessel.BesselK1e),
    *(bessel.BesselJ0, bessel.BesselJ1, bessel.BesselJ1Slope, bessel.BesselJn, bessel.BesselY0, bessel.BesselY1),
    *(slopes.GaussSlope, slopes.ScaledBesselSlope),
)
def computed(primitive: AbstractSpecial, *arrays: Any) -> Any:
    return primitive.computed(NAMESPACE, Functions, [jnp.asarray(x) for x in arrays])
