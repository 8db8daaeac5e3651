"""Histograms and counts: of integers (bincount), of intervals, confusion matrices."""

from __future__ import annotations

from typing import Any

from ..core.contexts import in_graph_of_inputs
from ..core.dtypes import FLOATING, INTEGER, as_dtype, int32, int64
from ..core.operation import Operation, Tensor
from ..core.typing import DTypeLike, TensorLike
from .base.axes import is_computed, static_integer
from .base.broadcasting import operands
from .casting.cast import cast
from .creation.constant import convert_to_tensor
from .creation.fill import ones, ones_like
from .creation.ranges import range_
from .debugging.assertions import assert_
from .elementwise.clip import clip_by_value
from .elementwise.division import divide
from .elementwise.maximum import maximum, minimum
from .elementwise.rounding import floor
from .identity.identity import identity
from .logic.comparison import equal, greater, less
from .reduction.reduce import reduce_all, reduce_max, take_numbers
from .segment.sums import unsorted_segment_sum
from .shape.reshape import reshape
from .shape.size import rank, shape, size
from .shape.squeeze import expand_dims, squeeze
from .shape.stacking import concat, stack


@in_graph_of_inputs
def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each integer from 0 on comes in `arr`; with `weights` the sums of those, which have derivatives.

    The length is the largest integer plus one, at least `minlength`, at most `maxlength`; what is beyond that is
    left out. `axis=-1` counts in each row of a matrix, `None` and 0 in all. With `binary_output` 1 stands for any.

    Shapes: `arr` any (a matrix for `axis=-1`), `weights` the same; the result [n], or [rows, n]. On XLA the length must
    be known when it compiles: give `minlength` and `maxlength` the same. Dtypes: `arr` any integer, `weights` any
    number; the result has that of the weights, or `dtype`.

    Derivative: dweights[i] = dy[arr[i]]; none by arr.

    Raises:
        ValueError: another axis, or `binary_output` with weights. TypeError: `arr` holds no integers.
        InvalidArgumentError: in a run, one is negative.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.bincount([1, 1, 3], weights=[0.5, 1.0, 4.0]))
    array([0. , 1.5, 0. , 4. ], dtype=float32)
    """
    numbers = take_numbers(arr, "bincount", INTEGER)
    if axis not in (None, 0, -1):
        raise ValueError(f"bincount: axis must be None, 0 or -1, not {axis}")
    if binary_output and weights is not None:
        raise ValueError("bincount: binary_output takes no weights")
    with numbers.graph.within(name or "bincount"):
        numbers = _not_negative(numbers)
        length = _length(numbers, minlength, maxlength)
        values = ones_like(numbers, as_dtype(dtype)) if weights is None else convert_to_tensor(weights)
        if axis == -1:
            counts = _counts_of_rows(numbers, values, length)
        else:
            counts = unsorted_segment_sum(values, numbers, length)
        return cast(greater(counts, 0), counts.dtype) if binary_output else counts


def _not_negative(numbers: Tensor) -> Tensor:
    """`numbers`; a run in which one is negative fails."""
    if numbers.dtype.kind == "u":
        return numbers
    fine = reduce_all(numbers >= 0)
    with numbers.graph.acting.control_dependencies(
        [assert_(fine, ["bincount: the numbers must not be negative", numbers])]
    ):
        return identity(numbers)


def _length(numbers: Tensor, minlength: Any, maxlength: Any) -> Any:
    low, high = (
        None if n is None or is_computed(n) else static_integer(n, f"bincount: {what}")
        for n, what in ((minlength, "minlength"), (maxlength, "maxlength"))
    )
    if low is not None and low == high:
        return low
    length = maximum(cast(reduce_max(numbers), int32) + 1, cast(0 if minlength is None else minlength, int32))
    return length if maxlength is None else minimum(length, cast(maxlength, int32))


def _counts_of_rows(numbers: Tensor, values: Tensor, length: Any) -> Tensor:
    """Each row counts into its own stretch of one long vector; what is out of range goes nowhere."""
    rows = shape(numbers)[0] if numbers.shape.sizes is None or numbers.shape.size(0) is None else numbers.shape.size(0)
    inside = (numbers >= 0) & (numbers < cast(length, numbers.dtype))
    places = numbers + expand_dims(range_(rows, dtype=numbers.dtype), 1) * cast(length, numbers.dtype)
    places = cast(inside, places.dtype) * (places + 1) - 1
    counts = unsorted_segment_sum(values, places, rows * length)
    static = isinstance(rows, int) and isinstance(length, int)
    return reshape(counts, [rows, length] if static else stack([cast(rows, int32), cast(length, int32)]))


@in_graph_of_inputs
def histogram_fixed_width_bins(
    values: TensorLike, value_range: TensorLike, nbins: int = 100, dtype: DTypeLike = int32, name: str | None = None
) -> Tensor:
    """The number of the bin, of `nbins` equal ones between two numbers, that each value is in; the ends are open.

    Shapes: `values` any, `value_range` [2]; the result that of `values`. Dtypes: floats; the result has `dtype`.

    Raises:
        ValueError: `nbins` is not positive. TypeError: not floats. InvalidArgumentError: in a run, the first number is
        not below the second.

    >>> import pullback as pb
    >>> pb.Session().run(pb.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 9.0], [0.0, 5.0], nbins=5))
    array([0, 0, 1, 4], dtype=int32)
    """
    nbins = static_integer(nbins, "histogram_fixed_width: nbins")
    if nbins <= 0:
        raise ValueError(f"histogram_fixed_width_bins: nbins must be positive, not {nbins}")
    x, ends = operands(take_numbers(values, "histogram_fixed_width_bins", FLOATING), value_range)
    with x.graph.within(name or "histogram_fixed_width_bins"):
        wide = assert_(less(ends[0], ends[1]), ["histogram_fixed_width: value_range must grow, not be", ends])
        with x.graph.control_dependencies([wide]):
            scaled = divide(x - ends[0], ends[1] - ends[0])
        return cast(clip_by_value(floor(scaled * nbins), 0.0, float(nbins - 1)), as_dtype(dtype))


@in_graph_of_inputs
def histogram_fixed_width(
    values: TensorLike, value_range: TensorLike, nbins: int = 100, dtype: DTypeLike = int32, name: str | None = None
) -> Tensor:
    """How many values are in each of `nbins` equal bins between two numbers; what is outside counts at the ends.

    Shapes: `values` any, `value_range` [2]; the result [nbins]. Dtypes: floats; the result has `dtype`.

    Raises:
        ValueError: `nbins` is not positive. TypeError: not floats. InvalidArgumentError: in a run, the first number is
        not below the second.

    >>> import pullback as pb
    >>> pb.Session().run(pb.histogram_fixed_width([-1.0, 0.0, 1.5, 9.0], [0.0, 5.0], nbins=5))
    array([2, 1, 0, 0, 1], dtype=int32)
    """
    x = convert_to_tensor(values)
    with x.graph.within(name or "histogram_fixed_width") as scope:
        bins = histogram_fixed_width_bins(x, value_range, nbins, int32)
        return unsorted_segment_sum(ones_like(bins, as_dtype(dtype)), bins, nbins, name=scope)


@in_graph_of_inputs
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    weights: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """How often each class (row) was predicted as each (column); with `weights` the sums of those.

    Shapes: `labels`, `predictions` and `weights` [n]; the result [num_classes, num_classes], where None stands for the
    largest number plus one; on XLA it must be known when it compiles. Labels [n, 1] stand for [n], and so do
    predictions. Dtypes: integers, or numbers that become such; the result has `dtype`. The weights have derivatives
    where `dtype` is a float.

    Derivative: dweights[i] = dy[labels[i], predictions[i]]; none by the others.

    Raises:
        ValueError: the shapes differ. InvalidArgumentError: in a run, a number is negative, or none of `num_classes`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.confusion_matrix([0, 1, 1], [0, 1, 0]))
    array([[1, 0],
           [1, 1]], dtype=int32)
    """
    rows, columns = remove_squeezable_dimensions(labels, predictions)
    if not rows.shape.is_compatible_with(columns.shape):
        raise ValueError(f"confusion_matrix: labels {rows} and predictions {columns} must have one shape")
    with rows.graph.within(name or "confusion_matrix"):
        if rows.dtype not in INTEGER or rows.dtype != columns.dtype:
            rows, columns = cast(rows, int64), cast(columns, int64)
        n: Any = num_classes
        if n is None:
            n = cast(maximum(reduce_max(rows), reduce_max(columns)), int32) + 1
        else:
            n = cast(n, int32) if is_computed(n) else static_integer(n, "confusion_matrix: num_classes")
        values = ones_like(rows, as_dtype(dtype)) if weights is None else cast(weights, as_dtype(dtype))
        limit = cast(n, rows.dtype)
        with rows.graph.control_dependencies([_within(rows, limit, "labels"), _within(columns, limit, "predictions")]):
            places = rows * limit + columns
        counts = unsorted_segment_sum(values, places, n * n)
        return reshape(counts, [n, n] if isinstance(n, int) else stack([n, n]))


def _within(classes: Tensor, limit: Tensor, what: str) -> Operation:
    """Checks that the numbers are those of classes below `limit`."""
    fits = reduce_all((classes >= 0) & (classes < limit))
    return assert_(fits, [f"confusion_matrix: `{what}` out of bound: they must be at least 0 and less than", limit])


def remove_squeezable_dimensions(
    labels: TensorLike, predictions: TensorLike, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Labels and predictions; the last axis, if of length 1, is left out of the one that has an axis too many.

    Where a rank is known in a run only, so is which of them that is.

    >>> from pullback.primitives.counting import remove_squeezable_dimensions
    >>> [x.shape.as_list() for x in remove_squeezable_dimensions([1, 0], [[0.5], [0.7]])]
    [[2], [2]]
    """
    truth, given = convert_to_tensor(labels), convert_to_tensor(predictions)
    if truth.shape.rank is None or given.shape.rank is None:
        more_in_run = rank(given) - rank(truth) - expected_rank_diff
        return without_last_axis(truth, equal(more_in_run, -1)), without_last_axis(given, equal(more_in_run, 1))
    more = given.shape.rank - truth.shape.rank - expected_rank_diff
    if more == 1 and given.shape.size(-1) in (None, 1):
        return truth, squeeze(given, [-1], name)
    if more == -1 and truth.shape.size(-1) in (None, 1):
        return squeeze(truth, [-1], name), given
    return truth, given


def without_last_axis(x: Tensor, where: Tensor) -> Tensor:
    """`x`, without its last axis, of length 1, where a run says so; what its rank forbids is not done.

    >>> import pullback as pb
    >>> from pullback.primitives.counting import without_last_axis
    >>> pb.Session().run(without_last_axis(pb.constant([[1.0], [2.0]]), pb.constant(True)))
    array([1., 2.], dtype=float32)
    """
    if x.shape.rank is not None and (not x.shape.rank or x.shape.size(-1) not in (None, 1)):
        return x
    lengths = shape(x)
    return reshape(x, lengths[: size(lengths) - cast(where, int32)])


def with_last_axis(x: Tensor, where: Tensor) -> Tensor:
    """`x`, with one more axis of length 1 behind the others where a run says so.

    >>> import pullback as pb
    >>> from pullback.primitives.counting import with_last_axis
    >>> pb.Session().run(with_last_axis(pb.constant([1.0, 2.0]), pb.constant(True))).shape
    (2, 1)
    """
    return reshape(x, concat([shape(x), ones([cast(where, int32)], int32)], 0))
