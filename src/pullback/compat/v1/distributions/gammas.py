"""Gamma distribution, and those that are made of gammas: chi-squared, inverse gamma, Beta, Dirichlet's, Student's t.

Draws are differentiated by all parameters, through the implicit derivatives of `random_gamma`.
"""

from __future__ import annotations

import math
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from .checks import floats, positive
from .distribution import FULLY_REPARAMETERIZED
from .divergences import divergence
from .parametrized import AbstractParametrized


class Gamma(AbstractParametrized):
    """The gamma distribution of shape `concentration` and inverse scale `rate`.

    >>> import pullback.compat.v1 as tf
    >>> d = tf.distributions.Gamma([2.0, 3.0], 2.0)
    >>> tf.Session().run([d.mean(), d.mode()])
    [array([1. , 1.5], dtype=float32), array([0.5, 1. ], dtype=float32)]
    """

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        self.concentration, self.rate = (positive(x, validate_args) for x in floats(concentration, rate))
        super().__init__(self.rate.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.concentration + self.rate

    def _log_prob(self, x: pb.Tensor) -> pb.Tensor:
        a, b = self.concentration, self.rate
        return pb.math.xlogy(a - 1.0, x) - b * x + a * pb.log(b) - pb.lgamma(a)

    def _cdf(self, x: pb.Tensor) -> pb.Tensor:
        return pb.igamma(self.concentration, self.rate * x)

    def _survival_function(self, x: pb.Tensor) -> pb.Tensor:
        return pb.igammac(self.concentration, self.rate * x)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        return [pb.debugging.assert_positive(value)]

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        alpha = pb.broadcast_to(self.concentration, lengths)
        return pb.random_gamma([], alpha, dtype=self.dtype, seed=seed) / self.rate

    def _mean(self) -> pb.Tensor:
        return self.concentration / self.rate

    def _variance(self) -> pb.Tensor:
        return self.concentration / pb.square(self.rate)

    def _entropy(self) -> pb.Tensor:
        a = self.concentration
        return a - pb.log(self.rate) + pb.lgamma(a) + (1.0 - a) * pb.digamma(a)

    def _mode(self) -> pb.Tensor:
        """Where the density is largest: defined for concentrations above 1."""
        a = self.concentration
        return self.where_defined(a > 1.0, (a - 1.0) / self.rate)


class Chi2(Gamma):
    """The distribution of the sum of so many squares, `df`, of normal numbers: a gamma of `df / 2` and 1/2.

    >>> import pullback.compat.v1 as tf
    >>> d = tf.contrib.distributions.Chi2(3.0)
    >>> tf.Session().run([d.mean(), d.variance()])
    [np.float32(3.0), np.float32(6.0)]
    """

    def __init__(
        self, df: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2"
    ) -> None:
        self.df = pb.convert_to_tensor(df)
        super().__init__(0.5 * self.df, pb.constant(0.5, self.df.dtype), validate_args, allow_nan_stats, name)


class InverseGamma(AbstractParametrized):
    """The distribution of 1 over a number of the gamma distribution of `concentration` and `rate`.

    >>> import pullback.compat.v1 as tf
    >>> d = tf.contrib.distributions.InverseGamma(3.0, 4.0)
    >>> tf.Session().run([d.mean(), d.mode()])
    [np.float32(2.0), np.float32(1.0)]
    """

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ) -> None:
        self.concentration, self.rate = (positive(x, validate_args) for x in floats(concentration, rate))
        super().__init__(self.rate.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.concentration + self.rate

    def _log_prob(self, x: pb.Tensor) -> pb.Tensor:
        a, b = self.concentration, self.rate
        return a * pb.log(b) - pb.lgamma(a) - (a + 1.0) * pb.log(x) - b / x

    def _cdf(self, x: pb.Tensor) -> pb.Tensor:
        return pb.igammac(self.concentration, self.rate / x)

    def _survival_function(self, x: pb.Tensor) -> pb.Tensor:
        return pb.igamma(self.concentration, self.rate / x)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        return [pb.debugging.assert_positive(value)]

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        return self.rate / pb.random_gamma(
            [], pb.broadcast_to(self.concentration, lengths), dtype=self.dtype, seed=seed
        )

    def _mean(self) -> pb.Tensor:
        """The mean: defined for concentrations above 1."""
        less = self.concentration - 1.0
        return self.where_defined(less > 0.0, self.rate / less)

    def _variance(self) -> pb.Tensor:
        """The variance: defined for concentrations above 2."""
        a = self.concentration
        return self.where_defined(a > 2.0, pb.square(self.rate / (a - 1.0)) / (a - 2.0))

    def _entropy(self) -> pb.Tensor:
        a = self.concentration
        return a + pb.log(self.rate) + pb.lgamma(a) - (1.0 + a) * pb.digamma(a)

    def _mode(self) -> pb.Tensor:
        return self.rate / (1.0 + self.concentration)


class Beta(AbstractParametrized):
    """The beta distribution on [0, 1], of the density x^(`concentration1` - 1) (1 - x)^(`concentration0` - 1) / B.

    >>> import pullback.compat.v1 as tf
    >>> d = tf.distributions.Beta(3.0, 1.0)
    >>> tf.Session().run([d.mean(), d.cdf(0.5)])
    [np.float32(0.75), np.float32(0.125)]
    """

    def __init__(
        self,
        concentration1: TensorLike,
        concentration0: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        both = floats(concentration1, concentration0)
        self.concentration1, self.concentration0 = (positive(x, validate_args) for x in both)
        self.total_concentration = self.concentration1 + self.concentration0
        super().__init__(
            self.total_concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name
        )

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.total_concentration

    def _log_prob(self, x: pb.Tensor) -> pb.Tensor:
        a, b = self.concentration1, self.concentration0
        return pb.math.xlogy(a - 1.0, x) + pb.math.xlog1py(b - 1.0, -x) - self._log_beta()

    def _cdf(self, x: pb.Tensor) -> pb.Tensor:
        return pb.betainc(self.concentration1, self.concentration0, x)

    def _survival_function(self, x: pb.Tensor) -> pb.Tensor:
        return pb.betainc(self.concentration0, self.concentration1, 1.0 - x)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        return [pb.debugging.assert_positive(value), pb.debugging.assert_less(value, pb.ones_like(value))]

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        both = [pb.broadcast_to(c, lengths) for c in (self.concentration1, self.concentration0)]
        one, other = (pb.random_gamma([], c, dtype=self.dtype, seed=s) for c, s in zip(both, _seeds(seed), strict=True))
        return one / (one + other)

    def _mean(self) -> pb.Tensor:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> pb.Tensor:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self.total_concentration)

    def _entropy(self) -> pb.Tensor:
        a, b, total = self.concentration1, self.concentration0, self.total_concentration
        terms = (a - 1.0) * pb.digamma(a) + (b - 1.0) * pb.digamma(b) - (total - 2.0) * pb.digamma(total)
        return self._log_beta() - terms

    def _mode(self) -> pb.Tensor:
        """Where the density is largest: defined where both concentrations are above 1."""
        a, b = self.concentration1, self.concentration0
        return self.where_defined((a > 1.0) & (b > 1.0), (a - 1.0) / (self.total_concentration - 2.0))

    def _log_beta(self) -> pb.Tensor:
        return pb.lgamma(self.concentration1) + pb.lgamma(self.concentration0) - pb.lgamma(self.total_concentration)


class Dirichlet(AbstractParametrized):
    """Dirichlet's distribution of probabilities [k], of the density of the product of x_i^(`concentration`_i - 1).

    >>> import pullback.compat.v1 as tf
    >>> d = tf.distributions.Dirichlet([1.0, 1.0, 2.0])
    >>> d.event_shape, tf.Session().run(d.mean())
    (TensorShape([3]), array([0.25, 0.25, 0.5 ], dtype=float32))
    """

    def __init__(
        self,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        self.concentration = positive(floats(concentration)[0], validate_args)
        self.total_concentration = pb.reduce_sum(self.concentration, -1)
        super().__init__(self.concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.total_concentration

    def _event_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.concentration.shape.size(-1)])

    def _event_shape_tensor(self) -> pb.Tensor:
        return pb.shape(self.concentration)[-1:]

    def _log_prob(self, x: pb.Tensor) -> pb.Tensor:
        return pb.reduce_sum(pb.math.xlogy(self.concentration - 1.0, x), -1) - pb.lbeta(self.concentration)

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        total = pb.reduce_sum(value, -1)
        return [pb.debugging.assert_positive(value), pb.debugging.assert_near(total, pb.ones_like(total))]

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        alpha = pb.broadcast_to(self.concentration, pb.concat([lengths, self.event_shape_tensor()], 0))
        parts = pb.random_gamma([], alpha, dtype=self.dtype, seed=seed)
        return parts / pb.reduce_sum(parts, -1, keepdims=True)

    def _mean(self) -> pb.Tensor:
        return self.concentration / self.total_concentration[..., None]

    def _variance(self) -> pb.Tensor:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self.total_concentration[..., None])

    def _covariance(self) -> pb.Tensor:
        mean = self._mean()
        apart = -mean[..., None] * mean[..., None, :] / (1.0 + self.total_concentration[..., None, None])
        return pb.matrix_set_diag(apart, self._variance())

    def _entropy(self) -> pb.Tensor:
        c, total = self.concentration, self.total_concentration
        terms = pb.reduce_sum((c - 1.0) * (pb.digamma(c) - pb.digamma(total)[..., None]), -1)
        return pb.lbeta(c) - terms

    def _mode(self) -> pb.Tensor:
        """Where the density is largest: defined where all concentrations are above 1."""
        less = self.concentration - 1.0
        is_defined = pb.reduce_all(less > 0.0, -1, keepdims=True)
        return self.where_defined(is_defined, less / pb.reduce_sum(less, -1, keepdims=True))


class StudentT(AbstractParametrized):
    """Student's t distribution of `df` degrees of freedom, moved by `loc` and stretched by `scale`.

    >>> import pullback.compat.v1 as tf
    >>> d = tf.distributions.StudentT(3.0, loc=1.0, scale=2.0)
    >>> tf.Session().run([d.mean(), d.variance()])
    [np.float32(1.0), np.float32(12.0)]
    """

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        df, self.loc, self.scale = floats(df, loc, scale)
        self.df = positive(df, validate_args)
        super().__init__(self.df.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.df + self.loc + self.scale

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        n, x = self.df, self._standard(value)
        return -0.5 * (n + 1.0) * pb.log1p(pb.square(x) / n) - self._log_normalizer()

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        return self._below(self._standard(value))

    def _survival_function(self, value: pb.Tensor) -> pb.Tensor:
        return self._below(-self._standard(value))

    def _below(self, x: pb.Tensor) -> pb.Tensor:
        n = self.df
        tail = 0.5 * pb.betainc(0.5 * n, pb.constant(0.5, self.dtype), n / (pb.square(x) + n))
        return pb.where(x < 0.0, tail, 1.0 - tail)

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        first, second = _seeds(seed)
        squares = pb.random_gamma([], pb.broadcast_to(0.5 * self.df, lengths), dtype=self.dtype, seed=second) / 0.5
        return self.loc + self.scale * pb.random_normal(lengths, dtype=self.dtype, seed=first) * pb.rsqrt(
            squares / self.df
        )

    def _mean(self) -> pb.Tensor:
        return self.where_defined(self.df > 1.0, self.loc + pb.zeros_like(self.parameters_like))

    def _variance(self) -> pb.Tensor:
        n = self.df
        finite = n > 2.0
        narrow = pb.square(self.scale) * n / pb.where(finite, n - 2.0, 1.0) + pb.zeros_like(self.loc)
        return self.where_defined(n > 1.0, pb.where(finite, narrow, math.inf))

    def _entropy(self) -> pb.Tensor:
        n = self.df
        spread = 0.5 * (n + 1.0) * (pb.digamma(0.5 * (n + 1.0)) - pb.digamma(0.5 * n))
        return self._log_normalizer() + spread + pb.zeros_like(self.loc)

    def _mode(self) -> pb.Tensor:
        return self.loc + pb.zeros_like(self.parameters_like)

    def _standard(self, value: TensorLike) -> pb.Tensor:
        return (value - self.loc) / self.scale

    def _log_normalizer(self) -> pb.Tensor:
        n = self.df
        return (
            pb.log(pb.abs(self.scale))
            + 0.5 * pb.log(n)
            + 0.5 * math.log(math.pi)
            + pb.lgamma(0.5 * n)
            - pb.lgamma(0.5 * (n + 1.0))
        )


def _seeds(seed: int | None) -> list[int | None]:
    """Two seeds of one."""
    return [None, None] if seed is None else [seed, seed + 1]


@divergence(Gamma, Gamma)
def _gamma_from_gamma(p: Gamma, q: Gamma) -> pb.Tensor:
    a, b = p.concentration, q.concentration
    shapes = (a - b) * pb.digamma(a) + pb.lgamma(b) - pb.lgamma(a)
    return shapes + b * pb.log(p.rate / q.rate) + a * (q.rate / p.rate - 1.0)


@divergence(Beta, Beta)
def _beta_from_beta(p: Beta, q: Beta) -> pb.Tensor:
    both = [
        pb.stack(
            [d.concentration1 + pb.zeros_like(d.concentration0), d.concentration0 + pb.zeros_like(d.concentration1)], -1
        )
        for d in (p, q)
    ]
    return _between(*both)


@divergence(Dirichlet, Dirichlet)
def _dirichlet_from_dirichlet(p: Dirichlet, q: Dirichlet) -> pb.Tensor:
    return _between(p.concentration, q.concentration)


def _between(p: pb.Tensor, q: pb.Tensor) -> pb.Tensor:
    """The divergence of two of Dirichlet's distributions."""
    apart = pb.digamma(p) - pb.digamma(pb.reduce_sum(p, -1, keepdims=True))
    return pb.lbeta(q) - pb.lbeta(p) + pb.reduce_sum((p - q) * apart, -1)
