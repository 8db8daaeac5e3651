"""The logistic distribution, and Bernoulli's relaxed: numbers near 0 and 1 whose draws can be differentiated.

Source of the latter: C. Maddison, A. Mnih, Y. W. Teh, "The concrete distribution", ICLR 2017.

>>> import pullback.compat.v1 as tf
>>> ds = tf.contrib.distributions
>>> tf.Session().run([ds.Logistic(1.0, 2.0).cdf(1.0), ds.RelaxedBernoulli(0.5, probs=0.5).cdf(0.5)])
[np.float32(0.5), np.float32(0.5)]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pullback as pb

from ....core.typing import TensorLike
from ....primitives.base.broadcasting import operands
from .discrete import of_yes_or_no
from .distribution import Distribution, named


class Logistic(Distribution):
    """The distribution whose distribution function is `sigmoid((x - loc) / scale)`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:
        del validate_args
        self.loc, self.scale = operands(loc, scale)
        super().__init__(self.loc.dtype, name, allow_nan_stats)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.loc + self.scale

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = self._standard(value)
        return named(-x - 2.0 * pb.nn.softplus(-x) - pb.log(self.scale), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return pb.sigmoid(self._standard(value), name=name)

    def log_cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(-pb.nn.softplus(-self._standard(value)), name)

    def survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return pb.sigmoid(-self._standard(value), name=name)

    def log_survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(-pb.nn.softplus(self._standard(value)), name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        u = pb.random_uniform(lengths, _tiny(self.loc), 1.0, dtype=self.loc.dtype, seed=seed)
        return self.loc + self.scale * (pb.log(u) - pb.log1p(-u))

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(self.loc + pb.zeros_like(self.scale), name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return named(pb.square(self.scale) * (math.pi**2 / 3.0) + pb.zeros_like(self.loc), name)

    def entropy(self, name: str | None = None) -> pb.Tensor:
        return named(2.0 + pb.log(self.scale) + pb.zeros_like(self.loc), name)

    def mode(self, name: str | None = None) -> pb.Tensor:
        return self.mean(name)

    def _standard(self, value: TensorLike) -> pb.Tensor:
        return (pb.convert_to_tensor(value, dtype_hint=self.loc.dtype) - self.loc) / self.scale


class RelaxedBernoulli(Distribution):
    """Numbers between 0 and 1, nearer to these the lower `temperature` is; to 1 with probability `probs`."""

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ) -> None:
        del validate_args
        self.logits, self.probs = of_yes_or_no("RelaxedBernoulli", logits, probs)
        super().__init__(self.probs.dtype, name, allow_nan_stats)
        self.temperature = pb.convert_to_tensor(temperature, self.dtype)
        self._before = Logistic(self.logits / self.temperature, 1.0 / self.temperature)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self._before.parameters_like

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        logits = pb.log(x) - pb.log1p(-x)
        return named(self._before.log_prob(logits) - pb.log(x) - pb.log1p(-x), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        return self._before.cdf(pb.log(x) - pb.log1p(-x), name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        return pb.sigmoid(self._before.drawn(count, lengths, seed))

    def mean(self, name: str | None = None) -> pb.Tensor:
        raise self._absent("mean")


def _tiny(x: pb.Tensor) -> float:
    """The smallest normal number of the dtype."""
    kind: Any = x.type.dtype
    return float(np.finfo(kind).tiny)
