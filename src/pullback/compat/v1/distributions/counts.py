"""Poisson, binomial and multinomial distributions: how often something happens, or each of several classes is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ....core.typing import TensorLike
from ....primitives.base.broadcasting import operands
from .checks import checked, floats, positive, whole
from .discrete import of_classes, of_yes_or_no
from .distribution import NOT_REPARAMETERIZED
from .parametrized import AbstractParametrized


class Poisson(AbstractParametrized):
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
        if (rate is None) == (log_rate is None):
            raise ValueError("Poisson: give rate= or log_rate=, one of them")
        if rate is not None:
            self.rate = positive(floats(rate)[0], validate_args)
            self.log_rate = pb.log(self.rate)
        elif log_rate is not None:
            (self.log_rate,) = floats(log_rate)
            self.rate = pb.exp(self.log_rate)
        super().__init__(self.rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.rate

    def _log_prob(self, x: pb.Tensor) -> pb.Tensor:
        return pb.math.multiply_no_nan(self.log_rate, x) - self.rate - pb.lgamma(x + 1.0)

    def _cdf(self, x: pb.Tensor) -> pb.Tensor:
        return pb.igammac(pb.floor(x) + 1.0, self.rate)

    def _survival_function(self, x: pb.Tensor) -> pb.Tensor:
        return pb.igamma(pb.floor(x) + 1.0, self.rate)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        return whole(value)

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return pb.random.poisson([], pb.broadcast_to(self.rate, lengths), dtype=self.dtype, seed=seed)

    def _mean(self) -> pb.Tensor:
        return self.rate

    def _variance(self) -> pb.Tensor:
        return self.rate

    def _mode(self) -> pb.Tensor:
        return pb.floor(self.rate)


class Binomial(AbstractParametrized):
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
        self.logits, self.probs = of_yes_or_no("Binomial", logits, probs, validate_args)
        super().__init__(self.probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        total = pb.convert_to_tensor(total_count, dtype_hint=self.dtype)
        self.total_count = checked(total, whole(total) if validate_args else [])

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.total_count + pb.zeros_like(self.probs)

    def _log_prob(self, x: pb.Tensor) -> pb.Tensor:
        y = self.total_count - x
        arrangements = pb.lgamma(self.total_count + 1.0) - pb.lgamma(x + 1.0) - pb.lgamma(y + 1.0)
        return pb.math.xlogy(x, self.probs) + pb.math.xlog1py(y, -self.probs) + arrangements

    def _cdf(self, x: pb.Tensor) -> pb.Tensor:
        failures, successes, miss = operands(self.total_count - x, x + 1.0, 1.0 - self.probs)
        return pb.betainc(failures, successes, miss)

    def _survival_function(self, x: pb.Tensor) -> pb.Tensor:
        successes, failures, hit = operands(x + 1.0, self.total_count - x, self.probs)
        return pb.betainc(successes, failures, hit)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        return [*whole(value), pb.debugging.assert_less_equal(value, self.total_count)]

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return _counted(self.total_count, pb.stack([self.logits, pb.zeros_like(self.logits)], -1), lengths, seed)[
            ..., 0
        ]

    def _mean(self) -> pb.Tensor:
        return self.total_count * self.probs

    def _variance(self) -> pb.Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> pb.Tensor:
        return pb.floor((self.total_count + 1.0) * self.probs)


class Multinomial(AbstractParametrized):
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
        self.logits, self.probs = of_classes("Multinomial", logits, probs, validate_args)
        super().__init__(self.probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        total = pb.convert_to_tensor(total_count, dtype_hint=self.dtype)
        self.total_count = checked(total, whole(total) if validate_args else [])

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.total_count + pb.zeros_like(self.probs[..., 0])

    def _event_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.probs.shape.size(-1)])

    def _event_shape_tensor(self) -> pb.Tensor:
        return pb.shape(self.probs)[-1:]

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        counts = value
        logarithms = pb.reduce_sum(pb.math.multiply_no_nan(pb.math.log_softmax(self.logits), counts), -1)
        return logarithms + _log_arrangements(self.total_count, counts)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        return [*whole(value), pb.debugging.assert_equal(pb.reduce_sum(value, -1), self.total_count)]

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return _counted(self.total_count, self.logits, lengths, seed)

    def _mean(self) -> pb.Tensor:
        return self.total_count[..., None] * self.probs

    def _variance(self) -> pb.Tensor:
        return self._mean() * (1.0 - self.probs)

    def _covariance(self) -> pb.Tensor:
        apart = -self._mean()[..., None] * self.probs[..., None, :]
        return pb.matrix_set_diag(apart, self._variance())


class DirichletMultinomial(AbstractParametrized):
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
        self.concentration = positive(floats(concentration)[0], validate_args)
        self.total_concentration = pb.reduce_sum(self.concentration, -1)
        super().__init__(self.concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)
        total = pb.convert_to_tensor(total_count, dtype_hint=self.dtype)
        self.total_count = checked(total, whole(total) if validate_args else [])

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.total_count + self.total_concentration

    def _event_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.concentration.shape.size(-1)])

    def _event_shape_tensor(self) -> pb.Tensor:
        return pb.shape(self.concentration)[-1:]

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        counts = value
        mixed = pb.lbeta(self.concentration + counts) - pb.lbeta(self.concentration)
        return mixed + _log_arrangements(self.total_count, counts)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        return [*whole(value), pb.debugging.assert_equal(pb.reduce_sum(value, -1), self.total_count)]

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        alpha = pb.broadcast_to(self.concentration, pb.concat([lengths, self.event_shape_tensor()], 0))
        logits = pb.log(pb.random_gamma([], alpha, dtype=self.dtype, seed=seed))
        return _counted(self.total_count, logits, lengths, None if seed is None else seed + 1)

    def _mean(self) -> pb.Tensor:
        return self.total_count[..., None] * self._shares()

    def _variance(self) -> pb.Tensor:
        return self._spread() * self._mean() * (1.0 - self._shares())

    def _covariance(self) -> pb.Tensor:
        apart = -self._spread()[..., None] * self._mean()[..., None] * self._shares()[..., None, :]
        return pb.matrix_set_diag(apart, self._variance())

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
