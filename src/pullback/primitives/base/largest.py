"""Argmax over windows: where the first largest of several arrays is, element by element, or the first NaN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


def hits(xp: Any, elements: Iterable[Any], largest: Any) -> Iterator[Any]:
    """For each of the arrays `elements`, whether the first largest one is there; `largest` is the largest."""
    if xp is not np:
        elements = list(elements)
        number = first_largest(xp, elements)
        yield from (number == i for i in range(len(elements)))
        return
    has_nan, left = (largest != largest).any(), None
    for x in elements:
        hit = (x == largest) | (x != x) if has_nan else x == largest
        yield hit if left is None else hit & left
        left = ~hit if left is None else left & ~hit


def first_largest(xp: Any, elements: Iterable[Any]) -> Any:
    """The number of the array that has the first largest element, or the first NaN, for each place.

    A compiler may compute elements again where it needs them, here and for the largest of them, and round them
    differently: none need be equal to the largest that was computed elsewhere. So it is not looked for.
    """
    rest = iter(elements)
    largest = next(rest)
    number = xp.zeros(largest.shape, np.int32)
    for i, x in enumerate(rest, 1):
        larger = (x > largest) | ((x != x) & (largest == largest))
        largest, number = xp.where(larger, x, largest), xp.where(larger, np.int32(i), number)
    return number
