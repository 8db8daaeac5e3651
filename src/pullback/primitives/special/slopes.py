"""Asymptotic expansions: derivatives of what falls like a power: scaled Bessel functions, erfcx, Dawson's integral.

Their recurrences are differences of large numbers far out, which leave no digit of what falls faster. There the
expansions of NIST's Digital Library of Mathematical Functions (7.6, 7.12, 10.40) are differentiated term by term.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR
from ..base.broadcasting import Entry
from ..elementwise.masking import multiply_no_nan
from .base import AbstractSpecial
from .bessel_series import power_series

_TERMS = 40


class ScaledBesselSlope(AbstractSpecial):
    """The derivative of `exp(-|x|) I(x)`, or of `exp(x) K(x)`, of order 0 or 1, differentiated `times` times."""

    traits = (ELEMENTWISE, SINGULAR)

    second: bool
    """Whether it is of K."""
    order: int
    times: int = 1

    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        (x,) = arrays
        edge = 20.0 + 4 * self.times
        size = x if self.second else xp.abs(x)
        near, far = xp.minimum(size, edge), xp.maximum(size, edge)
        sums = self._near_second(functions, near) if self.second else self._near_first(xp, functions, near)
        value = xp.where(size < edge, sums, self._far(xp, far))
        if self.second:
            return xp.where(x == 0, (-1) ** self.times * math.inf, value)
        return value * xp.sign(x) if (self.times + self.order) % 2 else value

    def _weights(self) -> dict[int, float]:
        """By how much the functions of each order are in the derivative: (D - 1)^n I, or (D + 1)^n K."""
        weights = {self.order: 1.0}
        for _ in range(self.times):
            found: dict[int, float] = {}
            for order, weight in weights.items():
                half = -weight / 2 if self.second else weight / 2
                for n, part in ((abs(order - 1), half), (order + 1, half), (order, weight if self.second else -weight)):
                    found[n] = found.get(n, 0.0) + part
            weights = found
        return weights

    def _near_first(self, xp: Any, functions: Any, x: Any) -> Any:
        """That of order 2 is the difference of those before it: what cancels near 0 is added to what does not."""
        weights, first, second = self._weights(), functions.i0e(x), functions.i1e(x)
        if max(weights) == 2:
            ratio = xp.where(x == 0, 0.5, second / xp.where(x == 0, 1.0, x))
            return (weights[0] + weights[2]) * first + weights[1] * second - 2 * weights[2] * ratio
        terms = [first, second, *[functions.ive(n, x) for n in range(2, max(weights) + 1)]]
        return sum(weight * terms[n] for n, weight in weights.items())

    def _near_second(self, functions: Any, x: Any) -> Any:
        """Upward recurrence is stable for K."""
        ks = [functions.k0e(x), functions.k1e(x)]
        while len(ks) <= self.order + self.times:
            ks.append(ks[-2] + 2.0 * (len(ks) - 1) / x * ks[-1])
        return sum(weight * ks[n] for n, weight in self._weights().items())

    def _far(self, xp: Any, x: Any) -> Any:
        coefficients = [math.sqrt(math.pi / 2) if self.second else math.sqrt(0.5 / math.pi)]
        for k in range(1, _TERMS):
            factor = (4 * self.order**2 - (2 * k - 1) ** 2) / (8 * k)
            coefficients.append(coefficients[-1] * (factor if self.second else -factor))
        return _derivative(xp, x, coefficients, 0.5, 1, self.times)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(ScaledBesselSlope(self.second, self.order, self.times + 1)(x), dy),)


class GaussSlope(AbstractSpecial):
    """The derivative of erfcx, or of Dawson's integral, differentiated `times` times."""

    traits = (ELEMENTWISE, SINGULAR)

    dawson: bool
    times: int = 1

    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        """Near 0 by `f' = a x f + b`, with a = -2 and b = 1 for Dawson's integral."""
        (x,) = arrays
        edge = 6.5 + 0.5 * self.times
        size = xp.abs(x) if self.dawson else x
        near = xp.clip(x, -edge, edge) if self.dawson else xp.minimum(x, edge)
        a, b = (-2.0, 1.0) if self.dawson else (2.0, -2 / math.sqrt(math.pi))
        before = functions.dawsn(near) if self.dawson else functions.erfcx(near)
        value = a * near * before + b
        for n in range(1, self.times):
            before, value = value, a * (near * value + n * before)
        far = self._far(xp, xp.maximum(size, edge))
        if self.dawson and self.times % 2 == 0:
            far = far * xp.sign(x)
        return xp.where(size < edge, value, far)

    def _far(self, xp: Any, x: Any) -> Any:
        coefficients = [0.5 if self.dawson else 1 / math.sqrt(math.pi)]
        for k in range(1, _TERMS):
            coefficients.append(coefficients[-1] * (2 * k - 1) * (0.5 if self.dawson else -0.5))
        return _derivative(xp, x, coefficients, 1.0, 2, self.times)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: multiply_no_nan(GaussSlope(self.dawson, self.times + 1)(x), dy),)


def _derivative(xp: Any, x: Any, coefficients: Sequence[float], power: float, step: int, times: int) -> Any:
    """The derivative, `times` times, of the sum of `c_k x^-(power + step k)`."""
    factors = [math.prod(-(power + step * k + i) for i in range(times)) for k in range(len(coefficients))]
    series = [c * factor for c, factor in zip(coefficients, factors, strict=True)]
    return power_series(xp, series, xp.power(x, -float(step))) * xp.power(x, -(power + times))
