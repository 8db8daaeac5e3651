"""Deterministic distribution: what always gives one value.

>>> import pullback.compat.v1 as tf
>>> d = tf.contrib.distributions.Deterministic(3.0)
>>> tf.Session().run([d.prob(3.0), d.cdf(2.0), d.sample()])
[np.float32(1.0), np.float32(0.0), np.float32(3.0)]
"""

from __future__ import annotations

import pullback as pb

from ....core.typing import TensorLike
from .distribution import Distribution


class Deterministic(Distribution):
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
        del validate_args
        self.loc = pb.convert_to_tensor(loc)
        super().__init__(self.loc.dtype, name, allow_nan_stats)
        self.atol, self.rtol = [pb.convert_to_tensor(0 if x is None else x, self.loc.dtype) for x in (atol, rtol)]

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.loc

    @property
    def _slack(self) -> pb.Tensor:
        return self.atol + self.rtol * pb.abs(self.loc)

    def prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, self.loc.dtype)
        return pb.cast(pb.abs(x - self.loc) <= self._slack, self.loc.dtype, name=name)

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return pb.log(self.prob(value), name=name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, self.loc.dtype)
        return pb.cast(x >= self.loc - self._slack, self.loc.dtype, name=name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count, seed
        return pb.broadcast_to(self.loc, lengths)

    def mean(self, name: str | None = None) -> pb.Tensor:
        return pb.identity(self.loc, name=name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return pb.zeros_like(self.loc, name=name)

    def entropy(self, name: str | None = None) -> pb.Tensor:
        return pb.zeros_like(self.loc, name=name)

    def mode(self, name: str | None = None) -> pb.Tensor:
        return self.mean(name)
