"""Other convolutions of images, and their sizes, under the names of `tf.keras.backend`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb

from .....core.contexts import in_graph_of_inputs
from .....core.typing import TensorLike
from .state import checked_format


@in_graph_of_inputs
def conv2d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> pb.Tensor:
    """The transpose of a convolution by `kernel` [height, width, out, in], into `output_shape`."""
    channels_last = checked_format(data_format) == "channels_last"
    lengths = pb.stack(list(output_shape)) if isinstance(output_shape, list | tuple) else output_shape
    known = (
        [n if isinstance(n, int) else None for n in output_shape] if isinstance(output_shape, list | tuple) else None
    )
    if not channels_last and known is not None:
        known = [known[0], known[2], known[3], known[1]]
    if not channels_last:
        lengths = pb.gather(lengths, [0, 2, 3, 1])

    def transposed(images: Any) -> Any:
        y = pb.nn.conv2d_transpose(
            images, kernel, lengths, _each(strides), padding.upper(), dilations=_each(dilation_rate)
        )
        return y if known is None else pb.ensure_shape(y, known)

    return _channels_last(transposed, x, data_format)


@in_graph_of_inputs
def depthwise_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> pb.Tensor:
    """A convolution of each channel by filters of its own, `depthwise_kernel` [height, width, in, multiplier]."""

    def convolved(images: Any) -> Any:
        rate = _each(dilation_rate)
        return pb.nn.depthwise_conv2d(
            images, depthwise_kernel, [1, *_each(strides), 1], padding.upper(), dilations=rate
        )

    return _channels_last(convolved, x, data_format)


@in_graph_of_inputs
def separable_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> pb.Tensor:
    """`depthwise_conv2d`, and a product with `pointwise_kernel` [1, 1, in * multiplier, out] at each place."""

    def mixed(images: Any) -> Any:
        return pb.nn.conv2d(images, pointwise_kernel, 1, "VALID")

    y = depthwise_conv2d(x, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return _channels_last(mixed, y, data_format)


def resize_images(
    x: TensorLike, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> pb.Tensor:
    """Images that many times as high and wide; `interpolation` is "nearest" or "bilinear".

    Raises:
        ValueError: another interpolation.
    """
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError(f"keras.backend.resize_images: interpolation is nearest or bilinear, not {interpolation!r}")

    def larger(images: Any) -> Any:
        if interpolation == "nearest":
            return pb.repeat(pb.repeat(images, height_factor, axis=1), width_factor, axis=2)
        known = images.shape.as_list()[1:3]
        if None in known:
            return pb.image.resize(images, pb.shape(images)[1:3] * pb.constant([height_factor, width_factor]))
        return pb.image.resize(images, [known[0] * height_factor, known[1] * width_factor])

    return _channels_last(larger, x, data_format)


def _channels_last(function: Callable[[Any], Any], x: TensorLike, data_format: str | None) -> pb.Tensor:
    """What a function of images with the channels behind makes of images in `data_format`."""
    images = pb.convert_to_tensor(x)
    if checked_format(data_format) == "channels_last":
        return function(images)  # type: ignore[no-any-return]
    return pb.transpose(function(pb.transpose(images, [0, 2, 3, 1])), [0, 3, 1, 2])


def _each(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)
