"""Segment products: for each row that of the others of its segment, exact where elements are 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import bool as bool_
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import MOVES
from ...core.types import TensorType
from ..base.integer_keys import stable_order
from ..base.scattering import combine_rows, sum_rows, wide_enough
from ..complex.complex import conj
from ..cumulative.cumsum import Recurrence, Shift
from ..elementwise.masking import mask
from .sums import rows_of


class ProductOfOthers(Primitive):
    """(rows [ids..., rest...], segment numbers [ids...]) -> for each row the product of the others of its segment."""

    def infer(self, x: TensorType, ids: TensorType) -> tuple[TensorType, ...]:
        del ids
        return (x,)

    def kernel(self, xp: Any, x: Any, ids: Any) -> Any:
        """Of one zero in a segment only that element has others that are not zero, of two none has."""
        rows, own = rows_of(x, ids), _own_numbers(xp, ids)
        n = own.size
        is_zero = rows == 0
        zeros = sum_rows(xp, own, is_zero.astype(np.int32), n)[own]
        others = xp.where(is_zero, xp.ones((), x.dtype), rows)
        product = combine_rows(xp, xp.ones((n, *rows.shape[1:]), x.dtype), own, others, "multiply")[own]
        rest = xp.where(is_zero, product, product / others)
        return xp.where(zeros - is_zero > 0, xp.zeros((), x.dtype), rest).reshape(x.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: _back(dy, *op.inputs)), None


def _own_numbers(xp: Any, ids: Any) -> Any:
    """The segment numbers as numbers of one vector, each below its length."""
    flat = xp.asarray(ids).reshape(-1)
    order = stable_order(xp, flat)
    ordered = flat[order]
    new = xp.concatenate([xp.zeros(min(1, flat.size), bool), ordered[1:] != ordered[:-1]])
    place = xp.cumsum(new, dtype=np.int32)
    return combine_rows(xp, xp.zeros(flat.shape, np.int32), wide_enough(order, flat.size), place, "set")


def _back(dy: Tensor, x: Tensor, ids: Tensor) -> Tensor:
    """Products of the pairs (x, dy) as numbers with a part of first order: of those before and of those after a row.

    In the order of the segments both are linear recurrences, which begin anew with each segment.
    """
    rows, weights = RowsInOrder()(conj(x), ids), RowsInOrder()(dy, ids)
    parts = []
    for reverse in (False, True):
        same = SameAsBefore(reverse)(rows, ids)
        factors = mask(same, Shift(0, reverse)(rows))
        product = Recurrence(0, reverse)(factors, StartOfSegment(reverse)(rows, ids))
        step = mask(same, Shift(0, reverse)(weights * product))
        parts.append((product, Recurrence(0, reverse)(factors, step)))
    (before, first), (after, second) = parts
    return RowsBack()(before * second + first * after, ids, x)


class RowsInOrder(Primitive):
    """Rows in the order of their segments, the axes of the segment numbers made one."""

    traits = (MOVES,)

    def infer(self, x: TensorType, ids: TensorType) -> tuple[TensorType, ...]:
        if x.shape.sizes is None or ids.shape.sizes is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        rest = x.shape[len(ids.shape.sizes) :]
        return (TensorType(x.dtype, TensorShape([ids.shape.elements]).concatenate(rest)),)

    def kernel(self, xp: Any, x: Any, ids: Any) -> Any:
        return xp.take(rows_of(x, ids), stable_order(xp, xp.asarray(ids).reshape(-1)), axis=0)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, ids = op.inputs
        return lambda: RowsBack()(dy, ids, x), None


class RowsBack(Primitive):
    """The rows of RowsInOrder where they came from; the last input says the shape."""

    traits = (MOVES,)

    def infer(self, rows: TensorType, ids: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        del ids
        return (TensorType(rows.dtype, like.shape),)

    def kernel(self, xp: Any, rows: Any, ids: Any, like: Any) -> Any:
        order = stable_order(xp, xp.asarray(ids).reshape(-1))
        return xp.take(rows, xp.argsort(order), axis=0).reshape(like.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return lambda: RowsInOrder()(dy, op.inputs[1]), None, None


class SameAsBefore(Primitive):
    """For rows in the order of their segments: whether the one before, or after, is of the same segment."""

    reverse: bool = False

    def infer(self, rows: TensorType, ids: TensorType) -> tuple[TensorType, ...]:
        del ids
        return (TensorType(bool_, rows.shape),)

    def kernel(self, xp: Any, rows: Any, ids: Any) -> Any:
        return _same(xp, rows, ids, self.reverse)

    gradient = no_gradient


class StartOfSegment(Primitive):
    """The opposite as a number: 1 for the first row of each segment, or the last, 0 for the others."""

    reverse: bool = False

    def infer(self, rows: TensorType, ids: TensorType) -> tuple[TensorType, ...]:
        del ids
        return (rows,)

    def kernel(self, xp: Any, rows: Any, ids: Any) -> Any:
        return xp.logical_not(_same(xp, rows, ids, self.reverse)).astype(rows.dtype)

    gradient = no_gradient


def _same(xp: Any, rows: Any, ids: Any, reverse: bool) -> Any:
    ordered = xp.sort(xp.asarray(ids).reshape(-1))
    same, edge = ordered[1:] == ordered[:-1], xp.zeros(min(1, ordered.size), bool)
    column = xp.concatenate([same, edge] if reverse else [edge, same])
    return xp.broadcast_to(column.reshape((-1,) + (1,) * (rows.ndim - 1)), rows.shape)
