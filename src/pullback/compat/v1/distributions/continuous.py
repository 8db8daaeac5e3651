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
from ....primitives.special.integrals import erfcx, ndtr
from .checks import checked, floats, positive
from .distribution import FULLY_REPARAMETERIZED
from .divergences import divergence
from .parametrized import AbstractParametrized


class Normal(AbstractParametrized):
    """The normal distribution of mean `loc` and standard deviation `scale`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        self.loc, scale = floats(loc, scale)
        self.scale = positive(scale, validate_args)
        super().__init__(self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.loc + self.scale

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        x = self._standard(value)
        return -0.5 * pb.square(x) - 0.5 * math.log(2.0 * math.pi) - pb.log(self.scale)

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        return ndtr(self._standard(value))

    def _survival_function(self, value: pb.Tensor) -> pb.Tensor:
        return ndtr(-self._standard(value))

    def _log_cdf(self, value: pb.Tensor) -> pb.Tensor:
        return _log_ndtr(self._standard(value))

    def _log_survival_function(self, value: pb.Tensor) -> pb.Tensor:
        return _log_ndtr(-self._standard(value))

    def _quantile(self, value: pb.Tensor) -> pb.Tensor:
        return self.loc + self.scale * pb.math.ndtri(value)

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return self.loc + self.scale * pb.random_normal(lengths, dtype=self.loc.dtype, seed=seed)

    def _mean(self) -> pb.Tensor:
        return self.loc + pb.zeros_like(self.scale)

    def _variance(self) -> pb.Tensor:
        return pb.square(self.scale) + pb.zeros_like(self.loc)

    def _entropy(self) -> pb.Tensor:
        return 0.5 * math.log(2.0 * math.pi * math.e) + pb.log(self.scale) + pb.zeros_like(self.loc)

    def _mode(self) -> pb.Tensor:
        return self._mean()

    def _standard(self, value: TensorLike) -> pb.Tensor:
        """`value` in deviations from the mean."""
        return (value - self.loc) / self.scale


def _log_ndtr(x: pb.Tensor) -> pb.Tensor:
    """The logarithm of the standard normal distribution function, exact far below 0 too."""
    low, high = pb.minimum(x, -1.0), pb.maximum(x, -1.0)
    below = pb.log(0.5 * erfcx(low * -math.sqrt(0.5))) - 0.5 * pb.square(low)
    return pb.where(x < -1.0, below, pb.log1p(-ndtr(-high)))


class Uniform(AbstractParametrized):
    """All numbers from `low` to `high` alike."""

    def __init__(
        self,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        low, high = floats(low, high)
        self.low = checked(low, [pb.debugging.assert_less(low, high)] if validate_args else [])
        self.high = high
        super().__init__(self.low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.low + self.high

    def _log_prob(self, x: pb.Tensor) -> pb.Tensor:
        inside = -pb.log(self.high - self.low) + pb.math.multiply_no_nan(x, pb.constant(0.0, x.dtype))
        outside = pb.zeros_like(inside) - math.inf
        return pb.where((x >= self.low) & (x < self.high), inside, outside)

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        x = value
        return pb.clip_by_value((x - self.low) / (self.high - self.low), 0.0, 1.0)

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return self.low + (self.high - self.low) * pb.random_uniform(lengths, dtype=self.low.dtype, seed=seed)

    def _mean(self) -> pb.Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> pb.Tensor:
        return pb.square(self.high - self.low) / 12.0

    def _entropy(self) -> pb.Tensor:
        return pb.log(self.high - self.low)

    def _mode(self) -> pb.Tensor:
        raise NotImplementedError("Uniform.mode: all numbers are alike")


class Exponential(AbstractParametrized):
    """Waiting times of mean `1 / rate`."""

    def __init__(
        self, rate: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential"
    ) -> None:
        self.rate = positive(floats(rate)[0], validate_args)
        super().__init__(self.rate.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.rate

    def _log_prob(self, x: pb.Tensor) -> pb.Tensor:
        inside = pb.log(self.rate) - self.rate * x
        return pb.where(x >= 0.0, inside, pb.zeros_like(inside) - math.inf)

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        return -pb.expm1(-self.rate * pb.maximum(value, 0.0))

    def _survival_function(self, value: pb.Tensor) -> pb.Tensor:
        return pb.exp(self._log_survival_function(value))

    def _log_survival_function(self, x: pb.Tensor) -> pb.Tensor:
        return -self.rate * pb.maximum(x, 0.0)

    def _quantile(self, value: pb.Tensor) -> pb.Tensor:
        return -pb.log1p(-value) / self.rate

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        return [pb.debugging.assert_positive(value)]

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return -pb.log1p(-pb.random_uniform(lengths, dtype=self.rate.dtype, seed=seed)) / self.rate

    def _mean(self) -> pb.Tensor:
        return 1.0 / self.rate

    def _variance(self) -> pb.Tensor:
        return 1.0 / pb.square(self.rate)

    def _entropy(self) -> pb.Tensor:
        return 1.0 - pb.log(self.rate)

    def _mode(self) -> pb.Tensor:
        return pb.zeros_like(self.rate)


class Laplace(AbstractParametrized):
    """Laplace's distribution: `exp(-|x - loc| / scale) / (2 scale)`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        self.loc, scale = floats(loc, scale)
        self.scale = positive(scale, validate_args)
        super().__init__(self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.loc + self.scale

    def _log_prob(self, x: pb.Tensor) -> pb.Tensor:
        return -pb.abs(x - self.loc) / self.scale - math.log(2.0) - pb.log(self.scale)

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        return pb.exp(self._log_cdf(value))

    def _survival_function(self, value: pb.Tensor) -> pb.Tensor:
        return pb.exp(self._log_survival_function(value))

    def _log_cdf(self, value: pb.Tensor) -> pb.Tensor:
        return self._log_below(self._standard(value))

    def _log_survival_function(self, value: pb.Tensor) -> pb.Tensor:
        return self._log_below(-self._standard(value))

    def _standard(self, value: TensorLike) -> pb.Tensor:
        return (value - self.loc) / self.scale

    @staticmethod
    def _log_below(x: pb.Tensor) -> pb.Tensor:
        distance = pb.abs(x)
        return pb.where(x < 0.0, -distance - math.log(2.0), pb.log1p(-0.5 * pb.exp(-distance)))

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        u = pb.random_uniform(lengths, -1.0, 1.0, dtype=self.loc.dtype, seed=seed)
        return self.loc - self.scale * pb.sign(u) * pb.log1p(-pb.abs(u))

    def _mean(self) -> pb.Tensor:
        return self.loc + pb.zeros_like(self.scale)

    def _variance(self) -> pb.Tensor:
        return 2.0 * pb.square(self.scale) + pb.zeros_like(self.loc)

    def _entropy(self) -> pb.Tensor:
        return 1.0 + math.log(2.0) + pb.log(self.scale) + pb.zeros_like(self.loc)

    def _mode(self) -> pb.Tensor:
        return self._mean()


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
