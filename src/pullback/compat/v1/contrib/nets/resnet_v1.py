"""ResNet (He et al., 2015): convolutions that are normalized, then rectified, added to their inputs.

>>> import pullback.compat.v1 as tf
>>> slim, nets = tf.contrib.slim, tf.contrib.slim.nets
>>> with slim.arg_scope(nets.resnet_v1.resnet_arg_scope()):
...     y, points = nets.resnet_v1.resnet_v1_50(tf.placeholder(tf.float32, [2, 64, 64, 3]), 10, is_training=False)
>>> y.shape.as_list(), points["resnet_v1_50/block4"].shape.as_list()
([2, 1, 1, 10], [2, 2, 2, 2048])
"""

from __future__ import annotations

from typing import Any

import pullback as pb

from ..arguments import add_arg_scope
from ..layers import conv2d
from ..utils import collect_named_outputs
from .resnet import resnet_of, resnet_of_layers
from .resnet_utils import conv2d_same, subsample
from .resnet_utils import resnet_arg_scope as resnet_arg_scope


@add_arg_scope
def bottleneck(
    inputs: pb.Tensor,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> pb.Tensor:
    """A unit of three convolutions, of `depth_bottleneck` channels but for the last, added to its input."""
    with pb.variable_scope(scope, "bottleneck_v1", [inputs]) as around:
        if depth == inputs.shape.size(-1):
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        x = conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        x = conv2d_same(x, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        x = conv2d(x, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        y = pb.nn.relu(shortcut + x)
        return collect_named_outputs(outputs_collections, around.name, y)


resnet_v1 = resnet_of("resnet_v1", bottleneck, normalizes_first=False)
resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = [
    resnet_of_layers(resnet_v1, bottleneck, n) for n in (50, 101, 152, 200)
]
