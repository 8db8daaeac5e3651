"""Distributions of what bijectors make of draws: `TransformedDistribution`."""

from __future__ import annotations

from collections.abc import Sequence

import pullback as pb

from ....core.shape import as_shape
from ....core.typing import ShapeLike, TensorLike
from .bijectors import Bijector, Identity
from .distribution import Distribution, named


class TransformedDistribution(Distribution):
    """The distribution of `bijector` of draws of `distribution`.

    A scalar distribution becomes one of a batch, or of events whose elements are independent before the bijector, by
    `batch_shape` and `event_shape`.

    Raises:
        ValueError: one of these is given, and `distribution` is not one of scalars without a batch.

    >>> import pullback.compat.v1 as tf
    >>> ds = tf.contrib.distributions
    >>> log_normal = ds.TransformedDistribution(ds.Normal(0.0, 1.0), ds.bijectors.Exp())
    >>> tf.Session().run(log_normal.log_prob([1.0]))
    array([-0.9189385], dtype=float32)
    >>> affine = ds.bijectors.Affine(shift=[1.0, 2.0], scale_tril=[[1.0, 0.0], [0.5, 2.0]])
    >>> plane = ds.TransformedDistribution(ds.Normal(0.0, 1.0), affine, event_shape=[2])
    >>> plane.sample(3).shape, plane.log_prob([[1.0, 2.0]]).shape
    (TensorShape([3, 2]), TensorShape([1]))
    """

    def __init__(
        self,
        distribution: Distribution,
        bijector: Bijector | None = None,
        batch_shape: ShapeLike | None = None,
        event_shape: ShapeLike | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        del validate_args
        self.distribution, self.bijector = distribution, bijector or Identity()
        self._batch, self._event = [as_shape([] if s is None else s) for s in (batch_shape, event_shape)]
        if self._more and not distribution.batch_shape.rank == distribution.event_shape.rank == 0:
            raise ValueError(
                "TransformedDistribution: batch_shape and event_shape are for a distribution of scalars without a "
                f"batch, not of events {distribution.event_shape} in a batch {distribution.batch_shape}"
            )
        super().__init__(
            distribution.dtype,
            name or ("" if bijector is None else bijector.name) + distribution.name,
            distribution.allow_nan_stats,
            distribution.reparameterization_type,
        )

    @property
    def _more(self) -> list[int]:
        """The lengths of the batch and of the events that the distribution is repeated along."""
        return [*self._batch.known, *self._event.known]

    @property
    def parameters_like(self) -> pb.Tensor:
        like = self.distribution.parameters_like
        return like + pb.zeros(self._batch.known, like.dtype) if self._batch.rank else like

    @property
    def event_shape(self) -> pb.TensorShape:
        return self._event if self._event.rank else self.distribution.event_shape

    def sample(
        self, sample_shape: int | Sequence[int] = (), seed: int | None = None, name: str | None = None
    ) -> pb.Tensor:
        wanted = [sample_shape] if isinstance(sample_shape, int) else list(sample_shape)
        return named(self.bijector.forward(self.distribution.sample([*wanted, *self._more], seed)), name)

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        return self.bijector.forward(self.distribution.drawn(count, lengths, seed))

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        y = pb.convert_to_tensor(value, dtype_hint=self.dtype)
        before = self._summed(self.distribution.log_prob(self.bijector.inverse(y)))
        return named(before + self.bijector.inverse_log_det_jacobian(y, self._event_ndims), name)

    def mean(self, name: str | None = None) -> pb.Tensor:
        if not self.bijector.is_constant_jacobian:
            raise self._absent("mean")
        before = self.distribution.mean()
        return named(self.bijector.forward(before + pb.zeros(self._more, before.dtype)), name)

    def entropy(self, name: str | None = None) -> pb.Tensor:
        if not self.bijector.is_constant_jacobian:
            raise self._absent("entropy")
        before = self.distribution.entropy()
        before = self._summed(before + pb.zeros(self._more, before.dtype))
        return named(before + self.bijector.forward_log_det_jacobian(self._event_of_zeros(), self._event_ndims), name)

    @property
    def _event_ndims(self) -> int:
        return len(self.event_shape.lengths or ())

    def _event_of_zeros(self) -> pb.Tensor:
        return pb.zeros(self.event_shape.known, self.dtype)

    def _summed(self, x: pb.Tensor) -> pb.Tensor:
        count = len(self._event.known)
        return pb.reduce_sum(x, list(range(-count, 0))) if count else x
