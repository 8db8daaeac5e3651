"""Fully connected layers of `tf.contrib.layers` by other names: `linear`, `relu`, `relu6`, `elu`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ..layers.variables import ZEROS, Maker, Wish, layer_scope, layer_variable
from .arguments import add_arg_scope
from .basic import Scope, fully_connected
from .finishing import Collections, finished
from .initializers import xavier_initializer


@add_arg_scope
def linear(inputs: TensorLike, num_outputs: int, **options: Any) -> pb.Tensor:
    """`fully_connected` without an activation.

    >>> import pullback.compat.v1 as tf
    >>> tf.contrib.layers.linear(tf.ones([2, 3]), 4).shape
    TensorShape([2, 4])
    """
    return fully_connected(inputs, num_outputs, activation_fn=None, **options)


@add_arg_scope
def relu(inputs: TensorLike, num_outputs: int, **options: Any) -> pb.Tensor:
    """`fully_connected`, cut off below 0: a layer with weights, and not `tf.nn.relu`."""
    return fully_connected(inputs, num_outputs, activation_fn=pb.nn.relu, **options)


@add_arg_scope
def relu6(inputs: TensorLike, num_outputs: int, **options: Any) -> pb.Tensor:
    """`fully_connected`, cut off below 0 and above 6."""
    return fully_connected(inputs, num_outputs, activation_fn=pb.nn.relu6, **options)


@add_arg_scope
def elu(inputs: TensorLike, num_outputs: int, **options: Any) -> pb.Tensor:
    """`fully_connected` with exponential linear units."""
    return fully_connected(inputs, num_outputs, activation_fn=pb.nn.elu, **options)


def legacy_fully_connected(
    x: TensorLike,
    num_output_units: int,
    activation_fn: Maker = None,
    weight_init: Maker = None,
    bias_init: Maker = ZEROS,
    name: Scope = None,
    weight_collections: str | Sequence[str] = (pb.GraphKeys.WEIGHTS,),
    bias_collections: str | Sequence[str] = (pb.GraphKeys.BIASES,),
    output_collections: Collections = (pb.GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Maker = None,
    bias_regularizer: Maker = None,
) -> pb.Tensor:
    """`activation_fn(x @ weights + bias)` along the last axis; without bias if `bias_init` is None.

    >>> import pullback.compat.v1 as tf
    >>> y = tf.contrib.layers.legacy_fully_connected(tf.ones([2, 3]), 4)
    >>> y.shape, [v.op.name for v in tf.trainable_variables()]
    (TensorShape([2, 4]), ['fully_connected/weights', 'fully_connected/bias'])
    """
    given = pb.convert_to_tensor(x)
    with layer_scope(name, "fully_connected", given, None):
        wish = Wish(weight_init or xavier_initializer(), weight_regularizer)
        weights = layer_variable("weights", [given.shape.size(-1), num_output_units], wish, trainable)
        pb.add_to_collections(weight_collections, weights)
        y: Any = pb.tensordot(given, weights, 1)
        if bias_init is not None:
            bias = layer_variable("bias", [num_output_units], Wish(bias_init, bias_regularizer), trainable)
            pb.add_to_collections(bias_collections, bias)
            y = y + bias
        return finished(y, None, None, activation_fn, output_collections)


def legacy_linear(x: TensorLike, num_output_units: int, **options: Any) -> pb.Tensor:
    """`legacy_fully_connected` without an activation."""
    return legacy_fully_connected(x, num_output_units, None, **options)


def legacy_relu(x: TensorLike, num_output_units: int, **options: Any) -> pb.Tensor:
    """`legacy_fully_connected`, cut off below 0."""
    return legacy_fully_connected(x, num_output_units, pb.nn.relu, **options)
