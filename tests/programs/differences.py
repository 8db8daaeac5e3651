"""Differences: how far apart values are, and slopes by differences of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def distance(a: Any, b: Any) -> float:
    """The largest difference over the largest element; infinite where shapes, NaN or infinities differ."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    if a.dtype.kind in "biu":
        return 0.0 if np.array_equal(a, b) else np.inf
    a, b = a.astype(wide), b.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if np.all(same):
        return 0.0
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)[~same]
    if not np.all(np.isfinite(apart)):
        return np.inf
    return float(apart.max() / max(np.abs(b[np.isfinite(b)]).max(), 1e-2))


def slope(f: Callable[[float], float]) -> float | None:
    """f'(0) by differences; None where differences of different steps do not agree: f is not smooth, or too steep."""
    found = [_extrapolated(f, h) for h in (1e-3, 1.7e-4)]
    scale = max(abs(found[0]), abs(found[1]), 1e-2)
    if not np.all(np.isfinite(found)) or abs(found[0] - found[1]) > 1e-6 * scale:
        return None
    return found[0]


def _extrapolated(f: Callable[[float], float], h: float) -> float:
    """Two central differences, extrapolated (Richardson 1911)."""
    wide, narrow = (f(h) - f(-h)) / (2 * h), (f(h / 2) - f(-h / 2)) / h
    return (4 * narrow - wide) / 3
