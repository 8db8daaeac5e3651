"""Binary search: the places of values in sorted rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import as_dtype, int32
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..base.broadcasting import operands
from ..base.precision import widened


@in_graph_of_inputs
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """For each of `values` the number of elements of its sorted row that are smaller; with "right", not larger.

    Shapes: `sorted_sequence` [rows..., n], `values` [rows..., m]; the result [rows..., m]. Dtypes: any real number,
    the same for both; the result has `out_type`, int32 or int64.

    Raises:
        ValueError: the rows do not fit, or another `side`. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.searchsorted([1.0, 3.0, 5.0], [0.0, 3.0, 9.0]))
    array([0, 1, 3], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', not {side!r}")
    return SearchSorted(side, as_dtype(out_type))(*operands(sorted_sequence, values), name=name)


class SearchSorted(Primitive):
    side: Any = "left"
    out_type: Any = int32

    def infer(self, sequence: TensorType, values: TensorType) -> tuple[TensorType, ...]:
        if sequence.dtype != values.dtype:
            raise TypeError(f"searchsorted: dtypes differ: {sequence} and {values}")
        ranks = sequence.shape.rank, values.shape.rank
        if None in ranks:
            return (TensorType(self.out_type, values.shape),)
        if ranks[0] != ranks[1] or not ranks[0] or not sequence.shape[:-1].is_compatible_with(values.shape[:-1]):
            raise ValueError(f"searchsorted: all axes but the last must be the same: {sequence} and {values}")
        return (TensorType(self.out_type, values.shape),)

    def kernel(self, xp: Any, sequence: Any, values: Any) -> Any:
        """With NumPy, row by row; XLA has a form of its own."""
        del xp
        sequence, values = widened(sequence), widened(values)
        count = math.prod(values.shape[:-1])
        rows, wanted = sequence.reshape(count, sequence.shape[-1]), values.reshape(count, values.shape[-1])
        found = [np.searchsorted(row, some, self.side) for row, some in zip(rows, wanted, strict=True)]
        return np.array(found, self.out_type).reshape(values.shape)

    gradient = no_gradient
