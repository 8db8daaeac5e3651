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
from .distribution import FULLY_REPARAMETERIZED
from .parametrized import AbstractParametrized


class Logistic(AbstractParametrized):
    """The distribution whose distribution function is `sigmoid((x - loc) / scale)`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:
        self.loc, self.scale = operands(loc, scale)
        super().__init__(self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.loc + self.scale

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        x = self._standard(value)
        return -x - 2.0 * pb.nn.softplus(-x) - pb.log(self.scale)

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        return pb.sigmoid(self._standard(value))

    def _log_cdf(self, value: pb.Tensor) -> pb.Tensor:
        return -pb.nn.softplus(-self._standard(value))

    def _survival_function(self, value: pb.Tensor) -> pb.Tensor:
        return pb.sigmoid(-self._standard(value))

    def _log_survival_function(self, value: pb.Tensor) -> pb.Tensor:
        return -pb.nn.softplus(self._standard(value))

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        u = pb.random_uniform(lengths, _tiny(self.loc), 1.0, dtype=self.loc.dtype, seed=seed)
        return self.loc + self.scale * (pb.log(u) - pb.log1p(-u))

    def _mean(self) -> pb.Tensor:
        return self.loc + pb.zeros_like(self.scale)

    def _variance(self) -> pb.Tensor:
        return pb.square(self.scale) * (math.pi**2 / 3.0) + pb.zeros_like(self.loc)

    def _entropy(self) -> pb.Tensor:
        return 2.0 + pb.log(self.scale) + pb.zeros_like(self.loc)

    def _mode(self) -> pb.Tensor:
        return self._mean()

    def _standard(self, value: pb.Tensor) -> pb.Tensor:
        return (value - self.loc) / self.scale


class RelaxedBernoulli(AbstractParametrized):
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
        self.logits, self.probs = of_yes_or_no("RelaxedBernoulli", logits, probs, validate_args)
        super().__init__(self.probs.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        self.temperature = pb.convert_to_tensor(temperature, self.dtype)
        self._before = Logistic(self.logits / self.temperature, 1.0 / self.temperature)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self._before.parameters_like

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        logits = pb.log(value) - pb.log1p(-value)
        return self._before.log_prob(logits) - pb.log(value) - pb.log1p(-value)

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        return self._before.cdf(pb.log(value) - pb.log1p(-value))

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        return pb.sigmoid(self._before.drawn(count, lengths, seed))


def _tiny(x: pb.Tensor) -> float:
    """The smallest normal number of the dtype."""
    kind: Any = x.type.dtype
    return float(np.finfo(kind).tiny)
