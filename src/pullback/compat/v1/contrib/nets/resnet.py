"""Residual networks of both versions: a root, blocks of units, a mean over the image, and logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from .....core.typing import TensorLike
from ..arguments import arg_scope
from ..layers import batch_norm, conv2d, max_pool2d, softmax
from ..utils import convert_collection_to_dict
from .resnet_utils import Block, blocks_of, conv2d_same, stack_blocks_dense

Network = Callable[..., tuple[pb.Tensor, dict[str, pb.Tensor]]]


def resnet_of(version: str, bottleneck: Callable[..., Any], *, normalizes_first: bool) -> Network:
    """The function that makes networks of one version; with `normalizes_first` only the last result is normalized."""

    def resnet(
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
        with pb.variable_scope(scope, version, [inputs], reuse=reuse) as around:
            points = f"{around.name}_end_points"
            layers: list[Any] = [conv2d, bottleneck, stack_blocks_dense]
            with arg_scope(layers, outputs_collections=points), arg_scope([batch_norm], is_training=is_training):
                x: Any = inputs
                if include_root_block:
                    if output_stride is not None:
                        if output_stride % 4:
                            raise ValueError(f"output_stride must be a multiple of 4, not {output_stride}")
                        output_stride //= 4
                    bare = {"activation_fn": None, "normalizer_fn": None} if normalizes_first else {}
                    with arg_scope([conv2d], **bare):
                        x = conv2d_same(x, 64, 7, stride=2, scope="conv1")
                    x = max_pool2d(x, [3, 3], stride=2, scope="pool1")
                x = stack_blocks_dense(x, blocks, output_stride)
                if normalizes_first:
                    x = batch_norm(x, activation_fn=pb.nn.relu, scope="postnorm")
                if global_pool:
                    x = pb.reduce_mean(x, [1, 2], name="pool5", keepdims=True)
                if num_classes is not None:
                    x = conv2d(x, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
                found = convert_collection_to_dict(points)
                if num_classes is not None:
                    found["predictions"] = softmax(x, scope="predictions")
                return x, found

    resnet.__doc__ = """The network of these blocks, and its layers by name.

    Gives logits [n, 1, 1, num_classes] where there are classes.

    Raises:
        ValueError: `output_stride` cannot be reached.
    """
    resnet.__name__ = resnet.__qualname__ = version
    return resnet


def resnet_of_layers(resnet: Network, bottleneck: Callable[..., Any], layers: int) -> Network:
    """The network of one version with that many layers."""
    version = resnet.__name__

    def network(
        inputs: TensorLike,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: Any = None,
        scope: str | None = f"{version}_{layers}",
    ) -> tuple[pb.Tensor, dict[str, pb.Tensor]]:
        blocks = blocks_of(bottleneck, layers)
        options = (num_classes, is_training, global_pool, output_stride)
        return resnet(inputs, blocks, *options, include_root_block=True, reuse=reuse, scope=scope)

    network.__doc__ = f"The network with {layers} layers; see `{version}`."
    network.__name__ = network.__qualname__ = f"{version}_{layers}"
    network.default_image_size = 224  # type: ignore[attr-defined]
    return network
