"""Normalizing layers of `tf.contrib.layers` beside `batch_norm`: of layers, instances, groups, vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ..layers.variables import ONES, ZEROS, Maker, Wish, layer_scope
from .arguments import add_arg_scope
from .finishing import Collections, Options, finished, model_variable

Scope = str | pb.VariableScope | None


@add_arg_scope
def layer_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    activation_fn: Maker = None,
    reuse: bool | str | None = None,
    variables_collections: object = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Scope = None,
) -> pb.Tensor:
    """`inputs` with mean 0 and variance 1 over all axes from `begin_norm_axis` on, times `gamma`, plus `beta`.

    `gamma` and `beta` are of the shape of the axes from `begin_params_axis` on.

    Source: J. L. Ba et al., "Layer normalization", 2016.

    >>> import pullback.compat.v1 as tf
    >>> y = tf.contrib.layers.layer_norm(tf.constant([[1.0, 3.0]]))
    >>> [v.name for v in tf.trainable_variables()]
    ['LayerNorm/beta:0', 'LayerNorm/gamma:0']
    """
    del variables_collections
    x = pb.convert_to_tensor(inputs)
    sizes = x.shape.as_list()
    with layer_scope(scope, "LayerNorm", x, reuse):
        beta = model_variable("beta", sizes[begin_params_axis:], Wish(ZEROS), trainable) if center else None
        gamma = model_variable("gamma", sizes[begin_params_axis:], Wish(ONES), trainable) if scale else None
        first = begin_norm_axis % len(sizes)
        mean, variance = pb.nn.moments(x, list(range(first, len(sizes))), keepdims=True)
        epsilon = 1e-3 if x.dtype == pb.float16 else 1e-12
        y = pb.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)
        return finished(y, None, None, activation_fn, outputs_collections)


@add_arg_scope
def instance_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Maker = None,
    param_initializers: Options = None,
    reuse: bool | str | None = None,
    variables_collections: object = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Scope = None,
) -> pb.Tensor:
    """`inputs` with mean 0 and variance 1 in each channel of each image, times `gamma`, plus `beta`.

    Source: D. Ulyanov et al., "Instance normalization", 2016.

    >>> import pullback.compat.v1 as tf
    >>> y = tf.contrib.layers.instance_norm(tf.constant([[[[1.0], [3.0]]]]))
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     print(session.run(y).ravel().round(3))
    [-1.  1.]
    """
    del variables_collections
    x = pb.convert_to_tensor(inputs)
    sizes = x.shape.as_list()
    place = len(sizes) - 1 if data_format == "NHWC" else 1
    with layer_scope(scope, "InstanceNorm", x, reuse):
        beta, gamma = _parameters(sizes[place], center, scale, param_initializers, trainable)
        along = [1] * place + [sizes[place]] + [1] * (len(sizes) - place - 1)
        mean, variance = pb.nn.moments(x, [i for i in range(1, len(sizes)) if i != place], keepdims=True)
        beta, gamma = (None if v is None else pb.reshape(v, along) for v in (beta, gamma))
        y = pb.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)
        return finished(y, None, None, activation_fn, outputs_collections)


@add_arg_scope
def group_norm(
    inputs: TensorLike,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Maker = None,
    param_initializers: Options = None,
    reuse: bool | str | None = None,
    variables_collections: object = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    scope: Scope = None,
    mean_close_to_zero: bool = False,
) -> pb.Tensor:
    """`inputs` with mean 0 and variance 1 in each of `groups` groups of channels, times `gamma`, plus `beta`.

    Source: Y. Wu and K. He, "Group normalization", 2018.

    Raises:
        ValueError: the number of channels is no multiple of `groups`.
    """
    del variables_collections, mean_close_to_zero
    x = pb.convert_to_tensor(inputs)
    sizes = x.shape.as_list()
    place = channels_axis % len(sizes)
    channels = sizes[place]
    if channels is None or channels % groups:
        raise ValueError(f"group_norm: {channels} channels are no multiple of {groups} groups")
    with layer_scope(scope, "GroupNorm", x, reuse):
        beta, gamma = _parameters(channels, center, scale, param_initializers, trainable)
        lengths = pb.shape(x)
        grouped = pb.reshape(x, pb.concat([lengths[:place], [groups, channels // groups], lengths[place + 1 :]], 0))
        axes = [a % len(sizes) for a in reduction_axes]
        mean, variance = pb.nn.moments(grouped, [*[a + (a > place) for a in axes], place + 1], keepdims=True)
        y = pb.reshape(pb.nn.batch_normalization(grouped, mean, variance, None, None, epsilon), lengths)
        along = [channels if i == place else 1 for i in range(len(sizes))]
        y = y if gamma is None else y * pb.reshape(gamma, along)
        y = y if beta is None else y + pb.reshape(beta, along)
        y.set_shape(sizes)
        return finished(y, None, None, activation_fn, outputs_collections)


@add_arg_scope
def unit_norm(inputs: TensorLike, dim: int, epsilon: float = 1e-7, scope: Scope = None) -> pb.Tensor:
    """`inputs` divided by their length along the axis `dim`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.layers.unit_norm(tf.constant([[3.0, 4.0]]), 1))
    array([[0.6, 0.8]], dtype=float32)
    """
    del scope
    x = pb.convert_to_tensor(inputs)
    length: Any = pb.sqrt(pb.reduce_sum(pb.square(x), dim, keepdims=True))
    return pb.convert_to_tensor(x / (epsilon + length))


def _parameters(channels: int | None, center: bool, scale: bool, makers: Options, trainable: bool) -> tuple[Any, Any]:
    """The variables `beta` and `gamma`, None where they are not wanted."""
    given = makers or {}
    beta = model_variable("beta", [channels], Wish(given.get("beta", ZEROS)), trainable) if center else None
    gamma = model_variable("gamma", [channels], Wish(given.get("gamma", ONES)), trainable) if scale else None
    return beta, gamma
