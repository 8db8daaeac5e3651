"""ResNet with identity mappings (He et al., 2016): units normalize before they convolve.

>>> import pullback.compat.v1 as tf
>>> slim, nets = tf.contrib.slim, tf.contrib.slim.nets
>>> with slim.arg_scope(nets.resnet_v2.resnet_arg_scope()):
...     y, points = nets.resnet_v2.resnet_v2_50(tf.placeholder(tf.float32, [2, 64, 64, 3]), 10, is_training=False)
>>> y.shape.as_list(), points["resnet_v2_50/block4"].shape.as_list()
([2, 1, 1, 10], [2, 2, 2, 2048])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from .....core.typing import TensorLike
from ..arguments import add_arg_scope, arg_scope
from ..layers import batch_norm, conv2d, max_pool2d, softmax
from ..utils import collect_named_outputs, convert_collection_to_dict
from .resnet_utils import Block, blocks_of, conv2d_same, stack_blocks_dense, subsample
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


def resnet_v2(
    inputs: TensorLike,
    blocks: Sequence[Block],
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: str | None = None,
) -> tuple[pb.Tensor, dict[str, pb.Tensor]]:
    """The network of these blocks, and its layers by name; logits [n, 1, 1, num_classes] where there are classes.

    Raises:
        ValueError: `output_stride` cannot be reached.
    """
    with pb.variable_scope(scope, "resnet_v2", [inputs], reuse=reuse) as around:
        points = f"{around.name}_end_points"
        layers: list[Any] = [conv2d, bottleneck, stack_blocks_dense]
        with arg_scope(layers, outputs_collections=points), arg_scope([batch_norm], is_training=is_training):
            x: Any = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4:
                        raise ValueError(f"output_stride must be a multiple of 4, not {output_stride}")
                    output_stride //= 4
                with arg_scope([conv2d], activation_fn=None, normalizer_fn=None):
                    x = conv2d_same(x, 64, 7, stride=2, scope="conv1")
                x = max_pool2d(x, [3, 3], stride=2, scope="pool1")
            x = stack_blocks_dense(x, blocks, output_stride)
            x = batch_norm(x, activation_fn=pb.nn.relu, scope="postnorm")
            if global_pool:
                x = pb.reduce_mean(x, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                x = conv2d(x, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            found = convert_collection_to_dict(points)
            if num_classes is not None:
                found["predictions"] = softmax(x, scope="predictions")
            return x, found


def _network(layers: int) -> Callable[..., tuple[pb.Tensor, dict[str, pb.Tensor]]]:
    def network(
        inputs: TensorLike,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: Any = None,
        scope: str | None = f"resnet_v2_{layers}",
    ) -> tuple[pb.Tensor, dict[str, pb.Tensor]]:
        blocks = blocks_of(bottleneck, layers)
        options = (num_classes, is_training, global_pool, output_stride)
        return resnet_v2(inputs, blocks, *options, include_root_block=True, reuse=reuse, scope=scope)

    network.__doc__ = f"The network with {layers} layers; see `resnet_v2`."
    network.__name__ = network.__qualname__ = f"resnet_v2_{layers}"
    network.default_image_size = 224  # type: ignore[attr-defined]
    return network


resnet_v2_50, resnet_v2_101 = _network(50), _network(101)
resnet_v2_152, resnet_v2_200 = _network(152), _network(200)
