"""ResNet with identity mappings (He et al., 2016): units normalize before they convolve.

>>> import pullback.compat.v1 as tf
>>> slim, nets = tf.contrib.slim, tf.contrib.slim.nets
>>> with slim.arg_scope(nets.resnet_v2.resnet_arg_scope()):
...     y, points = nets.resnet_v2.resnet_v2_50(tf.placeholder(tf.float32, [2, 64, 64, 3]), 10, is_training=False)
>>> y.shape.as_list(), points["resnet_v2_50/block4"].shape.as_list()
([2, 1, 1, 10], [2, 2, 2, 2048])
"""

from __future__ import annotations

from typing import Any

import pullback as pb

from ..arguments import add_arg_scope
from ..layers import batch_norm, conv2d
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
    """A unit of three convolutions on the normalized input, added to the input as it is."""
    with pb.variable_scope(scope, "bottleneck_v2", [inputs]) as around:
        before = batch_norm(inputs, activation_fn=pb.nn.relu, scope="preact")
        plain = {"stride": 1, "normalizer_fn": None, "activation_fn": None}
        if depth == inputs.shape.size(-1):
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(before, depth, [1, 1], **{**plain, "stride": stride}, scope="shortcut")
        x = conv2d(before, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        x = conv2d_same(x, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        y = shortcut + conv2d(x, depth, [1, 1], **plain, scope="conv3")
        return collect_named_outputs(outputs_collections, around.name, y)


resnet_v2 = resnet_of("resnet_v2", bottleneck, normalizes_first=True)
resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = [
    resnet_of_layers(resnet_v2, bottleneck, n) for n in (50, 101, 152, 200)
]
