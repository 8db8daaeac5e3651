"""Movement of elements: casts, transposes, reshapes, joins and cuts that undo each other, or do nothing."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX
from ...core.graph import Tensor
from ...primitives.casting.cast import Cast, cast
from ...primitives.identity.identity import EnsureShape
from ...primitives.indexing.slice import Slice
from ...primitives.indexing.slicing import FULL, StridedSlice, expand_ellipsis
from ...primitives.linalg.matmul import BatchMatMul, MatMul
from ...primitives.reduction.reduce import Max, Mean, Min
from ...primitives.reduction.sum import Sum, SumLike
from ...primitives.shape.broadcast import BroadcastLike, BroadcastTo
from ...primitives.shape.pad import Pad
from ...primitives.shape.reshape import Reshape, ReshapeLike, reshape_like
from ...primitives.shape.reverse import ReverseV2
from ...primitives.shape.squeeze import ExpandDims, Squeeze
from ...primitives.shape.stacking import ConcatV2, Pack, Split, SplitV, Unpack
from ...primitives.shape.transpose import Transpose
from ..rule import rewrite, same_type

Sides = Generator[Any]


@rewrite("exact")
def movement_that_does_nothing(
    x: Tensor,
    move: Cast | Reshape | ExpandDims | Squeeze | BroadcastTo | Slice | Pad | EnsureShape | ConcatV2 | Sum | Max | Min,
) -> Sides:
    """What keeps dtype and shape, and the order of elements, keeps all."""
    y = move(x)
    yield y
    if same_type(x, y):
        yield x


@rewrite("safe")
def mean_of_one(x: Tensor, mean: Mean) -> Sides:
    """The mean of single elements is what they are."""
    y = mean(x)
    yield y
    if same_type(x, y):
        yield x


@rewrite("exact")
def movement_to_a_shape_that_is_there(x: Tensor, like: Tensor, move: ReshapeLike | BroadcastLike | SumLike) -> Sides:
    """What has the shape that it is to have stays as it is."""
    y = move(x, like)
    yield y
    if same_type(x, y):
        yield x


@rewrite("exact")
def transpose_that_does_nothing(x: Tensor, move: Transpose) -> Sides:
    """Axes that stay where they are."""
    yield move(x)
    if move.perm == tuple(range(x.shape.rank or -1)):
        yield x


@rewrite("exact")
def transposes(x: Tensor, first: Transpose, second: Transpose) -> Sides:
    """Two orders of axes are one, or none."""
    yield second(first(x))
    if x.shape.rank is not None:
        a, b = _order(first, x.shape.rank), _order(second, x.shape.rank)
        perm = tuple([a[p] for p in b])
        yield x if perm == tuple(range(len(perm))) else Transpose(perm)(x)


def _order(move: Transpose, rank: int) -> Sequence[int]:
    return tuple(reversed(range(rank))) if move.perm is None else move.perm


@rewrite("exact")
def reshapes(x: Tensor, first: Reshape | ExpandDims | Squeeze, second: Reshape | ExpandDims | Squeeze) -> Sides:
    """Two shapes one after the other are the second, or none."""
    y = second(first(x))
    yield y
    if same_type(x, y):
        yield x
    elif y.shape.is_fully_defined():
        yield Reshape(y.shape.known)(x)


@rewrite("exact")
def reshapes_to_a_shape(x: Tensor, like: Tensor, first: Reshape | ExpandDims | Squeeze, second: ReshapeLike) -> Sides:
    """Two shapes one after the other are the second, or none."""
    yield second(first(x), like)
    yield reshape_like(x, like)


@rewrite("exact")
def slice_that_adds_axes(x: Tensor, cut: StridedSlice) -> Sides:
    """x[:, None] has one axis more, of length one."""
    yield cut(x)
    if x.shape.rank is not None and None in cut.spec:
        entries = expand_ellipsis(cut.spec, x.shape.rank, x)
        if all(entry in (None, FULL) for entry in entries):
            yield ExpandDims(tuple([i for i, entry in enumerate(entries) if entry is None]))(x)


@rewrite("exact")
def casts(x: Tensor, first: Cast, second: Cast) -> Sides:
    """A cast by way of a dtype that holds all numbers is the cast itself."""
    y = first(x)
    yield second(y)
    if _holds(y.dtype, x.dtype):
        yield cast(x, second.dtype)


def _holds(wide: Any, narrow: Any) -> bool:
    """Whether one dtype holds all numbers of another."""
    return bool(np.can_cast(narrow, wide, "safe"))


@rewrite("exact")
def reversed_twice(x: Tensor, move: ReverseV2) -> Sides:
    """What is turned round twice is as it was."""
    yield move(move(x))
    yield x


@rewrite("exact")
def transposed_first_factor(x: Tensor, y: Tensor, product: MatMul, move: Transpose) -> Sides:
    """matmul(transpose(x), y) is matmul(x, y, transpose_a=True)."""
    yield product(move(x), y)
    if _order(move, 2) == (1, 0):
        yield MatMul(not product.transpose_a, product.transpose_b)(x, y)


@rewrite("exact")
def transposed_second_factor(x: Tensor, y: Tensor, product: MatMul, move: Transpose) -> Sides:
    """matmul(x, transpose(y)) is matmul(x, y, transpose_b=True)."""
    yield product(x, move(y))
    if _order(move, 2) == (1, 0):
        yield MatMul(product.transpose_a, not product.transpose_b)(x, y)


@rewrite("exact")
def transposed_first_stack(x: Tensor, y: Tensor, product: BatchMatMul, move: Transpose) -> Sides:
    """A stack of products of transposed matrices."""
    yield product(move(x), y)
    if x.dtype not in COMPLEX and _turns_matrices(move, x):
        yield BatchMatMul(not product.adj_x, product.adj_y)(x, y)


@rewrite("exact")
def transposed_second_stack(x: Tensor, y: Tensor, product: BatchMatMul, move: Transpose) -> Sides:
    """A stack of products with transposed matrices."""
    yield product(x, move(y))
    if y.dtype not in COMPLEX and _turns_matrices(move, y):
        yield BatchMatMul(product.adj_x, not product.adj_y)(x, y)


def _turns_matrices(move: Transpose, x: Tensor) -> bool:
    """Whether only the last two axes change places."""
    rank = x.shape.rank
    return rank is not None and rank > 1 and _order(move, rank) == (*range(rank - 2), rank - 1, rank - 2)


@rewrite("exact")
def parts_of_a_stack(*xs: Tensor, parts: Unpack, stack: Pack) -> Sides:
    """What is stacked and unstacked along one axis."""
    y = stack(*xs)
    yield parts(y)
    rank = y.shape.rank
    if rank is not None and parts.axis % rank == stack.axis % rank:
        yield xs


@rewrite("exact")
def item_of_a_stack(*xs: Tensor, cut: StridedSlice, stack: Pack) -> Sides:
    """stack(xs)[i] is xs[i]."""
    y = stack(*xs)
    yield cut(y)
    rank = y.shape.rank
    if rank is None:
        return
    entries = expand_ellipsis(cut.spec, rank, y)
    axis = stack.axis % rank
    item = entries.pop(axis) if None not in entries else None
    if isinstance(item, int):
        x = xs[item]
        yield x if all(entry == FULL for entry in entries) else StridedSlice(tuple(entries))(x)


@rewrite("exact")
def parts_of_a_concatenation(*xs: Tensor, parts: Split | SplitV, joined: ConcatV2) -> Sides:
    """What is joined along an axis and cut at the same places."""
    y = joined(*xs)
    yield parts(y)
    rank = y.shape.rank
    if rank is not None and parts.axis % rank == joined.axis % rank:
        yield xs


@rewrite("exact")
def slice_of_a_concatenation(*xs: Tensor, cut: Slice, joined: ConcatV2) -> Sides:
    """What is cut out of one of the parts that were joined."""
    y = joined(*xs)
    yield cut(y)
    if y.shape.is_fully_defined() and cut.begin is not None and cut.size is not None and None not in cut.begin:
        axis, start = joined.axis % len(y.shape.known), 0
        begin = [n or 0 for n in cut.begin]
        size = [n - b if s == -1 else s for n, b, s in zip(y.shape.known, begin, cut.size, strict=True)]
        for x in xs:
            inside, n = begin[axis] - start, x.shape.known[axis]
            if inside >= 0 and inside + (size[axis] or 0) <= n:
                begin[axis] = inside
                yield Slice(tuple(begin), tuple(size))(x)
                return
            start += n


@rewrite("exact")
def slice_of_all(x: Tensor, cut: StridedSlice) -> Sides:
    """What is taken from the first element to the last one, along each axis."""
    yield cut(x)
    bounds = _bounds(cut, x)
    if bounds is not None and all(b == (0, n, 1) for b, n in zip(bounds, x.shape.known, strict=False)):
        yield x


@rewrite("exact")
def strided_slice_of_a_concatenation(*xs: Tensor, cut: StridedSlice, joined: ConcatV2) -> Sides:
    """What is cut out of one of the parts that were joined."""
    y = joined(*xs)
    yield cut(y)
    bounds = _bounds(cut, y)
    axis, start = joined.axis % (y.shape.rank or 1), 0
    if bounds is None or axis >= len(bounds) or bounds[axis][2] != 1:
        return
    first, end, _ = bounds[axis]
    for x in xs:
        n = x.shape.known[axis]
        if start <= first and end <= start + n:
            spec = [*cut.spec[:axis], (first - start, end - start, 1), *cut.spec[axis + 1 :]]
            yield StridedSlice(tuple(spec))(x)
            return
        start += n


def _bounds(cut: StridedSlice, x: Tensor) -> list[tuple[int, int, int]] | None:
    """The first element, the end and the step along each axis that is cut; None where that is not all that is done."""
    if not x.shape.is_fully_defined() or not all(isinstance(entry, tuple) for entry in cut.spec):
        return None
    return [slice(*entry).indices(n) for entry, n in zip(cut.spec, x.shape.known, strict=False)]
