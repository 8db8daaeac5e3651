"""Index arithmetic of ONNX: indices that count from the end, and positions of single elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import reads_shape
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.scattering import row_numbers, wide_enough
from ..creation.constant import constant_value, convert_to_tensor
from ..creation.fill import ones_like
from ..cumulative.cumsum import cumprod
from ..debugging.assertions import assert_
from ..elementwise.division import floordiv, floormod
from ..logic.logical import logical_and
from ..reduction.product import reduce_prod
from ..reduction.reduce import reduce_all
from ..shape.reshape import reshape
from ..shape.size import shape
from ..shape.stacking import concat


def counted_from_front(indices: Tensor, x: Tensor, axis: int) -> Tensor:
    """`indices` of `axis` of `x`, where negative ones count from its end, as ones that count from the front."""
    known = constant_value(indices)
    if known is not None and (known >= 0).all():
        return indices
    return FromFront(axis)(indices, x)


class FromFront(Primitive):
    """Indices of an axis of the second input, negative ones made to count from the front."""

    traits = (reads_shape(1),)

    axis: int

    def infer(self, indices: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return (indices,)

    def kernel(self, xp: Any, indices: Any, x: Any) -> Any:
        n = np.asarray(x.shape[self.axis], indices.dtype)
        return xp.where(indices < 0, indices + n, indices)

    gradient = no_gradient


def vectors_from_front(indices: Tensor, x: Tensor, batch_dims: int = 0) -> Tensor:
    """Index vectors into `x`, behind its first axes, where negative ones count from the end, as counted from the front.

    `indices` are [..., k].
    """
    known = constant_value(indices)
    if known is not None and (known >= 0).all():
        return indices
    return VectorsFromFront(batch_dims)(indices, x)


class VectorsFromFront(Primitive):
    """Index vectors into the second input, negative entries made to count from the front."""

    traits = (reads_shape(1),)

    batch_dims: int = 0

    def infer(self, indices: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return (indices,)

    def kernel(self, xp: Any, indices: Any, x: Any) -> Any:
        end = self.batch_dims + indices.shape[-1]
        lengths = np.array(x.shape[self.batch_dims : end], indices.dtype)
        return xp.where(indices < 0, indices + lengths, indices)

    gradient = no_gradient


class FlatPositions(Primitive):
    """Where single elements stand in the flattened second input, whose index along an axis is given for each.

    Along the other axes an element of `indices` [m0, m1, ...] stands for its own place. Negative indices count from
    the end. The result is a column [m0 * m1 * ..., 1].
    """

    traits = (reads_shape(1),)

    axis: int

    def infer(self, indices: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return (TensorType(np.dtype(np.int64), TensorShape([indices.shape.num_elements(), 1])),)

    def kernel(self, xp: Any, indices: Any, x: Any) -> Any:
        axis = self.axis % x.ndim
        total = math.prod(x.shape)
        places = wide_enough(indices, total)
        n = x.shape[axis]
        places = xp.where(places < 0, places + n, places)
        outside = (places < 0) | (places >= n)
        if xp is np and np.any(outside):
            raise IndexError(f"scatter_elements: index {places[outside][0]} is not in [{-n}, {n})")
        flat = np.zeros((), places.dtype)
        for i, m in enumerate(indices.shape):
            stride = math.prod(x.shape[i + 1 :])
            own = places if i == axis else np.arange(m).reshape((-1,) + (1,) * (len(indices.shape) - 1 - i))
            flat = flat + own * stride
        return xp.reshape(xp.where(outside, total, flat), (-1, 1)).astype(np.int64)

    gradient = no_gradient


class RowNumbers(Primitive):
    """The row of each index vector [..., k] in the second input with its first k axes made one: [...]."""

    traits = (reads_shape(1),)

    def infer(self, indices: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return (TensorType(np.dtype(np.int64), indices.shape[:-1]),)

    def kernel(self, xp: Any, indices: Any, x: Any) -> Any:
        return row_numbers(xp, indices, x.shape, "tensor_scatter_nd_mul").astype(np.int64)

    gradient = no_gradient


@in_graph_of_inputs
def unravel_index(indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """The coordinates, in arrays of the shape `dims`, of the elements whose positions in memory are `indices`.

    A position that is out of range raises InvalidArgumentError in a run.

    Shapes: `indices` [] or [n]; `dims` [rank]; the result [rank] or [rank, n]. Dtypes: any integer, the same for both.

    Raises:
        TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.unravel_index([5, 0], [2, 3])).tolist()
    [[1, 0], [2, 0]]
    """
    positions = convert_to_tensor(indices)
    lengths = convert_to_tensor(dims, positions.type.dtype)
    with positions.graph.within(name or "unravel_index"):
        inside = reduce_all(logical_and(positions >= 0, positions < reduce_prod(lengths)))
        check = assert_(inside, ["unravel_index: a position is not inside the shape", lengths])
        with positions.graph.control_dependencies([check]):
            strides = cumprod(lengths, exclusive=True, reverse=True)
        if positions.shape.rank != 0:
            beside = concat([shape(lengths), ones_like(shape(positions))], 0)
            strides, lengths = reshape(strides, beside), reshape(lengths, beside)
        return floormod(floordiv(positions, strides), lengths)
