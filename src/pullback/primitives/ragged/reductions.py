"""Reductions of ragged tensors: along rows, along columns, along both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int32
from ...core.graph import Tensor
from ...core.named_functions import named
from ..casting.cast import cast
from ..creation.fill import ones_like, zeros_like
from ..elementwise.maximum import maximum
from ..elementwise.powers import sqrt, square
from ..identity.identity import stop_gradient
from ..indexing.gather import gather
from ..reduction import reduce
from ..reduction.product import reduce_prod as dense_prod
from ..segment.reductions import unsorted_segment_max, unsorted_segment_min, unsorted_segment_prod
from ..segment.sums import unsorted_segment_sum
from ..shape.reshape import reshape
from .arrangement import expand_dims
from .operations import map_flat_values
from .ragged_tensor import RaggedTensor, splits_of

Reduction = Callable[..., Any]


@in_graph_of_inputs
def reduced(dense: Reduction, segments: Reduction, x: Any, axis: Any, keepdims: bool) -> Any:
    """`x` reduced along its axes, the last first."""
    if not isinstance(x, RaggedTensor):
        return dense(x, axis, keepdims)
    rank = x.shape.rank or 0
    if axis is None:
        y = dense(x.flat_values)
        return reshape(y, [1] * rank) if keepdims else y
    axes = sorted({a + rank if a < 0 else a for a in (axis if isinstance(axis, list | tuple) else [axis])})
    found: Any = x
    for a in reversed(axes):
        found = _along(dense, segments, found, a)
    for a in axes if keepdims else ():
        found = expand_dims(found, a)
    return found


def _along(dense: Reduction, segments: Reduction, x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return dense(x, axis)
    if axis > 1:
        return x.with_values(_along(dense, segments, x.values, axis - 1))
    if axis == 1:
        return put_together(segments, x.values, x.value_rowids(), x.nrows())
    rows = zeros_like(x.row_starts())
    return put_together(segments, x, rows, ones_like(x.row_splits[0])).values


def put_together(segments: Reduction, data: Any, numbers: Tensor, count: Any) -> Any:
    """The rows of `data` with one number, put together: elements at one place of such rows become one."""
    if not isinstance(data, RaggedTensor):
        return segments(data, numbers, count)
    longest = unsorted_segment_max(data.row_lengths(), numbers, count)
    splits = splits_of(maximum(longest, zeros_like(longest)))
    places = gather(gather(splits, numbers), data.value_rowids()) + data.places_in_rows()
    return RaggedTensor(put_together(segments, data.values, places, splits[-1]), splits)


_DOC = """{what} of a ragged tensor along `axis`, a number, several, or None for all; a dense one as `pb.{name}`.

    Along the rows (1) the result has one element a row; along the columns (0) one for each place of the longest row,
    of those that have it. With `keepdims` they stay as axes of length 1.

    Derivative: {derivative}.

    >>> import pullback as pb
    >>> x = pb.ragged.constant({example})
    >>> pb.Session().run(pb.ragged.{name}(x, axis=1)).tolist()
    {result}
    """
_NUMBERS = "[[3.0, 1.0], [2.0]]"
_TRUTHS = "[[True, False], [True]]"


def _reduction(
    name: str, what: str, derivative: str, dense: Reduction, segments: Reduction, example: str, result: str
) -> Reduction:
    def reduction(
        input_tensor: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, name: str | None = None
    ) -> Any:
        del name
        return reduced(dense, segments, input_tensor, axis, keepdims)

    return named(
        name, _DOC.format(what=what, name=name, derivative=derivative, example=example, result=result), reduction
    )


def _all_of(data: Tensor, numbers: Tensor, count: Tensor) -> Any:
    return unsorted_segment_min(cast(data, int32), numbers, count) > 0


def _any_of(data: Tensor, numbers: Tensor, count: Tensor) -> Any:
    return unsorted_segment_max(cast(data, int32), numbers, count) > 0


reduce_sum = _reduction(
    "reduce_sum", "The sum", "dx = dy, repeated", reduce.reduce_sum, unsorted_segment_sum, _NUMBERS, "[4.0, 2.0]"
)
reduce_prod = _reduction(
    "reduce_prod",
    "The product",
    "dx = dy * y / x, repeated, without dividing by 0",
    dense_prod,
    unsorted_segment_prod,
    _NUMBERS,
    "[3.0, 2.0]",
)
reduce_max = _reduction(
    "reduce_max",
    "The largest element",
    "dx = dy where x is the largest, shared among equal ones",
    reduce.reduce_max,
    unsorted_segment_max,
    _NUMBERS,
    "[3.0, 2.0]",
)
reduce_min = _reduction(
    "reduce_min",
    "The smallest element",
    "dx = dy where x is the smallest, shared among equal ones",
    reduce.reduce_min,
    unsorted_segment_min,
    _NUMBERS,
    "[1.0, 2.0]",
)
reduce_all = _reduction(
    "reduce_all", "Whether all are true", "none", reduce.reduce_all, _all_of, _TRUTHS, "[False, True]"
)
reduce_any = _reduction(
    "reduce_any", "Whether some is true", "none", reduce.reduce_any, _any_of, _TRUTHS, "[True, True]"
)


@in_graph_of_inputs
def reduce_mean(
    input_tensor: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean of a ragged tensor along `axis`, NaN where there is no element; a dense one as `pb.reduce_mean`.

    With `keepdims` the axes stay, of length 1.

    Derivative: dx = dy / n, repeated, where n is the number of elements.

    >>> import pullback as pb
    >>> x = pb.ragged.constant([[3.0, 1.0], [2.0]])
    >>> pb.Session().run(pb.ragged.reduce_mean(x, axis=1)).tolist()
    [2.0, 2.0]
    """
    if not isinstance(input_tensor, RaggedTensor):
        return reduce.reduce_mean(input_tensor, axis, keepdims, name)
    total = reduce_sum(input_tensor, axis, keepdims)
    count = reduce_sum(input_tensor.with_flat_values(ones_like(input_tensor.flat_values)), axis, keepdims)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(total.flat_values / count.flat_values)
    return total / count


@in_graph_of_inputs
def reduce_variance(
    input_tensor: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean of the square less the square of the mean, NaN where there is no element; both about the mean of all."""
    centered = map_flat_values(lambda x: x - stop_gradient(reduce.reduce_mean(x)), input_tensor)
    of_squares = reduce_mean(map_flat_values(square, centered), axis, keepdims, name)
    of_all = reduce_mean(centered, axis, keepdims, name)
    if isinstance(of_all, RaggedTensor):
        return of_all.with_flat_values(_above_square(of_squares.flat_values, of_all.flat_values))
    return _above_square(of_squares, of_all)


def _above_square(mean_of_squares: Tensor, mean: Tensor) -> Tensor:
    return maximum(mean_of_squares - square(mean), zeros_like(mean))


@in_graph_of_inputs
def reduce_std(
    input_tensor: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The square root of the variance."""
    variance = reduce_variance(input_tensor, axis, keepdims, name)
    return map_flat_values(sqrt, variance) if isinstance(variance, RaggedTensor) else sqrt(variance)
