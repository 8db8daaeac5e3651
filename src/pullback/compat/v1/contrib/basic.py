"""Layers of `tf.contrib.layers`: with activations, normalizers, and variables `weights` and `biases`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.named_functions import named
from ....core.typing import TensorLike
from ..layers.core import dropout as dropped
from ..layers.core import flatten as flattened
from ..layers.normalization import batch_normalization
from ..layers.pooling import average_pooling2d, average_pooling3d, max_pooling2d, max_pooling3d
from ..layers.variables import ZEROS, Maker, Wish, layer_scope, layer_variable
from .arguments import add_arg_scope
from .finishing import Collections, Options, finished, model_variable, note_model_variable, with_biases
from .initializers import l1_regularizer as l1_regularizer
from .initializers import l2_regularizer as l2_regularizer
from .initializers import variance_scaling_initializer as variance_scaling_initializer
from .initializers import xavier_initializer as xavier_initializer
from .initializers import xavier_initializer_conv2d as xavier_initializer_conv2d
from .utils import collect_named_outputs

Scope = str | pb.VariableScope | None


@add_arg_scope
def fully_connected(
    inputs: TensorLike,
    num_outputs: int,
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
    """`activation_fn(inputs @ weights + biases)` along the last axis; with a normalizer in place of the biases."""
    x = pb.convert_to_tensor(inputs)
    with layer_scope(scope, "fully_connected", x, reuse):
        wish = Wish(weights_initializer or xavier_initializer(), weights_regularizer)
        weights = model_variable("weights", [x.shape.size(-1), num_outputs], wish, trainable, variables_collections)
        y = pb.matmul(x, weights) if x.shape.rank == 2 else pb.tensordot(x, weights, 1)
        biases = None if normalizer_fn is not None or biases_initializer is None else biases_initializer
        y = with_biases(y, num_outputs, biases, biases_regularizer, trainable, "NHWC", variables_collections)
        return finished(y, normalizer_fn, normalizer_params, activation_fn, outputs_collections)


@in_graph_of_inputs
@add_arg_scope
def batch_norm(
    inputs: TensorLike,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Maker = None,
    param_initializers: Options = None,
    param_regularizers: Options = None,
    updates_collections: Collections = pb.GraphKeys.UPDATE_OPS,
    is_training: TensorLike | bool = True,
    reuse: bool | str | None = None,
    variables_collections: object = None,
    outputs_collections: Collections = None,
    trainable: bool = True,
    batch_weights: object = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Scope = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> pb.Tensor:
    """Batch normalization; with `updates_collections=None` the moving means follow whenever the result is computed.

    Of vectors too, unless `fused=False`, the moving variance is that of what a batch is a sample of.

    Raises:
        NotImplementedError: `batch_weights` are given.
    """
    if batch_weights is not None:
        raise NotImplementedError("batch_norm: there are no batch_weights")
    vectors = pb.convert_to_tensor(inputs)
    is_fused = vectors.shape.rank in (2, 4) and fused is not False and not renorm and adjustment is None
    as_images = vectors.shape.rank == 2 and is_fused
    begins_with_beta = as_images or zero_debias_moving_mean or updates_collections != pb.GraphKeys.UPDATE_OPS
    x = vectors[:, None, None] if as_images else vectors
    noted = x.graph.acting.get_collection(pb.GraphKeys.UPDATE_OPS)
    makers = {f"{name}_initializer": maker for name, maker in (param_initializers or {}).items()}
    makers |= {f"{name}_regularizer": maker for name, maker in (param_regularizers or {}).items()}
    with pb.variable_scope(scope, "BatchNorm", [x], reuse=reuse, auxiliary_name_scope=False) as around:
        pass
    axis = -1 if data_format == "NHWC" or as_images else 1
    if center and is_fused and begins_with_beta:
        _make_beta_first(x, around, reuse, makers, trainable, axis)
        reuse = reuse or pb.AUTO_REUSE
    y = batch_normalization(
        x,
        axis=axis,
        momentum=decay,
        epsilon=epsilon,
        center=center,
        scale=scale,
        training=is_training,
        trainable=trainable,
        name=around,
        reuse=reuse,
        fused=fused,
        renorm=renorm,
        renorm_clipping=renorm_clipping,
        renorm_momentum=renorm_decay,
        adjustment=adjustment,
        **makers,
    )
    y = y[:, 0, 0] if as_images else y
    for variable in around.global_variables():
        note_model_variable(variable, variables_collections)
    updates = [op for op in y.graph.get_collection(pb.GraphKeys.UPDATE_OPS) if op not in noted]
    y = _updating(y, updates, updates_collections)
    y = y if activation_fn is None else activation_fn(y)
    return collect_named_outputs(outputs_collections, around.name, y)


def _make_beta_first(
    x: pb.Tensor, around: pb.VariableScope, reuse: Any, makers: dict[str, Any], trainable: bool, axis: int
) -> None:
    """Make the variable `beta` before `gamma`, as TensorFlow does for vectors, and for updates apart."""
    wish = Wish(makers.get("beta_initializer", ZEROS), makers.get("beta_regularizer"))
    with layer_scope(around, "", x, reuse, pb.float32 if x.dtype.itemsize == 2 else x.dtype):
        layer_variable("beta", [x.shape.size(axis)], wish, trainable)


def _updating(y: pb.Tensor, updates: Sequence[pb.Operation], collections: Collections) -> pb.Tensor:
    """`y`, whose `updates` are put into `collections`, or are made whenever it is computed."""
    if collections is None:
        for update in updates:
            update.graph.collections[pb.GraphKeys.UPDATE_OPS].remove(update)
        with y.graph.control_dependencies(updates):
            return pb.identity(y)
    if collections != pb.GraphKeys.UPDATE_OPS:
        for update in updates:
            pb.add_to_collections(collections, update)
    return y


@in_graph_of_inputs
@add_arg_scope
def dropout(
    inputs: TensorLike,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: TensorLike | bool = True,
    outputs_collections: Collections = None,
    scope: str | None = None,
    seed: int | None = None,
) -> pb.Tensor:
    """`inputs`; where `is_training`, each element is kept with probability `keep_prob`, and made larger."""
    with pb.variable_scope(scope, "Dropout") as around:
        y = dropped(inputs, 1 - keep_prob, noise_shape, seed, is_training, around)
        return collect_named_outputs(outputs_collections, around.name, y)


@add_arg_scope
def flatten(inputs: TensorLike, outputs_collections: Collections = None, scope: str | None = None) -> pb.Tensor:
    """`inputs` with all axes but the first as one."""
    with pb.variable_scope(scope, "Flatten") as around:
        y = flattened(inputs, around)
        return collect_named_outputs(outputs_collections, around.original_name_scope[:-1], y)


def _pooling(name: str, around: str, doc: str, pool: Callable[..., pb.Tensor], form: str) -> Callable[..., pb.Tensor]:
    def pooled(
        inputs: TensorLike,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 2,
        padding: str = "VALID",
        data_format: str = form,
        outputs_collections: Collections = None,
        scope: str | None = None,
    ) -> pb.Tensor:
        with pb.variable_scope(scope, around) as entered:
            order = "channels_first" if data_format.startswith("NC") else "channels_last"
            y = pool(inputs, kernel_size, stride, padding, order, entered)
            return collect_named_outputs(outputs_collections, entered.original_name_scope[:-1], y)

    return add_arg_scope(named(name, doc, pooled))


_OF_VOLUMES = "of each window of [batch, depth, height, width, channels]."
max_pool2d = _pooling("max_pool2d", "MaxPool2D", "The largest element of each window.", max_pooling2d, "NHWC")
avg_pool2d = _pooling("avg_pool2d", "AvgPool2D", "The mean of each window.", average_pooling2d, "NHWC")
max_pool3d = _pooling("max_pool3d", "MaxPool3D", f"The largest element {_OF_VOLUMES}", max_pooling3d, "NDHWC")
avg_pool3d = _pooling("avg_pool3d", "AvgPool3D", f"The mean {_OF_VOLUMES}", average_pooling3d, "NDHWC")


def repeat(inputs: TensorLike, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A layer so many times, one on the result of the other: scopes `conv1/conv1_1`, `conv1/conv1_2`, ...

    Without a scope they are named after the layer: `Repeat/conv2d_1`, `Repeat_1/conv2d_1`.
    """
    return _layers(inputs, layer, [args] * repetitions, "Repeat", kwargs)


def stack(inputs: TensorLike, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """A layer for each of `stack_args`, one on the result of the other: scopes `fc/fc_1`, `fc/fc_2`, ...

    Without a scope they are named after the layer: `Stack/fully_connected_1`, `Stack_1/fully_connected_1`.
    """
    rows = [args if isinstance(args, list | tuple) else [args] for args in stack_args]
    return _layers(inputs, layer, rows, "Stack", kwargs)


def _layers(
    inputs: TensorLike, layer: Callable[..., Any], rows: Sequence[Any], around: str, options: dict[str, Any]
) -> Any:
    scope = options.pop("scope", None)
    named_after = layer.func if isinstance(layer, partial) else layer
    name = scope or getattr(named_after, "__name__", around.lower())
    with pb.variable_scope(scope, around, [inputs]):
        x: Any = pb.convert_to_tensor(inputs)
        for i, args in enumerate(rows):
            x = layer(x, *args, scope=f"{name}_{i + 1}", **options)
        return x


def softmax(logits: TensorLike, scope: str | None = None) -> pb.Tensor:
    """The softmax of `logits` along the last axis."""
    return pb.math.softmax(logits, name=scope)
