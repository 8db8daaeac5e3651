"""GraphDef import of normalization, and of TensorFlow's derivatives of it."""

from __future__ import annotations

from typing import Any

from ...autodiff.reverse import gradients
from ...core.operation import Tensor
from ...primitives.identity.identity import identity
from ...primitives.normalization.normalization import (
    batch_norm_with_global_normalization,
    fused_batch_norm,
    local_response_normalization,
)
from ..nodes import REQUIRED, Node, calling, reader

_RESERVED = ("reserve_space_1", "reserve_space_2", "reserve_space_3")

reader("LRN")(calling(local_response_normalization, 1, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5))
reader("BatchNormWithGlobalNormalization")(
    calling(batch_norm_with_global_normalization, 5, variance_epsilon=REQUIRED, scale_after_normalization=REQUIRED)
)


@reader(
    "FusedBatchNorm",
    "FusedBatchNormV2",
    "FusedBatchNormV3",
    outputs=("y", "batch_mean", "batch_variance", *_RESERVED),
)
def fused(node: Node, x: Tensor, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor) -> Any:
    training, factor = node.attribute("is_training", True), node.attribute("exponential_avg_factor", 1.0)
    taken = not training or factor != 1.0
    y, *moments = fused_batch_norm(
        x,
        scale,
        offset,
        mean if taken else None,
        variance if taken else None,
        epsilon=node.attribute("epsilon", 1e-4),
        data_format=node.text("data_format", "NHWC"),
        is_training=training,
        exponential_avg_factor=factor,
    )
    return (identity(y, name=node.exactly), *moments, *moments, moments[1])


@reader(
    "FusedBatchNormGrad",
    "FusedBatchNormGradV2",
    "FusedBatchNormGradV3",
    outputs=("x_backprop", "scale_backprop", "offset_backprop", "reserve_space_4", "reserve_space_5"),
)
def fused_grad(node: Node, dy: Tensor, x: Tensor, scale: Tensor, first: Tensor, second: Tensor, *more: Tensor) -> Any:
    """By the derivative of what is computed again: what the forward node reserves depends on the device."""
    training, offset = node.attribute("is_training", True), identity(scale)
    del more
    y, *_ = fused_batch_norm(
        x,
        scale,
        offset,
        None if training else first,
        None if training else second,
        epsilon=node.attribute("epsilon", 1e-4),
        data_format=node.text("data_format", "NHWC"),
        is_training=training,
    )
    dx, dscale, doffset = gradients(y, [x, scale, offset], dy)
    return (dx, dscale, doffset, dscale, doffset)
