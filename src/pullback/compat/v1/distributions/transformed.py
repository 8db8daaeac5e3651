"""Distributions of what bijectors make of draws: `TransformedDistribution`."""

from __future__ import annotations

import pullback as pb

from ....core.shape import as_shape
from ....core.typing import ShapeLike
from .bijectors import Bijector, Identity
from .distribution import Distribution


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
        self.distribution, self.bijector = distribution, bijector or Identity()
        self._batch, self._event = [as_shape([] if s is None else s) for s in (batch_shape, event_shape)]
        if self._more and not distribution.batch_shape.rank == distribution.event_shape.rank == 0:
            raise ValueError(
                "TransformedDistribution: batch_shape and event_shape are for a distribution of scalars without a "
                f"batch, not of events {distribution.event_shape} in a batch {distribution.batch_shape}"
            )
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            name=name or ("" if bijector is None else bijector.name) + distribution.name,
        )

    @property
    def _more(self) -> list[int]:
        """The lengths of the batch and of the events that the distribution is repeated along."""
        return [*self._batch.known, *self._event.known]

    def _batch_shape(self) -> pb.TensorShape:
        return self._batch if self._batch.rank else self.distribution.batch_shape

    def _batch_shape_tensor(self) -> pb.Tensor:
        return self.distribution.batch_shape_tensor()

    def _event_shape(self) -> pb.TensorShape:
        return self._event if self._event.rank else self.distribution.event_shape

    def _event_shape_tensor(self) -> pb.Tensor:
        return self.distribution.event_shape_tensor()

    def _sample_n(self, n: int | pb.Tensor, seed: int | None = None) -> pb.Tensor:
        return self.bijector.forward(self.distribution.sample(pb.concat([[n], self._more], 0), seed))

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        y = value
        before = self._summed(self.distribution.log_prob(self.bijector.inverse(y)))
        return before + self.bijector.inverse_log_det_jacobian(y, self._event_ndims)

    def _mean(self) -> pb.Tensor:
        if not self.bijector.is_constant_jacobian:
            raise self.absent("mean")
        before = self.distribution.mean()
        return self.bijector.forward(before + pb.zeros(self._more, before.dtype))

    def _entropy(self) -> pb.Tensor:
        if not self.bijector.is_constant_jacobian:
            raise self.absent("entropy")
        before = self.distribution.entropy()
        before = self._summed(before + pb.zeros(self._more, before.dtype))
        return before + self.bijector.forward_log_det_jacobian(self._event_of_zeros(), self._event_ndims)

    @property
    def _event_ndims(self) -> int:
        return len(self.event_shape.lengths or ())

    def _event_of_zeros(self) -> pb.Tensor:
        return pb.zeros(self.event_shape.known, self.dtype)

    def _summed(self, x: pb.Tensor) -> pb.Tensor:
        count = len(self._event.known)
        return pb.reduce_sum(x, list(range(-count, 0))) if count else x
