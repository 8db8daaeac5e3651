"""Image metrics: gradients, total variation, PSNR, SSIM; and standardization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, float32, float64
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ...primitives.activations.rectifiers import relu
from ...primitives.casting.cast import cast
from ...primitives.convolution.conv import depthwise_conv2d
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.elementwise.arithmetic import squared_difference
from ...primitives.elementwise.exponential import log
from ...primitives.elementwise.maximum import maximum
from ...primitives.elementwise.powers import pow, rsqrt, sqrt, square
from ...primitives.elementwise.sign import absolute
from ...primitives.pooling.argmax import pool
from ...primitives.reduction.product import reduce_prod
from ...primitives.reduction.reduce import reduce_mean, reduce_sum
from ...primitives.shape.pad import pad
from ...primitives.shape.reshape import reshape
from ...primitives.shape.size import shape
from ...primitives.shape.stacking import concat, split, stack
from ...primitives.shape.tile import tile
from .colors import convert_image_dtype


def per_image_standardization(image: TensorLike) -> Tensor:
    """Each image less its mean, divided by its standard deviation, which counts as at least 1 / sqrt(size).

    Shapes: [..., h, w, c]. Dtypes: any real number; the result is float32 for integers.

    Derivative: dx = (dy - mean(dy) - y * mean(dy * y)) / deviation, for each image.

    Raises:
        ValueError: fewer than three axes.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.per_image_standardization([[[1.0], [3.0]]]))[0, :, 0]
    array([-1.,  1.], dtype=float32)
    """
    x = convert_to_tensor(image)
    x = x if x.dtype in FLOATING else cast(x, float32)
    with x.graph.within("per_image_standardization"):
        deviation = x - reduce_mean(x, [-3, -2, -1], keepdims=True)
        variance = reduce_mean(square(deviation), [-3, -2, -1], keepdims=True)
        dims = [None] if x.shape.sizes is None else x.shape.sizes[-3:]
        if None in dims:
            count = cast(reduce_prod(shape(x)[-3:]), x.dtype)
            return deviation / maximum(sqrt(variance), rsqrt(count))
        least = 1 / math.sqrt(max(math.prod([n for n in dims if n is not None]), 1))
        return deviation / maximum(sqrt(variance), least)


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """The differences of each pixel to the next one below, and to the next one on the right; 0 at the far edges.

    Shapes: [n, h, w, c]. Dtypes: any real number.

    Derivative: dx = the differences of neighbours of the cotangents, in the other direction.

    Raises:
        ValueError: another rank.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.image_gradients([[[[1.0], [3.0]]]])[1])[0, 0, :, 0]
    array([2., 0.], dtype=float32)
    """
    x = convert_to_tensor(image)
    if x.shape.rank not in (4, None):
        raise ValueError(f"image_gradients: images have four axes, but {x} has {x.shape.rank}")
    with x.graph.within("image_gradients"):
        below, right = x[:, 1:] - x[:, :-1], x[:, :, 1:] - x[:, :, :-1]
        return pad(below, [[0, 0], [0, 1], [0, 0], [0, 0]]), pad(right, [[0, 0], [0, 0], [0, 1], [0, 0]])


_SOBEL = np.array([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]])


def sobel_edges(image: TensorLike) -> Tensor:
    """The slopes of each channel downwards and to the right, by the operator of Sobel and Feldman; edges are mirrored.

    Shapes: [n, h, w, c]; the result [n, h, w, c, 2]. Dtypes: any float.

    Derivative: dx = the transpose of both filters, of dy.

    Raises:
        ValueError: another rank, or an unknown one.

    >>> import pullback as pb
    >>> pb.image.sobel_edges(pb.zeros([2, 5, 6, 3])).shape
    TensorShape([2, 5, 6, 3, 2])
    """
    x = convert_to_tensor(image)
    if x.shape.rank != 4:
        raise ValueError(f"sobel_edges: images have four axes, unlike {x}")
    filters = _for_each_channel(_SOBEL.transpose(1, 2, 0)[:, :, None].astype(_dtype(x)), x)
    with x.graph.within("sobel_edges"):
        around = pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
        slopes = depthwise_conv2d(around, filters, [1, 1, 1, 1], "VALID")
        dims = x.shape.as_list()
        if None not in dims:
            return reshape(slopes, [*dims, 2])
        return reshape(slopes, concat([shape(x), [2]], 0))


def _for_each_channel(filters: Any, x: Tensor, times: int = 1) -> Any:
    """Filters [h, w, 1, n], so many times for each channel of `x`."""
    channels = x.shape.size(-1)
    if channels is None:
        return tile(filters, stack([1, 1, times * shape(x)[-1], 1]))
    return np.tile(filters, (1, 1, times * channels, 1))


def _dtype(x: Tensor) -> Any:
    return x.dtype


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbouring pixels, of each image.

    Shapes: [n, h, w, c], the result [n]; or [h, w, c], the result a scalar. Dtypes: any real number.

    Derivative: dx = the differences of the signs of the differences of neighbours, times dy.

    Raises:
        ValueError: another rank, or an unknown one.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.total_variation([[[1.0], [3.0]], [[1.0], [0.0]]]))
    np.float32(6.0)
    """
    x = convert_to_tensor(images)
    if x.shape.rank not in (3, 4):
        raise ValueError(f"total_variation: images have three or four axes, which cannot be said of {x}")
    with x.graph.within(name or "total_variation"):
        below, right = x[..., 1:, :, :] - x[..., :-1, :, :], x[..., 1:, :] - x[..., :-1, :]
        axes = None if x.shape.rank == 3 else [1, 2, 3]
        return reduce_sum(absolute(below), axes) + reduce_sum(absolute(right), axes)


@in_graph_of_inputs
def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """The ratio of the largest possible number to the mean square of the differences of two images, in decibels.

    Shapes: [..., h, w, c], the same for both; the result [...]. Dtypes: any real number, the same for all; integers
    stand for [0, 1]; the result is float32, or float64 for float64.

    Derivative: da = -dy * 20 / log(10) * (a - b) / sum((a - b)^2), db = -da.

    Raises:
        ValueError: the shapes do not fit.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.psnr(pb.zeros([1, 1, 1]), pb.ones([1, 1, 1]), 1.0))
    np.float32(0.0)
    """
    x, y, top = _as_floats(a, b, max_val)
    with x.graph.within(name or "PSNR"):
        error = reduce_mean(squared_difference(x, y), [-3, -2, -1])
        return (20 * log(top) - 10 * log(error)) * (1 / math.log(10))


def _as_floats(a: Any, b: Any, max_val: Any) -> list[Tensor]:
    x = convert_to_tensor(a)
    values = [x, convert_to_tensor(b, dtype_hint=x.dtype), cast(convert_to_tensor(max_val), x.dtype)]
    return [v if v.dtype == float64 else convert_image_dtype(v, float32) for v in values]


@in_graph_of_inputs
def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """How alike two images are in structure, at most 1: the mean over places and channels.

    Means and variances are those of a Gaussian window. With `return_index_map` the mean is over channels only.

    Shapes: [..., h, w, c], the same for both, sides not below `filter_size`; the result [...], or the map
    [..., h - filter_size + 1, w - filter_size + 1]. Dtypes: as for `psnr`.

    Derivative: the chain of its filters, products and quotients.

    Raises:
        ValueError: the shapes do not fit.

    Source: Wang, Bovik, Sheikh, Simoncelli, Image Quality Assessment, 2004.

    >>> import pullback as pb
    >>> x = pb.random.uniform([12, 12, 3], seed=1)
    >>> pb.Session().run(pb.image.ssim(x, x, 1.0))
    np.float32(1.0)
    """
    x, y, top = _as_floats(img1, img2, max_val)
    with x.graph.within("SSIM"):
        like, _ = _likeness("ssim", x, y, top, filter_size, filter_sigma, k1, k2)
        return reduce_mean(like, [-1]) if return_index_map else reduce_mean(like, [-3, -2, -1])


def _likeness(
    what: str, x: Tensor, y: Tensor, top: Tensor, filter_size: int, sigma: float, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    """SSIM at each place, and its part without brightness."""
    rank = x.shape.rank
    if rank is None or rank < 3 or not x.shape.is_compatible_with(y.shape):
        raise ValueError(f"{what}: two images [..., h, w, c] of one shape are needed, not {x} and {y}")
    if any(n is not None and n < filter_size for n in x.shape.sizes[-3:-1]):  # type: ignore[index]
        raise ValueError(f"{what}: the sides of {x} must not be shorter than filter_size={filter_size}")
    places = np.exp(-0.5 * ((np.arange(filter_size) - (filter_size - 1) / 2) / sigma) ** 2)
    column = (places / places.sum())[:, None, None, None].astype(_dtype(x))
    windows = [_for_each_channel(window, x, times=4) for window in (column, column.swapaxes(0, 1))]

    def mean(z: Tensor) -> Tensor:
        means = z if rank == 4 else reshape(z, _merged(z))
        for window in windows:
            means = depthwise_conv2d(means, window, [1, 1, 1, 1], "VALID")
        return means if rank == 4 else reshape(means, concat([shape(z)[:-3], shape(means)[1:]], 0))

    c1, c2 = square(k1 * top), square(k2 * top)
    mean_x, mean_y, mean_product, mean_squares = split(mean(concat([x, y, x * y, square(x) + square(y)], -1)), 4, -1)
    both, squares = mean_x * mean_y, square(mean_x) + square(mean_y)
    covariance, variances = mean_product - both, mean_squares - squares
    structure = (2 * covariance + c2) / (variances + c2)
    return (2 * both + c1) / (squares + c1) * structure, structure


def _merged(x: Tensor) -> Any:
    """The shape of `x` with all axes before the last three as one."""
    dims = x.shape.sizes
    assert dims is not None
    if None not in dims[-3:]:
        return [-1, *dims[-3:]]
    return concat([[-1], shape(x)[-3:]], 0)


@in_graph_of_inputs
def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """How alike two images are at several sizes, each half the last: the product of the powers of `ssim`'s parts.

    Shapes: [..., h, w, c], the same for both and known but for the first; the smallest size has sides not below
    `filter_size`; the result [...]. Dtypes: as for `psnr`.

    Derivative: the chain of ssim, average pooling and powers.

    Raises:
        ValueError: the shapes do not fit.

    Source: Wang, Simoncelli, Bovik, Multi-scale Structural Similarity for Image Quality Assessment, 2003.

    >>> import pullback as pb
    >>> x = pb.random.uniform([1, 16, 16, 1], seed=1)
    >>> pb.Session().run(pb.image.ssim_multiscale(x, x, 1.0, power_factors=[0.5, 0.5], filter_size=4))
    array([1.], dtype=float32)
    """
    x, y, top = _as_floats(img1, img2, max_val)
    parts = []
    with x.graph.within("MS-SSIM"):
        for i, power in enumerate(power_factors):
            if i:
                x, y = _halved(x), _halved(y)
            like, structure = _likeness("ssim_multiscale", x, y, top, filter_size, filter_sigma, k1, k2)
            part = like if i == len(power_factors) - 1 else structure
            parts.append(pow(relu(reduce_mean(part, [-3, -2])), power))
        return reduce_mean(reduce_prod(stack(parts, axis=-1), [-1]), [-1])


def _halved(x: Tensor) -> Tensor:
    """The means of 2 by 2 pixels; an odd last row or column is repeated."""
    rank, dims = x.shape.rank, x.shape.sizes
    assert rank is not None
    assert dims is not None
    if any(n is None for n in dims[-3:-1]):
        raise ValueError(f"ssim_multiscale: the sides of {x} must be known")
    rest = [(n or 0) % 2 for n in dims[-3:-1]]
    if any(rest):
        x = pad(x, [*[[0, 0]] * (rank - 3), [0, rest[0]], [0, rest[1]], [0, 0]], "SYMMETRIC")
    images = x if rank == 4 else reshape(x, _merged(x))
    means = pool(images, [2, 2], "AVG", [2, 2])
    return means if rank == 4 else reshape(means, concat([shape(x)[:-3], shape(means)[1:]], 0))
