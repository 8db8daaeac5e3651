"""Vectorised trigonometric functions: sines, cosines, tangents and their inverses of many floats of up to 32 bits.

XLA 0.10 calls the C library for each element on processors: the sines of a million float32 take 3.8 ms. Here they are
polynomials in float64, which the compiler computes for several elements at once: 0.9 ms, and rounded to the nearest,
where the library's sines are off by 0.56 units in the last place and XLA's arc sines by 2.3.

The argument of a sine is reduced as Payne and Hanek do (Radian reduction for trigonometric functions, SIGNUM 1983):
1 / (2 pi) in pieces of 29 bits, so that the product of each with a float32 is exact, and so are its whole turns, which
are taken away. Seven pieces are as many digits as the largest float32 needs. What is left, but for half turns, is the
argument of one polynomial, for the cosine after a quarter of a turn. Angles are those of a right triangle, whose legs
are turned by an eighth of a circle where they are of like lengths, and then the arc tangent's series.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.dtypes import FLOATING
from ...primitives.elementwise.trigonometric import Acos, Asin, Atan, Atan2, Cos, Sin, Tan
from ..plan import Plan
from .platform import may_expand, on_processor, repeats

_MANY = 1 << 15
"""The elements, in all steps of a loop, from which on it is worth the many operations of each function, which take
27 ms to compile, XLA's own 18."""
_FEW = 64
"""The elements of an array for which it is not."""
_MOST = 24
"""The functions of a program up to which they are computed here."""
_FUNCTIONS = Sin, Cos, Tan, Asin, Acos, Atan, Atan2
_BITS = 29
_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163
"""The first 216 bits of 2 / pi after the point."""
_PIECES = [math.ldexp((_TWO_OVER_PI >> (216 - end)) % (1 << _BITS), -end - 2) for end in range(_BITS, 204, _BITS)]
_SINE = [
    *(0.9999999999999496, -0.16666666666466673, 0.008333333320358348, -0.00019841266683130501),
    *(2.7556952912844613e-06, -2.5030268188373023e-08, 1.5411219741161512e-10),
]
"""Of the polynomial in x^2 that is sin(x) / x at the seven Chebyshev points of [0, pi^2 / 4]; off by 8e-14 at most."""
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(7)]
_ARC_TANGENT = [(-1) ** k / (2 * k + 1) for k in range(13)]
_EIGHTH = math.sqrt(2) - 1
"""The tangent of an eighth of pi."""


def are_few_in(plan: Plan) -> bool:
    """Whether a program of `plan` is compiled soon enough with these functions here."""
    return count(plan) <= _MOST


def of_many(here: Callable[[Any], Any], there: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of an array: `here` where the elements are many, else XLA's own, `there`."""
    return lambda x: _once(here(x), x) if are_many(x) else there(x)


def count(plan: Plan) -> int:
    """The number of these functions in a plan and its bodies."""
    own = sum(isinstance(step.op.primitive, _FUNCTIONS) for step in plan.steps)
    return own + sum(count(body.plan) for step in plan.steps for body in step.bodies)


def are_many(*arrays: Any) -> bool:
    """Whether functions of `arrays`, which are broadcast, had better be computed here."""
    if not on_processor() or not may_expand():
        return False
    if not all(isinstance(x, jax.Array) and x.dtype in FLOATING and x.dtype.itemsize <= 4 for x in arrays):
        return False
    dims = jnp.broadcast_shapes(*[x.shape for x in arrays])
    size = math.prod(dims) if all(isinstance(n, int) for n in dims) else 0
    return size > _FEW and size * repeats(*arrays) >= _MANY


@jax.jit
def sine(x: Any) -> Any:
    """The sine of each element."""
    return _with_zeros(x, _sine_of_turns(_turns(x), 0))


@jax.jit
def cosine(x: Any) -> Any:
    """The cosine of each element."""
    return _sine_of_turns(_turns(x), 0.25).astype(x.dtype)


@jax.jit
def tangent(x: Any) -> Any:
    """The tangent of each element."""
    parts = _turns(x)
    quarters = _nearest(4 * reduce(lax.add, parts))
    angle = 2 * np.pi * reduce(lax.add, parts, -quarters / 4)
    square = angle * angle
    s, c, is_odd = angle * _series(_SINE, square), _series(_COSINE, square), _is_odd(quarters)
    return _with_zeros(x, jnp.where(is_odd, -c, s) / jnp.where(is_odd, s, c))


@jax.jit
def arc_sine(x: Any) -> Any:
    """The angle in [-pi/2, pi/2] whose sine is each element."""
    size = jnp.abs(x.astype(np.float64))
    return jnp.copysign(_angle(size, _other_leg(size)), x).astype(x.dtype)


@jax.jit
def arc_cosine(x: Any) -> Any:
    """The angle in [0, pi] whose cosine is each element."""
    size = jnp.abs(x.astype(np.float64))
    y = _angle(_other_leg(size), size)
    return jnp.where(x < 0, np.pi - y, y).astype(x.dtype)


@jax.jit
def arc_tangent(x: Any) -> Any:
    """The angle in [-pi/2, pi/2] whose tangent is each element."""
    size = jnp.abs(x.astype(np.float64))
    return jnp.copysign(_angle(size, jnp.ones_like(size)), x).astype(x.dtype)


@jax.jit
def angle(y: Any, x: Any) -> Any:
    """The angle in [-pi, pi] of each point (x, y)."""
    found = _angle(jnp.abs(y.astype(np.float64)), jnp.abs(x.astype(np.float64)))
    whole = jnp.copysign(jnp.where(jnp.signbit(x), np.pi - found, found), y)
    return _once(whole.astype(jnp.result_type(y, x)), x)


def _once(y: Any, x: Any) -> Any:
    """`y`, a function of `x`, divided by 1: XLA works a division into several readers for none.

    It does so with what it takes for cheap, as each of the operations here: all of a chain of sines would be computed
    again for each of its derivatives.
    """
    return y / jnp.where(x == x, 1, jnp.nan).astype(y.dtype)


def _turns(x: Any) -> list[Any]:
    """Parts whose sum is `x` in turns of the circle, whole ones taken away."""
    wide = x.astype(np.float64)
    return [y - _nearest(y) for y in [wide * piece for piece in _PIECES]]


def _sine_of_turns(parts: Sequence[Any], more: float) -> Any:
    """The sine of the sum of `parts` and `more` turns."""
    halves = _nearest(2 * (reduce(lax.add, parts) + more))
    # Without the half turns from the start no digit is rounded away that counts where little is left.
    angle = 2 * np.pi * reduce(lax.add, parts, more - halves / 2)
    y = angle * _series(_SINE, angle * angle)
    return jnp.where(_is_odd(halves), -y, y)


def _angle(y: Any, x: Any) -> Any:
    """The angle in [0, pi/2] of points (x, y) of the first quadrant, infinite ones too; 0 for the origin."""
    is_steep = y > x
    short, long = jnp.minimum(x, y), jnp.maximum(x, y)
    is_like = (short > long * _EIGHTH) | jnp.isinf(short)
    across = jnp.where(short == long, 0, short - long)
    along = jnp.where(long == 0, 1, long)
    slope = jnp.where(is_like, across, short) / jnp.where(is_like, long + short, along)
    found = slope * _series(_ARC_TANGENT, slope * slope) + jnp.where(is_like, np.pi / 4, 0)
    return jnp.where(is_steep, np.pi / 2 - found, found)


def _other_leg(x: Any) -> Any:
    """The square root of 1 - x^2: that of a float32, and a step of Newton's, which XLA has five times sooner."""
    square = (1 - x) * (1 + x)
    root = jnp.sqrt(square.astype(np.float32)).astype(np.float64)
    return jnp.where(root == 0, 0, (root + square / root) / 2)


def _series(coefficients: Sequence[float], x: Any) -> Any:
    """The polynomial in `x` of these coefficients, by Horner's scheme."""
    return reduce(lambda y, c: y * x + c, reversed(coefficients[:-1]), jnp.full_like(x, coefficients[-1]))


def _nearest(x: Any) -> Any:
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


def _is_odd(whole: Any) -> Any:
    half = whole / 2
    return half != jnp.floor(half)


def _with_zeros(x: Any, y: Any) -> Any:
    """`y` in the dtype of `x`; zeros of `x` with their sign."""
    return jnp.where(x == 0, x, y.astype(x.dtype))
