"""Spatial layers of `tf.contrib.layers`: points of features, images as sequences, pools by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ..layers.convolution import as_lengths
from ..layers.variables import Wish
from .arguments import add_arg_scope
from .finishing import Collections, model_variable, noted


@add_arg_scope
def spatial_softmax(
    features: TensorLike,
    temperature: float | None = None,
    name: str | None = None,
    variables_collections: object = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> pb.Tensor:
    """For each channel of images where it is largest, from -1 to 1: [batch, channels * 2], row and column in turn.

    It is the mean of all positions, weighted by the softmax of the channel over a temperature, which is a variable.

    Source: C. Finn et al., "Deep spatial autoencoders for visuomotor learning", 2016.

    Raises:
        ValueError: the number of channels is not known.

    >>> import pullback.compat.v1 as tf
    >>> image = tf.constant([[[[0.0], [0.0]], [[0.0], [50.0]]]])
    >>> y = tf.contrib.layers.spatial_softmax(image)
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     print(session.run(y))
    [[1. 1.]]
    """
    x = pb.convert_to_tensor(features)
    x = x if data_format == "NCHW" else pb.transpose(x, [0, 3, 1, 2])
    channels = x.shape.size(1)
    if channels is None:
        raise ValueError(f"spatial_softmax: the number of channels of {x.type} must be known")
    begin = pb.ones_initializer() if temperature is None else pb.constant_initializer(temperature)
    with pb.variable_scope(name, "spatial_softmax"):
        heat: Any = model_variable("temperature", [], Wish(begin), trainable, variables_collections)
    high, wide = [pb.shape(x)[i] if n is None else n for i, n in enumerate(x.shape.as_list())][2:]
    weights = pb.reshape(pb.math.softmax(pb.reshape(x, [-1, high * wide]) / heat), [-1, channels, high, wide])
    rows = pb.reduce_sum(pb.reduce_sum(weights, 3) * pb.lin_space(-1.0, 1.0, high), 2)
    columns = pb.reduce_sum(pb.reduce_sum(weights, 2) * pb.lin_space(-1.0, 1.0, wide), 2)
    return pb.reshape(pb.stack([rows, columns], 2), [-1, channels * 2])


@add_arg_scope
def images_to_sequence(
    inputs: TensorLike, data_format: str = "NHWC", outputs_collections: Collections = None, scope: str | None = None
) -> pb.Tensor:
    """Images [batch, height, width, depth] as sequences of their columns: [width, batch * height, depth]."""
    x = pb.convert_to_tensor(inputs)
    x = pb.transpose(x, [2, 0, 1, 3] if data_format == "NHWC" else [3, 0, 2, 1])
    y = pb.reshape(x, [_length(x, 0), -1, _length(x, 3)], name=scope)
    return noted(y, outputs_collections)


@add_arg_scope
def sequence_to_images(
    inputs: TensorLike,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Collections = None,
    scope: str | None = None,
) -> pb.Tensor:
    """Sequences [width, batch * height, depth] as images [batch, height, width, depth]: `images_to_sequence` back."""
    x = pb.convert_to_tensor(inputs)
    parts = pb.reshape(x, [_length(x, 0), -1, height, _length(x, 2)])
    y = pb.transpose(parts, [1, 2, 0, 3] if output_data_format == "channels_last" else [1, 3, 2, 0], name=scope)
    return noted(y, outputs_collections)


@add_arg_scope
def pool(
    inputs: TensorLike,
    kernel_size: int | Sequence[int],
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    outputs_collections: Collections = None,
    scope: str | None = None,
) -> pb.Tensor:
    """The largest element, or the mean, of each window along one to three axes: "MAX" or "AVG"."""
    x = pb.convert_to_tensor(inputs)
    window, steps, holes = [as_lengths(n, (x.shape.rank or 4) - 2) for n in (kernel_size, stride, dilation_rate)]
    y = pb.nn.pool(x, window, pooling_type, steps, padding, data_format, holes, scope)
    return noted(y, outputs_collections)


def _length(x: pb.Tensor, axis: int) -> Any:
    known = x.shape.size(axis)
    return pb.shape(x)[axis] if known is None else known
