"""Colour spaces of images: from one to another; brightness, contrast, saturation, hue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, as_dtype, float32
from ...core.matmul_precision import in_full
from ...core.operation import Tensor
from ...core.typing import DTypeLike, TensorLike
from ...primitives.casting.cast import cast
from ...primitives.casting.saturate_cast import saturate_cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.elementwise.division import divide_no_nan, floordiv, floormod
from ...primitives.elementwise.maximum import maximum, minimum
from ...primitives.elementwise.powers import pow
from ...primitives.elementwise.sign import absolute
from ...primitives.indexing.where import where
from ...primitives.linalg.matmul import matmul
from ...primitives.linalg.tensordot import tensordot
from ...primitives.logic.comparison import equal, less
from ...primitives.reduction.reduce import reduce_mean
from ...primitives.shape.stacking import concat, stack, unstack
from ...primitives.shape.tile import tile

_TO_GREY = np.array([[0.2989], [0.587], [0.114]])
_TO_YIQ = np.array([[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]])
_FROM_YIQ = np.array([[1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]])
_TO_YUV = np.array(
    [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
)
_FROM_YUV = np.array([[1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0]])


def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None) -> Tensor:
    """`image` in another dtype, scaled so that the whole range of an integer dtype stands for [0, 1] of a float.

    With `saturate` what does not fit becomes the nearest number that does.

    Shapes: any. Dtypes: any real number to any.

    Derivative: dx = scale * cast(dy, dtype of x) between floats; none from or to integers.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.convert_image_dtype(pb.constant([0, 255], pb.uint8), pb.float32))
    array([0., 1.], dtype=float32)
    """
    x = convert_to_tensor(image)
    wanted: Any = as_dtype(dtype)
    for given in (x.dtype, wanted):
        if given not in FLOATING and given not in INTEGER:
            raise TypeError(f"convert_image_dtype: images are real numbers, not {given}; asked for {x} as {wanted}")
    if x.dtype == wanted:
        return x
    fit: Callable[..., Tensor] = saturate_cast if saturate else cast
    with x.graph.within(name or "convert_image"):
        if x.dtype in INTEGER and wanted in INTEGER:
            return _integer_to_integer(x, wanted, fit)
        if wanted in INTEGER:
            return fit(x * (_largest(wanted) + 0.5), wanted)
        y: Tensor = cast(x, wanted)
        return y if x.dtype in FLOATING else y * (1.0 / _largest(x.dtype))


def _integer_to_integer(x: Tensor, wanted: Any, fit: Callable[..., Tensor]) -> Tensor:
    mine, other = _largest(x.dtype), _largest(wanted)
    if mine > other:
        return fit(floordiv(x, (mine + 1) // (other + 1)), wanted)
    return fit(x, wanted) * ((other + 1) // (mine + 1))


def _largest(dtype: Any) -> int:
    return int(np.iinfo(dtype).max)


def _in_floats(image: Any, change: Callable[[Tensor], Tensor], name: str) -> Tensor:
    """`change` of an image, as float32 where it holds integers; the result is in the dtype of the image."""
    x = convert_to_tensor(image)
    with x.graph.within(name):
        if x.dtype in FLOATING:
            return change(x)
        return convert_image_dtype(change(convert_image_dtype(x, float32)), x.dtype, saturate=True)


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """How bright each pixel is: the channels red, green, blue weighted by 0.2989, 0.587, 0.114.

    Shapes: `images` [..., 3]; the result [..., 1]. Dtypes: any real number; integers stand for [0, 1].

    Derivative: dx = dy * [0.2989, 0.587, 0.114].

    Raises:
        ValueError: the last axis has another length.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.rgb_to_grayscale([[[1.0, 0.0, 0.0]]]))
    array([[[0.2989]]], dtype=float32)
    """
    return _in_floats(images, lambda x: _mixed(x, _TO_GREY), name or "rgb_to_grayscale")


def _mixed(x: Tensor, matrix: np.ndarray[Any, Any]) -> Tensor:
    wanted: Any = x.dtype
    with in_full(x.graph):
        return tensordot(x, matrix.astype(wanted), 1) if x.shape.rank == 1 else matmul(x, matrix.astype(wanted))


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Images of one channel with that channel three times.

    Shapes: `images` [..., 1]; the result [..., 3]. Dtypes: any.

    Derivative: dx = sum of dy over the channels.

    Raises:
        ValueError: the rank is unknown, or the last axis has another length.

    >>> import pullback as pb
    >>> pb.image.grayscale_to_rgb(pb.zeros([4, 5, 1])).shape
    TensorShape([4, 5, 3])
    """
    x = convert_to_tensor(images)
    if x.shape.rank is None:
        return concat([x, x, x], -1, name=name or "grayscale_to_rgb")
    if x.shape.rank < 1 or x.shape.size(-1) not in (1, None):
        raise ValueError(f"grayscale_to_rgb: the last axis must have length 1, but the images are {x}")
    return tile(x, [*[1] * (x.shape.rank - 1), 3], name=name or "grayscale_to_rgb")


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Red, green, blue as brightness and the two colour signals of NTSC.

    Shapes: [..., 3]. Dtypes: any float.

    Derivative: dx = dy @ M^T for the constant matrix M.

    Raises:
        ValueError: the last axis has another length.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.rgb_to_yiq([[1.0, 1.0, 1.0]]))[0, 0]
    np.float32(1.0)
    """
    return _mixed(convert_to_tensor(images), _TO_YIQ)


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """The inverse of `rgb_to_yiq`.

    Shapes: [..., 3]. Dtypes: any float.

    Derivative: dx = dy @ M^T for the constant matrix M.

    Raises:
        ValueError: the last axis has another length.

    >>> import pullback as pb
    >>> pb.image.yiq_to_rgb(pb.zeros([2, 4, 4, 3])).shape
    TensorShape([2, 4, 4, 3])
    """
    return _mixed(convert_to_tensor(images), _FROM_YIQ)


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Red, green, blue as brightness and the two colour signals of PAL.

    Shapes: [..., 3]. Dtypes: any float.

    Derivative: dx = dy @ M^T for the constant matrix M.

    Raises:
        ValueError: the last axis has another length.

    >>> import pullback as pb
    >>> pb.image.rgb_to_yuv(pb.zeros([2, 4, 4, 3])).shape
    TensorShape([2, 4, 4, 3])
    """
    return _mixed(convert_to_tensor(images), _TO_YUV)


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """The inverse of `rgb_to_yuv`.

    Shapes: [..., 3]. Dtypes: any float.

    Derivative: dx = dy @ M^T for the constant matrix M.

    Raises:
        ValueError: the last axis has another length.

    >>> import pullback as pb
    >>> pb.image.yuv_to_rgb(pb.zeros([2, 4, 4, 3])).shape
    TensorShape([2, 4, 4, 3])
    """
    return _mixed(convert_to_tensor(images), _FROM_YUV)


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Red, green, blue in [0, 1] as hue, saturation and value in [0, 1]; a grey has hue 0, black saturation 0.

    The derivatives of hue at a grey, and of saturation at black, are 0.

    Shapes: [..., 3]. Dtypes: any float.

    Derivative: that of the piece that the largest and the smallest channel decide; of hue and saturation 0 at a grey.

    Raises:
        ValueError: the last axis has another length. TypeError: no floats.

    Source: Smith, Color Gamut Transform Pairs, 1978.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.rgb_to_hsv([0.5, 1.0, 0.5]))
    array([0.33333334, 0.5       , 1.        ], dtype=float32)
    """
    x = convert_to_tensor(images)
    if x.dtype not in FLOATING:
        raise TypeError(f"rgb_to_hsv: images must be floats, not {x}")
    with x.graph.within(name or "rgb_to_hsv"):
        red, green, blue = unstack(x, 3, axis=-1)
        value = maximum(red, maximum(green, blue))
        spread = value - minimum(red, minimum(green, blue))
        is_red, is_green = equal(value, red), equal(value, green)
        across = where(is_red, green - blue, where(is_green, blue - red, red - green))
        third = convert_to_tensor(1 / 3, x.dtype)
        zero = convert_to_tensor(0, x.dtype)
        hue = divide_no_nan(across, 6 * spread) + where(is_red, zero, where(is_green, third, 2 * third))
        whole = hue + cast(less(hue, zero), x.dtype)
        return stack([whole, divide_no_nan(spread, value), value], axis=-1)


def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `rgb_to_hsv`.

    Shapes: [..., 3]. Dtypes: any float.

    Derivative: that of the piece h is in: r, g, b are v, v * (1 - s) and two linear functions of h between them.

    Raises:
        ValueError: the last axis has another length. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.hsv_to_rgb([0.25, 0.5, 1.0]))
    array([0.75, 1.  , 0.5 ], dtype=float32)
    """
    x = convert_to_tensor(images)
    if x.dtype not in FLOATING:
        raise TypeError(f"hsv_to_rgb: images must be floats, not {x}")
    with x.graph.within(name or "hsv_to_rgb"):
        hue, saturation, value = x[..., 0:1], x[..., 1:2], x[..., 2:3]
        wanted: Any = x.dtype
        middles, signs, shifts = np.array([[3, 2, 4], [1, -1, -1], [-1, 2, 2]], wanted)
        distance = absolute(hue * 6 - middles)
        pure = clip_by_value(distance * signs + shifts, 0, 1)
        y: Tensor = (1 + saturation * (pure - 1)) * value
        return y


@in_graph_of_inputs
def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """`image + delta`; integers stand for [0, 1] and stay in it.

    Shapes: any; `delta` a scalar. Dtypes: any real number.

    Derivative: dx = dy, ddelta = sum(dy).

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.adjust_brightness([[0.25]], 0.5))
    array([[0.75]], dtype=float32)
    """
    return _in_floats(image, lambda x: x + _as(delta, x), "adjust_brightness")


@in_graph_of_inputs
def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """`(x - mean) * contrast_factor + mean`, with the mean of each channel of each image.

    Shapes: `images` [..., h, w, c]; the factor a scalar. Dtypes: any real number; integers stand for [0, 1].

    Derivative: dx = mean(dy) + factor * (dy - mean(dy)), with the mean over each image's channel; dfactor = sum(dy * (x
    - mean(x))).

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.adjust_contrast([[[1.0], [3.0]]], 2.0))[0, :, 0]
    array([0., 4.], dtype=float32)
    """

    def change(x: Tensor) -> Tensor:
        mean = reduce_mean(x, [-3, -2], keepdims=True)
        return (x - mean) * _as(contrast_factor, x) + mean

    return _in_floats(images, change, "adjust_contrast")


@in_graph_of_inputs
def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Tensor:
    """`gain * image ** gamma`.

    Shapes: any; `gamma` and `gain` scalars. Dtypes: any real number; integers stand for [0, 1].

    Derivative: dx = gain * gamma * x^(gamma - 1) * dy, dgamma = sum(y * log(x) * dy), dgain = sum(x^gamma * dy).

    Raises:
        ValueError: `gamma`, where it is a number, is negative.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.adjust_gamma([[0.5]], 2.0))
    array([[0.25]], dtype=float32)
    """
    if isinstance(gamma, int | float) and gamma < 0:
        raise ValueError(f"adjust_gamma: gamma must not be negative, but it is {gamma}")
    return _in_floats(image, lambda x: _as(gain, x) * pow(x, _as(gamma, x)), "adjust_gamma")


@in_graph_of_inputs
def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """`image` with `delta` added to its hue, of which 1 is once around.

    Shapes: `image` [..., 3]; `delta` a scalar. Dtypes: any real number; integers stand for [0, 1].

    Derivative: the chain of rgb_to_hsv, h + delta and hsv_to_rgb; ddelta = sum of the cotangent of h.

    Raises:
        ValueError: the last axis has another length.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.adjust_hue([[[1.0, 0.0, 0.0]]], 1 / 3))
    array([[[0., 1., 0.]]], dtype=float32)
    """

    def change(x: Tensor) -> Tensor:
        hsv = rgb_to_hsv(x)
        return hsv_to_rgb(concat([floormod(hsv[..., 0:1] + _as(delta, x), 1), hsv[..., 1:]], -1))

    return _in_floats(image, change, name or "adjust_hue")


@in_graph_of_inputs
def adjust_saturation(image: TensorLike, saturation_factor: TensorLike, name: str | None = None) -> Tensor:
    """`image` with its saturation multiplied by `saturation_factor`, and at most 1.

    Shapes: `image` [..., 3]; the factor a scalar. Dtypes: any real number; integers stand for [0, 1].

    Derivative: the chain of rgb_to_hsv, min(s * factor, 1) and hsv_to_rgb.

    Raises:
        ValueError: the last axis has another length.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 2.0))
    array([[[1., 0., 0.]]], dtype=float32)
    """

    def change(x: Tensor) -> Tensor:
        hsv = rgb_to_hsv(x)
        stronger = clip_by_value(hsv[..., 1:2] * _as(saturation_factor, x), 0, 1)
        return hsv_to_rgb(concat([hsv[..., 0:1], stronger, hsv[..., 2:]], -1))

    return _in_floats(image, change, name or "adjust_saturation")


def _as(number: Any, x: Tensor) -> Tensor:
    """`number` as a scalar of the dtype of `x`."""
    return cast(convert_to_tensor(number, dtype_hint=x.dtype), x.dtype)
