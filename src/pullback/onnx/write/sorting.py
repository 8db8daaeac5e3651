"""ONNX export of sorting and searching: ONNX has TopK, the rest is made of comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import int32, int64
from ...primitives.sorting.order_statistics import IsotonicRegression, NthElement, PieceMeans
from ...primitives.sorting.permutation import InvertPermutation
from ...primitives.sorting.searchsorted import SearchSorted
from ...primitives.sorting.sort import ArgSort, TopKV2
from ..namespace import Namespace
from ..nans import orderly
from ..pairs import as_array, as_value
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .traced import traced


@writer(SearchSorted)
def search_sorted(w: Writer, p: Any, sequence: Value, values: Value) -> Value:
    """The number of elements of the sequence that stand before each value."""
    rank = len(values.type.shape.sizes or (None,))
    compare = "Less" if p.side == "left" else "LessOrEqual"
    ends, given = orderly(w, sequence), orderly(w, values)
    before = w.node(compare, w.unsqueeze(ends, [rank - 1]), w.unsqueeze(given, [rank]))
    return w.cast(w.sum(w.cast(before, int32), [rank], False), w.op.outputs[0].dtype)


@writer(TopKV2)
def top_k(w: Writer, p: Any, x: Value) -> list[Value]:
    shape = w.op.outputs[0].shape.sizes
    key = orderly(w, x)
    values, places = w.nodes("TopK", key, w.vector([p.k]), dtypes=(key.type.dtype, int64), shapes=(shape, shape))
    if key is not x:
        values = w.node("GatherElements", x, places, axis=-1)
    return [values, w.cast(places, w.op.outputs[1].dtype)]


@writer(ArgSort)
def arg_sort(w: Writer, p: Any, x: Value) -> Value:
    shape = w.op.outputs[0].shape.sizes
    axis = p.axis if shape is None else p.axis % len(shape)
    count, key = w.lengths(x, [axis]), orderly(w, x)
    _, places = w.nodes(
        "TopK",
        key,
        count,
        dtypes=(key.type.dtype, int64),
        shapes=(shape, shape),
        axis=axis,
        largest=int(p.descending),
    )
    return w.cast(places, w.op.outputs[0].dtype)


@writer(IsotonicRegression)
def isotonic(w: Writer, p: Any, x: Value) -> list[Any]:
    """The smallest, over beginnings, of the largest, over ends, of the means between (Robertson et al., 1988)."""
    xp, array = Namespace(w), as_array(w, x)
    n, dtype = array.shape[-1], array.dtype
    if not array.size:
        return [x, as_value(w, np.zeros(array.shape, np.int32), int32)]
    wide = array.astype(np.float32) if dtype.itemsize == 2 else array
    zero = xp.zeros((*array.shape[:-1], 1), wide.dtype)
    sums = xp.concatenate([zero, xp.cumsum(wide, -1)], -1)
    first, last = np.arange(n)[:, None], np.arange(n)[None, :]
    counts = np.maximum(last - first + 1, 1).astype(wide.dtype)
    means = (sums[..., None, 1:] - sums[..., :-1, None]) / counts
    low = xp.where(last >= first, means, wide.dtype.type(-np.inf))
    columns = []
    for i in range(n):
        largest = xp.max(low[..., : i + 1, i:], axis=-1)
        columns.append(xp.min(largest, axis=-1))
    y = xp.stack(columns, -1)
    if n > 1:
        new = (y[..., 1:] != y[..., :-1]).astype(np.int32)
        steps = xp.concatenate([xp.zeros((*array.shape[:-1], 1), np.int32), xp.cumsum(new, -1, np.int32)], -1)
    else:
        steps = xp.zeros(array.shape, np.int32)
    return [as_value(w, y, dtype), as_value(w, steps, int32)]


@writer(InvertPermutation)
def invert_permutation(w: Writer, p: Any, x: Value) -> Value:
    """Every number is written to the place that it says; the runtime refuses one below 0, or twice, or too large."""
    count, x = w.reshape(w.lengths(x, [0]), []), w.cast(x, int64)
    places = w.node("Range", w.constant(0, int64), count, w.constant(1, int64))
    inverse = w.node("ScatterElements", x, x, places, axis=0)
    moved = w.node("Not", w.node("Equal", w.gather(inverse, x), places))
    wrong = w.node("Or", w.node("Less", x, w.constant(0, int64)), moved)
    return w.cast(w.refuse(wrong, inverse), w.op.outputs[0].dtype)


# Where all lengths are known, the kernels of these say how they are written.
writer(NthElement, PieceMeans, pairs=True)(traced)
