"""Scatter kernels: rows added to, or otherwise combined with, an array at given numbers.

NumPy does it by `ufunc.at` on a fresh array, jax by `.at[]`: this file is the one place that knows both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, float16, float32

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""Seen as these, negative numbers are large ones: one comparison finds both ends of a range."""
_MANY = 2000
"""From so many elements on NumPy is up to six times as fast for places of elements as for numbers of rows."""
_UFUNCS = {"add": np.add, "max": np.maximum, "min": np.minimum, "multiply": np.multiply}


def combine_rows(xp: Any, target: Any, rows: Any, values: Any, how: str = "add") -> Any:
    """A copy of `target` [n, ...] in which `values[i]` is combined into row `rows[i]`; rows outside 0..n-1 are dropped.

    `how` is add, max, min, multiply, or set (of equal rows, one stays).
    """
    n = target.shape[0]
    if xp is np:
        return _combine_rows(target, rows, values, how)
    place = xp.asarray(target).at[bounded(xp, rows, n)]
    combined = getattr(place, how)(values, mode="drop")
    return combined


def _combine_rows(target: Any, rows: Any, values: Any, how: str) -> Any:
    n = target.shape[0]
    kept = (rows >= 0) & (rows < n)
    if not kept.all():
        rows, values = rows[kept], values[kept]
    if how == "set":
        total = target.copy()
        total[rows] = values
        return total
    if target.dtype in (float16, bfloat16) and how == "add":
        return _combine_rows(target.astype(float32), rows, values.astype(float32), how).astype(target.dtype)
    total = np.array(target, order="C")
    if total.ndim == 1 or values.size < _MANY:
        _UFUNCS[how].at(total, rows, values)
        return total
    width = math.prod(total.shape[1:])
    places = rows.astype(np.intp)[:, None] * width + np.arange(width)
    elements = np.broadcast_to(values, (len(rows), *total.shape[1:])).reshape(-1)
    _UFUNCS[how].at(total.reshape(-1), places.reshape(-1), elements)
    return total


def sum_rows(xp: Any, rows: Any, values: Any, n: int) -> Any:
    """The sums [n, ...] of the `values` of equal row number; numbers outside 0..n-1 are dropped."""
    wide = values.dtype in (float16, bfloat16)
    dtype = float32 if wide else values.dtype
    total = combine_rows(xp, xp.zeros((n, *values.shape[1:]), dtype), rows, values.astype(dtype) if wide else values)
    return total.astype(values.dtype) if wide else total


def wide_enough(indices: Any, total: int) -> Any:
    """`indices` in an integer dtype that can count to `total`."""
    wide = total >= 2**31 or indices.dtype.itemsize == 8 or indices.dtype == np.uint32
    return indices.astype(np.int64 if wide else np.int32)


def bounded(xp: Any, indices: Any, n: int) -> Any:
    """`indices` of which those outside 0..n-1 are n: of numbers of 64 bits XLA looks at the lower 32 alone."""
    indices = wide_enough(indices, n)
    return xp.where((indices < 0) | (indices > n), n, indices)


def row_numbers(xp: Any, indices: Any, lengths: Sequence[int], what: str) -> Any:
    """The position in row-major order of each of `indices` [..., len(lengths)] in an array of shape `lengths`.

    What is out of range raises IndexError on NumPy; elsewhere its number is one past the last.
    """
    total = math.prod(lengths)
    indices = wide_enough(indices, total)
    rows: Any = xp.zeros(indices.shape[:-1], indices.dtype)
    outside: Any = xp.zeros(indices.shape[:-1], bool)
    for k, n in enumerate(lengths):
        part = indices[..., k]
        outside = outside | (part < 0) | (part >= n)
        rows = rows * n + part
    if xp is np:
        if np.any(outside):
            bad = indices[np.nonzero(outside)][0]
            raise IndexError(f"{what}: index {bad.tolist()} is not inside shape {list(lengths)}")
        return rows
    return xp.where(outside, total, rows)


def check_range(indices: Any, n: int, what: str) -> None:
    """IndexError where one of `indices` is outside 0..n-1; for NumPy arrays only."""
    if indices.size and indices.view(_UNSIGNED[indices.dtype.itemsize]).max() >= n:
        bad = indices[(indices < 0) | (indices >= n)].reshape(-1)[0]
        raise IndexError(f"{what}: index {bad} is not in [0, {n})")
