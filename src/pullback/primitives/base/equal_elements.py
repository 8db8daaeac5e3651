"""Equal elements of a vector, found by sorting; with NumPy, since how many there are depends on the values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .integer_keys import stable_order


class EqualElements(NamedTuple):
    """The order in which equal elements are neighbours, where in it each group begins, and each element's group."""

    order: Any
    starts: Any
    groups: Any


def equal_elements(x: Any) -> EqualElements:
    """The groups of equal elements of a vector, in ascending order; in a group as they come. NaN equals nothing."""
    order = stable_order(np, x)
    ordered = x[order]
    is_first = np.ones(x.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    groups = np.empty(x.size, np.int64)
    groups[order] = np.cumsum(is_first) - 1
    return EqualElements(order, np.flatnonzero(is_first), groups)
