"""Scatter kernels: rows added to, or otherwise combined with, an array at given numbers.

NumPy does it by `ufunc.at` on a fresh array, jax by `.at[]`: this file is the one place that knows both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import FLOATING, bfloat16, float16, float32
from ...core.shape import TensorShape
from ...core.types import TensorType

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""Seen as these, negative numbers are large ones: one comparison finds both ends of a range."""
_MANY = 2000
"""From so many elements on NumPy is up to six times as fast for places of elements as for numbers of rows."""
_MANY_ZEROS = 1 << 14
_UFUNCS = {"add": np.add, "max": np.maximum, "min": np.minimum, "multiply": np.multiply}


def combine_rows(xp: Any, target: Any, rows: Any, values: Any, how: str = "add") -> Any:
    """A copy of `target` [n, ...] in which `values[i]` is combined into row `rows[i]`; rows outside 0..n-1 are dropped.

    `how` is add, max, min, multiply, or set (of equal rows, one stays).
    """
    n = target.shape[0]
    if xp is np:
        return _combine_rows(target, rows, values, how)
    place = xp.asarray(target).at[bounded(xp, rows, n)]
    combined = getattr(place, how)(values, mode="drop", wrap_negative_indices=False)
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
    given, values = values.dtype, _to_add(values)
    total = combine_rows(xp, _zeros_for(xp, values, (n, *values.shape[1:])), rows, values)
    return total if total.dtype == given else total.astype(given)


def sum_along(xp: Any, axis: int, numbers: Any, values: Any, n: int) -> Any:
    """The same of slices along an axis, for compilers: they need no numbers of rows of all axes before."""
    given, values = values.dtype, _to_add(values)
    total = _zeros_for(xp, values, (*values.shape[:axis], n, *values.shape[axis + 1 :]))
    place = total.at[(*[slice(None)] * axis, bounded(xp, numbers, n))]
    return place.add(values, mode="drop", wrap_negative_indices=False).astype(given)


def _to_add(values: Any) -> Any:
    return values.astype(float32) if values.dtype in (float16, bfloat16) else values


def _zeros_for(xp: Any, values: Any, shape: Sequence[int]) -> Any:
    """Zeros to add `values` to. A compiler would make them at the start: many wait until there are values."""
    waits = xp is not np and values.dtype in FLOATING and all(isinstance(n, int) for n in (*shape, *values.shape))
    if not waits or math.prod(shape) < _MANY_ZEROS or not values.size:
        return xp.zeros(shape, values.dtype)
    first = values.reshape(-1)[0]
    is_there = (first == first) | (first != first)
    return xp.broadcast_to(xp.where(is_there, 0, 1).astype(values.dtype), shape)


def wide_enough(indices: Any, total: int) -> Any:
    """`indices` in an integer dtype that can count to `total`."""
    wide = total >= 2**31 or indices.dtype.itemsize == 8 or indices.dtype == np.uint32
    return indices.astype(np.int64 if wide else np.int32)


def bounded(xp: Any, indices: Any, n: int) -> Any:
    """`indices` of which those outside 0..n-1 are n, in 32 bits if these suffice: XLA looks at no others."""
    indices = wide_enough(indices, n)
    inside = xp.where((indices < 0) | (indices > n), n, indices)
    return inside.astype(np.int32) if n < 2**31 - 1 else inside


def unlike_lengths(lead: TensorShape, updates: TensorShape, full: TensorShape, depth: int) -> str:
    """The end of a message that `updates` do not fit: whether they are unlike `lead`, or unlike `full[depth:]`."""
    outer = lead.rank
    if outer is None or updates.rank is None:
        return ""
    if not lead.is_compatible_with(updates[:outer]):
        return f". The outer {outer} dimensions of indices.shape={lead} must be those of updates.shape={updates}"
    inner = len(full[depth:])
    return f". The inner {inner} dimensions of input.shape={full} must be those of updates.shape={updates}"


def check_not_empty(what: str, indices: TensorType, pointed_at: TensorShape) -> None:
    """ValueError where there are index vectors, known to be some, into a shape that has no elements."""
    if (
        0 in (pointed_at.sizes or ())
        and indices.shape[:-1].is_fully_defined()
        and 0 not in indices.shape[:-1].as_list()
    ):
        raise ValueError(
            f"{what}: Indices and updates specified for empty output shape: {indices} into {pointed_at}; "
            "of no elements there can be no updates"
        )


def row_numbers(xp: Any, indices: Any, dims: Sequence[int], what: str) -> Any:
    """The position in row-major order of each of `indices` [..., k] in an array of the first k lengths of `dims`.

    What is out of range raises IndexError on NumPy; elsewhere its number is one past the last.
    """
    lengths = dims[: indices.shape[-1]]
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
            raise IndexError(f"{what}: {_first(indices, outside)} does not index into shape {_bracketed(dims)}")
        return rows
    return xp.where(outside, total, rows)


def check_range(indices: Any, n: int, what: str) -> None:
    """IndexError where one of `indices` is outside 0..n-1; for NumPy arrays only."""
    if indices.size and indices.view(_UNSIGNED[indices.dtype.itemsize]).max() >= n:
        outside = (indices < 0) | (indices >= n)
        raise IndexError(f"{what}: {_first(indices, outside)} is not in [0, {n})")


def _first(indices: Any, outside: Any) -> str:
    """The first of `indices` that is `outside`, and where it stands: "indices[0,1] = 7"."""
    place = tuple(np.argwhere(outside)[0].tolist())
    return f"indices{_bracketed(place) if place else ''} = {indices[place].tolist()}"


def _bracketed(numbers: Sequence[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
