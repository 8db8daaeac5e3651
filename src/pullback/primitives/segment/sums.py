"""Segment sums: rows that share a number are added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INEXACT, INTEGER, DType
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import ADDS, IGNORES_ZEROS, MOVES, ZEROS, Link, Links, same_axes
from ...core.types import TensorType, shape_to_infer
from ...core.typing import TensorLike
from ..base.axes import is_computed, static_integer
from ..base.scattering import sum_rows, wide_enough
from ..creation.constant import convert_to_tensor
from ..shape.size import shape

NUMBERS: frozenset[DType] = INTEGER | INEXACT

_MOST_SEGMENTS = 1 << 48


@in_graph_of_inputs
def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sums of the rows of `data` that have the same segment number; zeros where there are none.

    Shapes: `data` [ids..., rest...], `segment_ids` [ids...]; the result [num_segments, rest...]. Negative numbers are
    dropped. Dtypes: any number; `segment_ids` any integer.

    Derivative: ddata = gather(dy, segment_ids), 0 for numbers out of range.

    Raises:
        ValueError: the shape of `data` does not begin with that of `segment_ids`. TypeError: the ids are no integers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.unsorted_segment_sum([1.0, 2.0, 4.0], [0, 1, 0], 3))
    array([5., 2., 0.], dtype=float32)
    """
    static, inputs = segment_inputs(data, segment_ids, num_segments)
    return UnsortedSegmentSum(static)(*inputs, name=name)


class UnsortedSegmentSum(Primitive):
    traits = (ADDS, IGNORES_ZEROS, ZEROS)
    shape_inputs = length_inputs = (2,)

    num_segments: int | None = None

    def infer(self, x: TensorType, ids: TensorType, num: TensorType | None = None) -> tuple[TensorType, ...]:
        return (infer_segments("unsorted_segment_sum", self.num_segments, num, x, ids),)

    def kernel(self, xp: Any, x: Any, ids: Any, num: Any = None) -> Any:
        n = segments_to_use(self.num_segments, num)
        return sum_rows(xp, ids.reshape(-1), rows_of(x, ids), n)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        ids = op.inputs[1]
        return (lambda: SegmentGather()(dy, ids), None, None)[: len(op.inputs)]


class SegmentGather(Primitive):
    """For each segment number its row; zeros where there is no such row. The transpose of UnsortedSegmentSum."""

    traits = (MOVES, ZEROS)

    def infer(self, x: TensorType, ids: TensorType) -> tuple[TensorType, ...]:
        rest = TensorShape.UNKNOWN if x.shape.sizes is None else x.shape[1:]
        return (TensorType(x.dtype, ids.shape.concatenate(rest)),)

    def links(self, i: int, x: TensorType, ids: TensorType) -> Links | None:
        if x.shape.rank is None or ids.shape.rank is None:
            return None
        if i:
            return same_axes(range(ids.shape.rank))
        return tuple([Link(ids.shape.rank + a - 1, a) for a in range(1, x.shape.rank)])

    def kernel(self, xp: Any, x: Any, ids: Any) -> Any:
        n = x.shape[0]
        inside = ((ids >= 0) & (ids < n)).reshape(ids.shape + (1,) * (x.ndim - 1))
        if n == 0:
            return xp.zeros(ids.shape + x.shape[1:], x.dtype)
        rows = xp.take(x, xp.clip(wide_enough(ids, n), 0, n - 1), axis=0)
        return xp.where(inside, rows, xp.zeros((), x.dtype))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, ids = op.inputs
        rows = x.shape.size(0) if x.shape.rank else None
        return lambda: unsorted_segment_sum(dy, ids, shape(x)[0] if rows is None else rows), None


def segments_to_use(static: int | None, num: Any) -> int:
    """The number of segments that a kernel is to use; ValueError where no memory holds so many."""
    count = int(static if num is None else num)  # type: ignore[arg-type]
    if count > _MOST_SEGMENTS:
        raise ValueError(f"there are {count} segments, more than any memory holds")
    return count


def rows_of(x: Any, ids: Any) -> Any:
    """The array `x` with one row for each of `ids`."""
    return x.reshape((ids.size, *x.shape[ids.ndim :]))


def infer_segments(
    what: str,
    static: int | None,
    num: TensorType | None,
    x: TensorType,
    ids: TensorType,
    dtypes: frozenset[DType] = NUMBERS,
) -> TensorType:
    """The type of a reduction of `x`, of one of `dtypes`, to segments; raises where the types do not fit.

    Their number is `static`, or what is known of an input of the type `num`.
    """
    if x.dtype not in dtypes:
        raise TypeError(f"{what}: no such reduction of {x}; it takes {', '.join(sorted(d.name for d in dtypes))}")
    if ids.dtype not in INTEGER:
        raise TypeError(f"{what}: segment_ids must be integers, not {ids}")
    if x.shape.lengths is None or ids.shape.sizes is None:
        return TensorType(x.dtype, TensorShape.UNKNOWN)
    rank = len(ids.shape.sizes)
    if rank > len(x.shape.lengths) or not x.shape[:rank].is_compatible_with(ids.shape):
        raise ValueError(f"{what}: the shape of {x} must begin with that of {ids}")
    return TensorType(x.dtype, TensorShape([shape_to_infer((static,), num).length(0), *x.shape.lengths[rank:]]))


def segment_inputs(data: Any, segment_ids: Any, num_segments: Any) -> tuple[int | None, tuple[Tensor, ...]]:
    """The static number of segments, if it is known, and the inputs of a reduction to segments."""
    x, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    static, number = _number(num_segments)
    return static, (x, ids) if number is None else (x, ids, number)


def _number(num: Any) -> tuple[int | None, Tensor | None]:
    if is_computed(num):
        number = convert_to_tensor(num)
        if number.shape.rank not in (0, None):
            raise ValueError(f"num_segments must be one integer, not {number}")
        return None, number
    static = static_integer(num, "num_segments")
    if static < 0:
        raise ValueError(f"Cannot specify a negative value for num_segments, but it is {static}")
    return static, None
