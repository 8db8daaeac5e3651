"""Poisson, binomial and multinomial distributions: how often something happens, or each of several classes is drawn."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ....core.typing import TensorLike
from ....primitives.base.broadcasting import operands
from .discrete import of_classes, of_yes_or_no
from .distribution import NOT_REPARAMETERIZED, Distribution, named


class Poisson(Distribution):
    """How often what happens `rate` times on average does happen; `exp(log_rate)` times where that is given instead.

    >>> import pullback.compat.v1 as tf
    >>> d = tf.contrib.distributions.Poisson(2.5)
    >>> tf.Session().run([d.mean(), d.mode()])
    [np.float32(2.5), np.float32(2.0)]
    """

    def __init__(
        self,
        rate: TensorLike | None = None,
        log_rate: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ) -> None:
        del validate_args
        if (rate is None) == (log_rate is None):
            raise ValueError("Poisson: give rate= or log_rate=, one of them")
        if rate is not None:
            self.rate = pb.convert_to_tensor(rate)
            self.log_rate = pb.log(self.rate)
        elif log_rate is not None:
            self.log_rate = pb.convert_to_tensor(log_rate)
            self.rate = pb.exp(self.log_rate)
        super().__init__(self.rate.dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.rate

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        return named(pb.math.multiply_no_nan(self.log_rate, x) - self.rate - pb.lgamma(x + 1.0), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        return pb.igammac(pb.floor(x) + 1.0, self.rate, name=name)

    def survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        return pb.igamma(pb.floor(x) + 1.0, self.rate, name=name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return pb.random.poisson([], pb.broadcast_to(self.rate, lengths), dtype=self.dtype, seed=seed)

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(self.rate, name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return named(self.rate, name)

    def mode(self, name: str | None = None) -> pb.Tensor:
        return pb.floor(self.rate, name=name)


class Binomial(Distribution):
    """How often something of the probability `probs`, or sigmoid(`logits`), happens in `total_count` trials.

    >>> import pullback.compat.v1 as tf
    >>> d = tf.contrib.distributions.Binomial(4.0, probs=0.25)
    >>> tf.Session().run([d.mean(), d.variance(), d.prob(0.0)])
    [np.float32(1.0), np.float32(0.75), np.float32(0.3164...)]
    """

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        del validate_args
        self.logits, self.probs = of_yes_or_no("Binomial", logits, probs)
        super().__init__(self.probs.dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)
        self.total_count = pb.convert_to_tensor(total_count, dtype_hint=self.dtype)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.total_count + pb.zeros_like(self.probs)

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        y = self.total_count - x
        arrangements = pb.lgamma(self.total_count + 1.0) - pb.lgamma(x + 1.0) - pb.lgamma(y + 1.0)
        return named(pb.math.xlogy(x, self.probs) + pb.math.xlog1py(y, -self.probs) + arrangements, name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        failures, successes, miss = operands(self.total_count - x, x + 1.0, 1.0 - self.probs)
        return pb.betainc(failures, successes, miss, name=name)

    def survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        x = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        successes, failures, hit = operands(x + 1.0, self.total_count - x, self.probs)
        return pb.betainc(successes, failures, hit, name=name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return _counted(self.total_count, pb.stack([self.logits, pb.zeros_like(self.logits)], -1), lengths, seed)[
            ..., 0
        ]

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(self.total_count * self.probs, name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return named(self.mean() * (1.0 - self.probs), name)

    def mode(self, name: str | None = None) -> pb.Tensor:
        return pb.floor((self.total_count + 1.0) * self.probs, name=name)


class Multinomial(Distribution):
    """How often each class comes in `total_count` draws, of probabilities [k]: `probs`, or softmax(`logits`).

    >>> import pullback.compat.v1 as tf
    >>> d = tf.distributions.Multinomial(4.0, probs=[0.25, 0.75])
    >>> tf.Session().run([d.mean(), d.prob([1.0, 3.0])])
    [array([1., 3.], dtype=float32), np.float32(0.4218...)]
    """

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        del validate_args
        self.logits, self.probs = of_classes("Multinomial", logits, probs)
        super().__init__(self.probs.dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)
        self.total_count = pb.convert_to_tensor(total_count, dtype_hint=self.dtype)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.total_count + pb.zeros_like(self.probs[..., 0])

    @property
    def event_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.probs.shape.size(-1)])

    def event_shape_tensor(self, name: str | None = None) -> pb.Tensor:
        return pb.shape(self.probs, name=name)[-1:]

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        counts = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        logarithms = pb.reduce_sum(pb.math.multiply_no_nan(pb.math.log_softmax(self.logits), counts), -1)
        return named(logarithms + _log_arrangements(self.total_count, counts), name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return _counted(self.total_count, self.logits, lengths, seed)

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(self.total_count[..., None] * self.probs, name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return named(self.mean() * (1.0 - self.probs), name)

    def covariance(self, name: str | None = None) -> pb.Tensor:
        apart = -self.mean()[..., None] * self.probs[..., None, :]
        return named(pb.matrix_set_diag(apart, self.variance()), name)


class DirichletMultinomial(Distribution):
    """How often each class comes in `total_count` draws whose probabilities are themselves drawn from Dirichlet's.

    >>> import pullback.compat.v1 as tf
    >>> d = tf.distributions.DirichletMultinomial(4.0, [1.0, 3.0])
    >>> tf.Session().run(d.mean())
    array([1., 3.], dtype=float32)
    """

    def __init__(
        self,
        total_count: TensorLike,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        del validate_args
        self.concentration = pb.convert_to_tensor(concentration)
        self.total_concentration = pb.reduce_sum(self.concentration, -1)
        super().__init__(self.concentration.dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)
        self.total_count = pb.convert_to_tensor(total_count, dtype_hint=self.dtype)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.total_count + self.total_concentration

    @property
    def event_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.concentration.shape.size(-1)])

    def event_shape_tensor(self, name: str | None = None) -> pb.Tensor:
        return pb.shape(self.concentration, name=name)[-1:]

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        counts = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        mixed = pb.lbeta(self.concentration + counts) - pb.lbeta(self.concentration)
        return named(mixed + _log_arrangements(self.total_count, counts), name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        alpha = pb.broadcast_to(self.concentration, pb.concat([lengths, self.event_shape_tensor()], 0))
        logits = pb.log(pb.random_gamma([], alpha, dtype=self.dtype, seed=seed))
        return _counted(self.total_count, logits, lengths, None if seed is None else seed + 1)

    def mean(self, name: str | None = None) -> pb.Tensor:
        return named(self.total_count[..., None] * self._shares(), name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return named(self._spread() * self.mean() * (1.0 - self._shares()), name)

    def covariance(self, name: str | None = None) -> pb.Tensor:
        apart = -self._spread()[..., None] * self.mean()[..., None] * self._shares()[..., None, :]
        return named(pb.matrix_set_diag(apart, self.variance()), name)

    def _shares(self) -> pb.Tensor:
        return self.concentration / self.total_concentration[..., None]

    def _spread(self) -> pb.Tensor:
        """By how much it is wider than a multinomial distribution."""
        total = self.total_concentration
        return ((self.total_count + total) / (1.0 + total))[..., None]


def _log_arrangements(total: pb.Tensor, counts: pb.Tensor) -> pb.Tensor:
    """The logarithm of the number of orders in which `counts` can come."""
    return pb.lgamma(total + 1.0) - pb.reduce_sum(pb.lgamma(counts + 1.0), -1)


def _counted(total: pb.Tensor, logits: pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
    """How often each class comes in `total` draws: [lengths..., k]."""
    known = pb.get_static_value(total)
    if known is None:
        raise ValueError(f"sample: total_count must be known while the graph is built, but it is {total}")
    most, classes = int(np.max(known)), pb.shape(logits)[-1:]
    rows = pb.reshape(pb.broadcast_to(logits, pb.concat([lengths, classes], 0)), pb.concat([[-1], classes], 0))
    ones = pb.one_hot(pb.random.categorical(rows, most, seed=seed), classes[0], dtype=logits.dtype)
    numbers = pb.cast(pb.reshape(pb.broadcast_to(total, lengths), [-1]), pb.int32)
    taken = pb.sequence_mask(numbers, most, dtype=logits.dtype)
    return pb.reshape(pb.reduce_sum(ones * taken[..., None], 1), pb.concat([lengths, classes], 0))
