"""Gather and scatter by index vectors: gather_nd, scatter_nd, tensor_scatter_nd_*; and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, DType, dtype_name, int32, string
from ...core.dtypes import bool as bool_
from ...core.intervals import any_input_or_zero
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.slices import IndexedSlices
from ...core.traits import ADDS, IGNORES_ZEROS, MOVES, ZEROS
from ...core.types import TensorType, shape_to_infer
from ...core.typing import ShapeLike, TensorLike
from ..base.broadcasting import operands
from ..base.scattering import check_not_empty, combine_rows, row_numbers, sum_rows, unlike_lengths
from ..casting.cast import cast
from ..creation.constant import constant_value, convert_to_tensor
from ..creation.fill import fill, zeros, zeros_like
from ..creation.ranges import range_
from ..elementwise.arithmetic import negative
from ..elementwise.masking import mask
from ..logic.comparison import equal
from ..reduction.product import reduce_prod
from ..reduction.reduce import NUMBERS, REAL
from ..shape.reshape import reshape, shape_to_use, split_shape, split_shape_of
from ..shape.size import rank, shape
from ..shape.squeeze import expand_dims
from ..shape.stacking import concat


@in_graph_of_inputs
def gather_nd(
    params: TensorLike, indices: TensorLike, batch_dims: int = 0, name: str | None = None, bad_indices_policy: str = ""
) -> Tensor:
    """The slices of `params` at the index vectors `indices`.

    The first `batch_dims` axes of both are looked up one by one. An index outside `params` fails on NumPy; on XLA its
    slice is NaN, or an extreme integer.

    Shapes: `indices` [batch..., picked..., k], `params` [batch..., n1, ..., nk, rest...]; the result
    [batch..., picked..., rest...]. Dtypes: any; `indices` any integer.

    Derivative: dparams = scatter_nd(indices, dy).

    Raises:
        TypeError: `indices` are no integers. ValueError: the shapes do not fit, or another policy than "ERROR".

    >>> import pullback as pb
    >>> pb.Session().run(pb.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]))
    array([2, 3], dtype=int32)
    """
    if bad_indices_policy not in ("", "DEFAULT", "ERROR"):
        raise ValueError(f"gather_nd: bad_indices_policy {bad_indices_policy!r} is not supported; use 'ERROR'")
    return GatherNd(batch_dims)(convert_to_tensor(params), convert_to_tensor(indices), name=name)


class GatherNd(Primitive):
    traits = (MOVES,)

    batch_dims: int = 0

    def infer(self, x: TensorType, indices: TensorType) -> tuple[TensorType, ...]:
        k, b = _width(indices, "gather_nd"), self.batch_dims
        if x.shape.sizes is None or indices.shape.sizes is None or k is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        lead = x.shape[:b]
        if (
            b + k > len(x.shape.sizes)
            or b >= len(indices.shape.sizes)
            or not lead.is_compatible_with(indices.shape[:b])
        ):
            raise ValueError(f"gather_nd: with batch_dims={b}, these do not fit together: {x} and {indices}")
        return (TensorType(x.dtype, lead.merge_with(indices.shape[:b]) + indices.shape[b:-1] + x.shape[b + k :]),)

    def kernel(self, xp: Any, x: Any, indices: Any) -> Any:
        end = self.batch_dims + indices.shape[-1]
        rows = _rows(xp, indices, x.shape, self.batch_dims, "gather_nd")
        picked = xp.take(x.reshape((math.prod(x.shape[:end]), *x.shape[end:])), rows, axis=0)
        return picked.reshape(indices.shape[:-1] + x.shape[end:])

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, indices = op.inputs
        if indices.shape.rank == 2 and indices.shape.size(1) == 1 and self.batch_dims == 0:
            return lambda: IndexedSlices(dy, reshape(indices, [-1]), shape(x), x.shape), None
        return lambda: _scattered(dy, indices, x, self.batch_dims), None


def _width(indices: TensorType, what: str) -> int | None:
    """The length of the index vectors."""
    if indices.dtype not in INTEGER:
        raise TypeError(f"{what}: indices must be integers, not {indices}")
    if indices.shape.rank == 0:
        raise ValueError(f"{what}: indices must be index vectors, not the scalar {indices}")
    width: int | None = None if indices.shape.sizes is None else indices.shape.sizes[-1]
    return width


def _rows(xp: Any, indices: Any, dims: Sequence[int], batch: int, what: str) -> Any:
    """For each index vector its row, where the axes up to the last indexed one are seen as one."""
    rows = row_numbers(xp, indices, dims[batch:], what)
    if not batch:
        return rows.reshape(-1)
    total, count = math.prod(dims[batch : batch + indices.shape[-1]]), math.prod(dims[:batch])
    lead = np.arange(count, dtype=np.int64).reshape(*dims[:batch], *(1,) * (rows.ndim - batch))
    return xp.where(rows < total, lead * total + rows, count * total).reshape(-1)


def _scattered(updates: Tensor, indices: Tensor, x: Tensor, batch_dims: int = 0) -> Tensor:
    """Zeros in the shape of `x` with `updates` added at `indices`."""
    dims, lengths = split_shape_of(x)
    return ScatterNd(dims, batch_dims)(indices, updates, *(() if lengths is None else (lengths,)))


@in_graph_of_inputs
def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: ShapeLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Zeros of the shape `shape`, to which `updates` are added at the index vectors `indices`; equal ones add up.

    Of bools with equal indices it is whether one of them is true; strings are joined.

    `bad_indices_policy` must be "" or "DEFAULT".

    Shapes: `indices` [n..., k], `updates` [n..., rest...] where rest is `shape[k:]`. Dtypes: any; `indices` any
    integer.

    Derivative: dupdates = gather_nd(dy, indices).

    Raises:
        TypeError: `indices` are no integers. ValueError: the shapes do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.scatter_nd([[1], [3], [1]], [9, 10, 1], [4]))
    array([ 0, 10,  0, 10], dtype=int32)
    """
    _check_policy("scatter_nd", bad_indices_policy)
    values = convert_to_tensor(updates)
    if values.dtype == string:
        return tensor_scatter_nd_add(zeros(shape, string), indices, values, name=name)
    if values.dtype == bool_:
        return cast(scatter_nd(indices, cast(values, int32), shape), bool_, name)
    dims, lengths = split_shape(shape)
    inputs = (convert_to_tensor(indices), values, *(() if lengths is None else (lengths,)))
    return ScatterNd(dims)(*inputs, name=name)


class ScatterNd(Primitive):
    traits = (ADDS, IGNORES_ZEROS, ZEROS)
    shape_inputs = length_inputs = (2,)

    shape: tuple[int | None, ...] | None
    batch_dims: int = 0

    def infer(
        self, indices: TensorType, updates: TensorType, lengths: TensorType | None = None
    ) -> tuple[TensorType, ...]:
        _check_dtype("scatter_nd", updates, NUMBERS)
        k = _width(indices, "scatter_nd")
        full = shape_to_infer(self.shape, lengths)
        if k is not None:
            _check_updates("scatter_nd", indices, updates, full, self.batch_dims + k)
        return (TensorType(updates.dtype, full),)

    def kernel(self, xp: Any, indices: Any, updates: Any, lengths: Any = None) -> Any:
        dims = shape_to_use(self.shape, lengths)
        end = self.batch_dims + indices.shape[-1]
        rows = _rows(xp, indices, dims, self.batch_dims, "scatter_nd")
        added = _as_rows("scatter_nd", indices, updates, dims[end:])
        return sum_rows(xp, rows, added, math.prod(dims[:end])).reshape(dims)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        indices = op.inputs[0]
        return (None, lambda: GatherNd(self.batch_dims)(dy, indices), None)[: len(op.inputs)]


def _check_policy(what: str, policy: str) -> None:
    if policy not in ("", "DEFAULT"):
        raise ValueError(
            f"{what}: bad_indices_policy must be '' or 'DEFAULT', not {policy!r}; indices out of range raise on the "
            "NumPy engine and are left out by XLA"
        )


def _check_dtype(what: str, x: TensorType, dtypes: frozenset[DType]) -> None:
    if x.dtype not in dtypes:
        raise TypeError(f"{what}: takes no {x}; it takes {', '.join(sorted(map(dtype_name, dtypes)))}")


def _check_updates(what: str, indices: TensorType, updates: TensorType, full: TensorShape, k: int | None) -> None:
    if k is None or full.sizes is None:
        return
    if k > len(full.sizes) or not updates.shape.is_compatible_with(indices.shape[:-1] + full[k:]):
        unlike = unlike_lengths(indices.shape[:-1], updates.shape, full, k)
        raise ValueError(f"{what}: {updates} at {indices} does not fit the shape {full}{unlike}")
    check_not_empty(what, indices, full[:k])


def _infer_scattered(
    what: str, x: TensorType, indices: TensorType, updates: TensorType, dtypes: frozenset[DType] | None = None
) -> tuple[TensorType, ...]:
    if dtypes is not None:
        _check_dtype(what, x, dtypes)
    if updates.dtype != x.dtype:
        raise TypeError(f"{what}: dtypes differ: {x} and {updates}; convert one with pb.cast")
    _check_updates(what, indices, updates, x.shape, _width(indices, what))
    return (x,)


def _scatter_into(xp: Any, what: str, x: Any, indices: Any, updates: Any, how: str) -> Any:
    k = indices.shape[-1]
    rows = _rows(xp, indices, x.shape, 0, what)
    flat = x.reshape((math.prod(x.shape[:k]), *x.shape[k:]))
    return combine_rows(xp, flat, rows, _as_rows(what, indices, updates, x.shape[k:]), how).reshape(x.shape)


def _as_rows(what: str, indices: Any, updates: Any, row: Sequence[int]) -> Any:
    """The updates one behind the other; ValueError where they are not one for each index."""
    if updates.shape != (*indices.shape[:-1], *row):
        raise ValueError(
            f"{what}: updates {list(updates.shape)} at indices {list(indices.shape)}: rows are {list(row)}"
        )
    return updates.reshape((math.prod(indices.shape[:-1]), *row))


def _scatter_op(primitive: Primitive, tensor: Any, indices: Any, updates: Any, name: str | None) -> Tensor:
    x, values = operands(tensor, updates)
    return primitive(x, convert_to_tensor(indices), values, name=name)


@in_graph_of_inputs
def tensor_scatter_nd_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with `updates` added at the index vectors `indices`; equal ones add up.

    `bad_indices_policy` must be "" or "DEFAULT".

    Shapes: `indices` [n..., k], `updates` [n..., rest...] where rest is the shape of `tensor` from axis k on.
    Dtypes: any number, strings; `indices` any integer.

    Derivative: dtensor = dy, dupdates = gather_nd(dy, indices).

    Raises:
        TypeError: `indices` are no integers, or the dtypes differ. ValueError: the shapes do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tensor_scatter_nd_add([1, 1, 1], [[0], [2], [0]], [5, 6, 7]))
    array([13,  1,  7], dtype=int32)
    """
    _check_policy("tensor_scatter_nd_add", bad_indices_policy)
    return _scatter_op(TensorScatterAdd(), tensor, indices, updates, name)


class TensorScatterAdd(Primitive):
    traits = (ADDS,)

    def infer(self, x: TensorType, indices: TensorType, updates: TensorType) -> tuple[TensorType, ...]:
        return _infer_scattered("tensor_scatter_nd_add", x, indices, updates, NUMBERS | {string})

    def kernel(self, xp: Any, x: Any, indices: Any, updates: Any) -> Any:
        return _scatter_into(xp, "tensor_scatter_nd_add", x, indices, updates, "add")

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return dy, None, lambda: gather_nd(dy, op.inputs[1])


@in_graph_of_inputs
def tensor_scatter_nd_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with `updates` subtracted at the index vectors `indices`; equal ones add up.

    `bad_indices_policy` must be "" or "DEFAULT".

    Shapes: `indices` [n..., k], `updates` [n..., rest...] where rest is the shape of `tensor` from axis k on.
    Dtypes: any number; `indices` any integer.

    Derivative: dtensor = dy, dupdates = -gather_nd(dy, indices).

    Raises:
        TypeError: `indices` are no integers, or the dtypes differ. ValueError: the shapes do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tensor_scatter_nd_sub([1, 1, 1], [[0], [2], [0]], [5, 6, 7]))
    array([-11,   1,  -5], dtype=int32)
    """
    _check_policy("tensor_scatter_nd_sub", bad_indices_policy)
    return _scatter_op(TensorScatterSub(), tensor, indices, updates, name)


class TensorScatterSub(Primitive):
    traits = (ADDS,)

    def infer(self, x: TensorType, indices: TensorType, updates: TensorType) -> tuple[TensorType, ...]:
        return _infer_scattered("tensor_scatter_nd_sub", x, indices, updates, NUMBERS)

    def kernel(self, xp: Any, x: Any, indices: Any, updates: Any) -> Any:
        return _scatter_into(xp, "tensor_scatter_nd_sub", x, indices, -updates, "add")

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return dy, None, lambda: negative(gather_nd(dy, op.inputs[1]))


@in_graph_of_inputs
def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` in place of what stands at the index vectors `indices`; of equal ones, one stays.

    Shapes: `indices` [n..., k], `updates` [n..., rest...] where rest is the shape of `tensor` from axis k on.
    Dtypes: any; `indices` any integer.

    Derivative: dtensor = dy with zeros at the indices, dupdates = gather_nd(dy, indices), 0 for what is overwritten.

    Raises:
        TypeError: `indices` are no integers, or the dtypes differ. ValueError: the shapes do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [5, 6]))
    array([5, 2, 6], dtype=int32)
    """
    return _scatter_op(TensorScatterUpdate(), tensor, indices, updates, name)


class TensorScatterUpdate(Primitive):
    traits = (MOVES, ZEROS)

    def infer(self, x: TensorType, indices: TensorType, updates: TensorType) -> tuple[TensorType, ...]:
        return _infer_scattered("tensor_scatter_nd_update", x, indices, updates)

    def kernel(self, xp: Any, x: Any, indices: Any, updates: Any) -> Any:
        return _scatter_into(xp, "tensor_scatter_nd_update", x, indices, updates, "set")

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        _, indices, updates = op.inputs
        return (
            lambda: tensor_scatter_nd_update(dy, indices, zeros_like(updates)),
            None,
            lambda: _where_last(gather_nd(dy, indices), dy, indices),
        )

    bounds = any_input_or_zero


def _where_last(dys: Tensor, dy: Tensor, indices: Tensor) -> Tensor:
    """`dys`, the slices of `dy` at `indices`, with zeros but for the last of those at one place: it alone was kept."""
    known, count = constant_value(indices), indices.shape[:-1].elements if indices.shape.rank else None
    if known is not None:
        vectors = known.reshape(math.prod(known.shape[:-1]), known.shape[-1])
        if len({tuple(vector) for vector in vectors.tolist()}) == len(vectors):
            return dys
    if isinstance(count, int) and count < 2:
        return dys
    lead, axes = shape(indices)[:-1], indices.shape.size(-1)
    numbers = reshape(range_(reduce_prod(lead)), lead)
    places = zeros(shape(dy)[: shape(indices)[-1] if axes is None else axes], numbers.dtype)
    last = equal(gather_nd(tensor_scatter_nd_update(places, indices, numbers), indices), numbers)
    rest = None if dys.shape.rank is None or last.shape.rank is None else dys.shape.rank - last.shape.rank
    ones: Any = fill(expand_dims(rank(dys) - rank(last), 0), 1) if rest is None else [1] * rest
    return mask(reshape(last, concat([lead, ones], 0)), dys)


class AbstractScatterExtremum(Primitive):
    """The larger or smaller of elements and updates; the cotangent is shared equally by those that equal the result."""

    how: ClassVar[Literal["max", "min"]]

    def infer(self, x: TensorType, indices: TensorType, updates: TensorType) -> tuple[TensorType, ...]:
        return _infer_scattered(f"tensor_scatter_nd_{self.how}", x, indices, updates, REAL)

    def kernel(self, xp: Any, x: Any, indices: Any, updates: Any) -> Any:
        return _scatter_into(xp, f"tensor_scatter_nd_{self.how}", x, indices, updates, self.how)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x, indices, updates), y = op.inputs, op.outputs[0]
        kept = cast(equal(x, y), x.dtype)
        taken = cast(equal(updates, gather_nd(y, indices)), x.dtype)
        share = dy / tensor_scatter_nd_add(kept, indices, taken)
        return lambda: share * kept, None, lambda: gather_nd(share, indices) * taken


@in_graph_of_inputs
def tensor_scatter_nd_max(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with the larger of what stands at the index vectors `indices` and `updates` there.

    The derivative is shared equally by equal elements.

    `bad_indices_policy` must be "" or "DEFAULT".

    Shapes: `indices` [n..., k], `updates` [n..., rest...] where rest is the shape of `tensor` from axis k on.
    Dtypes: integers and floats; `indices` any integer.

    Derivative: dy shared by the elements of tensor and updates that equal the maximum.

    Raises:
        TypeError: `indices` are no integers, or the dtypes differ. ValueError: the shapes do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tensor_scatter_nd_max([1, 2, 3], [[0], [2]], [5, -6]))
    array([5, 2, 3], dtype=int32)
    """
    _check_policy("tensor_scatter_nd_max", bad_indices_policy)
    return _scatter_op(TensorScatterMax(), tensor, indices, updates, name)


class TensorScatterMax(AbstractScatterExtremum):
    how = "max"


@in_graph_of_inputs
def tensor_scatter_nd_min(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """`tensor` with the smaller of what stands at the index vectors `indices` and `updates` there.

    The derivative is shared equally by equal elements.

    `bad_indices_policy` must be "" or "DEFAULT".

    Shapes: `indices` [n..., k], `updates` [n..., rest...] where rest is the shape of `tensor` from axis k on.
    Dtypes: integers and floats; `indices` any integer.

    Derivative: dy shared by the elements of tensor and updates that equal the minimum.

    Raises:
        TypeError: `indices` are no integers, or the dtypes differ. ValueError: the shapes do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.tensor_scatter_nd_min([1, 2, 3], [[0], [2]], [5, -6]))
    array([ 1,  2, -6], dtype=int32)
    """
    _check_policy("tensor_scatter_nd_min", bad_indices_policy)
    return _scatter_op(TensorScatterMin(), tensor, indices, updates, name)


class TensorScatterMin(AbstractScatterExtremum):
    how = "min"
