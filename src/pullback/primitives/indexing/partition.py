"""Dynamic partition and stitch: rows dealt out to parts and put together again; masks of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER, int32
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..casting.cast import cast
from ..creation.constant import constant_value, convert_to_tensor
from ..creation.fill import zeros
from ..logic.comparison import equal
from ..shape.reshape import reshape
from ..shape.size import shape
from ..shape.squeeze import expand_dims
from ..shape.stacking import concat
from .gather import TrueIndices, merge_leading
from .scatter_nd import tensor_scatter_nd_update
from .slicing import Take


@in_graph_of_inputs
def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The rows of `data` in `num_partitions` lists: row i is in list `partitions[i]`, in order.

    Shapes: `partitions` [n...], `data` [n..., rest...]; each result [?, rest...]. A run decides how many rows: on XLA
    `partitions` must be known when it compiles. Dtypes: any; `partitions` any integer.

    Derivative: ddata = dynamic_stitch of the cotangents.

    Raises:
        TypeError: `partitions` are no integers. ValueError: the shapes do not fit. InvalidArgumentError in a run: there
        is another number.

    >>> import pullback as pb
    >>> pb.Session().run(pb.dynamic_partition([1.0, 2.0, 3.0], [0, 1, 0], 2))
    [array([1., 3.], dtype=float32), array([2.], dtype=float32)]
    """
    x, parts = convert_to_tensor(data), convert_to_tensor(partitions)
    if parts.dtype not in INTEGER:
        raise TypeError(f"dynamic_partition: partitions must be integers, not {parts}")
    rank = parts.shape.rank
    if rank is not None and not x.shape[:rank].is_compatible_with(parts.shape):
        raise ValueError(f"dynamic_partition: the shape of {x} must begin with that of {parts}")
    with x.graph.within(name or "DynamicPartition"):
        parts = PartNumbers(num_partitions)(parts)
        rows, numbers = (x, parts) if rank == 1 else (merge_leading(x, parts), reshape(parts, [-1]))
        picked = [TrueIndices()(equal(numbers, convert_to_tensor(i, parts.dtype))) for i in range(num_partitions)]
        return [Take(0)(rows, positions) for positions in picked]


class PartNumbers(Primitive):
    """Numbers of parts as they are; with NumPy those that there are not are refused."""

    count: int

    def infer(self, numbers: TensorType) -> tuple[TensorType, ...]:
        return (numbers,)

    def kernel(self, xp: Any, numbers: Any) -> Any:
        wrong: Any = np.flatnonzero((numbers < 0) | (numbers >= self.count)) if xp is np else ()
        if len(wrong):
            found = numbers.reshape(-1)[wrong[0]]
            raise ValueError(f"dynamic_partition: partition number {found} is not in [0, {self.count})")
        return numbers

    gradient = no_gradient


@in_graph_of_inputs
def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """The rows of the tensors `data` put together: `data[k][i]` becomes row `indices[k][i]`; of equal ones, one stays.

    Shapes: `indices[k]` [n...], `data[k]` [n..., rest...]; the result [largest index + 1, rest...], zeros in rows of no
    index. On XLA the indices must be known when it compiles. Dtypes: any, all the same; indices any integer.

    Derivative: ddata_i = gather(dy, indices_i); 0 for what is overwritten.

    Raises:
        ValueError: the lists differ in length, or the shapes do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.dynamic_stitch([[2, 0], [1]], [[1.0, 2.0], [3.0]]))
    array([2., 3., 1.], dtype=float32)
    """
    if len(indices) != len(data) or not indices:
        raise ValueError(f"dynamic_stitch: {len(indices)} indices for {len(data)} data; there must be one for each")
    numbers, tensors = operands(*indices), operands(*data)
    with tensors[0].graph.within(name or "DynamicStitch"):
        places = concat([reshape(i, [-1]) for i in numbers], 0)
        rows = concat([_as_rows(x, i) for x, i in zip(tensors, numbers, strict=True)], 0)
        known = [constant_value(i) for i in numbers]
        if all(value is not None for value in known):
            count: Any = max([int(v.max()) + 1 for v in known if v is not None and v.size], default=0)
        else:
            count = RowCount()(places)
        return tensor_scatter_nd_update(zeros(_lengths(count, rows), rows.dtype), expand_dims(places, 1), rows)


def _as_rows(x: Tensor, indices: Tensor) -> Tensor:
    if indices.shape.rank == 1:
        return x
    return expand_dims(x, 0) if indices.shape.rank == 0 else merge_leading(x, indices)


def _lengths(count: Any, rows: Tensor) -> Any:
    """The shape of `count` of the rows."""
    if rows.shape.rank is None:
        return concat([reshape(cast(count, int32), [1]), shape(rows)[1:]], 0)
    if rows.shape[1:].is_fully_defined():
        return [count, *rows.shape.as_list()[1:]]
    lengths = shape(rows)
    return [count, *[lengths[i] for i in range(1, rows.shape.rank)]]


class RowCount(Primitive):
    """One more than the largest of some row numbers; 0 of none."""

    def infer(self, indices: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(indices.dtype, TensorShape.SCALAR),)

    def kernel(self, xp: Any, indices: Any) -> Any:
        return xp.asarray(indices.max() + 1 if indices.size else 0, indices.dtype)

    gradient = no_gradient
