"""Continuous distributions: normal, uniform, exponential, Laplace's.

>>> import pullback.compat.v1 as tf
>>> d = tf.distributions
>>> several = [d.Normal(1.0, 2.0), d.Uniform(0.0, 4.0), d.Exponential(0.5), d.Laplace(1.0, 2.0)]
>>> tf.Session().run([x.mean() for x in several])
[np.float32(1.0), np.float32(2.0), np.float32(2.0), np.float32(1.0)]
>>> several[0].sample([5, 6]).shape
TensorShape([5, 6])
"""

from __future__ import annotations

import math
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ....primitives.base.broadcasting import operands
from ....primitives.special.integrals import erfcx, ndtr
from .distribution import Distribution, divergence, named


class Normal(Distribution):
    """The normal distribution of mean `loc` and standard deviation `scale`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        del validate_args
        self.loc, self.scale = operands(loc, scale)
        super().__init__(self.loc.dtype, name, allow_nan_stats)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.loc + self.scale

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = self._standard(value)
        return named(-0.5 * pb.square(x) - 0.5 * math.log(2.0 * math.pi) - pb.log(self.scale), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return ndtr(self._standard(value), name=name)

    def survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return ndtr(-self._standard(value), name=name)

    def log_cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(_log_ndtr(self._standard(value)), name)

    def log_survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(_log_ndtr(-self._standard(value)), name)

    def quantile(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(
            self.loc + self.scale * pb.math.ndtri(pb.convert_to_tensor(value, dtype_hint=self.loc.dtype)), name
        )

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return self.loc + self.scale * pb.random_normal(lengths, dtype=self.loc.dtype, seed=seed)

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(self.loc + pb.zeros_like(self.scale), name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return named(pb.square(self.scale) + pb.zeros_like(self.loc), name)

    def entropy(self, name: str | None = None) -> pb.Tensor:
        return named(0.5 * math.log(2.0 * math.pi * math.e) + pb.log(self.scale) + pb.zeros_like(self.loc), name)

    def mode(self, name: str | None = None) -> pb.Tensor:
        return self.mean(name)

    def _standard(self, value: TensorLike) -> pb.Tensor:
        """`value` in deviations from the mean."""
        return (pb.convert_to_tensor(value, dtype_hint=self.loc.dtype) - self.loc) / self.scale


def _log_ndtr(x: pb.Tensor) -> pb.Tensor:
    """The logarithm of the standard normal distribution function, exact far below 0 too."""
    low, high = pb.minimum(x, -1.0), pb.maximum(x, -1.0)
    below = pb.log(0.5 * erfcx(low * -math.sqrt(0.5))) - 0.5 * pb.square(low)
    return pb.where(x < -1.0, below, pb.log1p(-ndtr(-high)))


class Uniform(Distribution):
    """All numbers from `low` to `high` alike."""

    def __init__(
        self,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        del validate_args
        self.low, self.high = operands(low, high)
        super().__init__(self.low.dtype, name, allow_nan_stats)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.low + self.high

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.low.dtype)
        inside = -pb.log(self.high - self.low) + pb.math.multiply_no_nan(x, pb.constant(0.0, x.dtype))
        outside = pb.zeros_like(inside) - math.inf
        return named(pb.where((x >= self.low) & (x < self.high), inside, outside), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.low.dtype)
        return pb.clip_by_value((x - self.low) / (self.high - self.low), 0.0, 1.0, name=name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return self.low + (self.high - self.low) * pb.random_uniform(lengths, dtype=self.low.dtype, seed=seed)

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named((self.low + self.high) / 2.0, name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return named(pb.square(self.high - self.low) / 12.0, name)

    def entropy(self, name: str | None = None) -> pb.Tensor:
        return named(pb.log(self.high - self.low), name)

    def mode(self, name: str | None = None) -> pb.Tensor:
        raise NotImplementedError("Uniform.mode: all numbers are alike")


class Exponential(Distribution):
    """Waiting times of mean `1 / rate`."""

    def __init__(
        self, rate: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential"
    ) -> None:
        del validate_args
        self.rate = pb.convert_to_tensor(rate)
        super().__init__(self.rate.dtype, name, allow_nan_stats)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.rate

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.rate.dtype)
        inside = pb.log(self.rate) - self.rate * x
        return named(pb.where(x >= 0.0, inside, pb.zeros_like(inside) - math.inf), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(
            -pb.expm1(-self.rate * pb.maximum(pb.convert_to_tensor(value, dtype_hint=self.rate.dtype), 0.0)), name
        )

    def survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return pb.exp(self.log_survival_function(value), name=name)

    def log_survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.rate.dtype)
        return named(-self.rate * pb.maximum(x, 0.0), name)

    def quantile(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(-pb.log1p(-pb.convert_to_tensor(value, dtype_hint=self.rate.dtype)) / self.rate, name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return -pb.log1p(-pb.random_uniform(lengths, dtype=self.rate.dtype, seed=seed)) / self.rate

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(1.0 / self.rate, name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return named(1.0 / pb.square(self.rate), name)

    def entropy(self, name: str | None = None) -> pb.Tensor:
        return named(1.0 - pb.log(self.rate), name)

    def mode(self, name: str | None = None) -> pb.Tensor:
        return pb.zeros_like(self.rate, name=name)


class Laplace(Distribution):
    """Laplace's distribution: `exp(-|x - loc| / scale) / (2 scale)`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        del validate_args
        self.loc, self.scale = operands(loc, scale)
        super().__init__(self.loc.dtype, name, allow_nan_stats)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.loc + self.scale

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.loc.dtype)
        return named(-pb.abs(x - self.loc) / self.scale - math.log(2.0) - pb.log(self.scale), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return pb.exp(self.log_cdf(value), name=name)

    def survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return pb.exp(self.log_survival_function(value), name=name)

    def log_cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(self._log_below(self._standard(value)), name)

    def log_survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(self._log_below(-self._standard(value)), name)

    def _standard(self, value: TensorLike) -> pb.Tensor:
        return (pb.convert_to_tensor(value, dtype_hint=self.loc.dtype) - self.loc) / self.scale

    @staticmethod
    def _log_below(x: pb.Tensor) -> pb.Tensor:
        distance = pb.abs(x)
        return pb.where(x < 0.0, -distance - math.log(2.0), pb.log1p(-0.5 * pb.exp(-distance)))

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        u = pb.random_uniform(lengths, -1.0, 1.0, dtype=self.loc.dtype, seed=seed)
        return self.loc - self.scale * pb.sign(u) * pb.log1p(-pb.abs(u))

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(self.loc + pb.zeros_like(self.scale), name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return named(2.0 * pb.square(self.scale) + pb.zeros_like(self.loc), name)

    def entropy(self, name: str | None = None) -> pb.Tensor:
        return named(1.0 + math.log(2.0) + pb.log(self.scale) + pb.zeros_like(self.loc), name)

    def mode(self, name: str | None = None) -> pb.Tensor:
        return self.mean(name)


@divergence(Normal, Normal)
def _normal_from_normal(a: Normal, b: Normal) -> pb.Tensor:
    ratio = pb.square(a.scale / b.scale)
    found: Any = 0.5 * (pb.square((a.loc - b.loc) / b.scale) + ratio - 1.0 - pb.log(ratio))
    return pb.convert_to_tensor(found)


@divergence(Laplace, Laplace)
def _laplace_from_laplace(a: Laplace, b: Laplace) -> pb.Tensor:
    distance, ratio = pb.abs(a.loc - b.loc) / a.scale, a.scale / b.scale
    return ratio * pb.exp(-distance) + distance * ratio - 1.0 - pb.log(ratio)


@divergence(Exponential, Exponential)
def _exponential_from_exponential(a: Exponential, b: Exponential) -> pb.Tensor:
    return pb.log(a.rate) - pb.log(b.rate) + b.rate / a.rate - 1.0


@divergence(Uniform, Uniform)
def _uniform_from_uniform(a: Uniform, b: Uniform) -> pb.Tensor:
    found = pb.log((b.high - b.low) / (a.high - a.low))
    return pb.where((b.low <= a.low) & (a.high <= b.high), found, pb.zeros_like(found) + math.inf)
