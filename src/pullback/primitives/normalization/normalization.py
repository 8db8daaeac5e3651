"""Batch and layer normalisation: means and variances (moments), and what is normalised with them.

The primitives compute in float32 for 16-bit floats. They state their derivatives with respect to all their outputs, in
operations that have derivatives themselves, so that any order is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, float32
from ...core.intervals import Interval
from ...core.matmul_precision import in_full
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import SINGULAR, Links, all_axes_but, bounds_by_traits, linear
from ...core.types import TensorType
from ...core.typing import AxisLike, TensorLike
from ..base.axes import as_axes
from ..base.broadcasting import in_float32
from ..base.precision import widened
from ..base.windows import check_data_format, has_channels_first
from ..casting.cast import cast, upcast
from ..creation.constant import constant_in, convert_to_tensor
from ..elementwise.add_n import add_terms
from ..elementwise.arithmetic import multiply
from ..elementwise.maximum import maximum
from ..elementwise.powers import pow, rsqrt, square
from ..identity.identity import identity
from ..linalg.matmul import matmul
from ..linalg.norm import norm
from ..reduction.abstract import Axes, reduced_shape
from ..reduction.moments import mean_and_variance, mean_back, mean_kernel
from ..reduction.reduce import Mean, reduce_sum
from ..shape.reshape import reshape


class Standardize(Primitive):
    """`(x - mean) / sqrt(variance + epsilon)`, the mean and the variance, which have length one along `axis`."""

    takes_none = True

    axis: Axes
    epsilon: float

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in FLOATING:
            raise TypeError(f"normalization: no such operation on {x}; it takes floats")
        reduced = TensorType(x.dtype, reduced_shape(x.shape, self.axis, True))
        return x, reduced, reduced

    def links(self, i: int, *types: TensorType) -> Links | None:
        rank = types[0].shape.rank
        return all_axes_but(rank, *(range(rank or 0) if self.axis is None else self.axis))

    def kernel(self, xp: Any, x: Any) -> Any:
        dtype, x = x.dtype, widened(x)
        mean, variance, deviation = mean_and_variance(xp, x, self.axis)
        y = deviation * (1 / xp.sqrt(variance + x.dtype.type(self.epsilon)))
        return y.astype(dtype), mean.astype(dtype), variance.astype(dtype)

    def gradient(self, op: Operation, dy: Any, dmean: Any, dvariance: Any) -> Sequence[Any]:
        (x,) = op.inputs
        y, mean, variance = op.outputs

        def by_x() -> Tensor | None:
            back = None if dy is None else StandardizeGrad(self.axis, self.epsilon)(dy, y, variance)
            shift = None if dmean is None else mean_back(dmean, x, self.axis, True)
            if dvariance is None:
                return add_terms(back, shift)
            return add_terms(back, shift, mean_back(dvariance * 2, x, self.axis, True) * (x - mean))

        return (by_x,)

    def bounds(self, *xs: Interval) -> Interval:
        return bounds_by_traits(self.traits if self.epsilon > 0 else (*self.traits, SINGULAR), xs)


class StandardizeGrad(Primitive):
    """`(dy - mean(dy) - y * mean(y * dy)) / sqrt(variance + epsilon)`: symmetric, so that it differentiates itself."""

    traits = (linear(0),)

    axis: Axes
    epsilon: float

    def infer(self, dy: TensorType, y: TensorType, variance: TensorType) -> tuple[TensorType, ...]:
        del dy, variance
        return (y,)

    def links(self, i: int, *types: TensorType) -> Links | None:
        rank = types[0].shape.rank
        return all_axes_but(rank, *(range(rank or 0) if self.axis is None else self.axis))

    @in_float32
    def kernel(self, xp: Any, dy: Any, y: Any, variance: Any) -> Any:
        mean = mean_kernel(xp, dy, self.axis)
        projection = mean_kernel(xp, y * dy, self.axis)
        return (dy - mean - y * projection) * (1 / xp.sqrt(variance + dy.dtype.type(self.epsilon)))

    def gradient(self, op: Operation, d: Tensor) -> Sequence[Any]:
        dy, y, variance = op.inputs

        def by_y() -> Tensor:
            scale = rsqrt(variance + self.epsilon)
            inner, outer = Mean(self.axis, True)(y * dy), Mean(self.axis, True)(y * d)
            return -((d * inner + dy * outer) * scale)

        def by_variance() -> Tensor:
            total = reduce_sum(d * op.outputs[0], self.axis, keepdims=True)
            return total * -0.5 / (variance + self.epsilon)

        return partial(StandardizeGrad(self.axis, self.epsilon), d, y, variance), by_y, by_variance

    def bounds(self, *xs: Interval) -> Interval:
        return bounds_by_traits(self.traits if self.epsilon > 0 else (*self.traits, SINGULAR), xs)


@in_graph_of_inputs
def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`; `offset` and `scale` may be None.

    Shapes: all broadcast to that of `x`. Dtypes: any float; the others may be float32 where `x` has 16 bits.

    Derivative: dx = dy * scale / s, dmean = -sum(dx), dvariance = -sum(dy * scale * (x - mean)) / (2 * s^3), dscale =
    sum(dy * (x - mean) / s), doffset = sum(dy), with s = sqrt(variance + epsilon).

    Raises:
        ValueError: the shapes do not broadcast. TypeError: the dtypes differ.

    Source: Ioffe and Szegedy, Batch Normalization, 2015.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, None, None, 0.0))
    array([-1.,  1.], dtype=float32)
    """
    tensor = convert_to_tensor(x)
    wide = tensor.dtype if tensor.dtype.itemsize != 2 else float32
    middle, spread = [convert_to_tensor(v, dtype_hint=wide) for v in (mean, variance)]
    with tensor.graph.within(name or "batchnorm"):
        factor = rsqrt(spread + variance_epsilon)
        if scale is not None:
            factor = factor * scale
        shift = -(middle * factor) if offset is None else offset - middle * factor
        return tensor * cast(factor, tensor.dtype) + cast(shift, tensor.dtype)


@in_graph_of_inputs
def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batches of images, normalised for each channel, then multiplied by `scale` and shifted by `offset`.

    Returns them, and a mean and a variance: in training those of the batch (the variance divided by one less than the
    number of elements), or, with a factor f other than 1, `(1 - f) * mean + f * batch_mean` and likewise; else those
    given, which are also what is normalised with.

    Shapes: `x` [n, h, w, c], or [n, c, h, w] with data_format="NCHW"; the others [c]. Dtypes: any float; the others are
    float32 where `x` has 16 bits.

    Derivative: in training dx = scale / s * (dy - mean(dy) - h * mean(dy * h)), dscale = sum(dy * h), doffset =
    sum(dy), with h = (x - mean) / s.

    Raises:
        ValueError: a shape or `data_format` is another; mean and variance are missing, or given where not needed.
        TypeError: the dtypes are others.

    Source: Ioffe and Szegedy, Batch Normalization, 2015.

    >>> import pullback as pb
    >>> x = pb.constant([[[[1.0]], [[3.0]]]])
    >>> y, mean, variance = pb.nn.fused_batch_norm(x, [1.0], [0.0], epsilon=1e-4)
    >>> pb.Session().run([mean, variance])
    [array([2.], dtype=float32), array([2.], dtype=float32)]
    """
    what = "fused_batch_norm"
    tensor = convert_to_tensor(x)
    form = check_data_format(what, data_format, ("NHWC", "NCHW", "NDHWC", "NCDHW"))
    given = mean is not None and variance is not None
    if is_training and exponential_avg_factor == 1.0 and (mean is not None or variance is not None):
        raise ValueError(f"{what}: mean and variance must be None in training with exponential_avg_factor=1.0")
    if not given and not (is_training and exponential_avg_factor == 1.0):
        raise ValueError(f"{what}: mean and variance must be given, except in training with exponential_avg_factor=1.0")
    dtype = float32 if tensor.dtype.itemsize == 2 else tensor.dtype
    epsilon = max(float(epsilon), 1.001e-5)
    with tensor.graph.within(name or "FusedBatchNorm") as scope:
        wide = cast(tensor, dtype)
        old = [convert_to_tensor(v, dtype) for v in (mean, variance) if v is not None]
        vectors = [convert_to_tensor(v, dtype) for v in (scale, offset)]
        if not is_training:
            middle, spread, factor, shift = [_per_channel(v, form) for v in (*old, *vectors)]
            y = batch_normalization(wide, middle, spread, shift, factor, epsilon)
            return identity(cast(y, tensor.dtype), scope), identity(old[0]), identity(old[1])
        axes = tuple([i for i in range(len(form)) if form[i] != "C"])
        y, middle, spread = Standardize(axes, epsilon).operation(wide).outputs
        y = cast(y * _per_channel(vectors[0], form) + _per_channel(vectors[1], form), tensor.dtype)
        new = [reshape(middle, [-1]), reshape(Unbiased(axes)(spread, wide), [-1])]
        if exponential_avg_factor != 1.0:
            f = exponential_avg_factor
            new = [before * (1.0 - f) + now * f for before, now in zip(old, new, strict=True)]
        return identity(y, scope), new[0], new[1]


def _per_channel(vector: Tensor, form: str) -> Tensor:
    """`vector` in a shape that broadcasts over the axes after the channels."""
    return reshape(vector, [-1, *[1] * (len(form) - 2)]) if has_channels_first(form) else vector


class Unbiased(Primitive):
    """A variance of the elements of a second input along `axis`, times n / (n - 1), n their number."""

    traits = (linear(0),)

    axis: tuple[int, ...]

    def infer(self, variance: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return (variance,)

    def kernel(self, xp: Any, variance: Any, x: Any) -> Any:
        del xp
        n = int(np.prod([x.shape[i] for i in self.axis]))
        return variance * variance.dtype.type(n / max(n - 1, 1))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return partial(Unbiased(self.axis), dy, op.inputs[1]), None


@in_graph_of_inputs
def layer_normalization(
    x: TensorLike,
    offset: TensorLike | None = None,
    scale: TensorLike | None = None,
    axis: AxisLike = -1,
    epsilon: float = 0.001,
    name: str | None = None,
) -> Tensor:
    """`(x - mean) / sqrt(variance + epsilon) * scale + offset`, with the mean and variance along `axis`.

    Shapes: any; `offset` and `scale` have the lengths of `x` at `axis`, one axis or a list of them, or are None.
    Dtypes: any float, the same for all.

    Derivative: dx = (g - mean(g) - h * mean(g * h)) / s with g = dy * scale and h = (x - mean) / s; dscale = sum(dy *
    h), doffset = sum(dy).

    Raises:
        ValueError: the shapes do not fit; an axis is out of range. TypeError: the dtypes differ.

    Source: Ba, Kiros, Hinton, Layer Normalization, 2016.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.layer_normalization([[1.0, 3.0]], epsilon=0.0))
    array([[-1.,  1.]], dtype=float32)
    """
    tensor = convert_to_tensor(x)
    axes = as_axes(axis, tensor, "layer_normalization")
    with tensor.graph.within(name or "layer_norm"):
        y = Standardize(axes, float(epsilon)).operation(tensor).outputs[0]
        if scale is not None:
            y = y * _along(scale, tensor, axes)
        return y if offset is None else y + _along(offset, tensor, axes)


def _along(vector: Any, x: Tensor, axes: Axes) -> Tensor:
    """`vector`, of the lengths of `x` at `axes`, in a shape that broadcasts against `x`."""
    v = convert_to_tensor(vector, x.dtype)
    rank = x.shape.rank
    if axes is None or rank is None or axes == tuple(range(rank - len(axes), rank)):
        return v
    dims = [x.shape.size(i) if i in axes else 1 for i in range(rank)]
    if dims.count(None) > 1:
        raise ValueError(f"layer_normalization: more than one length of {x} at {list(axes)} is unknown")
    return reshape(v, [-1 if n is None else n for n in dims])


@in_graph_of_inputs
def l2_normalize(
    x: TensorLike, axis: AxisLike | None = None, epsilon: float = 1e-12, name: str | None = None
) -> Tensor:
    """`x / sqrt(max(sum(x * x), epsilon))` with the sum along `axis`: vectors of length one.

    Shapes: any. Dtypes: any float.

    Derivative: dx = (dy - y * sum(dy * y)) / norm(x).

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.l2_normalize([3.0, 4.0]))
    array([0.6, 0.8], dtype=float32)
    """
    tensor = convert_to_tensor(x)
    with tensor.graph.within(name or "l2_normalize") as scope:
        wide = upcast(tensor)
        scale = rsqrt(maximum(reduce_sum(square(wide), axis, keepdims=True), epsilon))
        if wide is tensor:
            return multiply(tensor, scale, name=scope)
        return cast(wide * scale, tensor.dtype, scope)


@in_graph_of_inputs
def normalize(
    tensor: TensorLike, ord: float | str = "euclidean", axis: AxisLike | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """`tensor / norm(tensor)`, and that norm, whose axes have length one; see `pb.norm` for `ord` and `axis`.

    Shapes: any. Dtypes: any float.

    Derivative: dx = (dy - x * (sum(dy * x) / norm^2)) / norm for the 2-norm, and dnorm times that of norm.

    Raises:
        ValueError: `ord` or `axis` is not as there. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.linalg.normalize([3.0, 4.0]))
    (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    x = convert_to_tensor(tensor)
    with x.graph.within(name or "normalize"):
        length = norm(x, ord, axis, keepdims=True)
        return x / length, length


def local_response_normalization(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """`x / (bias + alpha * s) ** beta`, s the sum of the squares of at most `depth_radius` channels to either side.

    Shapes: `input` [..., c]. Dtypes: any float.

    Derivative: dx = dy / s^beta - 2 * alpha * beta * x * (sum over the neighbours of dy * y / s), with s = bias + alpha
    * (sum of squares).

    Raises:
        ValueError: a scalar. TypeError: no floats.

    Source: Krizhevsky, Sutskever, Hinton, ImageNet Classification with Deep Convolutional Neural Networks, 2012.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.local_response_normalization([[[[3.0, 4.0]]]], bias=0.0))
    array([[[[0.6, 0.8]]]], dtype=float32)
    """
    x = convert_to_tensor(input)
    with x.graph.within(name or "LRN") as scope, in_full(x.graph):
        wide = upcast(x)
        scale = pow(bias + alpha * matmul(square(wide), _near(wide, depth_radius)), -beta)
        return multiply(x, scale, name=scope) if wide is x else cast(wide * scale, x.dtype, scope)


def _near(x: Tensor, radius: int) -> Tensor:
    channels = None if x.shape.rank is None else x.shape.size(-1)
    if channels is None:
        return Neighbours(radius)(x)
    return constant_in(x.graph, _neighbours(channels, radius).astype(x.dtype))  # type: ignore[arg-type]


def _neighbours(channels: int, radius: int) -> np.ndarray[Any, Any]:
    numbers = np.arange(channels)
    near: np.ndarray[Any, Any] = abs(numbers[:, None] - numbers) <= radius
    return near


class Neighbours(Primitive):
    """A matrix, as large as the input has channels: 1 where their numbers differ by at most `radius`, else 0."""

    reads_values = False

    radius: int

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        channels = None if x.shape.rank is None else x.shape.size(-1)
        return (TensorType(x.dtype, TensorShape([channels, channels])),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return _neighbours(x.shape[-1], self.radius).astype(x.dtype)

    gradient = no_gradient


@in_graph_of_inputs
def batch_norm_with_global_normalization(
    input: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: TensorLike,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """`batch_normalization` with offset `beta`, and with scale `gamma` if `scale_after_normalization`.

    Shapes: `input` [n, h, w, c], the others [c]. Dtypes: any float, the same for all.

    Derivative: that of batch_normalization.

    Raises:
        ValueError: the shapes do not broadcast. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> y = pb.nn.batch_norm_with_global_normalization([[[[3.0]]]], [1.0], [4.0], [0.5], [2.0], 0.0, True)
    >>> pb.Session().run(y)
    array([[[[2.5]]]], dtype=float32)
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon, name)
