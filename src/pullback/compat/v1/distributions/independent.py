"""Distributions of vectors whose elements are independent: `Independent`, and the normal one."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ....primitives.base.broadcasting import operands
from .continuous import Normal
from .distribution import Distribution
from .divergences import divergence, kl_divergence


class Independent(Distribution):
    """`distribution`, the last axes of whose batch are one draw: all but the first unless their number is given."""

    def __init__(
        self,
        distribution: Distribution,
        reinterpreted_batch_ndims: int | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            name=name or type(self).__name__ + distribution.name,
        )
        self.distribution = distribution
        self._count = _axes_of_a_draw(distribution.batch_shape, reinterpreted_batch_ndims)

    def _batch_shape(self) -> pb.TensorShape:
        found: pb.TensorShape = self._split(self.distribution.batch_shape)[0]
        return found

    def _batch_shape_tensor(self) -> pb.Tensor:
        found: pb.Tensor = self._split(self.distribution.batch_shape_tensor())[0]
        return found

    def _event_shape(self) -> pb.TensorShape:
        found: pb.TensorShape = self._split(self.distribution.batch_shape)[1]
        return found.concatenate(self.distribution.event_shape)

    def _event_shape_tensor(self) -> pb.Tensor:
        inner = self.distribution
        return pb.concat([self._split(inner.batch_shape_tensor())[1], inner.event_shape_tensor()], 0)

    def _split(self, batch: Any) -> tuple[Any, Any]:
        """The axes that stay those of a batch, and those that are a draw's."""
        return (batch[: -self._count], batch[-self._count :]) if self._count else (batch, batch[:0])

    def _sample_n(self, n: int | pb.Tensor, seed: int | None = None) -> pb.Tensor:
        return self.distribution.sample(n, seed)

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        return self._summed(self.distribution.log_prob(value))

    def _entropy(self) -> pb.Tensor:
        return self._summed(self.distribution.entropy())

    def _mean(self) -> pb.Tensor:
        return self.distribution.mean()

    def _variance(self) -> pb.Tensor:
        return self.distribution.variance()

    def _mode(self) -> pb.Tensor:
        return self.distribution.mode()

    def _summed(self, x: pb.Tensor) -> pb.Tensor:
        return pb.reduce_sum(x, list(range(-self._count, 0))) if self._count else x


class MultivariateNormalDiag(Independent):
    """The normal distribution of vectors [batch..., k] with mean `loc` and independent elements.

    Their deviations are `scale_diag`, plus `scale_identity_multiplier` for all; 1 where neither is given.

    >>> import pullback.compat.v1 as tf
    >>> d = tf.contrib.distributions.MultivariateNormalDiag([[0.0, 1.0]], [[1.0, 2.0]])
    >>> d.batch_shape, d.event_shape, d.log_prob([[0.0, 1.0]]).shape
    (TensorShape([1]), TensorShape([2]), TensorShape([1]))
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        del allow_nan_stats
        if loc is None and scale_diag is None:
            raise ValueError("MultivariateNormalDiag: give loc= or scale_diag=")
        scale: Any = None if scale_diag is None else pb.convert_to_tensor(scale_diag)
        mean: Any = pb.zeros_like(scale) if loc is None else pb.convert_to_tensor(loc)
        if scale_identity_multiplier is not None:
            more = pb.convert_to_tensor(scale_identity_multiplier)[..., None]
            scale = more * pb.ones_like(mean) if scale is None else scale + more
        self.loc, scale = operands(mean, pb.ones_like(mean) if scale is None else scale)
        super().__init__(Normal(self.loc, scale, validate_args), 1, validate_args, name)


@divergence(Independent, Independent)
def _independent_from_independent(a: Independent, b: Independent) -> pb.Tensor:
    return a._summed(kl_divergence(a.distribution, b.distribution))


def _axes_of_a_draw(batch: pb.TensorShape, asked: int | None) -> int:
    if asked is not None:
        return asked
    if batch.rank is None:
        raise ValueError("Independent: the rank of the batch is not known; give reinterpreted_batch_ndims")
    return max(batch.rank - 1, 0)
