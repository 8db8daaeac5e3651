"""Convolutional layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....layers.variables.scope import VariableScope
from ....primitives.activations.bias import bias_add
from ....primitives.base.axes import static_integers
from ....primitives.convolution.conv import separable_conv2d as separable_conv2d_today
from ....primitives.convolution.conv_general import conv_transpose, convolution
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.shape.size import shape
from ....primitives.shape.squeeze import expand_dims, squeeze
from ..arguments import with_first
from .variables import ZEROS, Maker, Named, Wish, activated, layer_scope, layer_variable

Lengths = int | Sequence[int]
FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def as_lengths(value: Lengths, rank: int) -> list[int]:
    """A length for each of `rank` axes."""
    given = static_integers(value, "layers: strides and kernel sizes")
    return [*given] if np.ndim(value) else [*given] * rank


def format_of(data_format: str, rank: int) -> str:
    """The letters of "channels_last" or "channels_first"."""
    return FORMATS[rank][data_format == "channels_first"]


def depth_of(x: Tensor, data_format: str) -> int | None:
    """The number of channels."""
    return None if x.shape.rank is None else x.shape.as_list()[1 if data_format == "channels_first" else -1]


def _conv(
    rank: int,
    inputs: TensorLike,
    filters: int,
    kernel_size: Lengths,
    strides: Lengths = 1,
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: Lengths = 1,
    activation: Named = None,
    use_bias: bool = True,
    kernel_initializer: Named = None,
    bias_initializer: Named = ZEROS,
    kernel_regularizer: Named = None,
    bias_regularizer: Named = None,
    activity_regularizer: Named = None,
    kernel_constraint: Maker = None,
    bias_constraint: Maker = None,
    trainable: bool = True,
    name: str | VariableScope | None = None,
    reuse: bool | str | None = None,
) -> Tensor:
    x, letters = convert_to_tensor(inputs), format_of(data_format, rank)
    steps, holes = as_lengths(strides, rank), as_lengths(dilation_rate, rank)
    with layer_scope(name, f"conv{rank}d", x, reuse):
        sizes = [*as_lengths(kernel_size, rank), depth_of(x, data_format), filters]
        wish = Wish(kernel_initializer, kernel_regularizer, kernel_constraint)
        pads = _pads(padding, sizes, holes, letters)
        y = convolution(x, layer_variable("kernel", sizes, wish, trainable), steps, pads, letters, holes)
        if use_bias:
            wish = Wish(bias_initializer, bias_regularizer, bias_constraint)
            y = bias_add(y, layer_variable("bias", [filters], wish, trainable), letters)
        return activated(y, activation, activity_regularizer)


def _pads(padding: str, sizes: Sequence[Any], holes: Sequence[int], letters: str) -> Any:
    """The padding; "causal" has all of it before the first step, so that no result depends on later ones."""
    if padding.upper() != "CAUSAL" or "W" not in letters or len(letters) != 3:
        return padding.upper()
    before = [(sizes[0] - 1) * holes[0], 0]
    return [before if axis == "W" else [0, 0] for axis in letters]


conv1d = with_first(_conv, 1, "conv1d", "A convolution over [batch, length, channels], a bias, an activation.")
conv2d = with_first(_conv, 2, "conv2d", "A convolution over [batch, height, width, channels], a bias, an activation.")
conv3d = with_first(_conv, 3, "conv3d", "A convolution over [batch, depth, height, width, channels], and so on.")


def _transposed(
    rank: int,
    inputs: TensorLike,
    filters: int,
    kernel_size: Lengths,
    strides: Lengths = 1,
    padding: str = "valid",
    data_format: str = "channels_last",
    activation: Named = None,
    use_bias: bool = True,
    kernel_initializer: Named = None,
    bias_initializer: Named = ZEROS,
    kernel_regularizer: Named = None,
    bias_regularizer: Named = None,
    activity_regularizer: Named = None,
    kernel_constraint: Maker = None,
    bias_constraint: Maker = None,
    trainable: bool = True,
    name: str | VariableScope | None = None,
    reuse: bool | str | None = None,
) -> Tensor:
    x, letters = convert_to_tensor(inputs), format_of(data_format, rank)
    sizes, steps = as_lengths(kernel_size, rank), as_lengths(strides, rank)
    with layer_scope(name, f"conv{rank}d_transpose", x, reuse):
        wish = Wish(kernel_initializer, kernel_regularizer, kernel_constraint)
        kernel = layer_variable("kernel", [*sizes, filters, depth_of(x, data_format)], wish, trainable)
        made = transposed_lengths(x, filters, sizes, steps, padding.upper(), letters)
        y = conv_transpose(x, kernel, made, steps, padding.upper(), letters)
        if use_bias:
            wish = Wish(bias_initializer, bias_regularizer, bias_constraint)
            y = bias_add(y, layer_variable("bias", [filters], wish, trainable), letters)
        return activated(y, activation, activity_regularizer)


conv2d_transpose = with_first(
    _transposed,
    2,
    "conv2d_transpose",
    "A transposed convolution over [batch, height, width, channels], a bias, and so on.",
)
conv3d_transpose = with_first(
    _transposed,
    3,
    "conv3d_transpose",
    "A transposed convolution over [batch, depth, height, width, channels], and so on.",
)


def _separable(
    rank: int,
    inputs: TensorLike,
    filters: int,
    kernel_size: Lengths,
    strides: Lengths = 1,
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: Lengths = 1,
    depth_multiplier: int = 1,
    activation: Named = None,
    use_bias: bool = True,
    depthwise_initializer: Named = None,
    pointwise_initializer: Named = None,
    bias_initializer: Named = ZEROS,
    depthwise_regularizer: Named = None,
    pointwise_regularizer: Named = None,
    bias_regularizer: Named = None,
    activity_regularizer: Named = None,
    depthwise_constraint: Maker = None,
    pointwise_constraint: Maker = None,
    bias_constraint: Maker = None,
    trainable: bool = True,
    name: str | VariableScope | None = None,
    reuse: bool | str | None = None,
) -> Tensor:
    x, letters = convert_to_tensor(inputs), format_of(data_format, rank)
    depth, flat = depth_of(x, data_format), rank == 1
    steps, holes = as_lengths(strides, rank), as_lengths(dilation_rate, rank)
    if flat:
        steps, holes = steps * 2, [1, *holes]
    strided = [1, *steps, 1] if letters.endswith("C") else [1, 1, *steps]
    with layer_scope(name, f"separable_conv{rank}d", x, reuse):
        wish = Wish(depthwise_initializer, depthwise_regularizer, depthwise_constraint)
        sizes = [*as_lengths(kernel_size, rank), depth, depth_multiplier]
        depthwise: Any = layer_variable("depthwise_kernel", sizes, wish, trainable)
        wish = Wish(pointwise_initializer, pointwise_regularizer, pointwise_constraint)
        sizes = [*[1] * rank, (depth or 0) * depth_multiplier, filters]
        pointwise: Any = layer_variable("pointwise_kernel", sizes, wish, trainable)
        if flat:
            x, depthwise, pointwise = expand_dims(x, letters.index("W")), depthwise[None], pointwise[None]
        pads = _pads(padding, as_lengths(kernel_size, rank), holes[-rank:], letters)
        pads = [*pads[:-2], [0, 0], *pads[-2:]] if isinstance(pads, list) else pads
        y = separable_conv2d_today(x, depthwise, pointwise, strided, pads, format_of(data_format, 2), holes)
        y = squeeze(y, [letters.index("W")]) if flat else y
        if use_bias:
            wish = Wish(bias_initializer, bias_regularizer, bias_constraint)
            y = bias_add(y, layer_variable("bias", [filters], wish, trainable), letters)
        return activated(y, activation, activity_regularizer)


separable_conv1d = with_first(
    _separable,
    1,
    "separable_conv1d",
    "A convolution of each channel [batch, length, channels], one over them, and so on.",
)
separable_conv2d = with_first(
    _separable, 2, "separable_conv2d", "A convolution of each channel by itself, one over them, a bias, an activation."
)


def transposed_lengths(
    x: Tensor, filters: int, sizes: Sequence[int], steps: Sequence[int], padding: str, letters: str
) -> list[Any]:
    """The lengths of the result of a transposed convolution of `x`, computed where they are not known."""
    computed = None if x.shape.is_fully_defined() else shape(x)
    lengths = [n if n is not None or computed is None else computed[i] for i, n in enumerate(x.shape.as_list())]
    made: dict[str, Any] = dict(zip(letters, lengths, strict=True)) | {"C": filters}
    for axis, size, step in zip([a for a in letters if a not in "NC"], sizes, steps, strict=True):
        made[axis] = made[axis] * step + (max(size - step, 0) if padding == "VALID" else 0)
    return [made[a] for a in letters]
