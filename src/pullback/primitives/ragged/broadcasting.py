"""Broadcasting of ragged tensors: operands whose rows have one element, or are one row, beside others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Tensor
from ..creation.constant import constant_value, convert_to_tensor
from ..creation.fill import zeros_like
from ..indexing.gather import gather as dense_gather
from ..shape.reshape import reshape
from ..shape.squeeze import squeeze
from .conversions import from_tensor
from .operations import gather
from .ragged_tensor import RaggedTensor


def paired(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands of which one is ragged, both with its rows; a dense one may be what goes with its flat values.

    Where only a run can tell that rows have one element, they are taken to have as many as those of the other.

    Raises:
        ValueError: the dense one has more axes.
    """
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        return _with_common_rows(x, y)
    if not isinstance(x, RaggedTensor):
        second, first = paired(y, x)
        return first, second
    other = _along(x, y)
    return _with_common_rows(x, other) if isinstance(other, RaggedTensor) else (x, other)


def _along(x: RaggedTensor, other: Any) -> Any:
    """A dense operand for the flat values of `x`: one row of [rows, 1, ...] for each value, or one for all of them.

    One of other lengths is ragged then.
    """
    y = convert_to_tensor(other, x.flat_values.dtype) if not isinstance(other, Tensor) else other
    rank, wanted = y.shape.rank, x.shape.rank
    if rank is not None and rank <= (x.flat_values.shape.rank or 1) - 1:
        return y
    if rank == 1 and y.shape.size(0) == 1:
        return y[0]
    if rank is None or wanted is None or rank > wanted:
        raise ValueError(
            f"a dense operand of {x} has the shape [rows, 1, ...], or that of an element, and not {y.shape}"
        )
    if rank < wanted:
        return _along(x, reshape(y, [1] * (wanted - rank) + list(y.shape.known)))
    if y.shape.size(1) != 1:
        return from_tensor(y, ragged_rank=x.ragged_rank)
    if y.shape.size(0) == 1 and not isinstance(x.values, RaggedTensor):
        return squeeze(y, [0, 1])
    rows = dense_gather(squeeze(y, [1]), x.value_rowids())
    return _along(x.values, rows) if isinstance(x.values, RaggedTensor) else rows


def _with_common_rows(x: RaggedTensor, y: RaggedTensor) -> tuple[RaggedTensor, RaggedTensor]:
    if x.ragged_rank != y.ragged_rank:
        return x, y
    if x.shape.size(0) == 1 != y.shape.size(0):
        x = gather(x, zeros_like(y.row_starts()))
    elif y.shape.size(0) == 1 != x.shape.size(0):
        y = gather(y, zeros_like(x.row_starts()))
    if x.row_splits is not y.row_splits:
        a, b = constant_value(x.row_splits), constant_value(y.row_splits)
        if a is None or b is None or not np.array_equal(a, b):
            if _are_ones(b):
                y = RaggedTensor(gather(y.values, x.value_rowids()), x.row_splits)
            elif _are_ones(a):
                x = RaggedTensor(gather(x.values, y.value_rowids()), y.row_splits)
    if not isinstance(x.values, RaggedTensor):
        return x, y
    inner = _with_common_rows(x.values, y.values)
    return x.with_values(inner[0]), y.with_values(inner[1])


def _are_ones(splits: Any) -> bool:
    return splits is not None and bool((np.diff(splits) == 1).all())
