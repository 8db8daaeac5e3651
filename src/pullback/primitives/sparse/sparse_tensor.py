"""Sparse tensors (COO): the elements of an array that are not zero, by position; made, made dense, looked at.

All operations on it are made of operations on its values, so that derivatives of every order are by the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...core.composite import AbstractComposite
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import DType, int64
from ...core.errors import InvalidArgumentError
from ...core.graph import Graph, Tensor, get_default_graph
from ...core.shape import TensorShape, as_shape
from ...core.types import TensorType
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ..casting.cast import cast
from ..creation.constant import constant, constant_value, convert_to_tensor
from ..creation.fill import fill, zeros_like
from ..creation.placeholders import PlaceholderWithDefault
from ..creation.placeholders import placeholder as placeholder_of
from ..cumulative.cumsum import cumprod
from ..indexing.gather import boolean_mask, gather, gather_rows
from ..indexing.scatter_nd import gather_nd, scatter_nd, tensor_scatter_nd_update
from ..indexing.where import where
from ..logic.comparison import not_equal
from ..reduction.reduce import reduce_sum
from ..shape.reshape import reshape
from ..shape.size import shape as shape_of
from ..sorting.sort import argsort

DECLARED = "_declared_lengths"
"""The attribute of a placeholder of dense lengths that has those which it was declared with, None for the others."""


@dataclass(frozen=True, eq=False, repr=False)
class SparseTensor(AbstractComposite):
    """`values` [n] at the positions `indices` [n, rank] of an array of shape `dense_shape` [rank]; zeros elsewhere.

    Positions and shape are int64. Positions are in the order in which the array lies in memory, each once, unless an
    operation says that it does not need that; `pb.sparse.reorder` puts them in order. Anything that converts to tensors
    may be given. Derivatives are by `values`.

    Raises:
        ValueError: the parts do not fit each other.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
    >>> x
    SparseTensor(float32[3,2], 2 values)
    >>> pb.Session().run(pb.sparse.to_dense(2.0 * x)).tolist()
    [[0.0, 2.0], [0.0, 0.0], [4.0, 0.0]]
    """

    indices: Any
    values: Any
    dense_shape: Any

    __array_priority__: ClassVar[int] = 101
    __mul__: ClassVar[Callable[..., Any]]
    __rmul__: ClassVar[Callable[..., Any]]
    __truediv__: ClassVar[Callable[..., Any]]

    def __post_init__(self) -> None:
        parts = _parts(self.indices, self.values, self.dense_shape)
        for name, part in zip(("indices", "values", "dense_shape"), parts, strict=True):
            object.__setattr__(self, name, part)
        if self.indices.shape.rank not in (2, None) or self.values.shape.rank not in (1, None):
            raise ValueError(f"SparseTensor: indices must be [n, rank] and values [n]: {self.indices}, {self.values}")
        count = self.indices.shape.size(0) if self.indices.shape.rank else None
        if count is not None and not TensorShape([count]).is_compatible_with(self.values.shape):
            raise ValueError(f"SparseTensor: as many indices as values are needed: {self.indices}, {self.values}")

    @classmethod
    def from_value(cls, sparse_tensor_value: SparseTensorValue | SparseTensor) -> SparseTensor:
        """One of three arrays.

        >>> import pullback as pb
        >>> pb.sparse.SparseTensor.from_value(pb.sparse.SparseTensorValue([[0]], [1.0], [2])).eval(session=pb.Session())
        SparseTensorValue(indices=array([[0]]), values=array([1.], dtype=float32), dense_shape=array([2]))
        """
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> SparseTensorValue:
        """The value, by `session` or the default one."""
        value: SparseTensorValue = Tensor.eval(self, feed_dict, session)
        return value

    @property
    def dtype(self) -> DType:
        """The element type."""
        dtype: DType = self.values.dtype
        return dtype

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape of the dense array, or was said of it where it may be fed another."""
        declared: tuple[int | None, ...] | None = self.dense_shape.op.attrs.get(DECLARED)
        return self.sure_shape if declared is None else TensorShape(declared)

    @property
    def sure_shape(self) -> TensorShape:
        """What is known of the shape of the dense array in every run."""
        known = constant_value(self.dense_shape)
        if known is not None:
            return TensorShape([int(n) for n in known])
        defaulted = isinstance(self.dense_shape.op.primitive, PlaceholderWithDefault)
        declared = None if defaulted else self.dense_shape.op.attrs.get(DECLARED)
        count = self.dense_shape.shape.size(0) if self.dense_shape.shape.rank else None
        return TensorShape(declared or (None if count is None else [None] * count))

    @property
    def graph(self) -> Graph:
        """The graph of the values."""
        graph: Graph = self.values.graph
        return graph

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Its three parts."""
        return self.indices, self.values, self.dense_shape

    @property
    def lasting_types(self) -> tuple[TensorType, ...]:
        """Another one of the same rank may have any number of values."""
        return self.types_within(TensorShape([self.shape.rank]))

    def types_within(self, invariant: TensorShape) -> tuple[TensorType, ...]:
        """Those of any number of values: the shape of `dense_shape`, [rank], is all that can be said."""
        if invariant.rank not in (None, 1):
            raise ValueError(f"SparseTensor: the invariant of {self} must be TensorShape([rank]), and not {invariant}")
        rank = invariant.size(0) if invariant.rank else None
        shapes: Any = [None, rank], [None], [rank]
        return tuple([TensorType(x.type.dtype, TensorShape(s)) for x, s in zip(self.tensors, shapes, strict=True)])

    def with_tensors(self, tensors: Sequence[Tensor]) -> SparseTensor:
        """The sparse tensor of other parts."""
        return SparseTensor(*tensors)

    @property
    def rank(self) -> int:
        """The number of axes; ValueError where it is not known."""
        rank = self.shape.rank
        if rank is None:
            raise ValueError(f"SparseTensor: the number of axes must be known; dense_shape is {self.dense_shape}")
        return rank

    def get_shape(self) -> TensorShape:
        """What is known of the shape of the dense array."""
        return self.shape

    def with_values(self, new_values: TensorLike) -> SparseTensor:
        """The same positions with other values."""
        return SparseTensor(self.indices, new_values, self.dense_shape)

    def __repr__(self) -> str:
        count = self.values.shape.size(0) if self.values.shape.rank else None
        dims = "..." if self.shape.sizes is None else ",".join("?" if n is None else str(n) for n in self.shape.sizes)
        return f"SparseTensor({self.dtype.name}[{dims}], {'?' if count is None else count} values)"


@in_graph_of_inputs
def _parts(indices: Any, values: Any, dense_shape: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The tensors that a sparse tensor is made of."""
    return _int64(indices), convert_to_tensor(values), _int64(dense_shape)


def _int64(x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        return convert_to_tensor(x, int64)
    return x if x.dtype == int64 else cast(x, int64)


class SparseTensorValue(NamedTuple):
    """The three arrays of a SparseTensor.

    >>> import pullback as pb
    >>> pb.sparse.SparseTensorValue([[0]], [1.0], [2]).dense_shape
    [2]
    """

    indices: Any
    values: Any
    dense_shape: Any


def placeholder(dtype: DTypeLike, shape: ShapeLike | Tensor | None = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor that must be fed, with a SparseTensorValue, in every run that needs it.

    Shapes: `shape`, with None for lengths that may differ from run to run, or a vector of int64 that a run knows; None
    for any shape.

    >>> import pullback as pb
    >>> x = pb.sparse.placeholder(pb.float32)
    >>> value = pb.SparseTensorValue([[0], [2]], [1.0, 2.0], [4])
    >>> pb.Session(engine="numpy").run(pb.reduce_sum(x.values), feed_dict={x: value})
    np.float32(3.0)
    """
    static = TensorShape.UNKNOWN if isinstance(shape, Tensor) else as_shape(shape)
    rank = shape.shape.with_rank(1).size(0) if isinstance(shape, Tensor) else static.rank
    with get_default_graph().name_scope(name or "Sparse"):
        if isinstance(shape, Tensor):
            dense_shape = cast(shape, int64)
        elif static.is_fully_defined():
            dense_shape = constant(np.array(static.known, np.int64), name="shape")
        else:
            with get_default_graph().attr_scope({DECLARED: static.sizes}):
                dense_shape = placeholder_of(int64, [rank], name="shape")
        return SparseTensor(
            placeholder_of(int64, [None, rank], name="indices"),
            placeholder_of(dtype, [None], name="values"),
            dense_shape,
        )


@in_graph_of_inputs
def retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """The same with only the values where `to_retain` [n], of bool, is true.

    Derivative: dvalues = dy where they were retained, 0 elsewhere.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[0], [2]], [1.0, 2.0], [4])
    >>> pb.Session().run(pb.sparse.to_dense(pb.sparse.retain(x, [False, True]))).tolist()
    [0.0, 0.0, 2.0, 0.0]
    """
    kept = reshape(to_retain, [-1])
    return SparseTensor(boolean_mask(sp_input.indices, kept), boolean_mask(sp_input.values, kept), sp_input.dense_shape)


@in_graph_of_inputs
def to_dense(
    sp_input: SparseTensor,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The dense tensor; `default_value`, 0 unless given, where there is no value. Values of one position add up.

    `validate_indices` is not used: positions may come in any order.

    Derivative: dvalues = dy at the positions; ddefault_value = sum of the rest.

    >>> import pullback as pb
    >>> x = pb.sparse.SparseTensor([[1]], [5.0], [3])
    >>> pb.Session().run(pb.sparse.to_dense(x, default_value=-1.0)).tolist()
    [-1.0, 5.0, -1.0]
    """
    del validate_indices
    dense = scatter_nd(sp_input.indices, sp_input.values, static_shape(sp_input), name=name)
    if default_value is None:
        return dense
    default = convert_to_tensor(default_value, sp_input.dtype)
    return tensor_scatter_nd_update(fill(static_shape(sp_input), default), sp_input.indices, sp_input.values)


@in_graph_of_inputs
def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """The sparse tensor of what is not zero. How much that is a run decides.

    Derivative: dtensor = zeros with dy at the positions.

    >>> import pullback as pb
    >>> x = pb.sparse.from_dense([[0.0, 3.0], [0.0, 0.0]])
    >>> pb.Session(engine="numpy").run([x.indices, x.values])
    [array([[0, 1]]), array([3.], dtype=float32)]
    """
    x = convert_to_tensor(tensor)
    indices = cast(where(not_equal(x, zeros_like(x)), name=name), int64)
    return SparseTensor(indices, gather_nd(x, indices), shape_of(x, out_type=int64))


@in_graph_of_inputs
def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The same with its positions in the order in which the array lies in memory.

    Derivative: dvalues = dy in the order before.

    >>> import pullback as pb
    >>> x = pb.sparse.reorder(pb.sparse.SparseTensor([[1, 0], [0, 1]], [1.0, 2.0], [2, 2]))
    >>> pb.Session().run(x.values).tolist()
    [2.0, 1.0]
    """
    return in_order(sp_input, positions_of_all(sp_input), name)


def in_order(sp_input: SparseTensor, positions: Tensor, name: str | None = None) -> SparseTensor:
    """The same with `positions` ascending, and where they are equal in the order that it has."""
    order = argsort(positions, stable=True, name=name)
    return SparseTensor(gather(sp_input.indices, order), gather_rows(sp_input.values, order), sp_input.dense_shape)


def static_shape(x: SparseTensor) -> Any:
    """The dense shape as integers where it is known, else as the tensor."""
    return x.sure_shape.as_list() if x.sure_shape.is_fully_defined() else x.dense_shape


def lengths_of(x: SparseTensor) -> list[Any]:
    """The dense lengths: an int for each axis that is known, else a scalar of int64."""
    dims = x.sure_shape.sizes or (None,) * x.rank
    return [n if n is not None else x.dense_shape[i] for i, n in enumerate(dims)]


def linear_positions(x: SparseTensor, axes: Any) -> Tensor:
    """One number for each position, from its coordinates along `axes`: in order of them, from 0 on."""
    lengths = lengths_of(x)
    chosen = list(axes)
    if not chosen:
        return reduce_sum(zeros_like(x.indices), axis=1)
    if all(isinstance(lengths[i], int) for i in chosen):
        check_countable([lengths[i] for i in chosen])
        strides = np.cumprod([1, *[lengths[i] for i in chosen[:0:-1]]])[::-1].astype(np.int64)
        weights = np.zeros(x.rank, np.int64)
        weights[chosen] = strides
        return reduce_sum(x.indices * constant(weights), axis=1)
    total: Tensor = x.indices[:, chosen[0]]
    for i in chosen[1:]:
        total = total * lengths[i] + x.indices[:, i]
    return total


def check_countable(lengths: Sequence[int]) -> None:
    """InvalidArgumentError where the positions in a shape are more than numbers of 64 bits can tell apart."""
    count = math.prod(lengths)
    if count >= 2**63:
        raise InvalidArgumentError(
            f"a sparse tensor of shape {list(lengths)} has {count} positions, and 2**63 - 1 can be numbered. Number "
            "the coordinates along an axis anew, with pb.unique, or make it a tensor for each index of an axis"
        )


def positions_of_all(x: SparseTensor, but: int = 0) -> Tensor:
    """The `linear_positions` along all axes, or all but the last ones, of any number."""
    if x.shape.rank is not None:
        return linear_positions(x, range(x.rank - but))
    kept = slice(None, -but or None)
    strides = cumprod(x.dense_shape[kept], exclusive=True, reverse=True)
    return reduce_sum(x.indices[:, kept] * strides, axis=1)
