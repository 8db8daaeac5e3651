"""Fully connected layers, dropout, flattening."""

from __future__ import annotations

import math
from typing import Any

from ....control_flow.conditional import cond
from ....core.dtypes import INEXACT
from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....layers.variables.scope import VariableScope
from ....primitives.activations.bias import bias_add
from ....primitives.creation.constant import constant_value, convert_to_tensor
from ....primitives.identity.identity import identity
from ....primitives.linalg.matmul import matmul
from ....primitives.linalg.tensordot import tensordot
from ....primitives.random.dropout import dropout as dropout_today
from ....primitives.shape.reshape import reshape
from ....primitives.shape.size import shape
from ....primitives.shape.transpose import transpose
from .variables import ZEROS, Maker, Named, Wish, activated, layer_scope, layer_variable


def dense(
    inputs: TensorLike,
    units: int,
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
    """`activation(inputs @ kernel + bias)` along the last axis of `inputs`, whose length must be known.

    Raises:
        TypeError: the inputs are integers, truth values or texts: so would be the variables.
    """
    x = convert_to_tensor(inputs)
    if x.dtype not in INEXACT:
        raise TypeError(f"dense: a layer of floats takes floats, not {x}; convert it with tf.cast")
    with layer_scope(name, "dense", x, reuse):
        wish = Wish(kernel_initializer, kernel_regularizer, kernel_constraint)
        kernel = layer_variable("kernel", [x.shape.size(-1), int(units)], wish, trainable)
        y = matmul(x, kernel) if x.shape.rank == 2 else tensordot(x, kernel, 1)
        if use_bias:
            wish = Wish(bias_initializer, bias_regularizer, bias_constraint)
            y = bias_add(y, layer_variable("bias", [int(units)], wish, trainable))
        return activated(y, activation, activity_regularizer)


def dropout(
    inputs: TensorLike,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: TensorLike | bool = False,
    name: str | VariableScope | None = None,
    reuse: bool | str | None = None,
) -> Tensor:
    """`inputs`; where `training`, each element is dropped with probability `rate`, and the others are made larger."""
    x = convert_to_tensor(inputs)
    with layer_scope(name, "dropout", x, reuse):
        y: Tensor = while_training(
            training, lambda: dropout_today(x, rate, noise_shape, seed, "dropout"), lambda: identity(x)
        )
        return y


def while_training(training: TensorLike | bool, then: Any, otherwise: Any) -> Any:
    """What `then` makes where `training`, be it known or computed in a run, else what `otherwise` makes."""
    known = is_training(training)
    if known is None:
        return cond(training, then, otherwise)
    return then() if known else otherwise()


def is_training(training: TensorLike | bool) -> bool | None:
    """Whether a layer is trained; None where a run says so."""
    known = training if isinstance(training, bool | int) else constant_value(convert_to_tensor(training))
    return None if known is None else bool(known)


def flatten(
    inputs: TensorLike,
    name: str | VariableScope | None = None,
    data_format: str = "channels_last",
    reuse: bool | str | None = None,
) -> Tensor:
    """`inputs` with all axes but the first as one; with "channels_first" in the order of "channels_last"."""
    x = convert_to_tensor(inputs)
    rank = x.shape.rank
    with layer_scope(name, "flatten", x, reuse):
        if data_format == "channels_first" and rank is not None and rank > 2:
            x = transpose(x, [0, *range(2, rank), 1])
        rest = [None] if rank is None else x.shape[1:].as_list()
        return reshape(x, [shape(x)[0], -1] if None in rest else [-1, math.prod(rest)])
