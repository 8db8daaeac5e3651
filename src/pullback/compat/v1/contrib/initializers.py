"""Initializers and regularizers of `tf.contrib.layers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb

from ....core.typing import DTypeLike

_CUT = 0.87962566103423978
"""The deviation of a normal distribution that is cut off at two deviations: contrib does not make up for it."""


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: DTypeLike = pb.float32,
) -> pb.variance_scaling_initializer:
    """Numbers of variance `factor / n`, n being the number of inputs, of outputs, or their mean."""
    fan: Any = mode.lower()
    if uniform:
        return pb.variance_scaling_initializer(factor, fan, "uniform", seed, dtype)
    return pb.variance_scaling_initializer(1.3 * factor * _CUT**2, fan, "truncated_normal", seed, dtype)


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: DTypeLike = pb.float32
) -> pb.variance_scaling_initializer:
    """Numbers of variance 2 / (inputs + outputs): X. Glorot and Y. Bengio, 2010."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def l1_regularizer(scale: float, scope: str | None = None) -> Callable[..., pb.Tensor]:
    """A function that returns `scale * sum(|w|)`."""
    del scope
    return pb.regularizers.l1(scale)


def l2_regularizer(scale: float, scope: str | None = None) -> Callable[..., pb.Tensor]:
    """A function that returns `scale * sum(w**2) / 2`."""
    del scope
    return pb.regularizers.l2(scale / 2.0)
