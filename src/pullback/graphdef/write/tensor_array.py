"""GraphDef export of arrays written and read one by one: tensors, whose rows are gathered and scattered."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import int32
from ...primitives.tensor_array import ArrayAdd, ArrayBlank, ArrayHead, ArrayRead, ArrayTail, ArrayWrite
from ..body import Body, Ref
from ..exporting import writer


@writer(ArrayBlank)
def reserve(body: Body, p: Any, size: Ref) -> Any:
    row = p.row
    if not row.is_fully_defined():
        return body.main("Fill", body.integers([0]), body.constant(0, p.dtype))
    count = body.node("Reshape", body.cast(size, int32), body.integers([1]))
    shape = body.node("ConcatV2", [count, body.constant(row.as_list(), np.int32)], body.integers(0))
    return body.main("Fill", shape, body.constant(0, p.dtype))


@writer(ArrayRead)
def read(body: Body, p: Any, array: Ref, indices: Ref, size: Ref) -> Any:
    return body.main("GatherV2", array, indices, body.integers(0))


@writer(ArrayWrite)
def write(body: Body, p: Any, array: Ref, indices: Ref, rows: Ref, size: Ref) -> Any:
    if p.grows:
        return body.refuse("an array that grows is not written; give it its size")
    places, rows = _places(body, indices, rows, 1)
    if isinstance(body.op.inputs[0].op.primitive, ArrayBlank) and body.op.inputs[0].shape.rank is None:
        array = _zeros(body, size, rows, body.op.inputs[1].shape.rank or 1)
    return body.main("TensorScatterUpdate", array, places, rows)


@writer(ArrayAdd)
def add(body: Body, p: Any, rows: Ref, indices: Ref, size: Ref) -> Any:
    places, rows = _places(body, indices, rows, 1)
    shape = _shape(body, size, rows, body.op.inputs[1].shape.rank or 1)
    return body.main("ScatterNd", places, rows, body.cast(shape, places.dtype))


@writer(ArrayHead)
def head(body: Body, p: Any, array: Ref, size: Ref) -> Any:
    numbers = body.node("Range", body.integers(0), body.cast(size, int32), body.integers(1))
    return body.main("GatherV2", array, numbers, body.integers(0))


@writer(ArrayTail)
def tail(body: Body, p: Any, array: Ref, like: Ref, *size: Ref) -> Any:
    rank = body.known_rank(0)
    more = body.node("Sub", body.shape_of(like), body.shape_of(array))
    first = body.constant(np.arange(rank) == 0)
    after = body.node("SelectV2", first, more, body.constant(np.zeros(rank), np.int32))
    widths = body.node("Pack", [body.constant(np.zeros(rank), np.int32), after], axis=1)
    return body.main("PadV2", array, widths, body.constant(0, array.dtype))


def _zeros(body: Body, size: Ref, rows: Ref, lead: int) -> Ref:
    """An array of `size` rows like `rows`, whose first `lead` axes are those of positions."""
    return body.node("Fill", _shape(body, size, rows, lead), body.constant(0, rows.dtype))


def _shape(body: Body, size: Ref, rows: Ref, lead: int) -> Ref:
    row = body.node("Slice", body.shape_of(rows), body.integers([lead]), body.integers([-1]))
    count = body.node("Reshape", body.cast(size, int32), body.integers([1]))
    return body.node("ConcatV2", [count, row], body.integers(0))


def _places(body: Body, indices: Ref, rows: Ref, number: int) -> tuple[Ref, Ref]:
    """Positions as vectors of length one, and what is written there; one position as a list of one."""
    rank = body.op.inputs[number].shape.rank
    if rank is None:
        return body.refuse("the rank of its indices must be known")
    places = body.node("ExpandDims", indices, body.integers(-1))
    if rank:
        return places, rows
    return body.node("ExpandDims", places, body.integers(0)), body.node("ExpandDims", rows, body.integers(0))
