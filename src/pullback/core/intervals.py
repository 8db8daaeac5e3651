"""Interval analysis: bounds of the values that an operation can give, and whether they may be infinite or NaN.

Interval arithmetic (Moore 1966) on extended reals. Numbers that a run provides, whatever they are, are taken for finite
ones, and what is computed of finite numbers for finite as well where only overflow would make it otherwise: bounds of
`MOST` say nothing of the size. What overflows at moderate numbers, as the exponential does, says so.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

MOST = sys.float_info.max
LARGE = 10.0
"""Beyond this an exponential is taken to overflow: in float16 it does at 11."""


class Interval(NamedTuple):
    """Numbers from `low` to `high`, both included, which may be infinite; with `nan` also NaN."""

    low: float
    high: float
    nan: bool = False

    @property
    def finite(self) -> bool:
        """Whether all are finite."""
        return not self.nan and self.bounded

    @property
    def bounded(self) -> bool:
        """Whether none is infinite."""
        return self.low >= -MOST and self.high <= MOST

    @property
    def has_zero(self) -> bool:
        """Whether 0 is one of them."""
        return self.low <= 0 <= self.high


Bounds = Interval | tuple[Interval, ...]
"""An interval for all results of an operation, or one for each."""
FINITE = Interval(-MOST, MOST)
ANY = Interval(-math.inf, math.inf, True)
ORIGIN = Interval(0.0, 0.0)
"""0 alone."""
POSITIVE = Interval(0.0, MOST)
"""Finite and not below 0."""
UNIT = Interval(0.0, 1.0)
SIGNED_UNIT = Interval(-1.0, 1.0)


def hull(xs: Iterable[Interval]) -> Interval:
    """What is in one of `xs`; all finite numbers where there are none."""
    known = list(xs)
    if not known:
        return FINITE
    return Interval(min(x.low for x in known), max(x.high for x in known), any(x.nan for x in known))


def first_input(self: object, *xs: Interval) -> Interval:
    """Bounds of what chooses among the elements of its first input, or means them."""
    return xs[0]


def input_or_zero(self: object, *xs: Interval) -> Interval:
    """Bounds of what puts zeros beside elements of its first input."""
    return hull([xs[0], ORIGIN])


def any_input_or_zero(self: object, *xs: Interval) -> Interval:
    """Bounds of what puts elements of all its inputs beside each other, and zeros."""
    return hull([*xs, ORIGIN])


def negative(x: Interval) -> Interval:
    """`-x`."""
    return Interval(-x.high, -x.low, x.nan)


def add(a: Interval, b: Interval) -> Interval:
    """`a + b`; infinities of both signs make NaN."""
    clash = (math.inf in (a.high, b.high)) and (-math.inf in (a.low, b.low))
    low = -math.inf if -math.inf in (a.low, b.low) else max(a.low + b.low, -MOST)
    high = math.inf if math.inf in (a.high, b.high) else min(a.high + b.high, MOST)
    return Interval(low, high, a.nan or b.nan or clash)


def multiply(a: Interval, b: Interval) -> Interval:
    """`a * b`; 0 times infinity makes NaN."""
    nan = a.nan or b.nan or (a.has_zero and _infinite(b)) or (b.has_zero and _infinite(a))
    ends = [0.0 if 0.0 in (x, y) else x * y for x in a[:2] for y in b[:2]]
    low, high = min(ends), max(ends)
    if not (_infinite(a) or _infinite(b)):
        low, high = max(low, -MOST), min(high, MOST)
    return Interval(low, high, nan)


def masked_product(a: Interval, b: Interval, *, by_both: bool) -> Interval:
    """`a * b`, and 0 where `b` is 0; with `by_both` also where `a` is 0."""
    if b == ORIGIN or (by_both and a == ORIGIN):
        return ORIGIN
    nan = a.nan or b.nan or (not by_both and a.has_zero and _infinite(b))
    return multiply(a, b)._replace(nan=nan)


def reciprocal(x: Interval) -> Interval:
    """`1 / x`; of 0 an infinity of either sign."""
    if x.low > 0 or x.high < 0:
        return Interval(max(1 / x.high, -MOST), min(1 / x.low, MOST), x.nan)
    return Interval(-math.inf, math.inf, x.nan)


def quotient(a: Interval, b: Interval) -> Interval:
    """`a / b`, and 0 where `a` is 0."""
    return ORIGIN if a == ORIGIN else multiply(a, reciprocal(b))


def square(x: Interval) -> Interval:
    """`x * x`."""
    return multiply(absolute(x), absolute(x))


def power(a: Interval, b: Interval) -> Interval:
    """`a` to the power `b`; finite for a base above 0, and for a whole exponent that is not below 0."""
    if not (a.finite and b.finite):
        return ANY
    if b.low == b.high >= 0 and b.low == int(b.low):
        return POSITIVE if b.low % 2 == 0 else Interval(0.0 if a.low >= 0 else -MOST, MOST)
    return POSITIVE if a.low > 0 else ANY


def absolute(x: Interval) -> Interval:
    """`abs(x)`."""
    nearest = 0.0 if x.has_zero else min(abs(x.low), abs(x.high))
    return Interval(nearest, max(abs(x.low), abs(x.high)), x.nan)


def maximum(a: Interval, b: Interval) -> Interval:
    """The larger of two."""
    return Interval(max(a.low, b.low), max(a.high, b.high), a.nan or b.nan)


def minimum(a: Interval, b: Interval) -> Interval:
    """The smaller of two."""
    return Interval(min(a.low, b.low), min(a.high, b.high), a.nan or b.nan)


def total(x: Interval) -> Interval:
    """A sum of any number of elements; infinities of both signs make NaN."""
    low = 0.0 if x.low >= 0 else min(x.low, -MOST)
    high = 0.0 if x.high <= 0 else max(x.high, MOST)
    return Interval(low, high, x.nan or (low == -math.inf and high == math.inf))


def exp(x: Interval) -> Interval:
    """`e ** x`, which is taken to overflow beyond `LARGE`, and may be 0 by rounding."""
    high = math.exp(x.high) if x.high <= LARGE else math.inf
    return Interval(0.0 if x.low < -LARGE else math.exp(min(x.low, LARGE)), high, x.nan)


def log(x: Interval) -> Interval:
    """The natural logarithm: -inf of 0, NaN of what is below."""
    return rising(lambda x: math.log(x) if x > 0 else -math.inf, x, 0.0)


def rising(function: Callable[[float], float], x: Interval, lowest: float = -math.inf) -> Interval:
    """`function(x)` for a function that never falls, defined from `lowest` on, and NaN before."""
    low, high = function(max(x.low, lowest)), function(max(x.high, lowest))
    return Interval(low, high, x.nan or x.low < lowest)


def of_array(x: np.ndarray[Any, Any]) -> Interval:
    """The elements of an array."""
    if x.dtype.kind == "b":
        return UNIT
    if x.size == 0 or x.dtype.kind not in "iuf":
        return FINITE
    if x.size == 1:
        value = float(x.reshape(()))
        return ANY if value != value else Interval(value, value)
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    return Interval(low, high, bool(np.isnan(x).any()))


def _infinite(x: Interval) -> bool:
    return math.inf in (x.high, -x.low)
