"""Probability distributions: what they have in common, as users see it and as those do who derive one.

>>> import pullback.compat.v1 as tf
>>> class Triangular(tf.distributions.Distribution):
...     def __init__(self, width, validate_args=False, allow_nan_stats=True, name="Triangular"):
...         self.width = tf.convert_to_tensor(width)
...         kind = tf.distributions.NOT_REPARAMETERIZED
...         super().__init__(self.width.dtype, kind, validate_args, allow_nan_stats, name=name)
...     def _batch_shape(self):
...         return self.width.shape
...     def _event_shape(self):
...         return tf.TensorShape([])
...     def _prob(self, x):
...         return tf.maximum(1.0 - tf.abs(x) / self.width, 0.0) / self.width
>>> d = Triangular([1.0, 2.0])
>>> d
<tfp.distributions.Triangular 'Triangular/' batch_shape=(2,) event_shape=() dtype=float32>
>>> tf.Session().run([d.prob(0.5), d.log_prob(0.0)])
[array([0.5  , 0.375], dtype=float32), array([ 0.       , -0.6931472], dtype=float32)]
>>> isinstance(tf.distributions.FULLY_REPARAMETERIZED, tf.distributions.ReparameterizationType)
True
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import pullback as pb

from ....core.contexts import graph_among, in_graph_of_inputs
from ....core.seen import seen
from ....core.typing import TensorLike
from .checks import checked
from .divergences import kl_divergence


class ReparameterizationType:
    """Whether draws can be differentiated by the parameters of their distribution."""

    def __init__(self, rep_type: str) -> None:
        self._name = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._name}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class Distribution:
    """A distribution whose parameters are tensors [batch...]; a sample is of shape [sample..., batch..., event...].

    One that is derived defines `_batch_shape`, `_event_shape`, `_log_prob` or `_prob`, `_sample_n`, `_mean`, ..., which
    are called in the name scope of the distribution.
    """

    _given: dict[str, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A distribution that knows the arguments it is made with."""
        made = super().__new__(cls)
        bound = inspect.signature(cls.__init__).bind(made, *args, **kwargs)
        bound.apply_defaults()
        made._given = dict(list(bound.arguments.items())[1:])
        return made

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """A distribution is in the graph of its parameters."""
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = in_graph_of_inputs(cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: Mapping[str, Any] | None = None,
        graph_parents: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        del parameters, graph_parents
        self._dtype, self._reparameterization_type = pb.as_dtype(dtype), reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        with pb.get_default_graph().acting.within(name or type(self).__name__) as self._name:
            pass

    # What is known of it

    @property
    def dtype(self) -> Any:
        """The dtype of draws."""
        return seen.dtype(self._dtype)

    @property
    def name(self) -> str:
        """The name scope of what it computes, with a slash behind it."""
        return self._name

    @property
    def validate_args(self) -> bool:
        """Whether a run fails where parameters, or values that it is asked about, are none of its own."""
        return self._validate_args

    @property
    def allow_nan_stats(self) -> bool:
        """Whether statistics that a distribution has not are NaN; else a run that asks for one fails."""
        return self._allow_nan_stats

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether draws can be differentiated."""
        return self._reparameterization_type

    @property
    def parameters(self) -> dict[str, Any]:
        """What the distribution was made with, by the names of its arguments."""
        return dict(self._given)

    @property
    def batch_shape(self) -> pb.TensorShape:
        """The static shape of the parameters."""
        return pb.TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> pb.TensorShape:
        """The static shape of one draw."""
        return pb.TensorShape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> pb.Tensor:
        """The shape of the parameters."""
        return self._lengths(self.batch_shape, self._batch_shape_tensor, name)

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> pb.Tensor:
        """The shape of one draw."""
        return self._lengths(self.event_shape, self._event_shape_tensor, name)

    def is_scalar_event(self, name: str = "is_scalar_event") -> pb.Tensor:
        """Whether one draw is a number."""
        return self._is_scalar(self.event_shape, self.event_shape_tensor, name)

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> pb.Tensor:
        """Whether the parameters are those of one distribution."""
        return self._is_scalar(self.batch_shape, self.batch_shape_tensor, name)

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """A distribution of the same class and parameters, but for those given."""
        return type(self)(**self.parameters | override_parameters_kwargs)

    # Functions of values

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> pb.Tensor:
        """The logarithm of the density, or of the probability, of `value`."""
        return self._of_value(name, value, self._log_prob, lambda x: pb.log(self._prob(x)))

    def prob(self, value: TensorLike, name: str = "prob") -> pb.Tensor:
        """The density, or the probability, of `value`."""
        return self._of_value(name, value, self._prob, lambda x: pb.exp(self._log_prob(x)))

    def cdf(self, value: TensorLike, name: str = "cdf") -> pb.Tensor:
        """The distribution function: the probability of what is at most `value`."""
        return self._of_value(name, value, self._cdf, lambda x: pb.exp(self._log_cdf(x)))

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> pb.Tensor:
        """The logarithm of `cdf`."""
        return self._of_value(name, value, self._log_cdf, lambda x: pb.log(self._cdf(x)))

    def survival_function(self, value: TensorLike, name: str = "survival_function") -> pb.Tensor:
        """The probability of what is above `value`."""
        return self._of_value(name, value, self._survival_function, lambda x: 1.0 - self.cdf(x))

    def log_survival_function(self, value: TensorLike, name: str = "log_survival_function") -> pb.Tensor:
        """The logarithm of `survival_function`."""
        return self._of_value(name, value, self._log_survival_function, lambda x: pb.log(self.survival_function(x)))

    def quantile(self, value: TensorLike, name: str = "quantile") -> pb.Tensor:
        """The inverse of `cdf`."""
        with self._scope(name):
            return self._quantile(pb.convert_to_tensor(value, dtype_hint=self._dtype))

    # Statistics

    def mean(self, name: str = "mean") -> pb.Tensor:
        """The mean."""
        return self._statistic(name, self._mean)

    def variance(self, name: str = "variance") -> pb.Tensor:
        """The variance."""
        return self._statistic(name, self._variance, lambda: pb.square(self._stddev()))

    def stddev(self, name: str = "stddev") -> pb.Tensor:
        """The standard deviation."""
        return self._statistic(name, self._stddev, lambda: pb.sqrt(self._variance()))

    def covariance(self, name: str = "covariance") -> pb.Tensor:
        """The covariances [batch..., k, k] of the elements of vectors."""
        return self._statistic(name, self._covariance)

    def mode(self, name: str = "mode") -> pb.Tensor:
        """What is most probable."""
        return self._statistic(name, self._mode)

    def entropy(self, name: str = "entropy") -> pb.Tensor:
        """The entropy, in nats."""
        return self._statistic(name, self._entropy)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> pb.Tensor:
        """The Kullback-Leibler divergence of `other` from this one."""
        return self._statistic(name, lambda: kl_divergence(self, other))

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> pb.Tensor:
        """The entropy of this one plus the divergence of `other` from it."""
        return self._statistic(name, lambda: self.entropy() + kl_divergence(self, other))

    def sample(
        self, sample_shape: TensorLike | Sequence[int] = (), seed: int | None = None, name: str = "sample"
    ) -> pb.Tensor:
        """Draws [sample..., batch..., event...]; where they can be differentiated, they are, by the parameters."""
        with self._scope(name):
            wanted = pb.reshape(pb.convert_to_tensor(sample_shape, pb.int32), [-1])
            static = pb.get_static_value(wanted)
            if static is None:
                drawn = self._sample_n(pb.reduce_prod(wanted), seed)
                return pb.reshape(drawn, pb.concat([wanted, pb.shape(drawn)[1:]], 0))
            drawn = self._sample_n(math.prod(static.tolist()), seed)
            if len(static) == 1:
                return drawn
            event = drawn.shape[1:]
            lengths = list(event.known) if event.is_fully_defined() else pb.shape(drawn)[1:]
            return pb.ensure_shape(pb.reshape(drawn, pb.concat([wanted, lengths], 0)), [*static.tolist(), *event])

    # What a distribution defines

    def _batch_shape(self) -> Any:
        return pb.TensorShape(None)

    def _event_shape(self) -> Any:
        return pb.TensorShape(None)

    def _batch_shape_tensor(self) -> pb.Tensor:
        raise self.absent("batch_shape_tensor")

    def _event_shape_tensor(self) -> pb.Tensor:
        raise self.absent("event_shape_tensor")

    def _sample_n(self, n: int | pb.Tensor, seed: int | None = None) -> pb.Tensor:
        raise self.absent("sample")

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        raise self.absent("log_prob")

    def _prob(self, value: pb.Tensor) -> pb.Tensor:
        raise self.absent("prob")

    def _cdf(self, value: pb.Tensor) -> pb.Tensor:
        raise self.absent("cdf")

    def _log_cdf(self, value: pb.Tensor) -> pb.Tensor:
        raise self.absent("log_cdf")

    def _survival_function(self, value: pb.Tensor) -> pb.Tensor:
        raise self.absent("survival_function")

    def _log_survival_function(self, value: pb.Tensor) -> pb.Tensor:
        raise self.absent("log_survival_function")

    def _quantile(self, value: pb.Tensor) -> pb.Tensor:
        raise self.absent("quantile")

    def _mean(self) -> pb.Tensor:
        raise self.absent("mean")

    def _variance(self) -> pb.Tensor:
        raise self.absent("variance")

    def _stddev(self) -> pb.Tensor:
        raise self.absent("stddev")

    def _covariance(self) -> pb.Tensor:
        raise self.absent("covariance")

    def _mode(self) -> pb.Tensor:
        raise self.absent("mode")

    def _entropy(self) -> pb.Tensor:
        raise self.absent("entropy")

    def _assertions(self, value: pb.Tensor) -> list[Any]:
        """What a run is to assert of a value, where arguments are validated."""
        return []

    # What it calls

    def absent(self, method: str) -> NotImplementedError:
        """The error for what there is no formula for."""
        kind = type(self).__name__
        return NotImplementedError(f"{kind}.{method}: there is no formula; estimate it from draws: x = d.sample(n)")

    def where_defined(self, condition: pb.Tensor, statistic: pb.Tensor) -> pb.Tensor:
        """`statistic`; NaN where `condition` does not hold, or a run that fails unless `allow_nan_stats`."""
        if self.allow_nan_stats:
            return pb.where(condition, statistic, pb.constant(math.nan, statistic.dtype))
        message = f"{type(self).__name__}: a statistic is not defined for these parameters"
        return checked(statistic, [pb.Assert(condition, [message])])

    def __str__(self) -> str:
        return (
            f'tfp.distributions.{type(self).__name__}("{self.name}", batch_shape={self.batch_shape}, '
            f"event_shape={self.event_shape}, dtype={self._dtype.name})"
        )

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={self._dtype.name}>"
        )

    def _of_value(
        self,
        name: str | None,
        value: TensorLike,
        function: Callable[[pb.Tensor], pb.Tensor],
        otherwise: Callable[[pb.Tensor], pb.Tensor],
    ) -> pb.Tensor:
        """What `function` gives, or where that is not defined the other one."""
        with self._scope(name):
            x = pb.convert_to_tensor(value, dtype_hint=self._dtype)
            x = checked(x, self._assertions(x) if self._validate_args else [])
            return _first(lambda: function(x), lambda: otherwise(x))

    def _statistic(
        self, name: str | None, function: Callable[[], pb.Tensor], otherwise: Callable[[], pb.Tensor] | None = None
    ) -> pb.Tensor:
        with self._scope(name):
            return function() if otherwise is None else _first(function, otherwise)

    def _lengths(self, static: pb.TensorShape, function: Callable[[], pb.Tensor], name: str | None) -> pb.Tensor:
        with self._scope(name):
            return pb.constant(list(static.known), pb.int32) if static.is_fully_defined() else function()

    def _is_scalar(self, static: pb.TensorShape, function: Callable[[], pb.Tensor], name: str | None) -> pb.Tensor:
        with self._scope(name):
            return pb.constant(static.rank == 0) if static.rank is not None else pb.equal(pb.size(function()), 0)

    @contextmanager
    def _scope(self, name: str | None) -> Iterator[None]:
        """The name scope of a method, in that of the distribution."""
        graph = (graph_among(list(vars(self).values())) or pb.get_default_graph()).acting
        with graph.within(self._name), graph.name_scope(name) if name else nullcontext():
            yield


def _first(function: Callable[[], pb.Tensor], otherwise: Callable[[], pb.Tensor]) -> pb.Tensor:
    """What `function` gives; where there is no formula for that, what the other one does."""
    try:
        return function()
    except NotImplementedError as missing:
        try:
            return otherwise()
        except NotImplementedError:
            raise missing from None
