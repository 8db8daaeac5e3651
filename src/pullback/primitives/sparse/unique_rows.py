"""Duplicate rows of IndexedSlices summed: what rules that are not linear in the gradient need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.dtypes import INTEGER, bfloat16, float16, float32, int32
from ...core.graph import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.slices import IndexedSlices
from ...core.traits import FEWER, IGNORES_ZEROS, linear
from ...core.types import TensorType
from ..base.equal_elements import equal_elements
from ..indexing.gather import gather


def sum_equal_rows(slices: IndexedSlices) -> IndexedSlices:
    """The same sum of rows, with each row number once, in ascending order.

    On XLA there are as many rows as before: those left over have the largest number of the dtype, which is out of range
    and is dropped by whatever adds rows up, and zeros for values.
    """
    rows, sums, _ = SumEqualRows().operation(slices.indices, slices.values).outputs
    return IndexedSlices(sums, rows, slices.dense_shape, slices.static_shape)


class SumEqualRows(Primitive):
    """(numbers [n], values [n, ...]) -> (distinct numbers [k], their sums [k, ...], where each value went [n])."""

    traits = (linear(1), IGNORES_ZEROS, FEWER)

    def infer(self, numbers: TensorType, values: TensorType) -> tuple[TensorType, ...]:
        if numbers.dtype not in INTEGER or numbers.shape.rank not in (1, None):
            raise ValueError(f"SumEqualRows: the numbers of rows must be an integer vector, not {numbers}")
        if values.shape.rank == 0 or not values.shape[:1].is_compatible_with(numbers.shape):
            raise ValueError(f"SumEqualRows: there must be a row for each number: {values} and {numbers}")
        row = values.shape[1:] if values.shape.rank else TensorShape.UNKNOWN
        sums = TensorType(values.dtype, TensorShape([None]).concatenate(row))
        return TensorType(numbers.dtype, TensorShape([None])), sums, TensorType(int32, TensorShape([None]))

    def kernel(self, xp: Any, numbers: Any, values: Any) -> Any:
        """With NumPy; the number of rows depends on the values, so that XLA has a kernel of its own."""
        del xp
        order, starts, groups = equal_elements(numbers)
        return numbers[order[starts]], _sums(values[order], starts), groups.astype(int32)

    def gradient(self, op: Operation, *dys: Tensor) -> Sequence[Any]:
        return None, partial(gather, dys[1], op.outputs[2])


def _sums(values: Any, starts: Any) -> Any:
    """The sums of consecutive rows, each from one of `starts` to before the next."""
    if len(starts) == len(values):
        return values
    wide = float32 if values.dtype in (float16, bfloat16) else values.dtype
    return np.add.reduceat(values.astype(wide, copy=False), starts, axis=0).astype(values.dtype, copy=False)
