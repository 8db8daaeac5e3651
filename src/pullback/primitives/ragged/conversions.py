"""Ragged tensors made of nested lists, dense and sparse tensors, and made dense and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import as_dtype, int64
from ...core.graph import Tensor
from ...core.shape import as_shape
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ..casting.cast import cast
from ..creation.constant import as_array, convert_to_tensor
from ..creation.constant import constant as dense_constant
from ..creation.fill import fill
from ..creation.placeholders import placeholder as dense_placeholder
from ..creation.ranges import range_ as numbers_below
from ..creation.sequence_mask import sequence_mask
from ..indexing.gather import boolean_mask, gather
from ..indexing.scatter_nd import tensor_scatter_nd_update
from ..logic.comparison import not_equal
from ..reduction.reduce import reduce_max
from ..shape.reshape import reshape
from ..shape.size import shape as shape_of
from ..shape.stacking import concat, stack
from ..sparse.sparse_tensor import SparseTensor
from .ragged_tensor import RaggedTensor


@in_graph_of_inputs
def constant(
    pylist: Any,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: ShapeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = int64,
) -> Any:
    """The ragged tensor of nested lists; a tensor where they are nested once at most.

    `ragged_rank` axes have different lengths, all but the first unless it or `inner_shape`, the shape of an element, is
    given. Splits are of int64 whatever `row_splits_dtype` is.

    Derivative: none: it has no inputs.

    Raises:
        ValueError: the lists are nested in different depths.

    >>> import pullback as pb
    >>> pb.Session().run(pb.ragged.constant([[1, 2], [], [3]])).to_list()
    [[1, 2], [], [3]]
    """
    del row_splits_dtype
    if inner_shape is not None and ragged_rank is None:
        ragged_rank = _depth(pylist) - 1 - len(as_shape(inner_shape))
    levels = _depth(pylist) - 1 if ragged_rank is None else ragged_rank
    flat, nested = list(pylist) if levels > 0 else pylist, []
    for _ in range(levels):
        if not all(isinstance(row, list | tuple | np.ndarray) for row in flat):
            raise ValueError(f"ragged.constant: lists nested in different depths: {pylist!r}")
        nested.append([len(row) for row in flat])
        flat = [x for row in flat for x in row]
    if inner_shape is not None and not flat:
        flat = np.zeros([0, *as_shape(inner_shape).known], np.float32)
    values = dense_constant(as_array(flat, None if dtype is None else as_dtype(dtype)), name=name)
    return RaggedTensor.from_nested_row_lengths(values, nested) if levels > 0 else values


def _depth(pylist: Any) -> int:
    """How deep lists are nested."""
    if isinstance(pylist, np.ndarray):
        return pylist.ndim
    if not isinstance(pylist, list | tuple):
        return 0
    return 1 + max([_depth(x) for x in pylist], default=0)


def placeholder(
    dtype: DTypeLike, ragged_rank: int, value_shape: ShapeLike | None = None, name: str | None = None
) -> RaggedTensor:
    """A ragged tensor that must be fed, with a RaggedTensorValue, in every run that needs it.

    Shapes: `value_shape` is that of an element.

    >>> import numpy as np
    >>> import pullback as pb
    >>> x = pb.ragged.placeholder(pb.float32, 1)
    >>> value = pb.ragged.RaggedTensorValue(np.array([1.0, 2.0]), np.array([0, 2, 2]))
    >>> pb.Session(engine="numpy").run(pb.ragged.reduce_sum(x, 1), {x: value}).tolist()
    [3.0, 0.0]
    """
    inner = as_shape([] if value_shape is None else value_shape)
    flat = dense_placeholder(dtype, as_shape([None]).concatenate(inner), name)
    return RaggedTensor.from_nested_row_splits(
        flat, [dense_placeholder(int64, [None]) for _ in range(ragged_rank)], validate=False
    )


@in_graph_of_inputs
def from_tensor(
    tensor: TensorLike,
    lengths: Any = None,
    padding: TensorLike | None = None,
    ragged_rank: int = 1,
    name: str | None = None,
    row_splits_dtype: DTypeLike = int64,
) -> RaggedTensor:
    """The rows of `tensor`, whole, or the first `lengths` elements of each, or all before the `padding` at its end.

    Splits are of int64 whatever `row_splits_dtype` is.

    Raises:
        NotImplementedError: `lengths` or `padding` of rows that are nested deeper, by `ragged_rank`.

    >>> import pullback as pb
    >>> x = pb.RaggedTensor.from_tensor([[1, 2, 0], [0, 0, 0]], padding=0)
    >>> pb.Session(engine="numpy").run(x).to_list()
    [[1, 2], []]
    """
    del name, row_splits_dtype
    x = convert_to_tensor(tensor)
    length = shape_of(x, out_type=int64)[1]
    if ragged_rank > 1:
        if lengths is not None or padding is not None:
            raise NotImplementedError(
                f"RaggedTensor.from_tensor: ragged_rank must be 1 with lengths or padding, not {ragged_rank}"
            )
        inner = from_tensor(reshape(x, concat([[-1], shape_of(x)[2:]], 0)), ragged_rank=ragged_rank - 1)
        return RaggedTensor.from_uniform_row_length(inner, length, shape_of(x, out_type=int64)[0], validate=False)
    if padding is not None:
        last = not_equal(x, convert_to_tensor(padding, x.dtype))
        lengths = reduce_max(cast(last, int64) * (numbers_below(length) + 1), axis=1)
    if lengths is None:
        whole = reshape(x, concat([[-1], shape_of(x)[2:]], 0))
        return RaggedTensor.from_uniform_row_length(whole, length, shape_of(x, out_type=int64)[0], validate=False)
    counts = convert_to_tensor(lengths, None if isinstance(lengths, Tensor) else int64)
    return RaggedTensor.from_row_lengths(boolean_mask(x, sequence_mask(counts, length)), counts, validate=False)


@in_graph_of_inputs
def from_sparse(st_input: SparseTensor, name: str | None = None, row_splits_dtype: DTypeLike = int64) -> RaggedTensor:
    """The values of a sparse matrix, row by row; in each row they stand without gaps from the first column on.

    Splits are of int64 whatever `row_splits_dtype` is.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 0], [0, 1], [2, 0]], [1.0, 2.0, 3.0], [3, 2])
    >>> pb.Session().run(pb.RaggedTensor.from_sparse(x)).to_list()
    [[1.0, 2.0], [], [3.0]]
    """
    del row_splits_dtype
    rows = st_input.indices[:, 0]
    return RaggedTensor.from_value_rowids(st_input.values, rows, st_input.dense_shape[0], name, validate=False)


@in_graph_of_inputs
def to_tensor(
    self: RaggedTensor,
    default_value: TensorLike | None = None,
    name: str | None = None,
    shape: ShapeLike | None = None,
) -> Tensor:
    """The dense tensor, with `default_value`, 0 unless given, behind rows that are shorter than the longest.

    `shape` says the lengths of the result, None as many as are needed; what does not fit is left out.
    """
    wanted = [None] * (self.shape.rank or 2) if shape is None else list(as_shape(shape).as_list())
    values = self.values
    if isinstance(values, RaggedTensor):
        values = values.to_tensor(default_value, shape=[None, *wanted[2:]])
    bounds = self.bounding_shape()
    lengths: list[Any] = [bounds[i] if n is None else n for i, n in enumerate(wanted[:2])]
    rows, places = self.value_rowids(), self.places_in_rows()
    inside = [n for n in wanted[:2] if n is not None]
    if inside:
        kept = (rows < lengths[0]) & (places < lengths[1])
        values, rows, places = boolean_mask(values, kept), boolean_mask(rows, kept), boolean_mask(places, kept)
    rest = shape_of(values, out_type=int64)[1:]
    blank = fill(
        concat([stack([cast(n, int64) for n in lengths]), rest], 0),
        convert_to_tensor(0 if default_value is None else default_value, values.dtype),
    )
    return tensor_scatter_nd_update(blank, stack([rows, places], 1), values, name=name)


@in_graph_of_inputs
def to_sparse(self: RaggedTensor, name: str | None = None) -> SparseTensor:
    """The sparse tensor of the values, at their places."""
    del name
    return SparseTensor(places_of(self), self.flat_values, self.bounding_shape())


def places_of(x: RaggedTensor) -> Tensor:
    """The place of each flat value, along all axes that have different lengths and the first."""
    own = stack([x.value_rowids(), x.places_in_rows()], 1)
    if not isinstance(x.values, RaggedTensor):
        return own
    inner = places_of(x.values)
    return concat([gather(own, inner[:, 0]), inner[:, 1:]], 1)
