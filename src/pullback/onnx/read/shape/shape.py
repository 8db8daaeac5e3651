"""ONNX import of shape manipulation: what moves elements or changes shapes without looking at values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.dtypes import int64
from ....core.operation import Tensor
from ....primitives.creation.constant import constant, shape_value
from ....primitives.creation.fill import ones
from ....primitives.creation.ranges import range_
from ....primitives.elementwise.masking import mask
from ....primitives.elementwise.maximum import maximum
from ....primitives.indexing.slicing import FULL, UNKNOWN, slice_by
from ....primitives.indexing.where import where
from ....primitives.logic.comparison import equal
from ....primitives.shape.broadcast import broadcast_to
from ....primitives.shape.reshape import reshape
from ....primitives.shape.reshape_keeping import ReshapeKeeping
from ....primitives.shape.reverse_sequence import reverse_sequence
from ....primitives.shape.size import shape as shape_of
from ....primitives.shape.size import size as size_of
from ....primitives.shape.space_to_depth import depth_to_space as depth_to_space_of
from ....primitives.shape.space_to_depth import space_to_depth as space_to_depth_of
from ....primitives.shape.squeeze import ExpandDims
from ....primitives.shape.squeeze import squeeze as squeeze_of
from ....primitives.shape.stacking import concat as concat_of
from ....primitives.shape.stacking import split as split_of
from ....primitives.shape.tile import tile
from ....primitives.shape.transpose import transpose
from ...reading import Node, calling, reader
from ..lengths import length, lengths, rank_of
from ..operands import (
    LARGEST_TABLE,
    axis_of,
    count_of,
    flags_of,
    from_front,
    full_like_axes,
    integers,
    lengths_with,
    lengths_without,
    scalar,
    vector,
)

_LAST = np.iinfo(np.int64).max

reader("Transpose")(calling(transpose, perm=None))
reader("Tile")(calling(tile))
reader("ReverseSequence")(calling(reverse_sequence, time_axis=0, batch_axis=1))


@reader("Reshape")
def reshape_(node: Node, x: Tensor, shape: Tensor) -> Tensor:
    dims = shape_value(shape)
    if dims is not None and (dims.count(-1) > 1 or any(d is not None and d < -1 for d in dims)):
        node.reject(f"a shape has one -1 at most, and nothing below, not {list(dims)}")
    if dims is None:
        if node.attribute("allowzero", 0):
            return reshape(x, shape)
        return ReshapeKeeping(None)(x, shape)
    if node.attribute("allowzero", 0):
        return reshape(x, shape)
    own = x.shape.sizes
    kept = [own[i] if d == 0 and own is not None and i < len(own) else d for i, d in enumerate(dims)]
    if x.shape.is_fully_defined() and -1 in kept and x.shape.num_elements() == 0:
        kept[kept.index(-1)] = _worked_out(x.shape.known, dims)
    if None not in kept and 0 not in [d for d, k in zip(dims, kept, strict=True) if d == k]:
        return reshape(x, kept)
    inputs = (x, shape) if None in dims else (x,)
    return ReshapeKeeping(tuple(dims))(*inputs)


def _worked_out(own: tuple[int, ...], dims: Any) -> int:
    """The length that -1 stands for where there are no elements to count."""
    rest = math.prod([n for i, n in enumerate(own) if i >= len(dims) or dims[i] != 0])
    return int(rest // max(1, math.prod([d for d in dims if d is not None and d > 0])))


@reader("Flatten")
def flatten(node: Node, x: Tensor) -> Tensor:
    rank = rank_of(node, x)
    axis = node.attribute("axis", 1)
    axis = axis if axis == rank else from_front(node, axis, rank)
    dims: list[Any] = x.shape.as_list()
    before, after = dims[:axis], dims[axis:]
    if None not in dims:
        return reshape(x, [math.prod(before), math.prod(after)])
    if None not in after and math.prod(after):
        return reshape(x, [-1, math.prod(after)])
    if None not in before and math.prod(before):
        return reshape(x, [math.prod(before), -1])
    if axis == 1:
        return ReshapeKeeping((0, -1))(x)
    all_lengths = lengths(x)
    product: Any = 1
    for n in all_lengths[:axis]:
        product = n * product
    return reshape(x, [product, -1])


@reader("Squeeze")
def squeeze(node: Node, x: Tensor, axes: Tensor | None = None) -> Tensor:
    if axes is None:
        return squeeze_of(x)
    known = integers(node, axes)
    if known is not None:
        return squeeze_of(x, known) if known else squeeze_of(x)
    flags = flags_of(axes, rank_of(node, x))
    return reshape(x, lengths_without(x, flags, count_of(axes)))


@reader("Unsqueeze")
def unsqueeze(node: Node, x: Tensor, axes: Tensor) -> Tensor:
    known = integers(node, axes)
    if known is not None:
        if x.shape.rank is not None:
            rank = x.shape.rank + len(known)
            known = sorted(from_front(node, a, rank) for a in known)
        return ExpandDims(tuple(sorted(known)))(x)
    count = count_of(axes)
    if count is None:
        node.refuse(f"the number of axes, {axes}, must be known")
    return reshape(x, lengths_with(x, flags_of(axes, rank_of(node, x) + count)))


@reader("Expand")
def expand(node: Node, x: Tensor, shape: Tensor) -> Tensor:
    """NumPy's broadcasting both ways: where `shape` has length one, that of `x` stays."""
    rank, wanted = rank_of(node, x), shape_value(shape)
    if wanted is None:
        return broadcast_to(x, _broadcast_lengths(x, shape))
    total = max(rank, len(wanted))
    own: list[Any] = [1] * (total - rank) + x.shape.as_list()
    asked: list[Any] = [1] * (total - len(wanted)) + list(wanted)
    return broadcast_to(x, [_longer(x, shape, i - total, own[i], asked[i]) for i in range(total)])


def _longer(x: Tensor, shape: Tensor, place: int, own: int | None, asked: int | None) -> Any:
    """What two lengths, of which one may be 1, become; `place` counts from the end."""
    if own is not None and own != 1:
        return own
    if asked is not None and asked != 1:
        return asked
    if asked == 1:
        return 1 if own == 1 else length(x, place)
    if own == 1:
        return shape[place]
    mine = length(x, place)
    return where(equal(mine, 1), shape[place], mine)


def _broadcast_lengths(x: Tensor, shape: Tensor) -> Tensor:
    """The lengths that `x` and `shape`, of which not even the number is known, become together."""
    own = shape_of(x, int64)
    count, asked = shape_of(own, int64)[0], shape_of(shape, int64)[0]
    mine = concat_of([ones([maximum(asked - count, 0)], int64), own], 0)
    theirs = concat_of([ones([maximum(count - asked, 0)], int64), shape], 0)
    return where(equal(mine, 1), theirs, mine)


@reader("Shape")
def shape(node: Node, x: Tensor) -> Tensor:
    start, end = node.attribute("start", 0), node.attribute("end", None)
    whole = shape_of(x, int64)
    if start == 0 and end is None:
        return whole
    if x.shape.sizes is not None and None not in x.shape.sizes[start:end]:
        return constant(np.array(x.shape.sizes[start:end], np.int64))
    return whole[start:end]


@reader("Size")
def size(node: Node, x: Tensor) -> Tensor:
    del node
    return size_of(x, int64)


@reader("Concat")
def concat(node: Node, *xs: Tensor) -> Tensor:
    return concat_of(list(xs), node.attribute("axis"))


@reader("Split")
def split(node: Node, x: Tensor, parts: Tensor | None = None) -> Any:
    axis, count = axis_of(node, node.attribute("axis", 0), x), len(node.outputs)
    if parts is not None:
        known = integers(node, parts)
        if known is not None and len(known) != count:
            node.reject(f"it has {count} outputs, but {len(known)} lengths of parts")
        return tuple(split_of(x, parts if known is None else known, axis, None if known is not None else count))
    count = node.attribute("num_outputs", count)
    n = length(x, axis)
    if isinstance(n, int):
        part = -(-n // count)
        sizes = [min(part, max(0, n - i * part)) for i in range(count)]
        return tuple(split_of(x, count if len(set(sizes)) == 1 else sizes, axis))
    longest = (n + (count - 1)) // count
    return tuple(split_of(x, vector([*[longest] * (count - 1), n - longest * (count - 1)]), axis, count))


@reader("Slice")
def slice_(
    node: Node, x: Tensor, starts: Tensor, ends: Tensor, axes: Tensor | None = None, steps: Tensor | None = None
) -> Tensor:
    known_axes = integers(node, axes)
    if axes is not None and known_axes is None:
        return _slice_axes(node, x, starts, ends, axes, steps)
    count = count_of(starts)
    count = count_of(ends) if count is None else count
    if known_axes is None and count is None:
        return _slice_axes(node, x, starts, ends, axes, steps)
    places = known_axes if known_axes is not None else list(range(count or 0))
    rank = x.shape.rank
    if rank is None and any(a < 0 for a in places):
        rank_of(node, x)
    triples = {(from_front(node, a, rank) if rank is not None else a): i for i, a in enumerate(places)}
    columns = [shape_value(v) for v in (starts, ends)] + [(1,) * len(places) if steps is None else shape_value(steps)]
    spec: list[Any] = []
    numbers: list[Tensor] = []
    for axis in range(max(triples, default=-1) + 1):
        i = triples.get(axis)
        if i is None:
            spec.append(FULL)
            continue
        entry = []
        for column, given in zip(columns, (starts, ends, steps), strict=True):
            value = None if column is None else column[i]
            if value is None:
                assert given is not None
                numbers.append(given[i])
            entry.append(UNKNOWN if value is None else value)
        spec.append(_tidy(tuple(entry)))
    return slice_by(x, tuple(spec), numbers)


def _tidy(entry: tuple[Any, ...]) -> tuple[Any, ...]:
    """A slice that begins or ends far outside as one without that bound."""
    begin, end, step = entry
    if step == UNKNOWN:
        return entry
    far = 2**31 - 1
    if isinstance(begin, int) and ((step > 0 and begin == 0) or (step < 0 and begin >= far)):
        begin = None
    if isinstance(end, int) and ((step > 0 and end >= far) or (step < 0 and end <= -far)):
        end = None
    return begin, end, step


def _slice_axes(
    node: Node, x: Tensor, starts: Tensor, ends: Tensor, axes: Tensor | None, steps: Tensor | None
) -> Tensor:
    """A slice along axes that a run decides: bounds for all axes."""
    rank = rank_of(node, x)
    first = full_like_axes(node, axes, starts, 0, rank)
    last = full_like_axes(node, axes, ends, _LAST, rank)
    if steps is None:
        bounds = ((UNKNOWN, UNKNOWN, 1),) * rank
        return slice_by(x, bounds, [v[i] for i in range(rank) for v in (first, last)])
    strides = full_like_axes(node, axes, steps, 1, rank)
    spec = ((UNKNOWN, UNKNOWN, UNKNOWN),) * rank
    return slice_by(x, spec, [v[i] for i in range(rank) for v in (first, last, strides)])


@reader("DepthToSpace")
def depth_to_space(node: Node, x: Tensor) -> Tensor:
    b = node.attribute("blocksize")
    if node.attribute("mode", "DCR") == "DCR":
        return depth_to_space_of(x, b, "NCHW")
    n, c, h, w = lengths(x)
    parts = reshape(x, [n, c // (b * b), b, b, h, w])
    return reshape(transpose(parts, [0, 1, 4, 2, 5, 3]), [n, c // (b * b), h * b, w * b])


@reader("SpaceToDepth")
def space_to_depth(node: Node, x: Tensor) -> Tensor:
    b = node.attribute("blocksize")
    if node.attribute("mode", "DCR") == "DCR":
        return space_to_depth_of(x, b, "NCHW")
    n, c, h, w = lengths(x)
    parts = reshape(x, [n, c, h // b, b, w // b, b])
    return reshape(transpose(parts, [0, 1, 3, 5, 2, 4]), [n, c * (b * b), h // b, w // b])


@reader("Trilu")
def trilu(node: Node, x: Tensor, k: Tensor | None = None) -> Tensor:
    rows, columns = length(x, -2), length(x, -1)
    offset: Any = 0 if k is None else scalar(k)
    known = 0 if k is None else node.static(k)
    upper = bool(node.attribute("upper", 1))
    if isinstance(rows, int) and isinstance(columns, int) and known is not None and rows * columns <= LARGEST_TABLE:
        whole = np.ones((rows, columns), bool)
        bound = int(np.asarray(known).item())
        return mask(constant(np.triu(whole, bound) if upper else np.tril(whole, bound)), x)
    i = reshape(range_(rows, dtype=int64), [-1, 1])
    j = range_(columns, dtype=int64) - offset
    return mask(i <= j if upper else i >= j, x)
