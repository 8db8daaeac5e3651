"""Packed sequences: tensors of various shapes as one vector of their elements and a table of their lengths.

What ONNX import makes of a sequence where only a run knows how many tensors it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from ...core.dtypes import DType, int64
from ...core.operation import Tensor
from ...core.shape import TensorShape
from ...primitives.creation.constant import constant
from ...primitives.creation.fill import fill, zeros
from ...primitives.creation.ranges import range_
from ...primitives.cumulative.cumsum import cumsum
from ...primitives.identity.identity import ensure_shape
from ...primitives.indexing.gather import boolean_mask, gather
from ...primitives.indexing.scatter_nd import scatter_nd
from ...primitives.indexing.where import where
from ...primitives.reduction.product import reduce_prod
from ...primitives.reduction.reduce import reduce_sum
from ...primitives.shape.broadcast import broadcast_to
from ...primitives.shape.reshape import reshape
from ...primitives.shape.size import shape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import concat, stack
from ...primitives.shape.tile import repeat
from ...primitives.shape.transpose import transpose
from ..reading import Node
from .lengths import length, lengths, rank_of
from .operands import from_front, vector

_NO_AXIS = -1
"""What stands in front of the lengths of a tensor that has fewer axes than others."""


@dataclass(frozen=True, eq=False)
class PackedSequence:
    """A sequence of tensors of one dtype, of which a run knows how many there are."""

    values: Tensor
    """All elements of all tensors, one behind the other."""
    dims: Tensor
    """The lengths of each [tensors, most axes], int64; -1 in front of those of fewer axes."""
    shape: TensorShape | None = None
    """What is known of the shape of each; None where no tensor was ever in it."""

    is_sequence = True

    @property
    def dtype(self) -> DType:
        """That of the tensors."""
        return self.values.dtype

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The elements, and the table of lengths."""
        return self.values, self.dims

    @property
    def width(self) -> int:
        """The most axes that a tensor has."""
        return int(self.dims.shape.size(1))

    @property
    def count(self) -> Any:
        """How many tensors there are."""
        return length(self.dims, 0)

    @property
    def sizes(self) -> Tensor:
        """How many elements each tensor has."""
        return reduce_prod(where(self.dims < 0, constant(np.int64(1)), self.dims), 1)

    @property
    def starts(self) -> Tensor:
        """Where the elements of each tensor begin, and where the last ones end."""
        return concat([constant(np.zeros(1, np.int64)), cumsum(self.sizes)], 0)

    def from_front(self, position: Tensor) -> Tensor:
        """A position that may count from the end, as one that counts from the front."""
        return where(position < 0, position + self.count, position)

    def at(self, place: Tensor) -> Tensor:
        """The tensor at a place."""
        if self._is_regular:
            return gather(self.rows(), place)
        starts, row = self.starts, gather(self.dims, place)
        part = self.values[gather(starts, place) : gather(starts, place + 1)]
        if self.shape is None or self.shape.rank is None:
            return reshape(part, boolean_mask(row, row > _NO_AXIS))
        return reshape(part, self._row(lambda axis: row[axis]))

    def rows(self) -> Tensor:
        """All tensors, which have one shape, stacked."""
        return reshape(self.values, vector([self.count, *self._row(lambda axis: self.dims[0][axis])]))

    def with_inserted(self, x: Tensor, place: Tensor | None) -> PackedSequence:
        """The sequence with one tensor more, at the end or at a place."""
        one = packed_of([x], self.dtype)
        if place is None:
            return joined([self, one])
        return joined([self._between(constant(np.int64(0)), place), one, self._between(place, self.count)])

    def without(self, place: Tensor) -> PackedSequence:
        """The sequence without the tensor at a place."""
        return joined([self._between(constant(np.int64(0)), place), self._between(place + 1, self.count)])

    def squeezed(self, axis: int) -> PackedSequence:
        """The same tensors without an axis of length one, all of one rank."""
        axis %= self.width
        dims = concat([self.dims[:, :axis], self.dims[:, axis + 1 :]], 1)
        known = TensorShape([n for k, n in enumerate(self._row(lambda _: None)) if k != axis])
        return PackedSequence(self.values, dims, known)

    def widened(self, width: int) -> PackedSequence:
        """The same, with room for the lengths of tensors of more axes."""
        if width <= self.width:
            return self
        missing = fill(vector([self.count, width - self.width]), constant(np.int64(_NO_AXIS)))
        return replace(self, dims=concat([missing, self.dims], 1))

    def stacked(self, axis: int) -> Tensor:
        """All tensors along a new axis."""
        return _moved(self.rows(), axis)

    def concatenated(self, axis: int) -> Tensor:
        """All tensors, one behind the other along an axis."""
        known = self.shape
        assert known is not None
        assert known.rank is not None
        axis %= known.rank
        outside, inside = [self._row(lambda k: self.dims[0][k])[part] for part in (slice(axis), slice(axis + 1, None))]
        whole = [*outside, reduce_sum(self.dims[:, axis]), *inside]
        if axis == 0:
            y = reshape(self.values, vector(whole))
        elif self._is_regular:
            y = reshape(_moved(self.rows(), axis), vector(whole))
        else:
            places = _places(self.dims[:, axis], vector(outside), vector(inside))
            flat = scatter_nd(expand_dims(places, 1), self.values, shape(self.values, int64))
            y = reshape(flat, vector(whole))
        return ensure_shape(y, [*known[:axis], None, *known[axis + 1 :]])

    def arrays(self, values: Any, dims: Any) -> list[Any]:
        """The arrays of a run, of what it gave for `tensors`."""
        found, start = [], 0
        for row in np.asarray(dims):
            own = row[row > _NO_AXIS]
            size = int(np.prod(own))
            found.append(np.reshape(values[start : start + size], own))
            start += size
        return found

    def feeds(self, arrays: Sequence[Any]) -> dict[Tensor, Any]:
        """What to feed for these arrays."""
        dtype: Any = self.dtype
        given = [np.asarray(a, dtype) for a in arrays]
        values = np.concatenate([np.zeros(0, dtype), *[a.reshape(-1) for a in given]])
        rows = [[_NO_AXIS] * (self.width - a.ndim) + list(a.shape) for a in given]
        return {self.values: values, self.dims: np.array(rows, np.int64).reshape(-1, self.width)}

    @property
    def _is_regular(self) -> bool:
        return self.shape is not None and self.shape.is_fully_defined()

    def _row(self, of_run: Any) -> list[Any]:
        """The lengths of each tensor: numbers where they are known, else what `of_run` gives for the axis."""
        known = None if self.shape is None else self.shape.sizes
        if known is None:
            return [of_run(axis) for axis in range(self.width)]
        missing = self.width - len(known)
        return [of_run(axis + missing) if n is None else n for axis, n in enumerate(known)]

    def _between(self, first: Any, last: Any) -> PackedSequence:
        starts = self.starts
        dims = ensure_shape(self.dims[first:last], [None, self.width])
        return PackedSequence(self.values[gather(starts, first) : gather(starts, last)], dims, self.shape)


def packed_of(xs: Sequence[Tensor], dtype: DType) -> PackedSequence:
    """A sequence of these tensors, whose ranks are known."""
    if not xs:
        return PackedSequence(zeros([0], dtype), zeros([0, 0], int64))
    ranks = [x.shape.rank or 0 for x in xs]
    table = [vector([*[_NO_AXIS] * (max(ranks) - rank), *lengths(x)]) for x, rank in zip(xs, ranks, strict=True)]
    return PackedSequence(concat([reshape(x, [-1]) for x in xs], 0), stack(table), common_shape([x.shape for x in xs]))


def packed_rows(rows: Sequence[Tensor]) -> PackedSequence:
    """The sequence of what each step of a loop gave, one tensor for each of `rows`, all of one static shape."""
    own = rows[0].shape[1:]
    together = stack(rows, 1)
    count = shape(rows[0], int64)[0] * len(rows)
    dims = broadcast_to(constant(np.array(own.as_list(), np.int64)), vector([count, len(own)]))
    return PackedSequence(reshape(together, [-1]), ensure_shape(dims, [None, len(own)]), TensorShape(own.sizes))


def joined(parts: Sequence[PackedSequence]) -> PackedSequence:
    """The tensors of all parts, one behind the other."""
    width = max(p.width for p in parts)
    dims = concat([p.widened(width).dims for p in parts], 0)
    return PackedSequence(concat([p.values for p in parts], 0), dims, common_shape([p.shape for p in parts]))


def split_up(node: Node, x: Tensor, axis: int, sizes: Tensor) -> PackedSequence:
    """Parts of `x` along an axis, of lengths that a run knows."""
    rank, dims = rank_of(node, x), lengths(x)
    axis = from_front(node, axis, rank)
    count = length(sizes, 0)
    columns = [sizes if k == axis else fill(vector([count]), vector([n])[0]) for k, n in enumerate(dims)]
    flat = reshape(x, [-1])
    if axis:
        flat = gather(flat, _places(sizes, vector(dims[:axis]), vector(dims[axis + 1 :])))
    static = [None if k == axis else n for k, n in enumerate(x.shape.sizes or ())]
    return PackedSequence(flat, ensure_shape(stack(columns, 1), [None, rank]), TensorShape(static))


def _places(sizes: Tensor, outside: Tensor, inside: Tensor) -> Tensor:
    """Where each element of the parts of a tensor is in it, flat; the parts have these lengths along an axis.

    `outside` and `inside` are the lengths of the axes before and behind it.
    """
    rows, widths = reduce_prod(outside), sizes * reduce_prod(inside)
    elements = rows * widths
    part = repeat(range_(length(sizes, 0)), elements)
    within = range_(reduce_sum(elements)) - gather(cumsum(elements, exclusive=True), part)
    width = gather(widths, part)
    row = within // width
    return row * reduce_sum(widths) + gather(cumsum(widths, exclusive=True), part) + (within - row * width)


def common_shape(shapes: Sequence[TensorShape | None]) -> TensorShape | None:
    """What is known of all shapes that are given, without the names of lengths: they are those of one tensor."""
    known = [TensorShape(s.sizes) for s in shapes if s is not None]
    return reduce(TensorShape.most_specific_compatible_shape, known) if known else None


def _moved(rows: Tensor, axis: int) -> Tensor:
    """The first axis at another place."""
    rank = len(rows.shape)
    order = list(range(1, rank))
    order.insert(axis % rank, 0)
    return transpose(rows, order)
