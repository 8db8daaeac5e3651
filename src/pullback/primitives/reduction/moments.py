"""Moments, variances and deviations, of weighted elements too, and normalisation of images by given ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import intervals
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import COMPLEX, FLOATING, INEXACT
from ...core.intervals import Bounds, Interval
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...core.typing import AxisLike, TensorLike
from ..base.axes import as_axes, is_computed, kept_axes
from ..base.broadcasting import operands
from ..base.precision import widened
from ..casting.cast import cast, upcast
from ..complex.complex import conj, real
from ..creation.constant import constant_in, convert_to_tensor
from ..elementwise.add_n import add_terms
from ..elementwise.arithmetic import squared_difference
from ..elementwise.powers import reciprocal, square
from ..shape.broadcast import broadcast_like
from ..shape.size import size
from ..shape.squeeze import squeeze
from .abstract import AbstractReduction, Axes, reduced_shape
from .norms import Root
from .reduce import MeanGrad, kept_dims, reduce_mean, reduce_sum, take_numbers
from .sum import keep_reduced


@in_graph_of_inputs
def weighted_moments(
    x: TensorLike, axes: AxisLike, frequency_weights: TensorLike, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of `x` along `axes`, of which each element counts as often as its weight says.

    Shapes: any; the weights broadcast to that of `x`; the results lack the axes, or with `keepdims` have length one
    there. Dtypes: any float, the same for both.

    Derivative: dx = w / sum(w) * (dmean + 2 * (x - mean) * dvariance), dw = ((x - mean) * dmean + ((x - mean)^2 -
    variance) * dvariance) / sum(w).

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.weighted_moments([1.0, 3.0], [0], [3.0, 1.0]))
    (np.float32(1.5), np.float32(0.75))
    """
    tensor, weights = operands(x, frequency_weights)
    along = as_axes(axes, tensor, "weighted_moments")
    with tensor.graph.within(name or "weighted_moments"):
        wide, weights = upcast(tensor), upcast(weights)
        total = reciprocal(reduce_sum(broadcast_like(weights, wide), along, keepdims=True))
        mean = reduce_sum(weights * wide, along, keepdims=True) * total
        variance = reduce_sum(weights * squared_difference(wide, mean), along, keepdims=True) * total
        mean, variance = cast(mean, tensor.dtype), cast(variance, tensor.dtype)
        if keepdims:
            return mean, variance
        return _without(mean, along), _without(variance, along)


def _without(y: Tensor, axes: tuple[int, ...] | None) -> Tensor:
    if axes == ():
        return y
    return reduce_sum(y) if axes is None else squeeze(y, axes)


@in_graph_of_inputs
def sufficient_statistics(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """The number of elements along `axes`, their sum, the sum of their squares, and the shift, for `normalize_moments`.

    With a `shift` both sums are of what the elements are above it, which is more exact where that is less.

    Shapes: any; `shift` broadcasts to that of `x`. Dtypes: any float, the same for both; the number has it too.

    Derivative: dx = dmean_ss + 2 * (x - shift) * dvariance_ss.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.sufficient_statistics([1.0, 3.0], [0])[:3])
    (np.float32(2.0), np.float32(4.0), np.float32(10.0))
    """
    tensor = convert_to_tensor(x)
    along = as_axes(axes, tensor, "sufficient_statistics")
    with tensor.graph.within(name or "sufficient_statistics"):
        moved = None if shift is None else convert_to_tensor(shift, tensor.dtype)
        above = tensor if moved is None else tensor - moved
        total = reduce_sum(above, along, keepdims=keepdims)
        squares = reduce_sum(square(above), along, keepdims=keepdims)
        return _count(tensor, along), total, squares, moved


def _count(x: Tensor, axes: tuple[int, ...] | None) -> Tensor:
    """The number of elements along `axes`, in the dtype of `x`."""
    dims = x.shape.sizes
    wanted: Any = x.dtype
    if dims is not None:
        lengths = [dims[i] for i in (range(len(dims)) if axes is None else axes)]
        if None not in lengths:
            return constant_in(x.graph, np.array(np.prod([n for n in lengths if n is not None]), wanted))
    if axes is None:
        return cast(size(x), x.dtype)
    return LengthProduct(axes)(x)


class LengthProduct(Primitive):
    """The product of the lengths at `axis`, in the dtype of the input."""

    reads_values = False

    axis: tuple[int, ...]

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, TensorShape.SCALAR),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return np.array(np.prod([x.shape[i] for i in self.axis]), x.dtype)

    gradient = no_gradient


@in_graph_of_inputs
def normalize_moments(
    counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance from what `sufficient_statistics` gives; `shift` may be None.

    Shapes: any that broadcast together. Dtypes: any float, the same for all.

    Derivative: dmean_ss and dvariance_ss as their formulas say: mean = shift + m / counts, variance = v / counts - (m /
    counts)^2.

    Raises:
        ValueError: the shapes do not broadcast. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.normalize_moments(2.0, 4.0, 10.0, None))
    (np.float32(2.0), np.float32(1.0))
    """
    count, total, squares = operands(counts, mean_ss, variance_ss)
    with count.graph.within(name or "normalize"):
        divisor = reciprocal(count)
        above = total * divisor
        variance = squares * divisor - square(above)
        return above if shift is None else above + shift, variance


@in_graph_of_inputs
def reduce_variance(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean of `abs(x - mean(x))**2` along `axis`: an axis, a list of them, or None for all.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats and complex numbers,
    of which the variance is real.

    Derivative: dx = dy * 2 * (x - mean) / n.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.reduce_variance([1.0, 3.0]))
    np.float32(1.0)
    """
    x = take_numbers(input_tensor, "reduce_variance", INEXACT)
    with x.graph.within(name or "reduce_variance"):
        difference = x - reduce_mean(x, axis, keepdims=True)
        if x.dtype in COMPLEX:
            return reduce_mean(real(difference * conj(difference)), axis, keepdims)
        return reduce_mean(difference * difference, axis, keepdims)


@in_graph_of_inputs
def reduce_std(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The square root of the variance along `axis`: an axis, a list of them, or None for all.

    Its derivative is 0 where the variance is 0.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats and complex numbers,
    of which the deviation is real.

    Derivative: dx = dy * (x - mean) / (n * y), 0 where y is 0.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.reduce_std([1.0, 5.0]))
    np.float32(2.0)
    """
    x = take_numbers(input_tensor, "reduce_std", INEXACT)
    with x.graph.within(name or "reduce_std"):
        return Root(0.5)(reduce_variance(x, axis, keepdims))


@in_graph_of_inputs
def moments(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of `x` along `axes`: the mean square of the differences from the mean.

    `shift` changes nothing. The `axes` may be computed in a run.

    Shapes: any; the results lack the axes, or with `keepdims` have length one there. Dtypes: any float.

    Derivative: dx = dmean / n + dvariance * 2 * (x - mean) / n.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.moments([1.0, 3.0], [0]))
    (np.float32(2.0), np.float32(1.0))
    """
    del shift
    tensor = take_numbers(x, "moments", FLOATING)
    if is_computed(axes):
        with tensor.graph.within(name or "moments"):
            return reduce_mean(tensor, axes, keepdims), reduce_variance(tensor, axes, keepdims)
    mean, variance = Moments(as_axes(axes, tensor, "moments"), bool(keepdims)).operation(tensor, name=name).outputs
    return mean, variance


class Moments(AbstractReduction):
    takes_none = True

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in FLOATING:
            raise TypeError(f"moments: no such operation on {x}; it takes floats")
        reduced = TensorType(x.dtype, reduced_shape(x.shape, self.axis, self.keepdims))
        return reduced, reduced

    def kernel(self, xp: Any, x: Any) -> Any:
        dims = kept_dims(x.shape, self.axis)
        if not self.keepdims:
            axes = range(x.ndim) if self.axis is None else self.axis
            dims = tuple([x.shape[i] for i in kept_axes(axes, x.ndim)])
        mean, variance, _ = mean_and_variance(xp, widened(x), self.axis)
        return mean.reshape(dims).astype(x.dtype), variance.reshape(dims).astype(x.dtype)

    def gradient(self, op: Operation, dmean: Tensor | None, dvariance: Tensor | None) -> Sequence[Any]:
        (x,) = op.inputs

        def by_x() -> Tensor | None:
            first = None if dmean is None else mean_back(dmean, x, self.axis, self.keepdims)
            if dvariance is None:
                return first
            deviation = x - keep_reduced(op.outputs[0], x, self.axis, self.keepdims)
            return add_terms(first, mean_back(dvariance * 2, x, self.axis, self.keepdims) * deviation)

        return (by_x,)

    def bounds(self, *xs: Interval) -> Bounds:
        return xs[0], intervals.square(intervals.add(xs[0], intervals.negative(xs[0])))


def mean_and_variance(xp: Any, x: Any, axis: Axes) -> tuple[Any, Any, Any]:
    """Both with length one at `axis`, and the differences from the mean."""
    mean = mean_kernel(xp, x, axis)
    deviation = x - mean
    return mean, mean_kernel(xp, deviation * deviation, axis), deviation


def mean_kernel(xp: Any, x: Any, axis: Axes) -> Any:
    count = 1
    for i in range(x.ndim) if axis is None else axis:
        count *= x.shape[i]
    return xp.sum(x, axis=axis, keepdims=True) / x.dtype.type(count)


def mean_back(dy: Tensor, x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    if x.shape.is_fully_defined():
        return MeanGrad(axis, keepdims, x.shape.known)(dy)
    return MeanGrad(axis, keepdims)(dy, x)
