"""Sparse tensors joined, split, reshaped at their borders, and compared; how many values come out a run may decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import nest
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import float32, int32, int64
from ...core.graph import Tensor
from ...core.slices import IndexedSlices
from ...core.typing import AxisLike, DTypeLike, TensorLike
from ..base.axes import checked_axis
from ..casting.cast import cast
from ..creation.constant import constant, convert_to_tensor
from ..creation.fill import ones
from ..creation.ranges import range_
from ..debugging.assertions import assert_
from ..elementwise.maximum import maximum as larger
from ..elementwise.maximum import minimum as smaller
from ..identity.identity import identity
from ..indexing.gather import gather
from ..indexing.where import where
from ..logic.comparison import equal
from ..reduction.reduce import reduce_all
from ..reduction.reduce import reduce_max as reduce_max_dense
from ..reduction.reduce import reduce_sum as reduce_sum_dense
from ..segment.reductions import unsorted_segment_max
from ..segment.sums import unsorted_segment_sum
from ..sets.unique import setdiff1d, unique
from ..shape.size import size as size_of
from ..shape.stacking import concat as concat_dense
from ..shape.stacking import stack
from ..sorting.searchsorted import searchsorted
from ..sorting.sort import sort
from .operations import slice_
from .sparse_tensor import SparseTensor, linear_positions, positions_of_all, reorder


@in_graph_of_inputs
def concat(
    axis: int, sp_inputs: Sequence[SparseTensor], expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """The sparse tensors one after the other along `axis`.

    Shapes: the same but for `axis`; with `expand_nonconcat_dims` each other length is the largest.

    Derivative: dvalues = dy of the values, where they went.

    Raises:
        ValueError: there are none; `axis` is none of theirs; lengths that are known differ.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1]], [1.0], [1, 2])
    >>> pb.Session().run(pb.sparse.to_dense(pb.sparse.concat(1, [x, 2.0 * x]))).tolist()
    [[0.0, 1.0, 0.0, 2.0]]
    """
    if not sp_inputs:
        raise ValueError("sparse.concat: the list of tensors is empty")
    first = sp_inputs[0]
    place = checked_axis(int(axis), first.rank, "sparse.concat", repr(first))
    along = constant(np.arange(first.rank) == place)
    _check_lengths(sp_inputs, place, expand_nonconcat_dims)
    with first.graph.acting.within(name or "SparseConcat"):
        shapes = stack([x.dense_shape for x in sp_inputs])
        moved, start = [], shapes[0] * 0
        for i, x in enumerate(sp_inputs):
            moved.append(x.indices + start)
            start = where(along, start + shapes[i], start)
        lengths = where(along, reduce_sum_dense(shapes, 0), reduce_max_dense(shapes, 0))
        joined = SparseTensor(concat_dense(moved, 0), concat_dense([x.values for x in sp_inputs], 0), lengths)
        return reorder(joined) if place else joined


def _check_lengths(sp_inputs: Sequence[SparseTensor], place: int, expand: bool) -> None:
    merged = sp_inputs[0].sure_shape.as_list()
    for x in sp_inputs:
        lengths = x.sure_shape.as_list()
        if len(lengths) != len(merged):
            raise ValueError(f"sparse.concat: the ranks differ: {sp_inputs[0]!r} and {x!r}")
        for i, (n, m) in enumerate(zip(lengths, merged, strict=True)):
            if i != place and not expand and None not in (n, m) and n != m:
                raise ValueError(f"sparse.concat: the lengths of axis {i} differ: {sp_inputs[0]!r} and {x!r}")


@in_graph_of_inputs
def split(sp_input: SparseTensor, num_split: int, axis: int, name: str | None = None) -> list[SparseTensor]:
    """`num_split` sparse tensors, one after the other along `axis`; where it does not divide, the first are longer.

    How many values each has a run decides: on XLA a constant must.

    Derivative: dvalues = dy of the values, where they went.

    Raises:
        ValueError: `axis` is none of its axes, or `num_split` is not positive.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0], [4]], [1.0, 2.0], [5])
    >>> [pb.Session(engine="numpy").run(pb.sparse.to_dense(part)).tolist() for part in pb.sparse.split(x, 2, 0)]
    [[1.0, 0.0, 0.0], [0.0, 2.0]]
    """
    place = checked_axis(int(axis), sp_input.rank, "sparse.split", repr(sp_input))
    if num_split < 1:
        raise ValueError(f"sparse.split: num_split must be positive, not {num_split!r}")
    along = constant(np.arange(sp_input.rank) == place)
    with sp_input.graph.acting.within(name or "SparseSplit"):
        lengths = sp_input.dense_shape
        each, rest = lengths // num_split, lengths % num_split
        parts, start = [], lengths * 0
        for i in range(num_split):
            part = where(along, each + cast(rest > i, int64), lengths)
            parts.append(slice_(sp_input, start, part))
            start = where(along, start + part, start)
        return parts


@in_graph_of_inputs
def expand_dims(sp_input: SparseTensor, axis: int | None = None, name: str | None = None) -> SparseTensor:
    """The same with a new axis of length one at `axis`, at the end unless given.

    Derivative: dvalues = dy.

    Raises:
        ValueError: `axis` is out of range.

    >>> import pullback as pb
    >>> pb.sparse.expand_dims(pb.sparse.SparseTensor([[1]], [5.0], [3]), 0).shape
    TensorShape([1, 3])
    """
    place = checked_axis(-1 if axis is None else int(axis), sp_input.rank + 1, "sparse.expand_dims", repr(sp_input))
    with sp_input.graph.acting.within(name or "SparseExpandDims"):
        at, lengths = sp_input.indices, sp_input.dense_shape
        positions = concat_dense([at[:, :place], at[:, :1] * 0, at[:, place:]], 1)
        return SparseTensor(
            positions, sp_input.values, concat_dense([lengths[:place], constant([1], int64), lengths[place:]], 0)
        )


def eye(
    num_rows: int, num_columns: int | None = None, dtype: DTypeLike = float32, name: str | None = None
) -> SparseTensor:
    """The identity matrix, of `num_rows` rows and as many columns unless given.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sparse.to_dense(pb.sparse.eye(2, 3))).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    columns = num_rows if num_columns is None else num_columns
    places = range_(min(num_rows, columns), dtype=int64)
    return SparseTensor(
        stack([places, places], 1), ones([min(num_rows, columns)], dtype, name=name), [num_rows, columns]
    )


@in_graph_of_inputs
def reset_shape(sp_input: SparseTensor, new_shape: TensorLike | None = None) -> SparseTensor:
    """The same values at the same positions of an array of `new_shape`; of the smallest that holds them unless given.

    Derivative: dvalues = dy.

    Raises:
        ValueError: `new_shape` is known to be smaller, or of another rank.

    >>> import pullback as pb
    >>> x = pb.sparse.reset_shape(pb.sparse.SparseTensor([[0, 1]], [5.0], [3, 4]))
    >>> pb.Session(engine="numpy").run(x.dense_shape).tolist()
    [1, 2]
    """
    if new_shape is None:
        smallest = larger(reduce_max_dense(sp_input.indices, 0) + 1, constant(0, int64))
        return SparseTensor(sp_input.indices, sp_input.values, smallest)
    result = SparseTensor(sp_input.indices, sp_input.values, new_shape)
    pairs = zip(sp_input.sure_shape.as_list(), result.sure_shape.as_list(), strict=False)
    if result.rank != sp_input.rank or any(n is not None and m is not None and m < n for n, m in pairs):
        raise ValueError(f"sparse.reset_shape: {sp_input!r} does not fit into the shape {result.shape.as_list()}")
    return result


@in_graph_of_inputs
def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The larger of two elements, where either tensor has one; what is not there is 0.

    How many there are a run decides: on XLA a constant must.

    Shapes: both the same. Dtypes: both the same, integers or floats.

    Derivative: dvalues = dy where they are the larger ones.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0], [2]], [-1.0, 2.0], [3])
    >>> y = pb.sparse.SparseTensor([[1], [2]], [-5.0, 4.0], [3])
    >>> pb.Session(engine="numpy").run(pb.sparse.maximum(x, y).values).tolist()
    [0.0, 0.0, 4.0]
    """
    return _paired(larger, sp_a, sp_b, name or "SparseMaximum")


@in_graph_of_inputs
def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The smaller of two elements, where either tensor has one; see `maximum`.

    Derivative: dvalues = dy where they are the smaller ones.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0], [2]], [-1.0, 2.0], [3])
    >>> y = pb.sparse.SparseTensor([[1], [2]], [-5.0, 4.0], [3])
    >>> pb.Session(engine="numpy").run(pb.sparse.minimum(x, y).values).tolist()
    [-1.0, -5.0, 2.0]
    """
    return _paired(smaller, sp_a, sp_b, name or "SparseMinimum")


def _paired(which: Callable[..., Tensor], a: SparseTensor, b: SparseTensor, name: str) -> SparseTensor:
    if not a.sure_shape.is_compatible_with(b.sure_shape):
        raise ValueError(f"{name}: the shapes differ: {a!r} and {b!r}")
    with a.graph.acting.within(name):
        both = SparseTensor(
            concat_dense([a.indices, b.indices], 0), concat_dense([a.values, b.values], 0), a.dense_shape
        )
        numbers, count = _distinct(positions_of_all(both))
        of_a = size_of(a.values)
        x = unsorted_segment_sum(a.values, numbers[:of_a], count)
        y = unsorted_segment_sum(b.values, numbers[of_a:], count)
        return SparseTensor(unsorted_segment_max(both.indices, numbers, count), which(x, y), a.dense_shape)


@in_graph_of_inputs
def map_values(op: Callable[..., TensorLike], *args: Any, **kwargs: Any) -> SparseTensor:
    """What `op` makes of the values of the sparse tensors among its arguments, at their positions.

    Sparse tensors may be in lists and dictionaries; all must have the same positions in the same shape.

    Derivative: that of `op`.

    Raises:
        ValueError: there is no sparse tensor, or `op` gives no vector, or one of another length.
        InvalidArgumentError: from a run, where positions differ.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    >>> pb.Session().run(pb.sparse.map_values(pb.multiply, x, x).values).tolist()
    [4.0, 9.0]
    """
    leaves = nest.flatten((args, kwargs))
    found = [x for x in leaves if isinstance(x, SparseTensor)]
    if not found:
        raise ValueError("sparse.map_values: there is no SparseTensor among the arguments")
    values = [x.values if isinstance(x, SparseTensor) else x for x in leaves]
    checks = [
        assert_(reduce_all(equal(mine, other)), [f"sparse.map_values: {what} differ", mine, other])
        for x in found[1:]
        for what, mine, other in _pairs(found[0], x)
    ]
    with found[0].graph.acting.control_dependencies(checks):
        given, named = nest.pack_sequence_as((args, kwargs), values)
        made = convert_to_tensor(op(*given, **named))
        if not made.shape.is_compatible_with(found[0].values.shape):
            raise ValueError(f"sparse.map_values: {made} has not one value for each of {found[0]}")
        return found[0].with_values(identity(made) if checks else made)


def _pairs(x: SparseTensor, y: SparseTensor) -> list[tuple[str, Tensor, Tensor]]:
    """What must be equal of two sparse tensors and is not the same tensor."""
    if not x.indices.shape.is_compatible_with(y.indices.shape):
        raise ValueError(f"sparse.map_values: {x} and {y} have not as many positions")
    pairs = [("positions", x.indices, y.indices), ("shapes", x.dense_shape, y.dense_shape)]
    return [(what, mine, other) for what, mine, other in pairs if mine is not other]


def _distinct(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """For each of `numbers` which of the distinct ones it is, in ascending order, and how many those are."""
    values = unique(sort(numbers)).y
    return searchsorted(values, numbers), size_of(values)


@in_graph_of_inputs
def mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """`a` without the rows whose numbers are among `mask_indices`. How many are left a run decides.

    Derivative: dvalues = dy of the rows that are left.

    >>> import pullback as pb
    >>> x = pb.IndexedSlices(pb.constant([[1.0], [2.0]]), pb.constant([3, 5]), pb.constant([9, 1]))
    >>> pb.Session(engine="numpy").run(pb.sparse.mask(x, [3]).values).tolist()
    [[2.0]]
    """
    indices = convert_to_tensor(a.indices)
    left, places = setdiff1d(indices, convert_to_tensor(mask_indices, indices.dtype))
    return IndexedSlices(gather(a.values, places, name=name), left, a.dense_shape)


@in_graph_of_inputs
def reduce_sum_sparse(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None, name: str | None = None
) -> SparseTensor:
    """As `reduce_sum`, sparse: the places of sums of no values are left out. On XLA positions must be constants.

    Derivative: dvalues = dy of their sum.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [2, 0], [2, 1]], [1.0, 2.0, 3.0], [3, 2])
    >>> pb.Session(engine="numpy").run(pb.sparse.reduce_sum_sparse(x, 1).values).tolist()
    [1.0, 5.0]
    """
    return _reduced(unsorted_segment_sum, sp_input, axis, keepdims, name or "SparseReduceSumSparse")


@in_graph_of_inputs
def reduce_max_sparse(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None, name: str | None = None
) -> SparseTensor:
    """As `reduce_max`, sparse: the places of maxima of no values are left out. On XLA positions must be constants.

    Derivative: dvalues = dy shared by the values that equal the maximum.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [2, 0], [2, 1]], [1.0, 2.0, 3.0], [3, 2])
    >>> pb.Session(engine="numpy").run(pb.sparse.reduce_max_sparse(x, 1).values).tolist()
    [1.0, 3.0]
    """
    return _reduced(unsorted_segment_max, sp_input, axis, keepdims, name or "SparseReduceMaxSparse")


@in_graph_of_inputs
def _reduced(how: Callable[..., Tensor], x: SparseTensor, axis: Any, keepdims: bool | None, name: str) -> SparseTensor:
    chosen = range(x.rank) if axis is None else {int(a) % x.rank for a in np.atleast_1d(axis)}
    kept = [i for i in range(x.rank) if i not in chosen]
    with x.graph.acting.within(name):
        numbers, count = _distinct(linear_positions(x, kept))
        values = how(x.values, numbers, count)
        first = unsorted_segment_max(x.indices, numbers, count)
        if keepdims:
            stays = constant(np.array([i in kept for i in range(x.rank)]))
            return SparseTensor(where(stays, first, first * 0), values, where(stays, x.dense_shape, 1))
        places = constant(np.array(kept, np.int32), int32)
        return SparseTensor(gather(first, places, axis=1), values, gather(x.dense_shape, places))
