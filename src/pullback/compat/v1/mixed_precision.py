"""Loss scales of TensorFlow 1 (`tf.mixed_precision`); its rewrite of graphs is `pullback.mixed_precision` here."""

from ...optimizers.loss_scale import AbstractLossScale as LossScale
from ...optimizers.loss_scale import DynamicLossScale as DynamicLossScale
from ...optimizers.loss_scale import FixedLossScale as FixedLossScale
from ...optimizers.loss_scale import LossScaleOptimizer as MixedPrecisionLossScaleOptimizer

__all__ = ["DynamicLossScale", "FixedLossScale", "LossScale", "MixedPrecisionLossScaleOptimizer"]
