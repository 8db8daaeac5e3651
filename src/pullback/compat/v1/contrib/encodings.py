"""Layers of `tf.contrib.layers` without weights of their own, and embeddings."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import ShapeLike, TensorLike
from ..layers.variables import ZEROS, Maker, Wish, layer_scope
from ..nn import embedding_lookup, safe_embedding_lookup_sparse
from .arguments import add_arg_scope
from .basic import Scope
from .finishing import Collections, finished, model_variable, noted


@add_arg_scope
def bias_add(
    inputs: TensorLike,
    activation_fn: Maker = None,
    initializer: Maker = ZEROS,
    regularizer: Maker = None,
    reuse: bool | str | None = None,
    variables_collections: object = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Scope = None,
) -> pb.Tensor:
    """`inputs` plus one variable for each channel, [..., channels]."""
    del variables_collections
    x = pb.convert_to_tensor(inputs)
    depth = x.shape.as_list()[1 if data_format == "NCHW" else -1]
    with layer_scope(scope, "BiasAdd", x, reuse):
        biases = model_variable("biases", [depth], Wish(initializer, regularizer), trainable)
        return finished(pb.nn.bias_add(x, biases, data_format), None, None, activation_fn, outputs_collections)


@add_arg_scope
def one_hot_encoding(
    labels: TensorLike,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Collections = None,
    scope: str | None = None,
) -> pb.Tensor:
    """`on_value` where the class is that of the label, `off_value` elsewhere, [..., num_classes].

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.layers.one_hot_encoding([1, 0], 2)).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    encoded = pb.one_hot(labels, num_classes, on_value, off_value, name=scope)
    return noted(encoded, outputs_collections)


@add_arg_scope
def maxout(inputs: TensorLike, num_units: int, axis: int = -1, scope: str | None = None) -> pb.Tensor:
    """The largest of the elements of each of `num_units` equal pieces of `inputs` along `axis`.

    Raises:
        ValueError: the length along `axis` is no multiple of `num_units`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.layers.maxout(tf.constant([[1.0, 5.0, 3.0, 2.0]]), 2)).tolist()
    [[5.0, 3.0]]
    """
    x = pb.convert_to_tensor(inputs)
    place = axis % len(x.shape)
    length = x.shape.as_list()[place]
    if length is None or length % num_units:
        raise ValueError(f"maxout: {length} elements are no multiple of {num_units} units")
    lengths, pieces = pb.shape(x), [num_units, length // num_units]
    return pb.reduce_max(
        pb.reshape(x, pb.concat([lengths[:place], pieces, lengths[place + 1 :]], 0)), place + 1, name=scope
    )


def embed_sequence(
    ids: TensorLike,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Maker = None,
    trainable: bool = True,
    scope: Scope = None,
    reuse: bool | str | None = None,
) -> pb.Tensor:
    """The rows of a variable `embeddings` [vocab_size, embed_dim] that `ids` [batch, steps] name.

    Raises:
        ValueError: `vocab_size` or `embed_dim` is not given, and the variable is not reused.

    >>> import pullback.compat.v1 as tf
    >>> tf.contrib.layers.embed_sequence([[0, 2]], 3, 4).shape
    TensorShape([1, 2, 4])
    """
    del unique
    if not reuse and (vocab_size is None or embed_dim is None):
        raise ValueError("embed_sequence: give vocab_size= and embed_dim=, or reuse=True with a scope=")
    lengths: ShapeLike | None = None if vocab_size is None or embed_dim is None else [vocab_size, embed_dim]
    with pb.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        table = pb.get_variable(
            "embeddings", lengths, initializer=initializer, regularizer=regularizer, trainable=trainable
        )
        return pb.gather(table, ids)


@in_graph_of_inputs
def scale_gradient(inputs: TensorLike, gradient_multiplier: TensorLike) -> pb.Tensor:
    """`inputs`, whose derivative is multiplied.

    Derivative: dinputs = dy * gradient_multiplier.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.constant(3.0)
    >>> tf.Session().run(tf.gradients(tf.contrib.layers.scale_gradient(x, 0.5) ** 2, x))
    [np.float32(3.0)]
    """

    @pb.custom_gradient
    def scaled(x: Any, factor: Any) -> Any:
        return pb.identity(x), lambda dy: (dy * factor, None)

    x = pb.convert_to_tensor(inputs)
    y: pb.Tensor = scaled(x, pb.convert_to_tensor(gradient_multiplier, x.dtype))
    return y


@add_arg_scope
def dense_to_sparse(
    tensor: TensorLike, eos_token: int = 0, outputs_collections: Collections = None, scope: str | None = None
) -> pb.SparseTensor:
    """The elements that are not `eos_token`, with their places, as labels of `ctc_loss` are given."""
    del outputs_collections, scope
    x = pb.convert_to_tensor(tensor)
    kept = pb.not_equal(x, eos_token)
    return pb.SparseTensor(pb.cast(pb.where(kept), pb.int64), pb.boolean_mask(x, kept), pb.shape(x, pb.int64))


def embedding_lookup_unique(
    params: Any, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None
) -> pb.Tensor:
    """The rows of tables for `ids` of any shape, each read once."""
    numbers = pb.convert_to_tensor(ids)
    found = pb.unique(pb.reshape(numbers, [-1]))
    rows = pb.gather(embedding_lookup(params, found.y, partition_strategy), found.idx)
    y = pb.reshape(rows, pb.concat([pb.shape(numbers), pb.shape(rows)[1:]], 0), name=name)
    y.set_shape(numbers.shape.concatenate(rows.shape[1:]))
    return y


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
) -> pb.Tensor:
    """The mean of the rows of a variable `embeddings` for the words of each text [batch, words].

    With `sparse_lookup` words of the number 0 do not count, unless a text has no others.

    >>> import pullback.compat.v1 as tf
    >>> tf.contrib.layers.bow_encoder([[1, 2, 0], [3, 0, 0]], 4, 5).shape
    TensorShape([2, 5])
    """
    if not vocab_size or not embed_dim:
        raise ValueError("bow_encoder: give vocab_size and embed_dim")
    with pb.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = model_variable("embeddings", [vocab_size, embed_dim], Wish(initializer, regularizer), trainable)
    if not sparse_lookup:
        return pb.reduce_mean(pb.gather(table, ids), 1)
    sparse = ids if isinstance(ids, pb.SparseTensor) else dense_to_sparse(ids)
    return safe_embedding_lookup_sparse(table, sparse, combiner="mean", default_id=0)
