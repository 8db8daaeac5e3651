"""Poisson, binomial and multinomial distributions: how often something happens, or each of several classes is drawn."""

from __future__ import annotations

import numpy as np

from ....core.dtypes import int32
from ....core.graph import Tensor
from ....core.shape import TensorShape
from ....core.typing import TensorLike
from ....primitives.activations.sigmoid import sigmoid
from ....primitives.activations.softmax import log_softmax, softmax
from ....primitives.base.broadcasting import operands
from ....primitives.casting.cast import cast
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.fill import zeros_like
from ....primitives.creation.one_hot import one_hot
from ....primitives.creation.sequence_mask import sequence_mask
from ....primitives.debugging.inspection import get_static_value
from ....primitives.elementwise.exponential import exp, log, log1p, xlog1py, xlogy
from ....primitives.elementwise.masking import multiply_no_nan
from ....primitives.elementwise.rounding import floor
from ....primitives.linalg.matrices import set_diag
from ....primitives.random.discrete import random_poisson
from ....primitives.random.gamma import random_gamma
from ....primitives.random.stateful import categorical
from ....primitives.reduction.reduce import reduce_sum
from ....primitives.shape.broadcast import broadcast_to
from ....primitives.shape.reshape import reshape
from ....primitives.shape.size import shape
from ....primitives.shape.stacking import concat, stack
from ....primitives.special.gamma import lbeta, lgamma
from ....primitives.special.incomplete import betainc, igammac
from .discrete import check_one
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
            self.rate = convert_to_tensor(rate)
            self.log_rate = log(self.rate)
        elif log_rate is not None:
            self.log_rate = convert_to_tensor(log_rate)
            self.rate = exp(self.log_rate)
        super().__init__(self.rate.dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)

    @property
    def parameters_like(self) -> Tensor:
        return self.rate

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(value, dtype_hint=self.dtype)
        return named(multiply_no_nan(self.log_rate, x) - self.rate - lgamma(x + 1.0), name)

    def cdf(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(value, dtype_hint=self.dtype)
        return igammac(floor(x) + 1.0, self.rate, name=name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        del count
        return random_poisson([], broadcast_to(self.rate, lengths), dtype=self.dtype, seed=seed)

    def mean(self, name: str | None = None) -> Tensor:
        return named(self.rate, name)

    def variance(self, name: str | None = None) -> Tensor:
        return named(self.rate, name)

    def entropy(self, name: str | None = None) -> Tensor:
        raise self._absent("entropy")

    def mode(self, name: str | None = None) -> Tensor:
        return floor(self.rate, name=name)


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
        check_one("Binomial", logits, probs)
        if logits is not None:
            self.logits = convert_to_tensor(logits)
            self.probs = sigmoid(self.logits)
        elif probs is not None:
            self.probs = convert_to_tensor(probs)
            self.logits = log(self.probs) - log1p(-self.probs)
        super().__init__(self.probs.dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)
        self.total_count = convert_to_tensor(total_count, dtype_hint=self.dtype)

    @property
    def parameters_like(self) -> Tensor:
        return self.total_count + zeros_like(self.probs)

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(value, dtype_hint=self.dtype)
        y = self.total_count - x
        arrangements = lgamma(self.total_count + 1.0) - lgamma(x + 1.0) - lgamma(y + 1.0)
        return named(xlogy(x, self.probs) + xlog1py(y, -self.probs) + arrangements, name)

    def cdf(self, value: TensorLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(value, dtype_hint=self.dtype)
        failures, successes, miss = operands(self.total_count - x, x + 1.0, 1.0 - self.probs)
        return betainc(failures, successes, miss, name=name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        del count
        return _counted(self.total_count, stack([self.logits, zeros_like(self.logits)], -1), lengths, seed)[..., 0]

    def mean(self, name: str | None = None) -> Tensor:
        return named(self.total_count * self.probs, name)

    def variance(self, name: str | None = None) -> Tensor:
        return named(self.mean() * (1.0 - self.probs), name)

    def entropy(self, name: str | None = None) -> Tensor:
        raise self._absent("entropy")

    def mode(self, name: str | None = None) -> Tensor:
        return floor((self.total_count + 1.0) * self.probs, name=name)


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
        check_one("Multinomial", logits, probs)
        if logits is not None:
            self.logits = convert_to_tensor(logits)
            self.probs = softmax(self.logits)
        elif probs is not None:
            self.probs = convert_to_tensor(probs)
            self.logits = log(self.probs)
        super().__init__(self.probs.dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)
        self.total_count = convert_to_tensor(total_count, dtype_hint=self.dtype)

    @property
    def parameters_like(self) -> Tensor:
        return self.total_count + zeros_like(self.probs[..., 0])

    @property
    def event_shape(self) -> TensorShape:
        return TensorShape([self.probs.shape.size(-1)])

    def event_shape_tensor(self, name: str | None = None) -> Tensor:
        return shape(self.probs, name=name)[-1:]

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        counts = convert_to_tensor(value, dtype_hint=self.dtype)
        logarithms = reduce_sum(multiply_no_nan(log_softmax(self.logits), counts), -1)
        return named(logarithms + _log_arrangements(self.total_count, counts), name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        del count
        return _counted(self.total_count, self.logits, lengths, seed)

    def mean(self, name: str | None = None) -> Tensor:
        return named(self.total_count[..., None] * self.probs, name)

    def variance(self, name: str | None = None) -> Tensor:
        return named(self.mean() * (1.0 - self.probs), name)

    def covariance(self, name: str | None = None) -> Tensor:
        apart = -self.mean()[..., None] * self.probs[..., None, :]
        return named(set_diag(apart, self.variance()), name)

    def entropy(self, name: str | None = None) -> Tensor:
        raise self._absent("entropy")

    def mode(self, name: str | None = None) -> Tensor:
        raise self._absent("mode")


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
        self.concentration = convert_to_tensor(concentration)
        self.total_concentration = reduce_sum(self.concentration, -1)
        super().__init__(self.concentration.dtype, name, allow_nan_stats, NOT_REPARAMETERIZED)
        self.total_count = convert_to_tensor(total_count, dtype_hint=self.dtype)

    @property
    def parameters_like(self) -> Tensor:
        return self.total_count + self.total_concentration

    @property
    def event_shape(self) -> TensorShape:
        return TensorShape([self.concentration.shape.size(-1)])

    def event_shape_tensor(self, name: str | None = None) -> Tensor:
        return shape(self.concentration, name=name)[-1:]

    def log_prob(self, value: TensorLike, name: str | None = None) -> Tensor:
        counts = convert_to_tensor(value, dtype_hint=self.dtype)
        mixed = lbeta(self.concentration + counts) - lbeta(self.concentration)
        return named(mixed + _log_arrangements(self.total_count, counts), name)

    def drawn(self, count: int, lengths: Tensor, seed: int | None) -> Tensor:
        del count
        alpha = broadcast_to(self.concentration, concat([lengths, self.event_shape_tensor()], 0))
        logits = log(random_gamma([], alpha, dtype=self.dtype, seed=seed))
        return _counted(self.total_count, logits, lengths, None if seed is None else seed + 1)

    def mean(self, name: str | None = None) -> Tensor:
        return named(self.total_count[..., None] * self._shares(), name)

    def variance(self, name: str | None = None) -> Tensor:
        return named(self._spread() * self.mean() * (1.0 - self._shares()), name)

    def covariance(self, name: str | None = None) -> Tensor:
        apart = -self._spread()[..., None] * self.mean()[..., None] * self._shares()[..., None, :]
        return named(set_diag(apart, self.variance()), name)

    def entropy(self, name: str | None = None) -> Tensor:
        raise self._absent("entropy")

    def mode(self, name: str | None = None) -> Tensor:
        raise self._absent("mode")

    def _shares(self) -> Tensor:
        return self.concentration / self.total_concentration[..., None]

    def _spread(self) -> Tensor:
        """By how much it is wider than a multinomial distribution."""
        total = self.total_concentration
        return ((self.total_count + total) / (1.0 + total))[..., None]


def _log_arrangements(total: Tensor, counts: Tensor) -> Tensor:
    """The logarithm of the number of orders in which `counts` can come."""
    return lgamma(total + 1.0) - reduce_sum(lgamma(counts + 1.0), -1)


def _counted(total: Tensor, logits: Tensor, lengths: Tensor, seed: int | None) -> Tensor:
    """How often each class comes in `total` draws: [lengths..., k]."""
    known = get_static_value(total)
    if known is None:
        raise ValueError(f"sample: total_count must be known while the graph is built, but it is {total}")
    most, classes = int(np.max(known)), shape(logits)[-1:]
    rows = reshape(broadcast_to(logits, concat([lengths, classes], 0)), concat([[-1], classes], 0))
    ones = one_hot(categorical(rows, most, seed=seed), classes[0], dtype=logits.dtype)
    numbers = cast(reshape(broadcast_to(total, lengths), [-1]), int32)
    taken = sequence_mask(numbers, most, dtype=logits.dtype)
    return reshape(reduce_sum(ones * taken[..., None], 1), concat([lengths, classes], 0))
