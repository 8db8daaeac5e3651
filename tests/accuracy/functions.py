"""Functions of one number beside their exact values, with the points where digits are easily lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np

Array = np.ndarray[Any, Any]
Exact = Callable[[Any], Any]
BOTH = (1, -1)


class Function(NamedTuple):
    """A function as pullback builds it; its value, and derivative if there is a formula, by mpmath; where to look."""

    build: Callable[[Any], Any]
    exact: Exact
    slope: Exact | None
    regions: Mapping[str, Array]
    within: tuple[float, ...] = (4.0, 8.0)
    """By how many units the value, the derivative and the second one may miss; that by 8 times as many unless given."""

    @property
    def bounds(self) -> tuple[float, ...]:
        """How many units, as `measuring` counts them, are allowed for each."""
        return (*self.within, 8 * self.within[1])[:3]

    @property
    def exacts(self) -> list[Exact]:
        """The value and both derivatives."""
        slope = slope_of(self.exact) if self.slope is None else self.slope
        return [self.exact, slope, slope_of(slope)]


def slope_of(exact: Exact) -> Exact:
    """The derivative, by differences of so many more digits as they lose."""

    def slope(x: Any) -> Any:
        digits = mp.mp.dps
        with mp.workdps(3 * digits + 5 * max(0, -int(mp.log10(abs(x))))):
            step = x * mp.mpf(10) ** -(2 * digits // 3)
            return (exact(x + step) - exact(x - step)) / (2 * step)

    return slope


def between(a: float, b: float, count: int = 24) -> Array:
    """Points between two, none of them special."""
    return a + (b - a) * _fractions(count)


def sized(least: float, most: float, signs: Sequence[int] = (1,), count: int = 24) -> Array:
    """Points of sizes between two, as many of each power of ten."""
    sizes = 10.0 ** between(np.log10(least), np.log10(most), count)
    return np.concatenate([sizes * sign for sign in signs])


def beside(*centres: float, least: float = 1e-12, most: float = 1e-2, signs: Sequence[int] = BOTH) -> Array:
    """Points nearer and nearer to each centre."""
    return np.concatenate([c + (abs(c) or 1.0) * sized(least, most, signs, 8) for c in centres])


def _fractions(count: int) -> Array:
    steps = np.arange(count)
    return np.asarray((steps + 0.5 + 0.3 * np.sin(steps * 7.0)) / count)


TINY = sized(1e-300, 1e-10, BOTH, 8)
