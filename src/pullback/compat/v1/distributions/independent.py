"""Distributions of vectors whose elements are independent: `Independent`, and the normal one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from ....primitives.base.broadcasting import operands
from .continuous import Normal
from .distribution import Distribution, divergence, kl_divergence, named


class Independent(Distribution):
    """`distribution`, the last axes of whose batch are one draw: all but the first unless their number is given."""

    def __init__(
        self,
        distribution: Distribution,
        reinterpreted_batch_ndims: int | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        del validate_args
        super().__init__(distribution.dtype, name, reparameterization_type=distribution.reparameterization_type)
        self.distribution = distribution
        self._count = _axes_of_a_draw(distribution.batch_shape, reinterpreted_batch_ndims)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self._summed(self.distribution.parameters_like)

    @property
    def event_shape(self) -> pb.TensorShape:
        return self.distribution.batch_shape[-self._count :] if self._count else pb.TensorShape.SCALAR

    def event_shape_tensor(self, name: str | None = None) -> pb.Tensor:
        """The shape of one draw."""
        return pb.shape(self.distribution.parameters_like, name=name)[-self._count :]

    def sample(
        self, sample_shape: int | Sequence[int] = (), seed: int | None = None, name: str | None = None
    ) -> pb.Tensor:
        return self.distribution.sample(sample_shape, seed, name or "sample")

    def drawn(self, count: int, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        return self.distribution.drawn(count, pb.concat([lengths, self.event_shape_tensor()], 0), seed)

    def log_prob(self, value: TensorLike, name: str | None = None) -> pb.Tensor:
        return named(self._summed(self.distribution.log_prob(value)), name)

    def entropy(self, name: str | None = None) -> pb.Tensor:
        return named(self._summed(self.distribution.entropy()), name)

    def mean(self, name: str | None = None) -> pb.Tensor:
        return self.distribution.mean(name)

    def variance(self, name: str | None = None) -> pb.Tensor:
        return self.distribution.variance(name)

    def mode(self, name: str | None = None) -> pb.Tensor:
        return self.distribution.mode(name)

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
        super().__init__(Normal(self.loc, scale), 1, validate_args, name)


@divergence(Independent, Independent)
def _independent_from_independent(a: Independent, b: Independent) -> pb.Tensor:
    return a._summed(kl_divergence(a.distribution, b.distribution))


def _axes_of_a_draw(batch: pb.TensorShape, asked: int | None) -> int:
    if asked is not None:
        return asked
    if batch.rank is None:
        raise ValueError("Independent: the rank of the batch is not known; give reinterpreted_batch_ndims")
    return max(batch.rank - 1, 0)
