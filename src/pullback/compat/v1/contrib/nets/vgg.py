"""VGG (Simonyan and Zisserman, 2014): blocks of 3 x 3 convolutions, and dense layers that are convolutions.

>>> import pullback.compat.v1 as tf
>>> slim, vgg = tf.contrib.slim, tf.contrib.slim.nets.vgg
>>> with slim.arg_scope(vgg.vgg_arg_scope()):
...     logits, points = vgg.vgg_a(tf.placeholder(tf.float32, [None, 224, 224, 3]), num_classes=10)
>>> logits.shape.as_list(), points["vgg_a/conv1/conv1_1"].shape.as_list()
([None, 10], [None, 224, 224, 64])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from .....core.typing import TensorLike
from ..arguments import arg_scope
from ..initializers import l2_regularizer
from ..layers import conv2d, dropout, fully_connected, max_pool2d, repeat
from ..utils import convert_collection_to_dict


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """The arguments of the layers: rectified, with decaying weights, as large as their inputs."""
    decay = l2_regularizer(weight_decay)
    options = {"activation_fn": pb.nn.relu, "weights_regularizer": decay, "biases_initializer": pb.zeros_initializer()}
    with arg_scope([conv2d, fully_connected], **options), arg_scope([conv2d], padding="SAME") as found:
        return found


def _vgg(
    name: str,
    counts: Sequence[int],
    inputs: TensorLike,
    num_classes: int,
    is_training: Any,
    dropout_keep_prob: float,
    spatial_squeeze: bool,
    scope: str | None,
) -> tuple[pb.Tensor, dict[str, pb.Tensor]]:
    with pb.variable_scope(scope, name, [inputs]) as around:
        points = f"{around.name}_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=points):
            x: Any = inputs
            for i, (count, width) in enumerate(zip(counts, (64, 128, 256, 512, 512), strict=True), 1):
                x = repeat(x, count, conv2d, width, [3, 3], scope=f"conv{i}")
                x = max_pool2d(x, [2, 2], scope=f"pool{i}")
            x = conv2d(x, 4096, [7, 7], padding="VALID", scope="fc6")
            x = dropout(x, dropout_keep_prob, is_training=is_training, scope="dropout6")
            x = conv2d(x, 4096, [1, 1], scope="fc7")
            x = dropout(x, dropout_keep_prob, is_training=is_training, scope="dropout7")
            x = conv2d(x, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8")
        found = convert_collection_to_dict(points)
        if spatial_squeeze:
            x = pb.squeeze(x, [1, 2], name="fc8/squeezed")
            found[f"{around.name}/fc8"] = x
        return x, found


def vgg_a(
    inputs: TensorLike,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str | None = "vgg_a",
) -> tuple[pb.Tensor, dict[str, pb.Tensor]]:
    """Logits and all layers, by name, of the network with 11 layers for images of 224 x 224."""
    return _vgg("vgg_a", (1, 1, 2, 2, 2), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope)


def vgg_16(
    inputs: TensorLike,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str | None = "vgg_16",
) -> tuple[pb.Tensor, dict[str, pb.Tensor]]:
    """The same, of the network with 16 layers."""
    return _vgg("vgg_16", (2, 2, 3, 3, 3), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope)


def vgg_19(
    inputs: TensorLike,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str | None = "vgg_19",
) -> tuple[pb.Tensor, dict[str, pb.Tensor]]:
    """The same, of the network with 19 layers."""
    return _vgg("vgg_19", (2, 2, 4, 4, 4), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope)


vgg_d, vgg_e = vgg_16, vgg_19
for _network in (vgg_a, vgg_16, vgg_19):
    _network.default_image_size = 224  # type: ignore[attr-defined]
