"""Huber loss: a parabola near zero, straight lines beyond (Robust Estimation of a Location Parameter, 1964)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import FLOATING
from ...core.operation import Tensor
from ..base.broadcasting import AbstractElementwise, Entry, in_float32
from ..elementwise.clip import clip_by_value


class Huber(AbstractElementwise):
    """`x**2 / 2` up to `delta`, `delta * (|x| - delta / 2)` beyond; its derivative is x clipped to [-delta, delta]."""

    dtypes = FLOATING

    delta: float

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        near = xp.clip(x, -self.delta, self.delta)
        return near * (x - near * 0.5)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: dy * clip_by_value(x, -self.delta, self.delta),)
