"""ONNX export of the rows of a `TensorArray`."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int64
from ...primitives.tensor_array import ArrayAdd, ArrayBlank, ArrayHead, ArrayRead, ArrayTail, ArrayWrite
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .indexing.gather import scatter, zeros
from .shapes import rank_of


@writer(ArrayBlank)
def array_blank(w: Writer, p: Any, size: Value) -> Value:
    y = w.op.outputs[0].type
    row = [0] if y.shape.sizes is None else [n or 0 for n in y.shape.sizes[1:]]
    shape = w.concat([w.reshape(w.cast(size, int64), [1]), w.vector(row)], 0)
    return w.expand(w.constant(0, y.dtype), shape)


@writer(ArrayRead)
def array_read(w: Writer, p: Any, array: Value, indices: Value, size: Value) -> Value:
    del size
    return w.gather(array, indices, 0)


@writer(ArrayWrite)
def array_write(w: Writer, p: Any, array: Value, indices: Value, rows: Value, size: Value) -> Value:
    """Where it has no rows yet, or grows, the array is first made as large as it will be."""
    dims = array.type.shape.sizes
    places = w.cast(indices, int64)
    if p.grows or dims is None or None in dims[1:] or 0 in dims[1:]:
        array = _widened(w, p, array, places, rows)
    return scatter(w, array, w.unsqueeze(places, [-1]), rows)


def _widened(w: Writer, p: Any, array: Value, places: Value, rows: Value) -> Value:
    lead = rank_of(places)
    count = w.lengths(array, [0])
    if p.grows:
        needed = w.node("Add", w.reshape(w.reduce("ReduceMax", places, None, False), [1]), w.vector([1]))
        count = w.node("Max", count, needed)
    row = w.lengths(rows, list(range(lead, rank_of(rows)))) if rank_of(rows) > lead else None
    shape = count if row is None else w.concat([count, row], 0)
    flat = w.reshape(array, [-1])
    missing = w.node("Sub", w.reduce("ReduceProd", shape, [0], True), w.shape(flat))
    whole = w.node("Pad", flat, w.concat([w.vector([0]), missing], 0))
    return w.reshape_to(whole, shape)


@writer(ArrayAdd)
def array_add(w: Writer, p: Any, rows: Value, indices: Value, size: Value) -> Value:
    lead = rank_of(indices)
    n = w.reshape(w.cast(size, int64), [1])
    row = w.lengths(rows, list(range(lead, rank_of(rows)))) if rank_of(rows) > lead else None
    shape = n if row is None else w.concat([n, row], 0)
    base = zeros(w, rows, shape)
    return scatter(w, base, w.unsqueeze(w.cast(indices, int64), [-1]), rows, "add")


@writer(ArrayHead)
def array_head(w: Writer, p: Any, array: Value, size: Value) -> Value:
    return w.slice(array, [0], w.reshape(w.cast(size, int64), [1]), [0])


@writer(ArrayTail)
def array_tail(w: Writer, p: Any, array: Value, like: Value, *size: Value) -> Value:
    del size
    rank = rank_of(array)
    more = w.node("Sub", w.lengths(like, [0]), w.lengths(array, [0]))
    none = w.vector([0] * (2 * rank - 1))
    pads = w.concat([w.vector([0] * rank), more, w.vector([0] * (rank - 1))], 0)
    del none
    return w.node("Pad", array, pads)
