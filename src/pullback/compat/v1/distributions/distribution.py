"""Probability distributions: what they have in common, and their divergences.

>>> import pullback.compat.v1 as tf
>>> class Mine(tf.distributions.Normal):
...     pass
>>> @tf.distributions.RegisterKL(Mine, Mine)
... def divergence(a, b):
...     return tf.constant(7.0)
>>> tf.Session().run(tf.distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)))
np.float32(7.0)
>>> isinstance(Mine(0.0, 1.0), tf.distributions.Distribution)
True
>>> isinstance(tf.distributions.FULLY_REPARAMETERIZED, tf.distributions.ReparameterizationType)
True
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ....core.typing import TensorLike


class ReparameterizationType:
    """Whether draws can be differentiated by the parameters of their distribution."""

    def __init__(self, rep_type: str) -> None:
        self._name = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._name}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class Distribution(ABC):
    """A distribution whose parameters are tensors [batch...]; a sample is of shape [sample..., batch...]."""

    dtype: Any
    """The dtype of draws."""
    name: str
    allow_nan_stats: bool
    """Whether statistics that a distribution has not are NaN; else a run that asks for one fails."""
    reparameterization_type: ReparameterizationType
    """Whether draws can be differentiated."""

    _given: dict[str, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A distribution that knows the arguments it is made with."""
        made = super().__new__(cls)
        bound = inspect.signature(cls.__init__).bind(made, *args, **kwargs)
        bound.apply_defaults()
        made._given = dict(list(bound.arguments.items())[1:])
        return made

    def __init__(
        self,
        dtype: Any,
        name: str | None = None,
        allow_nan_stats: bool = True,
        reparameterization_type: ReparameterizationType = FULLY_REPARAMETERIZED,
    ) -> None:
        self.dtype, self.name, self.allow_nan_stats = dtype, name or type(self).__name__, allow_nan_stats
        self.reparameterization_type = reparameterization_type

    @property
    @abstractmethod
    def parameters_like(self) -> pb.Tensor:
        """Something of the shape [batch...]."""

    @abstractmethod
    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        """The logarithm of the density, or of the probability, of `value`."""

    @abstractmethod
    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        """`count` draws for each of the batch, of the shape `lengths`, whose last axes are those of the batch."""

    @abstractmethod
    def mean(self, name: str | None = None) -> pb.Tensor:
        """The mean."""

    def variance(self, name: str | None = None) -> pb.Tensor:
        """The variance."""
        raise self._absent("variance")

    def entropy(self, name: str | None = None) -> pb.Tensor:
        """The entropy, in nats."""
        raise self._absent("entropy")

    def mode(self, name: str | None = None) -> pb.Tensor:
        """What is most probable."""
        raise self._absent("mode")

    @property
    def batch_shape(self) -> pb.TensorShape:
        """The static shape of the parameters."""
        return self.parameters_like.shape

    @property
    def event_shape(self) -> pb.TensorShape:
        """The shape of one draw: a scalar."""
        return pb.TensorShape.SCALAR

    def event_shape_tensor(self, name: str | None = None) -> pb.Tensor:
        """The shape of one draw."""
        return pb.constant(list(self.event_shape.known), pb.int32, name=name or "event_shape")

    def batch_shape_tensor(self, name: str | None = None) -> pb.Tensor:
        """The shape of the parameters."""
        return pb.shape(self.parameters_like, name=name)

    def sample(
        self, sample_shape: int | Sequence[int] = (), seed: int | None = None, name: str | None = None
    ) -> pb.Tensor:
        """Draws [sample..., batch...]; where they can be differentiated, they are, by the parameters."""
        wanted = [sample_shape] if isinstance(sample_shape, int) else list(sample_shape)
        static = self.batch_shape
        with self.parameters_like.graph.acting.name_scope(name or "sample"):
            lengths = pb.constant([*wanted, *static.known], pb.int32) if static.is_fully_defined() else None
            if lengths is None:
                batch = self.batch_shape_tensor()
                lengths = pb.concat([pb.constant(wanted, pb.int32), batch], 0) if wanted else batch
            return self.drawn(math.prod(wanted), lengths, seed)

    def prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        """The density, or the probability, of `value`."""
        return pb.exp(self.log_prob(value), name=name)

    def cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        """The distribution function: the probability of what is at most `value`."""
        raise self._absent("cdf")

    def log_cdf(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        """The logarithm of `cdf`."""
        return pb.log(self.cdf(value), name=name)

    def survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        """The probability of what is above `value`."""
        return named(1.0 - self.cdf(value), name)

    def log_survival_function(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        """The logarithm of `survival_function`."""
        return pb.log(self.survival_function(value), name=name)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the distribution was made with, by the names of its arguments."""
        return dict(self._given)

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """A distribution of the same class and parameters, but for those given."""
        return type(self)(**self.parameters | override_parameters_kwargs)

    def quantile(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        """The inverse of `cdf`."""
        raise self._absent("quantile")

    def covariance(self, name: str | None = None) -> pb.Tensor:
        """The covariances [batch..., k, k] of the elements of vectors."""
        raise self._absent("covariance")

    def stddev(self, name: str | None = None) -> pb.Tensor:
        """The standard deviation."""
        return pb.sqrt(self.variance(), name=name)

    def kl_divergence(self, other: Distribution, name: str | None = None) -> pb.Tensor:
        """The Kullback-Leibler divergence of `other` from this one."""
        return kl_divergence(self, other, name=name)

    def where_defined(self, condition: pb.Tensor, statistic: pb.Tensor, name: str | None) -> pb.Tensor:
        """`statistic`; NaN where `condition` does not hold, or a run that fails unless `allow_nan_stats`."""
        if self.allow_nan_stats:
            return pb.where(condition, statistic, pb.constant(math.nan, statistic.dtype), name=name)
        message = f"{type(self).__name__}: a statistic is not defined for these parameters"
        with condition.graph.acting.control_dependencies([pb.Assert(condition, [message])]):
            return pb.identity(statistic, name=name)

    def _absent(self, method: str) -> NotImplementedError:
        kind = type(self).__name__
        return NotImplementedError(f"{kind}.{method}: there is no formula; estimate it from draws: x = d.sample(n)")

    def cross_entropy(self, other: Distribution, name: str | None = None) -> pb.Tensor:
        """The entropy of this one plus the divergence of `other` from it."""
        del name
        return self.entropy() + kl_divergence(self, other)


Divergence = Callable[[Any, Any], pb.Tensor]
_divergences: dict[tuple[type, type], Divergence] = {}


def divergence(dist_cls_a: type, dist_cls_b: type) -> Callable[[Divergence], Divergence]:
    """A decorator for the divergence of distributions of two classes."""

    def register(fn: Divergence) -> Divergence:
        _divergences[dist_cls_a, dist_cls_b] = fn
        return fn

    return register


RegisterKL = divergence


def kl_divergence(
    distribution_a: Distribution, distribution_b: Distribution, allow_nan_stats: bool = True, name: str | None = None
) -> pb.Tensor:
    """The Kullback-Leibler divergence: the mean of `log(a(x) / b(x))` over draws of `a`.

    Raises:
        NotImplementedError: there is no formula for these two; one that is registered by `RegisterKL` is used.
    """
    del allow_nan_stats, name
    for a in type(distribution_a).__mro__:
        for b in type(distribution_b).__mro__:
            if (a, b) in _divergences:
                return _divergences[a, b](distribution_a, distribution_b)
    a_name, b_name = type(distribution_a).__name__, type(distribution_b).__name__
    raise NotImplementedError(
        f"kl_divergence: there is no formula for {a_name} and {b_name}; register one with "
        f"@tf.distributions.RegisterKL({a_name}, {b_name}), or estimate it from draws: "
        "x = a.sample(n), tf.reduce_mean(a.log_prob(x) - b.log_prob(x), 0)"
    )


def named(y: pb.Tensor, name: str | None) -> pb.Tensor:
    """`y`, by a name where one is given."""
    return y if name is None else pb.identity(y, name=name)
