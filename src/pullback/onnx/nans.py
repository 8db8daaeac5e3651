"""NaN semantics of onnxruntime: its reductions, ArgMax and TopK skip NaN or misplace it; here it counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.dtypes import FLOATING, float64
from .records import Value
from .writing import Writer

_BEYOND_FLOATS = 1e300
"""A double that is larger than all numbers of narrower dtypes, and finite."""


def with_nans(w: Writer, x: Value, extremum: Value, total: Callable[[Value], Value]) -> Value:
    """`extremum`, reduced from `x`, and NaN where `x` has one; `total` adds up what it is given along the same axes."""
    if x.type.dtype not in FLOATING:
        return extremum
    nans = w.where(w.node("IsNaN", x), x, w.scalar(0, x))
    return w.node("Add", extremum, total(nans))


def orderly(w: Writer, x: Value, *, first: bool = False) -> Value:
    """Numbers that are ordered as `x` is, with NaN in the place of the largest; with `first` in that of the smallest.

    Infinities become finite. Of float64 they equal the largest finite number then, which comes to the same but for
    arrays that hold both.
    """
    if x.type.dtype not in FLOATING:
        return x
    sign = -1 if first else 1
    largest = np.finfo(np.float64).max if x.type.dtype == float64 else _BEYOND_FLOATS
    wide = w.cast(x, float64)
    finite = w.node("Max" if first else "Min", wide, w.scalar(sign * largest, wide))
    return w.where(w.node("IsNaN", x), w.scalar(sign * np.inf, wide), finite)
