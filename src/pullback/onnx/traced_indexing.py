"""Indexing of traced arrays: reading and writing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import bool as bool_
from ..core.dtypes import int64
from ..core.errors import NotRecordedError
from .tracing import Traced, TracedComplex, as_traced, namespace, part_of


def read_at(x: Traced, index: Any) -> Traced:
    """`x[index]`: numbers, slices, new axes, and arrays of numbers."""
    parts = _full_index(x, index)
    arrays = [(i, p) for i, p in enumerate(parts) if isinstance(p, Traced | np.ndarray)]
    if not arrays:
        return _read_basic(x, parts)
    if len(arrays) == 1 and arrays[0][1].dtype != bool_:
        return _read_rows(x, parts, arrays[0][0])
    if all(isinstance(p, np.ndarray) for _, p in arrays) and all(not isinstance(p, Traced) for p in parts):
        places = np.arange(x.size).reshape(x.shape)[tuple(parts)]
        return Traced(x.w, x.w.gather(x.reshape(-1).value, x.w.constant(places), 0))
    return _read_points(x, parts)


def _full_index(x: Traced, index: Any) -> list[Any]:
    """One part for each axis, and None for new ones."""
    parts = list(index) if isinstance(index, tuple) else [index]
    parts = [np.asarray(p) if isinstance(p, list) else p for p in parts]
    parts = [int(p) if isinstance(p, np.integer) or (isinstance(p, np.ndarray) and p.ndim == 0) else p for p in parts]
    used = sum(
        [
            p.ndim if isinstance(p, np.ndarray) and p.dtype == bool else 1
            for p in parts
            if p is not None and p is not Ellipsis
        ]
    )
    missing = [slice(None)] * (x.ndim - used)
    where = [i for i, p in enumerate(parts) if p is Ellipsis]
    if where:
        parts[where[0] : where[0] + 1] = missing
        return parts
    return parts + missing


def _read_basic(x: Traced, parts: Sequence[Any]) -> Traced:
    starts, ends, axes, steps, shape = [], [], [], [], []
    axis = 0
    for part in parts:
        if part is None:
            shape.append(1)
            continue
        n = x.shape[axis]
        if isinstance(part, slice):
            first, last, step = part.indices(n)
            count = len(range(first, last, step))
            shape.append(count)
        else:
            first, step, count = part % n if n else 0, 1, 1
            last = first + 1
        if not (first == 0 and step == 1 and count == n):
            starts.append(first)
            ends.append(last if step > 0 or last >= 0 else -(n + 1))
            axes.append(axis)
            steps.append(step)
        axis += 1
    cut = Traced(x.w, x.w.slice(x.value, starts, ends, axes, steps)) if axes else x
    result: Traced = cut.reshape(tuple(shape))
    return result


def _read_rows(x: Traced, parts: Sequence[Any], place: int) -> Traced:
    """One array of numbers among slices."""
    rows = parts[place]
    rest = [slice(None) if i == place else p for i, p in enumerate(parts)]
    axis = sum(p is None or isinstance(p, slice) for p in rest[:place])
    whole = _read_basic(x, rest)
    return Traced(x.w, x.w.gather(whole.value, as_traced(x.w, rows).value, axis))


def _read_points(x: Traced, parts: Sequence[Any]) -> Traced:
    """Arrays of numbers for the first axes together, all of the others."""
    count = max(i for i, p in enumerate(parts) if isinstance(p, Traced | np.ndarray)) + 1
    if any(not isinstance(p, Traced | np.ndarray | int) for p in parts[:count]):
        raise NotRecordedError("advanced indexing that mixes index arrays and slices in this order")
    numbers = [as_traced(x.w, p, int64) for p in parts[:count]]
    shape = np.broadcast_shapes(*[n.shape for n in numbers])
    total = None
    for number, n in zip(numbers, x.shape[:count], strict=True):
        wrapped = namespace(x.w).where(number < 0, number + n, number)
        total = wrapped if total is None else total * n + wrapped
    assert total is not None
    rows = x.reshape((-1, *x.shape[count:])) if count > 1 else x
    taken = Traced(x.w, x.w.gather(rows.value, namespace(x.w).broadcast_to(total, shape).value, 0))
    return _read_basic(taken, [*[slice(None)] * len(shape), *parts[count:]])


def write_at(x: Traced, index: Any, values: Any, how: str, mode: str | None) -> Traced:
    """A copy of `x` with `values` written, added, multiplied... at `index`; what is outside is dropped."""
    w, xp = x.w, namespace(x.w)
    if isinstance(x, TracedComplex):
        if how not in ("none", "add"):
            raise NotRecordedError(f"'{how}' of complex numbers at an index: ONNX combines real numbers there")
        return TracedComplex(*[write_at(part_of(x, im), index, part_of(values, im), how, mode) for im in (False, True)])
    parts = _full_index(x, index)
    if isinstance(parts[0], Traced) and parts[1:] == [slice(None)] * (x.ndim - 1):
        rows = parts[0].astype(int64)
        updates = xp.broadcast_to(as_traced(w, values, x.dtype), (*rows.shape, *x.shape[1:]))
        if mode == "drop":
            spare = as_traced(w, np.zeros((1, *x.shape[1:]), x.dtype))
            rows = xp.where((rows < 0) | (rows >= x.shape[0]), np.int64(x.shape[0]), rows)
            whole: Traced = scatter_rows(xp.concatenate([x, spare], 0), rows, updates, how)[: x.shape[0]]
            return whole
        return scatter_rows(x, rows, updates, how)
    if any(isinstance(p, Traced) for p in parts):
        raise NotRecordedError("advanced indexing by more than one index array, on the left of an assignment")
    places = np.arange(x.size).reshape(x.shape)[tuple(parts)]
    updates = xp.broadcast_to(as_traced(w, values, x.dtype), places.shape)
    flat = scatter_rows(x.reshape(-1), as_traced(w, places.reshape(-1)), updates.reshape(-1), how)
    result: Traced = flat.reshape(x.shape)
    return result


def scatter_rows(x: Traced, rows: Traced, updates: Traced, how: str) -> Traced:
    """`x` with `updates` combined into the rows of these numbers, all in range."""
    numbers = rows.reshape((*rows.shape, 1))
    more = {} if how == "none" else {"reduction": how}
    return Traced(x.w, x.w.node("ScatterND", x.value, numbers.value, updates.value, **more))
