"""Weighted and two-pass moments, and normalisation of images by given ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.operation import Tensor
from ..core.primitive import Primitive, no_gradient
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..core.typing import AxisLike, TensorLike
from .arithmetic import squared_difference
from .axes import as_axes
from .casting import cast
from .constant import constant_in, convert_to_tensor
from .elementwise import operands
from .normalisation import batch_normalization
from .powers import reciprocal, square
from .reduction import reduce_sum
from .reshaping import broadcast_like
from .shaping import size, squeeze


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
    with tensor.graph.name_scope(name or "weighted_moments"):
        total = reciprocal(reduce_sum(broadcast_like(weights, tensor), along, keepdims=True))
        mean = reduce_sum(weights * tensor, along, keepdims=True) * total
        variance = reduce_sum(weights * squared_difference(tensor, mean), along, keepdims=True) * total
        if keepdims:
            return mean, variance
        return _without(mean, along), _without(variance, along)


def _without(y: Tensor, axes: tuple[int, ...] | None) -> Tensor:
    if axes == ():
        return y
    return reduce_sum(y) if axes is None else squeeze(y, axes)


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
    with tensor.graph.name_scope(name or "sufficient_statistics"):
        moved = None if shift is None else convert_to_tensor(shift, tensor.dtype)
        above = tensor if moved is None else tensor - moved
        total = reduce_sum(above, along, keepdims=keepdims)
        squares = reduce_sum(square(above), along, keepdims=keepdims)
        return _count(tensor, along), total, squares, moved


def _count(x: Tensor, axes: tuple[int, ...] | None) -> Tensor:
    """The number of elements along `axes`, in the dtype of `x`."""
    dims = x.shape.dims
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

    type = "LengthProduct"
    reads_values = False

    axis: tuple[int, ...]

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, TensorShape.SCALAR),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return np.array(np.prod([x.shape[i] for i in self.axis]), x.dtype)

    gradient = no_gradient


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
    with count.graph.name_scope(name or "normalize"):
        divisor = reciprocal(count)
        above = total * divisor
        variance = squares * divisor - square(above)
        return above if shift is None else above + shift, variance


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
