"""Reductions: sums, means, products, extrema and norms along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INEXACT, INTEGER, DType, as_dtype, bfloat16, float16, float32, int64, string
from ...core.dtypes import bool as bool_
from ...core.intervals import UNIT, Interval, first_input, input_or_zero
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import CHOOSES, IGNORES_ZEROS, MARKS_CHOSEN, ZEROS, Link, Links, linear, reads_shape, reduced_axes
from ...core.types import TensorType
from ...core.typing import AxisLike, DTypeLike, TensorLike
from ..base.axes import as_axes, is_computed
from ..base.precision import widened
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..creation.fill import zeros_like
from ..logic.comparison import equal
from .abstract import AbstractReduction, Axes, reduced_shape
from .computed_axes import reduce_along
from .sum import Sum, keep_reduced, sum_kernel

NUMBERS = INTEGER | INEXACT
REAL = INTEGER | FLOATING


@in_graph_of_inputs
def reduce_sum(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The sum of the elements along `axis`: an axis, a list of them, or None for all; of none it is 0.

    The axes of a reduction may be computed in a run; then no length is known before.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: any number. 16-bit floats
    are added up in float32.

    Derivative: dx = dy, repeated.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=0))
    array([4., 6.], dtype=float32)
    """
    return reduced(reduce_sum, Sum, NUMBERS, input_tensor, axis, keepdims, name)


def reduced(
    function: Callable[..., Tensor], reduction: Any, dtypes: frozenset[Any], x: Any, axis: Any, keepdims: Any, name: Any
) -> Tensor:
    """The reduction that `function` makes, along axes that are known or that a run computes."""
    tensor = take_numbers(x, function.__name__, dtypes)
    if is_computed(axis):
        return reduce_along(function, tensor, axis, keepdims, name)
    made: Tensor = reduction(as_axes(axis, tensor, function.__name__), bool(keepdims))(tensor, name=name)
    return made


def take_numbers(x: Any, what: str, dtypes: frozenset[Any]) -> Tensor:
    """`x` as a tensor; TypeError, for the reduction `what`, where its dtype is none of `dtypes`."""
    tensor = convert_to_tensor(x)
    if tensor.dtype not in dtypes:
        wanted = ", ".join(sorted(d.name for d in dtypes))
        raise TypeError(f"{what}: no such reduction of {tensor}; it takes {wanted}")
    return tensor


@in_graph_of_inputs
def reduce_mean(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean of the elements along `axis`: an axis, a list of them, or None for all; of none it is NaN.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: any number; the mean of
    integers is an integer, rounded toward zero.

    Derivative: dx = dy / n.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reduce_mean([[1.0, 2.0], [3.0, 5.0]], axis=1))
    array([1.5, 4. ], dtype=float32)
    """
    return reduced(reduce_mean, Mean, NUMBERS, input_tensor, axis, keepdims, name)


class Mean(AbstractReduction):
    traits = (linear(0),)

    def kernel(self, xp: Any, x: Any) -> Any:
        count = _count(x.shape, self.axis)
        if x.dtype in INTEGER:
            total = sum_kernel(xp, x.astype(np.int64), self.axis, self.keepdims)
            whole = total // np.int64(max(count, 1))
            return (whole + ((total < 0) & (whole * count != total))).astype(x.dtype)
        wide = x.astype(float32) if x.dtype in (float16, bfloat16) else x
        total = sum_kernel(xp, wide, self.axis, self.keepdims)
        mean = total / count
        return mean if mean.dtype == x.dtype else mean.astype(x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,) = op.inputs
        if x.shape.is_fully_defined():
            return (lambda: MeanGrad(self.axis, self.keepdims, x.shape.known)(dy),)
        return (lambda: MeanGrad(self.axis, self.keepdims)(dy, x),)

    bounds = first_input


def _count(dims: Sequence[int], axis: Axes) -> int:
    """The number of elements that a reduction over `axis` takes together."""
    count = 1
    for i in range(len(dims)) if axis is None else axis:
        count *= dims[i]
    return count


class MeanGrad(Primitive):
    """The cotangent of a mean, divided by the number of elements and repeated to their shape."""

    traits = (linear(0), reads_shape(1))

    axis: Axes
    keepdims: bool
    shape: tuple[int, ...] | None = None
    """The shape of the mean's input, where it is static; else a second input has it."""

    def infer(self, dy: TensorType, like: TensorType | None = None) -> tuple[TensorType, ...]:
        return (TensorType(dy.dtype, TensorShape(self.shape) if like is None else like.shape),)

    def links(self, i: int, dy: TensorType, like: TensorType | None = None) -> Links | None:
        del dy
        shape = TensorShape(self.shape) if like is None else like.shape
        reduced = reduced_axes(shape.rank, self.axis, self.keepdims)
        return None if i or reduced is None else tuple([Link(link.input, link.output) for link in reduced])

    def kernel(self, xp: Any, dy: Any, like: Any = None) -> Any:
        dims: tuple[int, ...] = self.shape if like is None else like.shape  # type: ignore[assignment]
        count = _count(dims, self.axis)
        share = (widened(dy) / max(count, 1)).astype(dy.dtype)
        return xp.broadcast_to(share.reshape(kept_dims(dims, self.axis)), dims)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: Mean(self.axis, self.keepdims)(dy), None)[: len(op.inputs)]

    bounds = input_or_zero


def kept_dims(dims: Sequence[int], axis: Axes) -> tuple[int, ...]:
    """The shape of a reduction that keeps its axes with length one."""
    if axis is None:
        return (1,) * len(dims)
    gone = {a % len(dims) for a in axis}
    return tuple([1 if i in gone else n for i, n in enumerate(dims)])


def _shared(self: AbstractReduction, op: Operation, dy: Tensor) -> Sequence[Any]:
    (x,), (y,) = op.inputs, op.outputs
    return (lambda: TieShares(self.axis, self.keepdims)(x, y) * keep_reduced(dy, x, self.axis, self.keepdims),)


@in_graph_of_inputs
def reduce_max(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The largest element along `axis`: an axis, a list of them, or None for all; NaN where one is NaN.

    Of no elements it is the smallest number of the dtype. The derivative is shared equally by equal elements.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: integers and floats.

    Derivative: dx = dy shared by the elements that equal the maximum.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not real numbers.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 3.0, 3.0])
    >>> dx, = pb.gradients(pb.reduce_max(x), x)
    >>> pb.Session().run(dx)
    array([0. , 0.5, 0.5], dtype=float32)
    """
    return reduced(reduce_max, Max, REAL, input_tensor, axis, keepdims, name)


class Max(AbstractReduction):
    traits = (CHOOSES,)

    def kernel(self, xp: Any, x: Any) -> Any:
        if 0 in x.shape:
            return _full_reduced(xp, x, self.axis, self.keepdims, lowest(x.dtype))
        return x.max(axis=self.axis, keepdims=self.keepdims)

    gradient, bounds = _shared, first_input


@in_graph_of_inputs
def reduce_min(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The smallest element along `axis`: an axis, a list of them, or None for all; NaN where one is NaN.

    Of no elements it is the largest number of the dtype. The derivative is shared equally by equal elements.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: integers and floats.

    Derivative: dx = dy shared by the elements that equal the minimum.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not real numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reduce_min([[1.0, 2.0], [3.0, -4.0]], axis=1))
    array([ 1., -4.], dtype=float32)
    """
    return reduced(reduce_min, Min, REAL, input_tensor, axis, keepdims, name)


class Min(AbstractReduction):
    traits = (CHOOSES,)

    def kernel(self, xp: Any, x: Any) -> Any:
        if 0 in x.shape:
            return _full_reduced(xp, x, self.axis, self.keepdims, highest(x.dtype))
        return x.min(axis=self.axis, keepdims=self.keepdims)

    gradient, bounds = _shared, first_input


def lowest(dtype: Any) -> Any:
    """The smallest number of a real dtype."""
    return -np.inf if dtype in FLOATING else np.iinfo(dtype).min


def highest(dtype: Any) -> Any:
    """The largest number of a real dtype."""
    return np.inf if dtype in FLOATING else np.iinfo(dtype).max


def _full_reduced(xp: Any, x: Any, axis: Axes, keepdims: bool, value: Any) -> Any:
    return xp.full(reduced_shape(TensorShape(x.shape), axis, keepdims).known, value, x.dtype)


class TieShares(Primitive):
    """For each element of `x` that equals its extremum `y`: one over the number of those; 0 for the others.

    NaN where `y` is.
    """

    traits = (ZEROS, MARKS_CHOSEN)

    axis: Axes
    keepdims: bool

    def infer(self, x: TensorType, y: TensorType) -> tuple[TensorType, ...]:
        del y
        return (x,)

    def links(self, i: int, x: TensorType, y: TensorType) -> Links | None:
        del y
        reduced = reduced_axes(x.shape.rank, self.axis, self.keepdims)
        return (
            None
            if reduced is None
            else tuple([Link(along.input, along.output if i else along.input) for along in reduced])
        )

    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        equal = x == y.reshape(kept_dims(x.shape, self.axis))
        count = xp.sum(equal, axis=self.axis, keepdims=True, dtype=np.int32).astype(x.dtype)
        # Where the extremum is NaN nothing equals it: 0 / 0. XLA would take a converted bool over 0 for 0.
        return xp.where(equal, xp.ones((), x.dtype), xp.zeros((), x.dtype)) / count

    gradient = no_gradient

    def bounds(self, *xs: Interval) -> Interval:
        return UNIT._replace(nan=not xs[0].finite)


@in_graph_of_inputs
def reduce_any(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Whether any element along `axis` is true: an axis, a list of them, or None for all; of none it is False.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: bool.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not bools.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reduce_any([[True, False], [False, False]], axis=1))
    array([ True, False])
    """
    return reduced(reduce_any, Any_, frozenset([bool_]), input_tensor, axis, keepdims, name)


class Any_(AbstractReduction):
    type = "Any"
    traits = (IGNORES_ZEROS,)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.any(x, axis=self.axis, keepdims=self.keepdims)

    gradient = no_gradient


@in_graph_of_inputs
def reduce_all(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Whether all elements along `axis` are true: an axis, a list of them, or None for all; of none it is True.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: bool.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not bools.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reduce_all([[True, False], [True, True]], axis=1))
    array([False,  True])
    """
    return reduced(reduce_all, All, frozenset([bool_]), input_tensor, axis, keepdims, name)


class All(AbstractReduction):
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.all(x, axis=self.axis, keepdims=self.keepdims)

    gradient = no_gradient


@in_graph_of_inputs
def count_nonzero(
    input: TensorLike,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """The number of elements along `axis` that are not 0, false or empty: an axis, a list of them, or None for all.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: any; the
    result has `dtype`.

    Raises:
        ValueError: an axis is out of range or stands twice.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.count_nonzero([[0, 1, 2], [0, 0, 3]], axis=1))
    array([2, 1])
    """
    x = convert_to_tensor(input)
    if is_computed(axis):
        return reduce_along(lambda rows, along: count_nonzero(rows, along, dtype=dtype), x, axis, keepdims, name)
    axes = as_axes(axis, x, "count_nonzero")
    return CountNonzero(axes, bool(keepdims), as_dtype(dtype))(x, name=name)


class CountNonzero(AbstractReduction):
    traits = (IGNORES_ZEROS,)

    dtype: DType = int64

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(self.dtype, reduced_shape(x.shape, self.axis, self.keepdims)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        true = x if x.dtype == bool_ else x != (b"" if x.dtype == string else 0)
        return xp.sum(true, axis=self.axis, keepdims=self.keepdims, dtype=np.int64).astype(self.dtype)

    gradient = no_gradient


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """The fraction of the elements that are 0, a float32; NaN of none.

    Shapes: any; the result is a scalar. Dtypes: any.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]))
    np.float32(0.5)
    """
    x = convert_to_tensor(value)
    with x.graph.within(name or "zero_fraction"):
        return reduce_mean(cast(equal(x, zeros_like(x)), float32))
