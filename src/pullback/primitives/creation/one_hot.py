"""One-hot vectors: one element of each row is on, the others are off."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, DType, as_dtype, float32
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import ZEROS, Links, inserted_axes
from ...core.types import TensorType, shape_to_infer
from ...core.typing import AxisLike, DTypeLike, TensorLike
from ..base.axes import as_axis, checked_axis
from ..shape.reshape import shape_to_use, split_shape
from .constant import convert_to_tensor


@in_graph_of_inputs
def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`on_value` (None: 1) where a new axis of length `depth` has the number in `indices`, elsewhere `off_value` (0).

    A number outside 0..depth-1 gives `off_value` everywhere. The new axis stands at `axis`, by default the last.

    Shapes: `indices` any; the result has `depth` at `axis`. Dtypes: `dtype`, else that of the values, else float32.

    Derivative: don_value = sum of dy where it stands, doff_value = sum of the rest; none by indices.

    Raises:
        TypeError: `indices` are no integers; the values are not of one dtype, or not of `dtype`. InvalidArgumentError:
        `axis` is out of range, in a run where only that knows the rank.

    >>> import pullback as pb
    >>> pb.Session().run(pb.one_hot([0, 2, -1], 3))
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    """
    ids = convert_to_tensor(indices)
    if ids.dtype not in INTEGER:
        raise TypeError(f"one_hot: indices must be integers, not {ids}")
    rank = ids.shape.rank
    place = -1 if axis is None else as_axis(axis, None if rank is None else rank + 1, "one_hot", ids.type)
    if place == rank:
        place = -1
    dims, lengths = split_shape([depth])
    inputs = (ids,) if lengths is None else (ids, lengths)
    if on_value is None and off_value is None:
        return OneHot(as_dtype(dtype or float32), place, dims)(*inputs, name=name)
    from ..indexing.where import where

    on, off = _one_hot_values(on_value, off_value, dtype)
    chosen = OneHot(bool_, place, dims)(*inputs)
    return where(chosen, on, off, name=name or "one_hot")


def _one_hot_values(on: Any, off: Any, dtype: Any) -> tuple[Tensor, Tensor]:
    first = convert_to_tensor(off if on is None else on, dtype)
    wanted = first.dtype
    return (
        convert_to_tensor(1, wanted) if on is None else first,
        convert_to_tensor(0 if off is None else off, wanted),
    )


class OneHot(Primitive):
    traits = (ZEROS,)
    shape_inputs = length_inputs = (1,)

    dtype: DType
    axis: int
    depth: tuple[int | None, ...] | None

    def infer(self, indices: TensorType, depth: TensorType | None = None) -> tuple[TensorType, ...]:
        if indices.shape.lengths is None:
            return (TensorType(self.dtype, TensorShape.UNKNOWN),)
        dims = list(indices.shape.lengths)
        dims.insert(
            checked_axis(self.axis, len(dims) + 1, "one_hot", indices), shape_to_infer(self.depth, depth).length(0)
        )
        return (TensorType(self.dtype, TensorShape(dims)),)

    def links(self, i: int, indices: TensorType, depth: TensorType | None = None) -> Links | None:
        del depth
        return None if i else inserted_axes(indices.shape.rank, self.axis)

    def kernel(self, xp: Any, indices: Any, depth: Any = None) -> Any:
        (n,) = shape_to_use(self.depth, depth)
        axis = checked_axis(self.axis, indices.ndim + 1, "one_hot", f"indices {list(indices.shape)}")
        if xp is np and self.axis == -1:
            return _one_hot_rows(indices, n, self.dtype)
        numbers = np.arange(n, dtype=np.int64).reshape((1,) * axis + (n,) + (1,) * (indices.ndim - axis))
        return (xp.expand_dims(indices, axis) == numbers).astype(self.dtype)

    gradient = no_gradient


def _one_hot_rows(indices: Any, depth: int, dtype: Any) -> Any:
    """Written into zeros, which on NumPy is several times faster than comparing every element."""
    flat = indices.reshape(-1)
    result = np.zeros((flat.size, depth), dtype)
    rows = np.flatnonzero((flat >= 0) & (flat < depth))
    result[rows, flat[rows]] = 1
    return result.reshape((*indices.shape, depth))
