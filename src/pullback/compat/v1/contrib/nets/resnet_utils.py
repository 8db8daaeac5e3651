"""Residual networks: blocks of units, convolutions with strides that keep the middle, arguments of layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pullback as pb

from ..arguments import add_arg_scope, arg_scope
from ..initializers import l2_regularizer, variance_scaling_initializer
from ..layers import batch_norm, conv2d, max_pool2d
from ..utils import collect_named_outputs


class Block(NamedTuple):
    """Units of one kind, one on the result of the other, with the arguments of each."""

    scope: str
    unit_fn: Callable[..., Any]
    args: Sequence[Mapping[str, Any]]


def subsample(inputs: pb.Tensor, factor: int, scope: str | None = None) -> pb.Tensor:
    """Every `factor`-th row and column."""
    found: pb.Tensor = inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)
    return found


def conv2d_same(
    inputs: pb.Tensor, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: str | None = None
) -> pb.Tensor:
    """A convolution with as many zeros on each side, whatever the length of the image."""
    if stride == 1:
        y: pb.Tensor = conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
        return y
    around = (kernel_size - 1) * rate
    sides = [around // 2, around - around // 2]
    x = pb.pad(inputs, [[0, 0], sides, sides, [0, 0]])
    z: pb.Tensor = conv2d(x, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)
    return z


@add_arg_scope
def stack_blocks_dense(
    net: pb.Tensor, blocks: Sequence[Block], output_stride: int | None = None, outputs_collections: Any = None
) -> pb.Tensor:
    """The blocks, one on the result of the other; once `output_stride` is reached, strides are rates instead.

    Raises:
        ValueError: the strides do not come to `output_stride`.
    """
    stride, rate = 1, 1
    for block in blocks:
        with pb.variable_scope(block.scope, "block", [net]) as around:
            for i, unit in enumerate(block.args, 1):
                if output_stride is not None and stride > output_stride:
                    raise ValueError(f"the target output_stride {output_stride} cannot be reached")
                with pb.variable_scope(f"unit_{i}", values=[net]):
                    if stride == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        stride *= unit.get("stride", 1)
            net = collect_named_outputs(outputs_collections, around.name, net)
    if output_stride is not None and stride != output_stride:
        raise ValueError(f"the target output_stride {output_stride} cannot be reached")
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Any:
    """The arguments of the layers: rectified, normalized, with decaying weights."""
    options = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": pb.GraphKeys.UPDATE_OPS,
    }
    of_convolutions = {
        "weights_regularizer": l2_regularizer(weight_decay),
        "weights_initializer": variance_scaling_initializer(),
        "activation_fn": pb.nn.relu,
        "normalizer_fn": batch_norm,
        "normalizer_params": options,
    }
    with (
        arg_scope([conv2d], **of_convolutions),
        arg_scope([batch_norm], **options),
        arg_scope([max_pool2d], padding="SAME") as found,
    ):
        return found


SIZES = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}
"""How many units the four blocks of a network have, by the number of its layers."""


def blocks_of(bottleneck: Callable[..., Any], layers: int) -> list[Block]:
    """The four blocks of a network with that many layers; the last unit of a block has its stride."""
    found = []
    for i, count in enumerate(SIZES[layers], 1):
        widths = {"depth": 256 << (i - 1), "depth_bottleneck": 64 << (i - 1)}
        units = [{**widths, "stride": 1}] * (count - 1) + [{**widths, "stride": 2 if i < 4 else 1}]
        found.append(Block(f"block{i}", bottleneck, units))
    return found
