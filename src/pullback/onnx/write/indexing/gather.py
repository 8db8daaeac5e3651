"""ONNX export of gathers and scatters; what is added at equal places is added by ScatterND."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.dtypes import int64
from ....core.errors import NotRecordedError
from ....primitives.indexing.gather import GatherV2, MergeLeading, TakeGrad, TrueIndices
from ....primitives.indexing.index_arithmetic import FlatPositions, FromFront, RowNumbers, VectorsFromFront
from ....primitives.indexing.partition import PartNumbers, RowCount
from ....primitives.indexing.scatter_nd import (
    GatherNd,
    ScatterNd,
    TensorScatterAdd,
    TensorScatterMax,
    TensorScatterMin,
    TensorScatterSub,
    TensorScatterUpdate,
)
from ....primitives.indexing.scatter_product import TensorScatterMul
from ....primitives.indexing.slicing import Take
from ....primitives.indexing.take_along import PutAlong, TakeAlong
from ....primitives.indexing.where import Select, Where
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..shapes import alike, rank_of, shape_vector


@writer(GatherV2)
def gather(w: Writer, p: Any, x: Value, indices: Value) -> Value:
    if p.batch_dims == 0:
        return w.gather(x, indices, p.axis)
    if p.axis == p.batch_dims:
        return _gather_batches(w, x, indices, p.batch_dims)
    rank, lead = rank_of(x), p.batch_dims
    axis = p.axis % rank
    order = [*range(lead), axis, *[i for i in range(lead, rank) if i != axis]]
    width = rank_of(indices) - lead
    found = _gather_batches(w, w.transpose(x, order), indices, lead)
    between = axis - lead
    last = lead + width
    back = [*range(lead), *range(last, last + between), *range(lead, last), *range(last + between, rank_of(found))]
    return w.transpose(found, back)


def _gather_batches(w: Writer, x: Value, indices: Value, batch: int) -> Value:
    vectors = w.unsqueeze(w.cast(indices, int64), [-1])
    return w.node("GatherND", x, vectors, batch_dims=batch)


@writer(Take)
def take(w: Writer, p: Any, x: Value, positions: Value) -> Value:
    return w.gather(x, positions, p.axis)


@writer(MergeLeading)
def merge_leading(w: Writer, p: Any, x: Value, like: Value) -> Value:
    out = w.op.outputs[0].shape
    if out.sizes is not None and out.sizes.count(None) <= 1 and 0 not in out.sizes:
        return w.reshape(x, [-1 if n is None else n for n in out.sizes])
    rank = rank_of(like)
    total = w.reduce("ReduceProd", w.shape(like), [0], True) if rank else w.vector([1])
    rest = w.slice(w.shape(x), [rank], [np.iinfo(np.int64).max], [0])
    return w.reshape_to(x, w.concat([total, rest], 0))


def zeros(w: Writer, like: Value, shape: Value) -> Value:
    """Zeros of the dtype of `like`."""
    return w.expand(w.scalar(0, like), shape)


def scatter(w: Writer, x: Value, vectors: Value, updates: Value, how: str = "none") -> Value:
    """`x` with slices combined at index vectors, which may be negative."""
    more = {} if how == "none" else {"reduction": how}
    return w.node("ScatterND", x, w.cast(vectors, int64), updates, **more)


@writer(TakeGrad)
def take_grad(w: Writer, p: Any, dy: Value, indices: Value, lengths: Value | None = None) -> Value:
    shape = shape_vector(w, p.shape, lengths)
    out = w.op.outputs[0].shape
    rank = out.rank
    if rank is None:
        raise NotRecordedError("the rank of what was gathered from is not known")
    axis, batch, width = p.axis % rank, p.batch_dims, rank_of(indices) - p.batch_dims
    if batch:
        return _batches_back(w, p, dy, indices, shape, axis)
    order = [*range(axis, axis + width), *range(axis), *range(axis + width, rank_of(dy))]
    moved = w.transpose(dy, order)
    perm = [axis, *[i for i in range(rank) if i != axis]]
    lead = shape if axis == 0 else w.gather(shape, w.vector(perm), 0)
    total = scatter(w, zeros(w, dy, lead), w.unsqueeze(w.cast(indices, int64), [-1]), moved, "add")
    return w.transpose(total, np.argsort(perm).tolist())


def _batches_back(w: Writer, p: Any, dy: Value, indices: Value, shape: Value, axis: int) -> Value:
    rank, batch = w.op.outputs[0].shape.rank, p.batch_dims
    assert rank is not None
    width = rank_of(indices) - batch
    between = axis - batch
    # [batch, between, picked, after] -> [batch, picked, between, after]
    last = batch + between
    moved = w.transpose(
        dy, [*range(batch), *range(last, last + width), *range(batch, last), *range(last + width, rank_of(dy))]
    )
    perm = [*range(batch), axis, *[i for i in range(batch, rank) if i != axis]]
    lead = w.gather(shape, w.vector(perm), 0)
    vectors = w.unsqueeze(w.cast(indices, int64), [-1])
    total = scatter(w, zeros(w, dy, lead), with_batches(w, vectors, batch), moved, "add")
    return w.transpose(total, np.argsort(perm).tolist())


def with_batches(w: Writer, vectors: Value, batch: int) -> Value:
    """Index vectors [batch..., n..., k] with the numbers of the batch put in front: [batch..., n..., batch + k]."""
    rank = rank_of(vectors)
    shape = w.shape(vectors)
    lead = w.slice(shape, [0], [rank - 1], [0])
    full = w.concat([lead, w.vector([1])], 0)
    parts = []
    for i in range(batch):
        count = w.reshape(w.lengths(vectors, [i]), [])
        numbers = w.node("Range", w.constant(0, int64), count, w.constant(1, int64))
        column = w.reshape(numbers, [-1 if j == i else 1 for j in range(rank)])
        parts.append(w.expand(column, full))
    return w.concat([*parts, vectors], rank - 1)


@writer(GatherNd)
def gather_nd(w: Writer, p: Any, x: Value, indices: Value) -> Value:
    if indices.type.shape.rank is None or x.type.shape.rank is None:
        raise NotRecordedError("gather_nd where a rank is not known")
    if (indices.type.shape.sizes or (None,))[-1] == 0:
        shape = w.concat([w.slice(w.shape(indices), [0], [-1], [0]), w.slice(w.shape(x), [p.batch_dims], [99], [0])], 0)
        lead = rank_of(indices) - 1 - p.batch_dims
        return w.expand(w.unsqueeze(x, [p.batch_dims + i for i in range(lead)]), shape)
    more = {"batch_dims": p.batch_dims} if p.batch_dims else {}
    return w.node("GatherND", x, w.cast(indices, int64), **more)


@writer(ScatterNd)
def scatter_nd(w: Writer, p: Any, indices: Value, updates: Value, lengths: Value | None = None) -> Value:
    shape = shape_vector(w, p.shape, lengths)
    vectors = w.cast(indices, int64)
    if (indices.type.shape.sizes or (None,))[-1] == 0 and not p.batch_dims:
        return w.sum(updates, list(range(rank_of(indices) - 1)), False)
    if p.batch_dims:
        vectors = with_batches(w, vectors, p.batch_dims)
    return scatter(w, zeros(w, updates, shape), vectors, updates, "add")


_HOW: dict[Any, str] = {
    TensorScatterUpdate: "none",
    TensorScatterAdd: "add",
    TensorScatterSub: "add",
    TensorScatterMul: "mul",
    TensorScatterMax: "max",
    TensorScatterMin: "min",
}


@writer(*_HOW)
def scatter_into(w: Writer, p: Any, x: Value, indices: Value, updates: Value) -> Value:
    change = w.node("Neg", updates) if isinstance(p, TensorScatterSub) else updates
    return _scattered(w, x, indices, change, _HOW[type(p)])


def _scattered(w: Writer, x: Value, indices: Value, updates: Value, how: str) -> Value:
    if (indices.type.shape.sizes or (None,))[-1] == 0:
        raise NotRecordedError("index vectors of no elements")
    return scatter(w, x, indices, updates, how)


@writer(TakeAlong)
def take_along(w: Writer, p: Any, x: Value, positions: Value) -> Value:
    places = w.cast(positions, int64)
    a, b = x.type.shape.sizes, positions.type.shape.sizes
    if a is not None and b is not None and len(a) == len(b):
        axis = p.axis % len(a)
        if any(m != n and i != axis for i, (m, n) in enumerate(zip(a, b, strict=True))):
            raise NotRecordedError("positions that broadcast")
    return w.node("GatherElements", x, places, axis=p.axis)


@writer(PutAlong)
def put_along(w: Writer, p: Any, dy: Value, positions: Value, like: Value) -> Value:
    base = alike(w, zeros(w, dy, w.shape(like)), like)
    places = w.cast(positions, int64)
    return w.node("ScatterElements", base, places, dy, axis=p.axis, reduction="add")


@writer(FromFront)
def from_front(w: Writer, p: Any, indices: Value, x: Value) -> Value:
    return w.node("Mod", indices, w.cast(w.reshape(w.lengths(x, [p.axis]), []), indices.type.dtype))


@writer(VectorsFromFront)
def vectors_from_front(w: Writer, p: Any, indices: Value, x: Value) -> Value:
    width = (indices.type.shape.sizes or (None,))[-1]
    if width is None:
        raise NotRecordedError("index vectors of unknown length")
    n = w.cast(w.lengths(x, list(range(p.batch_dims, p.batch_dims + width))), indices.type.dtype)
    return w.node("Mod", indices, n)


@writer(RowNumbers)
def row_numbers(w: Writer, p: Any, indices: Value, x: Value) -> Value:
    width = (indices.type.shape.sizes or (None,))[-1]
    if width is None:
        raise NotRecordedError("index vectors of unknown length")
    return w.sum(w.node("Mul", w.cast(indices, int64), _strides(w, x, width)), [rank_of(indices) - 1], False)


def _strides(w: Writer, x: Value, count: int) -> Value:
    """How far apart neighbours along each of the first axes are, where these are made one."""
    dims = x.type.shape.sizes
    if dims is not None and None not in dims[:count]:
        known: Sequence[Any] = dims[:count]
        return w.vector([int(np.prod(known[i + 1 :], dtype=np.int64)) for i in range(count)])
    total, found = w.vector([1]), []
    for i in reversed(range(count)):
        found.append(total)
        total = w.node("Mul", total, w.lengths(x, [i]))
    return w.concat(list(reversed(found)), 0)


@writer(FlatPositions)
def flat_positions(w: Writer, p: Any, indices: Value, x: Value) -> Value:
    rank = rank_of(x)
    axis = p.axis % rank
    places = w.cast(indices, int64)
    n = w.lengths(x, [axis])
    places = w.where(w.node("Less", places, w.vector([0])), w.node("Add", places, n), places)
    strides = _strides(w, x, rank)
    total = None
    for i in range(rank):
        stride = w.slice(strides, [i], [i + 1], [0])
        if i == axis:
            own = places
        else:
            count = w.reshape(w.lengths(indices, [i]), [])
            numbers = w.node("Range", w.constant(0, int64), count, w.constant(1, int64))
            own = w.reshape(numbers, [-1 if j == i else 1 for j in range(rank)])
        term = w.node("Mul", own, stride)
        total = term if total is None else w.node("Add", total, term)
    assert total is not None
    return w.reshape(total, [-1, 1])


@writer(TrueIndices)
def true_indices(w: Writer, p: Any, mask: Value) -> Value:
    return w.reshape(w.node("NonZero", mask, shape=[1, None]), [-1])


@writer(Where)
def where(w: Writer, p: Any, condition: Value) -> Value:
    rank = rank_of(condition)
    if rank == 0:
        count = w.reshape(w.cast(condition, int64), [1])
        return w.expand(w.constant(0, int64), w.concat([count, w.vector([0])], 0))
    return w.transpose(w.node("NonZero", condition, shape=[rank, None]), [1, 0])


@writer(Select)
def select(w: Writer, p: Any, c: Value, a: Value, b: Value) -> Value:
    return w.where(c, a, b)


@writer(PartNumbers)
def part_numbers(w: Writer, p: Any, numbers: Value) -> Value:
    """The numbers: a model does not look."""
    del w, p
    return numbers


@writer(RowCount)
def row_count(w: Writer, p: Any, indices: Value) -> Value:
    """The number -1 beside the indices stands for none."""
    numbers = w.concat([w.reshape(indices, [-1]), w.constant([-1], indices.type.dtype)], 0)
    top = w.reduce("ReduceMax", numbers, None, False)
    return w.node("Add", top, w.scalar(1, top))
