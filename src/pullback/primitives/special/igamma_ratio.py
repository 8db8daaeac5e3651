"""Derivative of the incomplete gamma function by its parameter, over that by its argument: gamma variates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, SINGULAR
from ..base.broadcasting import Entry
from ..elementwise.arithmetic import Neg
from ..elementwise.exponential import log
from ..elementwise.masking import masked_divide, multiply_no_nan
from . import incomplete_kernels
from .base import AbstractSpecial
from .gamma import PolygammaOf, digamma


class IgammaRatio(AbstractSpecial):
    """The derivative of igamma(a, x) by `a`, `times` times, divided by the derivative by `x`: neither overflows."""

    traits = (ELEMENTWISE, SINGULAR)

    times: int

    in_double = True

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        return incomplete_kernels.igamma_by_a(xp, functions, self.times, *arrays)

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, x: Tensor) -> Sequence[Entry]:
        """With the density p: that of p by `a` is p * (log(x) - digamma(a)), by `x` it is p * ((a - 1) / x - 1)."""

        def by_a() -> Tensor:
            slope = IgammaRatio(self.times + 1)(a, x) - multiply_no_nan(log(x) - digamma(a), y)
            return multiply_no_nan(slope, dy)

        def by_x() -> Tensor:
            return multiply_no_nan(_bell(self.times, a, x) - y * (masked_divide(a - 1, x) - 1), dy)

        return by_a, by_x


def _bell(times: int, a: Tensor, x: Tensor) -> Tensor:
    """The derivative of the density by `a`, `times` times, divided by the density."""
    c = [log(x) - digamma(a), *[Neg()(PolygammaOf(k)(a)) for k in range(1, times)]]
    values: list[Any] = [1.0]
    for n in range(times):
        total = values[n] * c[0]
        for i in range(1, n + 1):
            total = total + values[n - i] * c[i] * float(math.comb(n, i))
        values.append(total)
    result: Tensor = values[times]
    return result
