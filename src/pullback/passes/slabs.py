"""Slabs of arrays: what unrolled code reads of one array, step by step, along one of its axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.graph import Tensor
from ..primitives.creation.constant import constant
from ..primitives.identity.identity import ensure_shape
from ..primitives.indexing.gather import GatherV2, gather, gather_rows
from ..primitives.indexing.slice import Slice
from ..primitives.indexing.slicing import FULL, StridedSlice, expand_ellipsis
from ..primitives.shape.squeeze import Squeeze, expand_dims
from ..primitives.shape.stacking import Split, Unpack
from ..primitives.shape.transpose import transpose
from .view import View

_CUTS = (Unpack, Split, StridedSlice, Slice, GatherV2, Squeeze)


class Slab(NamedTuple):
    """`array[:, start]`, or `array[:, start : start + width]`, along any axis."""

    array: Tensor
    axis: int
    width: int | None
    """How long it is along the axis; None where it lacks that."""
    start: int

    def is_beside(self, other: Slab) -> bool:
        """Whether both are cut out of one array in the same way, but for the place."""
        return self.array is other.array and self[1:3] == other[1:3]


def slab_of(view: View, x: Tensor) -> Slab | None:
    """The slab that `x` is, as `array[3]` or one of `unstack(array)` or `split(array, n)`; None where it is none."""
    primitive = x.op.primitive
    if not isinstance(primitive, _CUTS):
        return None
    array = view.stand_in(x.op.inputs[0])
    lengths = array.shape.lengths
    if lengths is None:
        return None
    match primitive:
        case StridedSlice():
            return _sliced(primitive, array)
        case Slice(begin=tuple() as begin, size=tuple() as size):
            cuts = zip(begin, size, lengths, strict=True)
            return _cut([FULL if (b, s) in ((0, -1), (0, n)) else _end(b, s) for b, s, n in cuts], array)
        case GatherV2(axis=axis, batch_dims=0):
            index = view.known.get(view.stand_in(x.op.inputs[1]))
            if index is None or index.ndim:
                return None
            return _cut([int(index) if a == axis % len(lengths) else FULL for a in range(len(lengths))], array)
        case Unpack(axis=axis):
            return Slab(array, axis % len(lengths), None, x.value_index)
        case Split(axis=axis, num=num):
            length = lengths[axis % len(lengths)]
            width = length // num if isinstance(length, int) else None
            return None if width is None else Slab(array, axis % len(lengths), width, x.value_index * width)
        case Squeeze(axis=(axis,)):
            slab = slab_of(view, array)
            is_thin = slab is not None and slab.width == 1 and slab.axis == axis % len(lengths)
            return slab._replace(width=None) if slab is not None and is_thin else None
    return None


def _sliced(cut: StridedSlice, array: Tensor) -> Slab | None:
    """The slab that a slice is."""
    assert array.shape.lengths is not None
    if None in cut.spec:
        return None
    entries = expand_ellipsis(cut.spec, len(array.shape.lengths), array)
    return _cut(entries, array)


def _end(begin: int | None, size: int | None) -> object:
    """The entry of a slice of a given length."""
    return (begin, begin + size, 1) if begin is not None and size is not None and size >= 0 else None


def _cut(entries: Sequence[object], array: Tensor) -> Slab | None:
    """What `array[entries]` is, if it is cut along one axis only."""
    assert array.shape.lengths is not None
    axes = [axis for axis, entry in enumerate(entries) if entry != FULL]
    if len(axes) != 1:
        return None
    axis, entry, length = axes[0], entries[axes[0]], array.shape.lengths[axes[0]]
    match entry:
        case int() if entry >= 0:
            return Slab(array, axis, None, entry)
        case int() if isinstance(length, int):
            return Slab(array, axis, None, entry + length)
        case (int() | None, int() | None, 1) if isinstance(length, int):
            start, end, _ = slice(*entry).indices(length)
            return Slab(array, axis, end - start, start) if end > start else None
    return None


def stacked(slabs: Sequence[Slab], array: Tensor) -> Tensor:
    """The slabs of one array along a new first axis, where `array` stands for that array."""
    _, axis, width, _ = slabs[0]
    starts = np.array([slab.start for slab in slabs], np.int32)
    first, count = int(starts[0]), len(slabs)
    if width not in (None, 1):
        rows = _taken(array, starts[:, None] + np.arange(width, dtype=np.int32), axis)
    else:
        if (starts == first + np.arange(count)).all():
            rows = array[(slice(None),) * axis + (slice(first, first + count),)]
            if rows.shape.lengths is not None and not isinstance(rows.shape.lengths[axis], int):
                lengths: list[int | None] = [None] * len(rows.shape.lengths)
                lengths[axis] = count  # A slice of what is too short for the last step is shorter, and no error.
                rows = ensure_shape(rows, lengths)
        else:
            rows = _taken(array, starts, axis)
        rows = rows if width is None else expand_dims(rows, axis + 1)
    if axis == 0:
        return rows
    assert rows.shape.rank is not None
    return transpose(rows, [axis, *[a for a in range(rows.shape.rank) if a != axis]])


def _taken(array: Tensor, numbers: np.ndarray[Any, Any], axis: int) -> Tensor:
    """These of `array` along `axis`; the derivative is dense, as it was for each by itself."""
    indices = constant(numbers)
    return gather(array, indices, axis=axis) if axis else gather_rows(array, indices)
