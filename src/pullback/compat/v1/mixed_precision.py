"""Loss scales of TensorFlow 1 (`tf.mixed_precision`, `tf.train.experimental`).

Its rewrite of graphs in 16 bits is `pullback.mixed_precision` here; that of version 1 is asked for by an optimizer.

>>> import pullback.compat.v1 as tf
>>> optimizer = tf.train.AdamOptimizer(1e-3)
>>> type(tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer)).__name__
'LossScaleOptimizer'
>>> tf.mixed_precision.disable_mixed_precision_graph_rewrite()
"""

from __future__ import annotations

from typing import Any

from ...optimizers.loss_scale import AbstractLossScale as LossScale
from ...optimizers.loss_scale import DynamicLossScale as DynamicLossScale
from ...optimizers.loss_scale import FixedLossScale as FixedLossScale
from ...optimizers.loss_scale import LossScaleOptimizer as MixedPrecisionLossScaleOptimizer

__all__ = [
    "DynamicLossScale",
    "FixedLossScale",
    "LossScale",
    "MixedPrecisionLossScaleOptimizer",
    "disable_mixed_precision_graph_rewrite",
    "enable_mixed_precision_graph_rewrite",
]


def enable_mixed_precision_graph_rewrite(
    opt: Any, loss_scale: float | str | LossScale = "dynamic"
) -> MixedPrecisionLossScaleOptimizer:
    """The optimizer with a loss scale. What it trains is computed as it is written; see `pullback.mixed_precision`.

    Raises:
        ValueError: the optimizer has one already, or the scale is another text.
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError("enable_mixed_precision_graph_rewrite: the optimizer has a loss scale already; pass it once")
    if loss_scale == "dynamic":
        return MixedPrecisionLossScaleOptimizer(opt, DynamicLossScale())
    if isinstance(loss_scale, str):
        raise ValueError(
            f"enable_mixed_precision_graph_rewrite: loss_scale must be 'dynamic', a number or a LossScale, not "
            f"{loss_scale!r}"
        )
    scale = loss_scale if isinstance(loss_scale, LossScale) else FixedLossScale(loss_scale)
    return MixedPrecisionLossScaleOptimizer(opt, scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """No effect: graphs are computed as they are written."""
