"""Convolutional layers of `tf.contrib.layers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ..arguments import with_first
from ..layers.convolution import FORMATS, as_lengths, transposed_lengths
from ..layers.variables import ZEROS, Maker, Wish, layer_scope
from .arguments import add_arg_scope
from .basic import Scope
from .finishing import Collections, Options, finished, model_variable, with_biases
from .initializers import xavier_initializer

Lengths = int | Sequence[int]


def _conv(
    rank: int,
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Lengths,
    stride: Lengths = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Lengths = 1,
    activation_fn: Maker = pb.nn.relu,
    normalizer_fn: Maker = None,
    normalizer_params: Options = None,
    weights_initializer: Maker = None,
    weights_regularizer: Maker = None,
    biases_initializer: Maker = ZEROS,
    biases_regularizer: Maker = None,
    reuse: bool | str | None = None,
    variables_collections: object = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    scope: Scope = None,
) -> pb.Tensor:
    x, letters = pb.convert_to_tensor(inputs), data_format or FORMATS[rank][0]
    with layer_scope(scope, "Conv", x, reuse):
        wish = Wish(weights_initializer or xavier_initializer(), weights_regularizer)
        sizes = [*as_lengths(kernel_size, rank), x.shape.as_list()[letters.index("C")], num_outputs]
        weights = model_variable("weights", sizes, wish, trainable, variables_collections)
        y = pb.nn.convolution(x, weights, as_lengths(stride, rank), padding.upper(), letters, as_lengths(rate, rank))
        initializer = None if normalizer_fn is not None else biases_initializer
        y = with_biases(y, num_outputs, initializer, biases_regularizer, trainable, letters, variables_collections)
        return finished(y, normalizer_fn, normalizer_params, activation_fn, outputs_collections)


_AND_THEN = "biases or a normalizer, an activation."
conv1d = add_arg_scope(with_first(_conv, 1, "conv1d", f"A convolution over [batch, length, channels], {_AND_THEN}"))
conv2d = add_arg_scope(with_first(_conv, 2, "conv2d", f"A convolution of images, {_AND_THEN}"))
conv3d = add_arg_scope(
    with_first(_conv, 3, "conv3d", f"A convolution over [batch, depth, height, width, channels], {_AND_THEN}")
)
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d


def _transposed(
    rank: int,
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Lengths,
    stride: Lengths = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    activation_fn: Maker = pb.nn.relu,
    normalizer_fn: Maker = None,
    normalizer_params: Options = None,
    weights_initializer: Maker = None,
    weights_regularizer: Maker = None,
    biases_initializer: Maker = ZEROS,
    biases_regularizer: Maker = None,
    reuse: bool | str | None = None,
    variables_collections: object = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    scope: Scope = None,
) -> pb.Tensor:
    x, letters = pb.convert_to_tensor(inputs), data_format or FORMATS[rank][0]
    sizes, steps = as_lengths(kernel_size, rank), as_lengths(stride, rank)
    with layer_scope(scope, f"Conv{rank}d_transpose", x, reuse):
        wish = Wish(weights_initializer or xavier_initializer(), weights_regularizer)
        depth = x.shape.as_list()[letters.index("C")]
        weights = model_variable("weights", [*sizes, num_outputs, depth], wish, trainable, variables_collections)
        made = transposed_lengths(x, num_outputs, sizes, steps, padding.upper(), letters)
        y = pb.nn.conv_transpose(x, weights, made, steps, padding.upper(), letters)
        initializer = None if normalizer_fn is not None else biases_initializer
        y = with_biases(y, num_outputs, initializer, biases_regularizer, trainable, letters, variables_collections)
        return finished(y, normalizer_fn, normalizer_params, activation_fn, outputs_collections)


conv2d_transpose = add_arg_scope(
    with_first(_transposed, 2, "conv2d_transpose", f"A transposed convolution of images, {_AND_THEN}")
)
conv3d_transpose = add_arg_scope(
    with_first(_transposed, 3, "conv3d_transpose", f"A transposed convolution over volumes, {_AND_THEN}")
)
convolution2d_transpose, convolution3d_transpose = conv2d_transpose, conv3d_transpose


@add_arg_scope
def separable_conv2d(
    inputs: TensorLike,
    num_outputs: int | None,
    kernel_size: Lengths,
    depth_multiplier: int = 1,
    stride: Lengths = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Lengths = 1,
    activation_fn: Maker = pb.nn.relu,
    normalizer_fn: Maker = None,
    normalizer_params: Options = None,
    weights_initializer: Maker = None,
    pointwise_initializer: Maker = None,
    weights_regularizer: Maker = None,
    biases_initializer: Maker = ZEROS,
    biases_regularizer: Maker = None,
    reuse: bool | str | None = None,
    variables_collections: object = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    scope: Scope = None,
) -> pb.Tensor:
    """A convolution of each channel by itself, and over the channels unless `num_outputs` is None."""
    x, steps, holes = pb.convert_to_tensor(inputs), as_lengths(stride, 2), as_lengths(rate, 2)
    strided = [1, *steps, 1] if data_format == "NHWC" else [1, 1, *steps]
    depth = x.shape.as_list()[data_format.index("C")]
    with layer_scope(scope, "SeparableConv2d", x, reuse):
        initializer = weights_initializer or xavier_initializer()
        wish = Wish(initializer, weights_regularizer)
        sizes = [*as_lengths(kernel_size, 2), depth, depth_multiplier]
        depthwise = model_variable("depthwise_weights", sizes, wish, trainable, variables_collections)
        between = (depth or 0) * depth_multiplier
        if num_outputs is None:
            y = pb.nn.depthwise_conv2d(x, depthwise, strided, padding.upper(), data_format, holes)
        else:
            wish = Wish(pointwise_initializer or initializer, weights_regularizer)
            pointwise = model_variable(
                "pointwise_weights", [1, 1, between, num_outputs], wish, trainable, variables_collections
            )
            y = pb.nn.separable_conv2d(x, depthwise, pointwise, strided, padding.upper(), data_format, holes)
        biases = None if normalizer_fn is not None else biases_initializer
        y = with_biases(
            y, num_outputs or between, biases, biases_regularizer, trainable, data_format, variables_collections
        )
        return finished(y, normalizer_fn, normalizer_params, activation_fn, outputs_collections)


separable_convolution2d = separable_conv2d


@add_arg_scope
def convolution(inputs: TensorLike, num_outputs: int, kernel_size: Lengths, *args: Any, **options: Any) -> pb.Tensor:
    """A convolution along one to three axes, as many as `inputs` has between batch and channels; as `conv2d`."""
    rank = (pb.convert_to_tensor(inputs).shape.rank or 4) - 2
    return _conv(rank, inputs, num_outputs, kernel_size, *args, **options)


@add_arg_scope
def convolution2d_in_plane(
    inputs: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    activation_fn: Maker = pb.nn.relu,
    normalizer_fn: Maker = None,
    normalizer_params: Options = None,
    weights_initializer: Maker = None,
    weights_regularizer: Maker = None,
    biases_initializer: Maker = ZEROS,
    biases_regularizer: Maker = None,
    reuse: bool | str | None = None,
    variables_collections: object = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    scope: Scope = None,
) -> pb.Tensor:
    """The same convolution of each channel by itself: weights [height, width, 1, 1].

    >>> import pullback.compat.v1 as tf
    >>> y = tf.contrib.layers.conv2d_in_plane(tf.ones([1, 4, 4, 3]), [2, 1], padding="VALID")
    >>> y.shape, tf.trainable_variables()[0].shape
    (TensorShape([1, 3, 4, 3]), TensorShape([2, 1, 1, 1]))
    """
    x, (high, wide) = pb.convert_to_tensor(inputs), as_lengths(kernel_size, 2)
    depth, steps = x.shape.size(-1), as_lengths(stride, 2)
    with layer_scope(scope, "ConvInPlane", x, reuse):
        wish = Wish(weights_initializer or xavier_initializer(), weights_regularizer)
        weights = model_variable("weights", [high, wide, 1, 1], wish, trainable, variables_collections)
        y = pb.nn.depthwise_conv2d(x, pb.tile(weights, [1, 1, depth, 1]), [1, *steps, 1], padding.upper())
        biases = None if normalizer_fn is not None else biases_initializer
        y = with_biases(y, depth, biases, biases_regularizer, trainable, "NHWC", variables_collections)
        return finished(y, normalizer_fn, normalizer_params, activation_fn, outputs_collections)


conv2d_in_plane = convolution2d_in_plane
