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

from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....primitives.base.broadcasting import operands
from ....primitives.creation.constant import constant, convert_to_tensor
from ....primitives.creation.fill import zeros_like
from ....primitives.elementwise.clip import clip_by_value
from ....primitives.elementwise.exponential import exp, expm1, log, log1p
from ....primitives.elementwise.masking import multiply_no_nan
from ....primitives.elementwise.maximum import maximum
from ....primitives.elementwise.powers import square
from ....primitives.elementwise.sign import absolute, sign
from ....primitives.indexing.where import where
from ....primitives.random.stateful import random_normal, random_uniform
from ....primitives.special.error_function import ndtri
from ....primitives.special.integrals import ndtr
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
    def parameters_like(self) -> Tensor:
        return self.loc + self.scale

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = self._standard(value)
        return named(-0.5 * square(x) - 0.5 * math.log(2.0 * math.pi) - log(self.scale), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> Tensor:
        return ndtr(self._standard(value), name=name)

    def survival_function(self, value: TensorLike, name: str | None = None) -> Tensor:
        return ndtr(-self._standard(value), name=name)

    def quantile(self, value: TensorLike, name: str | None = None) -> Tensor:
        return named(self.loc + self.scale * ndtri(convert_to_tensor(value, dtype_hint=self.loc.dtype)), name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        del count
        return self.loc + self.scale * random_normal(lengths, dtype=self.loc.dtype, seed=seed)

    def mean(self, name: str | None = None) -> Tensor:
        return named(self.loc + zeros_like(self.scale), name)

    def variance(self, name: str | None = None) -> Tensor:
        return named(square(self.scale) + zeros_like(self.loc), name)

    def entropy(self, name: str | None = None) -> Tensor:
        return named(0.5 * math.log(2.0 * math.pi * math.e) + log(self.scale) + zeros_like(self.loc), name)

    def mode(self, name: str | None = None) -> Tensor:
        return self.mean(name)

    def _standard(self, value: TensorLike) -> Tensor:
        """`value` in deviations from the mean."""
        return (convert_to_tensor(value, dtype_hint=self.loc.dtype) - self.loc) / self.scale


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
    def parameters_like(self) -> Tensor:
        return self.low + self.high

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(value, dtype_hint=self.low.dtype)
        inside = -log(self.high - self.low) + multiply_no_nan(x, constant(0.0, x.dtype))
        outside = zeros_like(inside) - math.inf
        return named(where((x >= self.low) & (x < self.high), inside, outside), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(value, dtype_hint=self.low.dtype)
        return clip_by_value((x - self.low) / (self.high - self.low), 0.0, 1.0, name=name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        del count
        return self.low + (self.high - self.low) * random_uniform(lengths, dtype=self.low.dtype, seed=seed)

    def mean(self, name: str | None = None) -> Tensor:
        return named((self.low + self.high) / 2.0, name)

    def variance(self, name: str | None = None) -> Tensor:
        return named(square(self.high - self.low) / 12.0, name)

    def entropy(self, name: str | None = None) -> Tensor:
        return named(log(self.high - self.low), name)

    def mode(self, name: str | None = None) -> Tensor:
        raise NotImplementedError("Uniform.mode: all numbers are alike")


class Exponential(Distribution):
    """Waiting times of mean `1 / rate`."""

    def __init__(
        self, rate: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential"
    ) -> None:
        del validate_args
        self.rate = convert_to_tensor(rate)
        super().__init__(self.rate.dtype, name, allow_nan_stats)

    @property
    def parameters_like(self) -> Tensor:
        return self.rate

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(value, dtype_hint=self.rate.dtype)
        inside = log(self.rate) - self.rate * x
        return named(where(x >= 0.0, inside, zeros_like(inside) - math.inf), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> Tensor:
        return named(-expm1(-self.rate * maximum(convert_to_tensor(value, dtype_hint=self.rate.dtype), 0.0)), name)

    def quantile(self, value: TensorLike, name: str | None = None) -> Tensor:
        return named(-log1p(-convert_to_tensor(value, dtype_hint=self.rate.dtype)) / self.rate, name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        del count
        return -log1p(-random_uniform(lengths, dtype=self.rate.dtype, seed=seed)) / self.rate

    def mean(self, name: str | None = None) -> Tensor:
        return named(1.0 / self.rate, name)

    def variance(self, name: str | None = None) -> Tensor:
        return named(1.0 / square(self.rate), name)

    def entropy(self, name: str | None = None) -> Tensor:
        return named(1.0 - log(self.rate), name)

    def mode(self, name: str | None = None) -> Tensor:
        return zeros_like(self.rate, name=name)


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
    def parameters_like(self) -> Tensor:
        return self.loc + self.scale

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(value, dtype_hint=self.loc.dtype)
        return named(-absolute(x - self.loc) / self.scale - math.log(2.0) - log(self.scale), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = (convert_to_tensor(value, dtype_hint=self.loc.dtype) - self.loc) / self.scale
        tail = 0.5 * exp(-absolute(x))
        return named(where(x < 0.0, tail, 1.0 - tail), name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        del count
        u = random_uniform(lengths, -1.0, 1.0, dtype=self.loc.dtype, seed=seed)
        return self.loc - self.scale * sign(u) * log1p(-absolute(u))

    def mean(self, name: str | None = None) -> Tensor:
        return named(self.loc + zeros_like(self.scale), name)

    def variance(self, name: str | None = None) -> Tensor:
        return named(2.0 * square(self.scale) + zeros_like(self.loc), name)

    def entropy(self, name: str | None = None) -> Tensor:
        return named(1.0 + math.log(2.0) + log(self.scale) + zeros_like(self.loc), name)

    def mode(self, name: str | None = None) -> Tensor:
        return self.mean(name)


@divergence(Normal, Normal)
def _normal_from_normal(a: Normal, b: Normal) -> Tensor:
    ratio = square(a.scale / b.scale)
    found: Any = 0.5 * (square((a.loc - b.loc) / b.scale) + ratio - 1.0 - log(ratio))
    return convert_to_tensor(found)


@divergence(Laplace, Laplace)
def _laplace_from_laplace(a: Laplace, b: Laplace) -> Tensor:
    distance, ratio = absolute(a.loc - b.loc) / a.scale, a.scale / b.scale
    return ratio * exp(-distance) + distance * ratio - 1.0 - log(ratio)


@divergence(Exponential, Exponential)
def _exponential_from_exponential(a: Exponential, b: Exponential) -> Tensor:
    return log(a.rate) - log(b.rate) + b.rate / a.rate - 1.0


@divergence(Uniform, Uniform)
def _uniform_from_uniform(a: Uniform, b: Uniform) -> Tensor:
    found = log((b.high - b.low) / (a.high - a.low))
    return where((b.low <= a.low) & (a.high <= b.high), found, zeros_like(found) + math.inf)
