"""Functions of one number beside their exact values, with the points where digits are easily lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Exact = Callable[[Any], Any]
BOTH = (1, -1)


class Function(NamedTuple):
    """A function as pullback builds it, its value and derivative by mpmath, and where to look."""

    build: Callable[[Any], Any]
    exact: Exact
    slope: Exact
    regions: Mapping[str, Array]
    within: tuple[float, float] = (4.0, 8.0)
    """By how many units the value and the derivative may miss: see `measuring`."""


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
