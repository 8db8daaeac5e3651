"""GraphDef export of indexing: slices, gather, scatter, where, segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import int32, int64
from ...primitives.indexing.gather import GatherV2, TakeGrad, TrueIndices
from ...primitives.indexing.index_arithmetic import FromFront
from ...primitives.indexing.partition import PartNumbers
from ...primitives.indexing.scatter_nd import GatherNd, ScatterNd
from ...primitives.indexing.slice import Slice, SliceGrad
from ...primitives.indexing.slicing import UNKNOWN, StridedSlice, StridedSliceGrad, Take
from ...primitives.indexing.take_along import PutAlong, TakeAlong
from ...primitives.indexing.where import Where
from ...primitives.shape.reverse_sequence import ReverseSequence
from ..body import Body, Ref
from ..exporting import writer
from .creation import lengths_of


@writer(GatherV2)
def gather(body: Body, p: Any, x: Ref, indices: Ref) -> Any:
    return body.main("GatherV2", x, indices, body.integers(p.axis), batch_dims=p.batch_dims)


@writer(Take)
def take(body: Body, p: Any, x: Ref, indices: Ref) -> Any:
    """As gather, and negative numbers count from the end."""
    axis = body.integers(p.axis if p.axis >= 0 else p.axis + (body.op.inputs[0].shape.rank or 0))
    length = body.node("GatherV2", body.node("Shape", x, out_type=indices.dtype), axis, body.integers(0))
    return body.main("GatherV2", x, body.node("FloorMod", indices, length), axis)


@writer(TakeGrad)
def take_grad(body: Body, p: Any, dy: Ref, indices: Ref, *lengths: Ref) -> Any:
    rank, count = body.op.outputs[0].shape.rank, body.op.inputs[1].shape.rank
    if p.batch_dims or rank is None or count is None:
        return body.refuse("its export is there without batch axes, and where ranks are known")
    shape, axis = lengths_of(body, p.shape, lengths), p.axis % rank
    shape = body.cast(shape, indices.dtype)
    if axis:
        order = [axis, *range(axis), *range(axis + 1, rank)]
        shape = body.node("GatherV2", shape, body.integers(order), body.integers(0))
        first = [*range(axis, axis + count), *range(axis), *range(axis + count, rank - 1 + count)]
        dy = body.node("Transpose", dy, body.integers(first))
    length = body.node("GatherV2", shape, body.integers(0), body.integers(0))
    places = body.node("ExpandDims", body.node("FloorMod", indices, length), body.integers(-1))
    if not count:
        places, dy = (body.node("ExpandDims", x, body.integers(0)) for x in (places, dy))
    total = body.node("ScatterNd", places, dy, shape)
    if not axis:
        return total
    return body.main("Transpose", total, body.integers([*range(1, axis + 1), 0, *range(axis + 1, rank)]))


@writer(GatherNd)
def gather_nd(body: Body, p: Any, x: Ref, indices: Ref) -> Any:
    if p.batch_dims:
        return body.refuse("TensorFlow's has no batch_dims")
    return body.main("GatherNd", x, indices)


@writer(ScatterNd)
def scatter_nd(body: Body, p: Any, indices: Ref, updates: Ref, *lengths: Ref) -> Any:
    if p.batch_dims:
        return body.refuse("TensorFlow's has no batch_dims")
    shape = lengths_of(body, p.shape, lengths)
    shape = body.cast(shape, indices.dtype)
    return body.main("ScatterNd", indices, updates, shape)


@writer(Where)
def where(body: Body, p: Any, condition: Ref) -> Any:
    return body.main("Where", condition)


@writer(Slice)
def slice_(body: Body, p: Any, x: Ref, *rest: Ref) -> Any:
    begin, size = (lengths_of(body, n, rest[i : i + 1]) for i, n in enumerate((p.begin, p.size)))
    if begin.dtype != size.dtype:
        begin, size = body.cast(begin, int64), body.cast(size, int64)
    return body.main("Slice", x, begin, size)


@writer(SliceGrad)
def slice_grad(body: Body, p: Any, dy: Ref, *rest: Ref) -> Any:
    begin = lengths_of(body, p.begin, rest[:1] if p.begin is None or None in p.begin else ())
    shape = lengths_of(body, p.shape, rest[-1:] if p.shape is None or None in p.shape else ())
    begin, shape = body.cast(begin, int64), body.cast(shape, int64)
    after = body.node("Sub", shape, body.node("AddV2", begin, body.node("Shape", dy, out_type=int64)))
    widths = body.node("Pack", [begin, after], axis=1)
    return body.main("PadV2", dy, widths, body.constant(np.zeros((), dy.dtype)))


@writer(StridedSlice)
def strided_slice(body: Body, p: Any, x: Ref, *numbers: Ref) -> Any:
    parts, masks = _spec(body, p, numbers)
    return body.main("StridedSlice", x, *parts, **masks)


@writer(StridedSliceGrad)
def strided_slice_grad(body: Body, p: Any, dy: Ref, *rest: Ref) -> Any:
    unknown = any(n is not None for n in _unknown_places(p.spec))
    numbers, lengths = (rest[:1], rest[1:]) if unknown else ((), rest)
    parts, masks = _spec(body, p, numbers)
    shape = lengths_of(body, p.shape, lengths)
    return body.main("StridedSliceGrad", body.cast(shape, parts[0].dtype), *parts, dy, **masks)


def _unknown_places(spec: Any) -> list[int]:
    """For each number of a spec that only a run knows, 3 times the entry and which of begin, end and step it is."""
    places = []
    for i, entry in enumerate(spec):
        given = entry if isinstance(entry, tuple) else (entry,)
        places += [3 * i + j for j, n in enumerate(given) if n == UNKNOWN]
    return places


def _spec(body: Body, p: Any, numbers: tuple[Ref, ...]) -> tuple[list[Ref], dict[str, int]]:
    """Begin, end and strides of a slice, and its masks."""
    spec, unknown = p.spec, set(_unknown_places(p.spec))
    table = np.zeros((len(spec), 3), np.int64)
    table[:, 2] = 1
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    for i, entry in enumerate(spec):
        if entry == "..." or entry is None:
            masks["ellipsis_mask" if entry == "..." else "new_axis_mask"] |= 1 << i
        elif not isinstance(entry, tuple):
            masks["shrink_axis_mask"] |= 1 << i
            table[i, :2] = (0, 0) if 3 * i in unknown else (entry, entry + 1)
        else:
            for j, (n, name) in enumerate(zip(entry, ("begin_mask", "end_mask", ""), strict=True)):
                if n is None and name:
                    masks[name] |= 1 << i
                elif n is not None and 3 * i + j not in unknown:
                    table[i, j] = n
    if not numbers:
        return [body.integers(table[:, j]) for j in range(3)], masks
    return _filled(body, table, sorted(unknown), numbers[0], spec), masks


def _filled(body: Body, table: np.ndarray[Any, Any], unknown: list[int], numbers: Ref, spec: Any) -> list[Ref]:
    """The columns of a table with the numbers of a run at the places that are unknown."""
    dtype: Any = numbers.dtype
    places = np.array([divmod(place, 3) for place in unknown], np.int32).reshape(-1, 2)
    whole = body.node("TensorScatterUpdate", body.constant(table, dtype), body.constant(places), numbers)
    begin, end, step = body.outputs("Unpack", whole, num=3, axis=1)
    single = np.array([not isinstance(e, tuple) and e is not None and e != "..." for e in spec])
    after = body.node("AddV2", begin, body.constant(1, dtype))
    return [begin, body.node("SelectV2", body.constant(single), after, end), step]


@writer(TrueIndices)
def true_places(body: Body, p: Any, mask: Ref) -> Any:
    flat = body.node("Reshape", mask, body.integers([-1]))
    return body.main("Reshape", body.node("Where", flat), body.integers([-1]))


@writer(PartNumbers)
def part_numbers(body: Body, p: Any, numbers: Ref) -> Any:
    """As they are: TensorFlow does not say which number is out of range."""
    return body.main("Identity", numbers)


@writer(FromFront)
def from_front(body: Body, p: Any, indices: Ref, x: Ref) -> Any:
    rank = body.known_rank(1)
    shape = body.node("Shape", x, out_type=indices.dtype)
    length = body.node("GatherV2", shape, body.integers(p.axis % rank), body.integers(0))
    return body.main("FloorMod", indices, length)


@writer(ReverseSequence)
def reverse_sequence(body: Body, p: Any, x: Ref, lengths: Ref) -> Any:
    seq, batch = (axis % body.known_rank(0) if axis < 0 else axis for axis in (p.seq_axis, p.batch_axis))
    return body.main("ReverseSequence", x, lengths, seq_dim=seq, batch_dim=batch)


@writer(TakeAlong)
def take_along(body: Body, p: Any, x: Ref, positions: Ref) -> Any:
    """Gathered with all other axes as batch axes, the axis moved to the end."""
    rank = body.known_rank(0)
    axis, last = p.axis % rank, rank - 1
    if axis == last:
        return body.main("GatherV2", x, positions, body.integers(last), batch_dims=last)
    moved = body.integers([*range(axis), *range(axis + 1, rank), axis])
    x, positions = (body.node("Transpose", y, moved) for y in (x, positions))
    found = body.node("GatherV2", x, positions, body.integers(last), batch_dims=last)
    return body.main("Transpose", found, body.integers([*range(axis), last, *range(axis, last)]))


@writer(PutAlong)
def put_along(body: Body, p: Any, dy: Ref, positions: Ref, like: Ref) -> Any:
    """Added into a matrix of one column for each place along the axis, moved to the end."""
    rank = body.known_rank(0)
    axis, last = p.axis % rank, rank - 1
    moved = body.integers([*range(axis), *range(axis + 1, rank), axis])
    shape, dtype = body.node("GatherV2", body.shape_of(like), moved, body.integers(0)), positions.dtype
    dy, positions = (x if axis == last else body.node("Transpose", x, moved) for x in (dy, positions))
    beside = body.node("Slice", shape, body.integers([0]), body.integers([last]))
    rows = body.node("Prod", beside, body.integers([0]))
    numbers = body.node("Range", body.integers(0), rows, body.integers(1))
    column = body.node("Reshape", numbers, body.node("ConcatV2", [beside, body.integers([1])], body.integers(0)))
    spread = body.node("BroadcastTo", body.cast(column, dtype), body.node("Shape", positions, out_type=int32))
    places = body.node("Reshape", body.node("Pack", [spread, positions], axis=rank), body.integers([-1, 2]))
    length = body.node("Slice", shape, body.integers([last]), body.integers([1]))
    size = body.node("ConcatV2", [body.node("Reshape", rows, body.integers([1])), length], body.integers(0))
    flat = body.node("Reshape", dy, body.integers([-1]))
    total = body.node("Reshape", body.node("ScatterNd", places, flat, body.cast(size, dtype)), shape)
    return (
        total
        if axis == last
        else body.main("Transpose", total, body.integers([*range(axis), last, *range(axis, last)]))
    )
