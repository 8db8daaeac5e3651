"""Fully connected layers of `tf.contrib.layers` by other names: `linear`, `relu`, `relu6`, `elu`."""

from __future__ import annotations

from typing import Any

from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....primitives.activations.rectifiers import elu as elu_of
from ....primitives.activations.rectifiers import relu as relu_of
from ....primitives.activations.rectifiers import relu6 as relu6_of
from .arguments import add_arg_scope
from .basic import fully_connected


@add_arg_scope
def linear(inputs: TensorLike, num_outputs: int, **options: Any) -> Tensor:
    """`fully_connected` without an activation.

    >>> import pullback.compat.v1 as tf
    >>> tf.contrib.layers.linear(tf.ones([2, 3]), 4).shape
    TensorShape([2, 4])
    """
    return fully_connected(inputs, num_outputs, activation_fn=None, **options)


@add_arg_scope
def relu(inputs: TensorLike, num_outputs: int, **options: Any) -> Tensor:
    """`fully_connected`, cut off below 0: a layer with weights, and not `tf.nn.relu`."""
    return fully_connected(inputs, num_outputs, activation_fn=relu_of, **options)


@add_arg_scope
def relu6(inputs: TensorLike, num_outputs: int, **options: Any) -> Tensor:
    """`fully_connected`, cut off below 0 and above 6."""
    return fully_connected(inputs, num_outputs, activation_fn=relu6_of, **options)


@add_arg_scope
def elu(inputs: TensorLike, num_outputs: int, **options: Any) -> Tensor:
    """`fully_connected` with exponential linear units."""
    return fully_connected(inputs, num_outputs, activation_fn=elu_of, **options)
