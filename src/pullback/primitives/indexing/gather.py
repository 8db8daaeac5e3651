"""Gather along an axis: elements picked by number, boolean_mask, embedding_lookup; and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, int64
from ...core.dtypes import bool as bool_
from ...core.errors import InvalidArgumentError
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.slices import IndexedSlices
from ...core.traits import ADDS, FEWER, IGNORES_ZEROS, MOVES, VIEWS, ZEROS, Link, Links
from ...core.types import TensorType, shape_to_infer
from ...core.typing import AxisLike, TensorLike
from ..base.axes import as_axis, checked_axis, is_computed
from ..base.densify import densify
from ..base.scattering import bounded, check_range, sum_along, sum_rows, wide_enough
from ..creation.constant import convert_to_tensor
from ..creation.ranges import range_
from ..elementwise.maximum import maximum
from ..reduction.norms import euclidean_norm
from ..reduction.product import reduce_prod
from ..shape.computed_axis import counted_from_the_front
from ..shape.reshape import Reshape, reshape, reshape_like, shape_to_use, split_shape_of
from ..shape.size import shape
from ..shape.stacking import concat
from ..variables.variable import Variable
from .slicing import Take, links_of_slices
from .where import where


@in_graph_of_inputs
def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    axis: AxisLike | None = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """The slices of `params` along `axis` (None: `batch_dims`) that have the numbers `indices`.

    The first `batch_dims` axes of both are looked up one by one. A number outside 0..n-1 fails on NumPy; on XLA its
    slice is NaN, or an extreme integer. The derivative by `params` along axis 0 is IndexedSlices.

    Shapes: `params` [batch..., before..., n, after...], `indices` [batch..., picked...]; the result
    [batch..., before..., picked..., after...]. Dtypes: any; `indices` any integer.

    Derivative: dparams = IndexedSlices(dy, indices): the rows of dy added where they came from.

    Raises:
        TypeError: `indices` are no integers. ValueError: `axis` or `batch_dims` do not fit the shapes.

    >>> import pullback as pb
    >>> pb.Session().run(pb.gather([10.0, 20.0, 30.0], [2, 0, 2]))
    array([30., 10., 30.], dtype=float32)
    """
    del validate_indices
    ids = convert_to_tensor(indices)
    if isinstance(params, Variable) and axis in (None, 0) and batch_dims == 0:
        return params.sparse_read(ids, name=name)
    x = convert_to_tensor(params)
    if batch_dims < 0:
        if ids.shape.rank is None:
            raise ValueError(f"gather: a negative batch_dims needs indices of known rank, not {ids}")
        batch_dims = checked_axis(batch_dims, ids.shape.rank, "gather", ids)
    if is_computed(axis):
        return _gather_along(convert_to_tensor(axis), x, ids, batch_dims, name)
    place = batch_dims if axis is None else _place_of(axis, x)
    return GatherV2(place, batch_dims)(x, ids, name=name)


def _place_of(axis: AxisLike, x: Tensor) -> int:
    """A known `axis` counted from the front where the rank is known; InvalidArgumentError where `x` has not so many."""
    place, rank = as_axis(axis, None, "gather", x.type), x.shape.rank
    least = place + 1 if place >= 0 else -place
    if rank is not None and rank < least:
        raise InvalidArgumentError(
            f"gather: Shape must be at least rank {least} but is rank {rank} to have an axis {place}: {x.type}"
        )
    return place if rank is None else place % rank


def gather_rows(x: Tensor, indices: Tensor, name: str | None = None) -> Tensor:
    """As `gather` along the first axis; the derivative by `x` is dense, as of operations that are no lookups."""
    return gather(x, indices, name=name) if x.shape.rank is None else GatherV2(-x.shape.rank)(x, indices, name=name)


def _gather_along(axis: Tensor, x: Tensor, ids: Tensor, batch_dims: int, name: str | None) -> Tensor:
    """The slices along a computed `axis`: those along the middle of three axes, of what lies before it and after it."""
    if batch_dims:
        raise ValueError(
            f"gather: with batch_dims={batch_dims} the axis must be known while the graph is built, not {axis}"
        )
    with x.graph.acting.within(name or "GatherV2") as scope:
        lengths = shape(x)
        place = counted_from_the_front(axis, lengths, "gather")
        before, after = lengths[:place], lengths[place + 1 :]
        middle = reshape(x, [reduce_prod(before), lengths[place], reduce_prod(after)])
        if x.shape.rank is None or ids.shape.rank is None:
            return reshape(GatherV2(1)(middle, ids), concat([before, shape(ids), after], 0), name=scope)
        order = range_(x.shape.rank - 1 + ids.shape.rank)
        picked = order - place
        source = where(
            picked < 0, order, where(picked < ids.shape.rank, picked + x.shape.rank, order - (ids.shape.rank - 1))
        )
        return reshape(GatherV2(1)(middle, ids), GatherV2()(concat([lengths, shape(ids)], 0), source), name=scope)


class GatherV2(Primitive):
    traits = (MOVES,)
    takes_slices = True

    axis: int = 0
    batch_dims: int = 0

    def infer(self, x: TensorType, indices: TensorType) -> tuple[TensorType, ...]:
        if indices.dtype not in INTEGER:
            raise TypeError(f"gather: indices must be integers, not {indices}")
        if x.shape.sizes is None or (indices.shape.sizes is None and self.batch_dims):
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        axis, batch = checked_axis(self.axis, len(x.shape.sizes), "gather", x), self.batch_dims
        if batch > axis or not x.shape[:batch].is_compatible_with(indices.shape[:batch]):
            raise ValueError(
                f"gather: with axis={axis}, batch_dims={batch}, these do not fit together: {x} and {indices}"
            )
        lead = x.shape[:batch].merge_with(indices.shape[:batch]) if batch else TensorShape.SCALAR
        dims = lead + x.shape[batch:axis] + indices.shape[batch:] + x.shape[axis + 1 :]
        return (TensorType(x.dtype, dims),)

    def links(self, i: int, x: TensorType, indices: TensorType) -> Links | None:
        return links_of_slices(i, x, indices, self.axis, self.batch_dims)

    def kernel(self, xp: Any, x: Any, indices: Any) -> Any:
        axis, batch = self.axis % x.ndim, self.batch_dims
        n = x.shape[axis]
        if xp is np:
            check_range(indices, n, "gather")
        else:
            indices = bounded(xp, indices, n)
        if batch == 0:
            return xp.take(x, indices, axis=axis)
        rows = _batch_rows(xp, indices, x.shape, axis, batch)
        picked = xp.take(x.reshape((math.prod(x.shape[: axis + 1]), *x.shape[axis + 1 :])), rows.reshape(-1), axis=0)
        return picked.reshape(x.shape[:axis] + indices.shape[batch:] + x.shape[axis + 1 :])

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        x, indices = op.inputs
        if isinstance(dy, IndexedSlices):
            dy = densify(dy, silent=True)
        if self.axis == 0:
            return lambda: rows_back(dy, indices, x), None
        return lambda: put_back(dy, indices, x, self.axis, self.batch_dims), None


def _batch_rows(xp: Any, indices: Any, dims: tuple[int, ...], axis: int, batch: int) -> Any:
    """Row numbers [batch, before, picked] of an array of shape `dims` seen as [batch * before * n, after...].

    A number outside 0..n-1 becomes one past the last row.
    """
    n, b, p = dims[axis], math.prod(dims[:batch]), math.prod(dims[batch:axis])
    flat = wide_enough(indices, b * p * n).reshape(b, 1, math.prod(indices.shape[batch:]))
    lead = np.arange(b * p, dtype=flat.dtype).reshape(b, p, 1)
    return xp.where((flat >= 0) & (flat < n), lead * n + flat, b * p * n)


def rows_back(dy: Tensor, indices: Tensor, x: Tensor) -> IndexedSlices:
    """The cotangent of `x` where its rows `indices` were read: slices with the indices as a vector."""
    if indices.shape.rank == 1:
        return IndexedSlices(dy, indices, shape(x), x.shape)
    return IndexedSlices(merge_leading(dy, indices), reshape(indices, [-1]), shape(x), x.shape)


def merge_leading(x: Tensor, like: Tensor) -> Tensor:
    """`x`, whose shape begins with that of `like`, with those first axes as one."""
    rank = like.shape.rank
    if rank is not None and x.shape.is_fully_defined():
        dims = x.shape.known
        return Reshape((math.prod(dims[:rank]), *dims[rank:]))(x)
    return MergeLeading()(x, like)


class MergeLeading(Primitive):
    traits = (MOVES, VIEWS)

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        rank = like.shape.rank
        if rank is None or x.shape.lengths is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        return (TensorType(x.dtype, TensorShape([like.shape.elements, *x.shape.lengths[rank:]])),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        del xp
        rank = like.ndim
        return x.reshape((math.prod(x.shape[:rank]), *x.shape[rank:]))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return lambda: reshape_like(dy, op.inputs[0]), None


def put_back(dy: Tensor, indices: Tensor, x: Tensor, axis: int, batch_dims: int = 0) -> Tensor:
    """The cotangent of `x` where `indices` of `axis` were read: zeros with `dy` added there."""
    dims, lengths = split_shape_of(x)
    inputs = (dy, indices) if lengths is None else (dy, indices, lengths)
    return TakeGrad(axis, batch_dims, dims)(*inputs)


class TakeGrad(Primitive):
    """Zeros of a shape, to which slices are added at given positions of one axis; negative ones count from its end."""

    traits = (ADDS, IGNORES_ZEROS, ZEROS)
    shape_inputs = length_inputs = (2,)

    axis: int
    batch_dims: int
    shape: tuple[int | None, ...] | None

    def infer(self, dy: TensorType, indices: TensorType, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        del indices
        return (TensorType(dy.dtype, shape_to_infer(self.shape, lengths)),)

    def links(self, i: int, dy: TensorType, indices: TensorType, lengths: TensorType | None = None) -> Links | None:
        (x,) = self.infer(dy, indices, lengths)
        picked = links_of_slices(i, x, indices, self.axis, self.batch_dims)
        return None if i or picked is None else tuple([Link(link.input, link.output) for link in picked])

    def kernel(self, xp: Any, dy: Any, indices: Any, lengths: Any = None) -> Any:
        dims = shape_to_use(self.shape, lengths)
        axis = self.axis % len(dims)
        if not self.batch_dims:
            indices = wide_enough(indices, dims[axis])
            indices = xp.where(indices < 0, indices + dims[axis], indices)
            if xp is not np:
                values = dy.reshape((*dims[:axis], indices.size, *dims[axis + 1 :]))
                return sum_along(xp, axis, indices.reshape(-1), values, dims[axis])
        rows = _batch_rows(xp, indices, dims, axis, self.batch_dims)
        after = dims[axis + 1 :]
        total = sum_rows(xp, rows.reshape(-1), dy.reshape((rows.size, *after)), math.prod(dims[: axis + 1]))
        return total.reshape(dims)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        indices = op.inputs[1]
        axis = self.axis if self.shape is None else self.axis % len(self.shape)
        taken = GatherV2(axis, self.batch_dims) if self.batch_dims else Take(axis)
        return (lambda: taken(dy, indices), None, None)[: len(op.inputs)]


@in_graph_of_inputs
def boolean_mask(
    tensor: TensorLike, mask: TensorLike, axis: AxisLike | None = None, name: str | None = "boolean_mask"
) -> Tensor:
    """The parts of `tensor` where `mask` is true, one after the other along `axis` (None: 0).

    Shapes: `mask` [m...] of known rank; `tensor` [before..., m..., after...]; the result [before..., ?, after...]. A
    run decides the length. Dtypes: any; `mask` bool.

    A mask that is shorter than axes whose lengths only a run knows is taken for one that goes on with False, as
    TensorFlow takes it; one that is longer, and true there, is an error of the run, on XLA NaN or the smallest integer.

    Derivative: dx = zeros with the rows of dy where the mask is true.

    Raises:
        TypeError: `mask` is not bool. ValueError: it is a scalar, or does not fit the shape of `tensor`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.boolean_mask([1, 2, 3], [True, False, True]))
    array([1, 3], dtype=int32)
    """
    x, m = convert_to_tensor(tensor), convert_to_tensor(mask)
    if m.dtype != bool_:
        raise TypeError(f"boolean_mask: mask must be bool, not {m}")
    if not m.shape.rank:
        raise ValueError(f"boolean_mask: mask must have a known rank of at least 1, not {m}")
    place = 0 if axis is None else as_axis(axis, x.shape.rank, "boolean_mask", x.type)
    rank = m.shape.rank
    if x.shape.rank is not None and not x.shape[place : place + rank].is_compatible_with(m.shape):
        raise ValueError(f"boolean_mask: the shape of {x} from axis {place} on is not that of {m}")
    if rank > 1:
        x = _merge_axes(x, place, rank)
        m = reshape(m, [-1])
    return Take(place)(x, TrueIndices()(m), name=name)


def _merge_axes(x: Tensor, first: int, count: int) -> Tensor:
    """`x` with `count` axes from `first` on as one."""
    others = None if x.shape.sizes is None else (*x.shape.sizes[:first], *x.shape.sizes[first + count :])
    if others is not None and None not in others:
        return reshape(x, [*others[:first], -1, *others[first:]])
    lengths = shape(x)
    return reshape(x, concat([lengths[:first], [-1], lengths[first + count :]], 0))


class TrueIndices(Primitive):
    """The positions where a vector of bools is true."""

    traits = (FEWER,)
    shape_inputs = (0,)

    def infer(self, mask: TensorType) -> tuple[TensorType, ...]:
        del mask
        return (TensorType(int64, TensorShape([None])),)

    def kernel(self, xp: Any, mask: Any) -> Any:
        del xp
        return np.flatnonzero(mask).astype(np.int64, copy=False)

    gradient = no_gradient


@in_graph_of_inputs
def embedding_lookup(
    params: TensorLike, ids: TensorLike, max_norm: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The rows of the table `params` that have the numbers `ids`; scaled down to length `max_norm` where longer.

    A list of tables stands for one, joined along axis 0. Of a variable only the rows are read, and its derivative is
    IndexedSlices.

    Shapes: `params` [n, row...], `ids` any; the result [ids..., row...]. Dtypes: any; `ids` any integer.

    Derivative: dparams = IndexedSlices(dy, ids); with max_norm the derivative of clip_by_norm first.

    Raises:
        ValueError: the list is empty. TypeError: `ids` are no integers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [1]))
    array([[3., 4.]], dtype=float32)
    """
    if isinstance(params, list | tuple) and not params:
        raise ValueError("embedding_lookup: params is an empty list; pass a table, or at least one")
    if isinstance(params, list | tuple) and isinstance(params[0], Tensor | Variable | np.ndarray):
        params = params[0] if len(params) == 1 else concat(list(params), 0)
    if max_norm is None:
        return gather(params, ids, name=name)
    rows = gather(params, ids)
    rank = convert_to_tensor(ids).shape.rank
    if rank is None or rows.shape.rank is None:
        raise ValueError(f"embedding_lookup: max_norm needs ids and params of known rank; the rows are {rows}")
    norms = euclidean_norm(rows, list(range(rank, rows.shape.rank)), keepdims=True)
    limit = convert_to_tensor(max_norm, dtype_hint=rows.dtype)
    return rows * (limit / maximum(norms, limit))
