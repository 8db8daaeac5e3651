"""Layers of `tf.contrib.layers` of single planes, points and sequences of images; embeddings of bags of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....control_flow.custom_gradient import custom_gradient
from ....core.dtypes import int64
from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....layers.variables.initializers import Constant, Ones
from ....layers.variables.scope import variable_scope
from ....primitives.activations.rectifiers import relu
from ....primitives.activations.softmax import softmax
from ....primitives.casting.cast import cast
from ....primitives.convolution.conv import depthwise_conv2d
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.ranges import linspace
from ....primitives.identity.identity import identity
from ....primitives.indexing.gather import boolean_mask, gather
from ....primitives.indexing.where import where
from ....primitives.logic.comparison import not_equal
from ....primitives.pooling.argmax import pool as pooled
from ....primitives.reduction.reduce import reduce_mean, reduce_sum
from ....primitives.sets.unique import unique
from ....primitives.shape.reshape import reshape
from ....primitives.shape.size import shape
from ....primitives.shape.stacking import stack
from ....primitives.shape.tile import tile
from ....primitives.shape.transpose import transpose
from ....primitives.sparse.sparse_tensor import SparseTensor
from ..layers.convolution import as_lengths
from ..layers.variables import ZEROS, Maker, Wish, layer_scope
from ..nn import embedding_lookup, safe_embedding_lookup_sparse
from .arguments import add_arg_scope
from .basic import Scope
from .finishing import Collections, Options, finished, model_variable, with_biases
from .initializers import xavier_initializer


@add_arg_scope
def convolution2d_in_plane(
    inputs: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    activation_fn: Maker = relu,
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
) -> Tensor:
    """The same convolution of each channel by itself: weights [height, width, 1, 1].

    >>> import pullback.compat.v1 as tf
    >>> y = tf.contrib.layers.conv2d_in_plane(tf.ones([1, 4, 4, 3]), [2, 1], padding="VALID")
    >>> y.shape, tf.trainable_variables()[0].shape
    (TensorShape([1, 3, 4, 3]), TensorShape([2, 1, 1, 1]))
    """
    x, (high, wide) = convert_to_tensor(inputs), as_lengths(kernel_size, 2)
    depth, steps = x.shape.size(-1), as_lengths(stride, 2)
    with layer_scope(scope, "ConvInPlane", x, reuse):
        wish = Wish(weights_initializer or xavier_initializer(), weights_regularizer)
        weights = model_variable("weights", [high, wide, 1, 1], wish, trainable, variables_collections)
        y = depthwise_conv2d(x, tile(weights, [1, 1, depth, 1]), [1, *steps, 1], padding)
        biases = None if normalizer_fn is not None else biases_initializer
        y = with_biases(y, depth, biases, biases_regularizer, trainable, "NHWC", variables_collections)
        return finished(y, normalizer_fn, normalizer_params, activation_fn, outputs_collections)


conv2d_in_plane = convolution2d_in_plane


@add_arg_scope
def spatial_softmax(
    features: TensorLike,
    temperature: float | None = None,
    name: str | None = None,
    variables_collections: object = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Tensor:
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
    x = convert_to_tensor(features)
    x = x if data_format == "NCHW" else transpose(x, [0, 3, 1, 2])
    channels = x.shape.size(1)
    if channels is None:
        raise ValueError(f"spatial_softmax: the number of channels of {x.type} must be known")
    begin = Ones() if temperature is None else Constant(temperature)
    with variable_scope(name, "spatial_softmax"):
        heat: Any = model_variable("temperature", [], Wish(begin), trainable, variables_collections)
    high, wide = [shape(x)[i] if n is None else n for i, n in enumerate(x.shape.as_list())][2:]
    weights = reshape(softmax(reshape(x, [-1, high * wide]) / heat), [-1, channels, high, wide])
    rows = reduce_sum(reduce_sum(weights, 3) * linspace(-1.0, 1.0, high), 2)
    columns = reduce_sum(reduce_sum(weights, 2) * linspace(-1.0, 1.0, wide), 2)
    return reshape(stack([rows, columns], 2), [-1, channels * 2])


def scale_gradient(inputs: TensorLike, gradient_multiplier: TensorLike) -> Tensor:
    """`inputs`, whose derivative is multiplied.

    Derivative: dinputs = dy * gradient_multiplier.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.constant(3.0)
    >>> tf.Session().run(tf.gradients(tf.contrib.layers.scale_gradient(x, 0.5) ** 2, x))
    [np.float32(3.0)]
    """

    @custom_gradient
    def scaled(x: Any, factor: Any) -> Any:
        return identity(x), lambda dy: (dy * factor, None)

    x = convert_to_tensor(inputs)
    y: Tensor = scaled(x, convert_to_tensor(gradient_multiplier, x.dtype))
    return y


@add_arg_scope
def images_to_sequence(
    inputs: TensorLike, data_format: str = "NHWC", outputs_collections: Collections = None, scope: str | None = None
) -> Tensor:
    """Images [batch, height, width, depth] as sequences of their columns: [width, batch * height, depth]."""
    x = convert_to_tensor(inputs)
    x = transpose(x, [2, 0, 1, 3] if data_format == "NHWC" else [3, 0, 2, 1])
    y = reshape(x, [_length(x, 0), -1, _length(x, 3)], name=scope)
    return finished(y, None, None, None, outputs_collections)


@add_arg_scope
def sequence_to_images(
    inputs: TensorLike,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Collections = None,
    scope: str | None = None,
) -> Tensor:
    """Sequences [width, batch * height, depth] as images [batch, height, width, depth]: `images_to_sequence` back."""
    x = convert_to_tensor(inputs)
    parts = reshape(x, [_length(x, 0), -1, height, _length(x, 2)])
    y = transpose(parts, [1, 2, 0, 3] if output_data_format == "channels_last" else [1, 3, 2, 0], name=scope)
    return finished(y, None, None, None, outputs_collections)


@add_arg_scope
def dense_to_sparse(
    tensor: TensorLike, eos_token: int = 0, outputs_collections: Collections = None, scope: str | None = None
) -> SparseTensor:
    """The elements that are not `eos_token`, with their places, as labels of `ctc_loss` are given."""
    del outputs_collections, scope
    x = convert_to_tensor(tensor)
    kept = not_equal(x, eos_token)
    return SparseTensor(cast(where(kept), int64), boolean_mask(x, kept), shape(x, int64))


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
) -> Tensor:
    """The largest element, or the mean, of each window along one to three axes: "MAX" or "AVG"."""
    x = convert_to_tensor(inputs)
    window, steps, holes = [as_lengths(n, (x.shape.rank or 4) - 2) for n in (kernel_size, stride, dilation_rate)]
    y = pooled(x, window, pooling_type, steps, padding, data_format, holes, scope)
    return finished(y, None, None, None, outputs_collections)


def embedding_lookup_unique(
    params: Any, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None
) -> Tensor:
    """The rows of tables for `ids` of any shape, each read once."""
    numbers = convert_to_tensor(ids)
    found = unique(reshape(numbers, [-1]))
    rows = gather(embedding_lookup(params, found.y, partition_strategy), found.idx)
    lengths = [_length(numbers, i) for i in range(numbers.shape.rank or 0)]
    return reshape(rows, [*lengths, *rows.shape[1:].as_list()], name=name)


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Maker = None,
    trainable: bool = True,
    scope: Scope = None,
    reuse: bool | str | None = None,
) -> Tensor:
    """The mean of the rows of a variable `embeddings` for the words of each text [batch, words].

    With `sparse_lookup` words of the number 0 do not count, unless a text has no others.

    >>> import pullback.compat.v1 as tf
    >>> tf.contrib.layers.bow_encoder([[1, 2, 0], [3, 0, 0]], 4, 5).shape
    TensorShape([2, 5])
    """
    if not vocab_size or not embed_dim:
        raise ValueError("bow_encoder: give vocab_size and embed_dim")
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = model_variable("embeddings", [vocab_size, embed_dim], Wish(initializer, regularizer), trainable)
    if not sparse_lookup:
        return reduce_mean(gather(table, ids), 1)
    sparse = ids if isinstance(ids, SparseTensor) else dense_to_sparse(ids)
    return safe_embedding_lookup_sparse(table, sparse, combiner="mean", default_id=0)


def _length(x: Tensor, axis: int) -> Any:
    known = x.shape.size(axis)
    return shape(x)[axis] if known is None else known
