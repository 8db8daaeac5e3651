"""Ragged tensors by way of dense ones with zeros behind each row: cumulative sums and products of matrices."""

from __future__ import annotations

from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int64
from ...core.graph import Tensor
from ..creation.constant import convert_to_tensor
from ..creation.ranges import range_ as numbers_below
from ..cumulative.cumsum import cumsum as dense_cumsum
from ..indexing.gather import gather as dense_gather
from ..indexing.scatter_nd import gather_nd
from ..linalg.matmul import matmul as dense_matmul
from ..shape.reshape import reshape
from ..shape.size import shape
from ..shape.stacking import concat
from .arrangement import counted
from .conversions import places_of
from .operations import spans
from .ragged_tensor import RaggedTensor
from .reductions import reduce_max


@in_graph_of_inputs
def cumsum(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """The sums of all elements up to each along `axis`, of those rows that are long enough.

    Derivative: dx = the cumulative sum of dy, in the other direction.
    """
    if not isinstance(x, RaggedTensor):
        return dense_cumsum(x, axis, exclusive, reverse, name)
    place = counted("cumsum", axis, x.shape.rank)
    sums = dense_cumsum(x.to_tensor(), place, exclusive, reverse)
    return x.with_flat_values(gather_nd(sums, places_of(x), name=name))


@in_graph_of_inputs
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Any:
    """The product of the matrices of each row, of which one or both are ragged; what a matrix lacks counts as 0.

    Shapes: `a` [batch, n, k], `b` [batch, k, m]; the result is ragged along n, and along m, where they are.

    Derivative: da = matmul(dy, b^T), db = matmul(a^T, dy).

    Raises:
        NotImplementedError: not of rank 3.
    """
    factors = [x if isinstance(x, RaggedTensor) else convert_to_tensor(x) for x in (a, b)]
    if any(x.shape.rank != 3 for x in factors):
        raise NotImplementedError(f"matmul: ragged factors must have the shape [batch, n, k], not {a} and {b}")
    dense = [x.to_tensor() if isinstance(x, RaggedTensor) else x for x in factors]
    y = dense_matmul(dense[0], dense[1], transpose_a, transpose_b, adjoint_a, adjoint_b)
    columns = _lengths(factors[1], not (transpose_b or adjoint_b))
    return _cut(y, _lengths(factors[0], transpose_a or adjoint_a), columns)


def _lengths(x: Any, inner: bool) -> Tensor | None:
    """How long each matrix is along its first axis, or the inner one; None where all have one length."""
    if not isinstance(x, RaggedTensor):
        return None
    if not inner:
        return x.row_lengths()  # type: ignore[no-any-return]
    return reduce_max(x.row_lengths(2), 1) if isinstance(x.values, RaggedTensor) else None


def _cut(y: Tensor, rows: Tensor | None, columns: Tensor | None) -> Any:
    """The first `rows[i]` rows and `columns[i]` columns of the matrix i of `y`."""
    count, n, m = [shape(y, out_type=int64)[i] for i in range(3)]
    if rows is None and columns is None:
        return y
    starts = numbers_below(count) * n
    cut = spans(reshape(y, concat([[-1], m[None]], 0)), starts, rows if rows is not None else starts * 0 + n)
    if columns is None:
        return cut
    widths = dense_gather(columns, cut.value_rowids())
    begins = numbers_below(shape(widths, out_type=int64)[0]) * m
    return cut.with_values(spans(reshape(cut.values, [-1]), begins, widths))
