"""IndexedSlices (row-sparse values): some rows of a larger array, by number. A cotangent, a result; not a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .dtypes import DType
from .graph import Graph, Operation, Tensor
from .shape import TensorShape
from .traits import CONSTANT


@dataclass(frozen=True, eq=False, repr=False)
class IndexedSlices:
    """The rows `values[i]` of an array of shape `dense_shape`, each at row `indices[i]`; equal indices add up.

    `values` has shape [n, ...], `indices` is an integer vector [n], `dense_shape` an integer vector, numbers, or None.
    `static_shape` is what is known of `dense_shape` while the graph is built: all of it where that is a constant.

    >>> import pullback as pb
    >>> rows = pb.IndexedSlices(pb.constant([[1.0], [2.0], [4.0]]), pb.constant([2, 0, 2]), pb.constant([3, 1]))
    >>> pb.Session().run(pb.convert_to_tensor(rows)).tolist()
    [[2.0], [0.0], [5.0]]
    """

    values: Any
    indices: Tensor
    dense_shape: Tensor | Sequence[int] | None = None
    static_shape: TensorShape = TensorShape.UNKNOWN

    def __post_init__(self) -> None:
        given: Any = self.dense_shape
        if given is None or self.static_shape.rank is not None:
            return
        if isinstance(given, Tensor):
            if CONSTANT not in given.op.primitive.traits:
                return
            given = given.op.get_attr("value")
        object.__setattr__(self, "static_shape", TensorShape(given))

    @property
    def shape_tensor(self) -> Tensor | None:
        """`dense_shape` where it is a tensor; None where it is numbers, which `static_shape` has."""
        return self.dense_shape if isinstance(self.dense_shape, Tensor) else None

    @property
    def tensors(self) -> list[Tensor]:
        """The values, the indices, and the dense shape where it is a tensor."""
        return [x for x in (self.values, self.indices, self.shape_tensor) if x is not None]

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense array."""
        return self.static_shape

    @property
    def dtype(self) -> DType:
        """The element type of the values."""
        dtype: DType = self.values.dtype
        return dtype

    @property
    def name(self) -> str:
        """The name of the values."""
        return str(self.values.name)

    @property
    def op(self) -> Operation:
        """The operation of the values."""
        op: Operation = self.values.op
        return op

    @property
    def graph(self) -> Graph:
        """The graph of the values."""
        return self.op.graph

    @property
    def device(self) -> str:
        """The device string of the values."""
        return self.op.device

    def get_shape(self) -> TensorShape:
        """The static shape of the dense array."""
        return self.static_shape

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape, self.static_shape)

    def __repr__(self) -> str:
        dense = "" if self.dense_shape is None else f", dense_shape={self.dense_shape}"
        return f"IndexedSlices(indices={self.indices}, values={self.values}{dense})"


class IndexedSlicesValue(NamedTuple):
    """What a run returns for, and accepts in place of, an IndexedSlices: the three arrays.

    >>> import pullback as pb
    >>> table = pb.ones([3, 2])
    >>> rows, = pb.gradients(pb.gather(table, [1]), table)
    >>> pb.Session().run(rows).indices
    array([1], dtype=int32)
    """

    values: Any
    indices: Any
    dense_shape: Any
