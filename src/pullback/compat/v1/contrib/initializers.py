"""Initializers and regularizers of `tf.contrib.layers`."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
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


def l1_regularizer(scale: float | pb.Tensor, scope: str | None = None) -> Callable[..., Any]:
    """A function that returns `scale * sum(|w|)`; None for a scale of 0.

    Raises:
        ValueError: the scale is an integer, or negative.
    """
    return _scaled("l1_regularizer", scale, scope, lambda w: pb.reduce_sum(abs(w)))


def l2_regularizer(scale: float | pb.Tensor, scope: str | None = None) -> Callable[..., Any]:
    """A function that returns `scale * sum(w**2) / 2`; None for a scale of 0.

    Raises:
        ValueError: the scale is an integer, or negative.
    """
    return _scaled("l2_regularizer", scale, scope, pb.nn.l2_loss)


def _scaled(
    kind: str, scale: Any, scope: str | None, size: Callable[[pb.Tensor], pb.Tensor]
) -> Callable[..., pb.Tensor | None]:
    if not isinstance(scale, pb.Tensor):
        if isinstance(scale, Integral) or scale < 0.0:
            raise ValueError(f"{kind}: scale must be a float of at least 0, not {scale!r}")
        if scale == 0.0:
            return lambda _: None

    def regularizer(weights: Any, name: str | None = None) -> pb.Tensor:
        w = pb.convert_to_tensor(weights)
        with w.graph.acting.within(name or scope or kind) as around:
            return pb.multiply(pb.convert_to_tensor(scale, w.dtype), size(w), name=around)

    return regularizer
