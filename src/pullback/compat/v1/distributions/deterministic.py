"""Deterministic distribution: what always gives one value.

>>> import pullback.compat.v1 as tf
>>> d = tf.contrib.distributions.Deterministic(3.0)
>>> tf.Session().run([d.prob(3.0), d.cdf(2.0), d.sample()])
[np.float32(1.0), np.float32(0.0), np.float32(3.0)]
"""

from __future__ import annotations

import pullback as pb

from ....core.typing import TensorLike
from .distribution import FULLY_REPARAMETERIZED
from .parametrized import AbstractParametrized


class Deterministic(AbstractParametrized):
    """`loc`, whatever is drawn; what is within `atol + rtol |loc|` of it has the probability 1."""

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        self.loc = pb.convert_to_tensor(loc)
        super().__init__(self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        self.atol, self.rtol = [pb.convert_to_tensor(0 if x is None else x, self.loc.dtype) for x in (atol, rtol)]

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.loc

    @property
    def _slack(self) -> pb.Tensor:
        return self.atol + self.rtol * pb.abs(self.loc)

    def _prob(self, value: pb.Tensor) -> pb.Tensor:
        return pb.cast(pb.abs(value - self.loc) <= self._slack, self.loc.dtype)

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        return pb.cast(value >= self.loc - self._slack, self.loc.dtype)

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count, seed
        return pb.broadcast_to(self.loc, lengths)

    def _mean(self) -> pb.Tensor:
        return pb.identity(self.loc)

    def _variance(self) -> pb.Tensor:
        return pb.zeros_like(self.loc)

    def _entropy(self) -> pb.Tensor:
        return pb.zeros_like(self.loc)

    def _mode(self) -> pb.Tensor:
        return self._mean()
