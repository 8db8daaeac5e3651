"""Normal distributions of vectors whose elements depend on each other.

>>> import pullback.compat.v1 as tf
>>> ds = tf.contrib.distributions
>>> plane = ds.MultivariateNormalTriL([1.0, 2.0], [[1.0, 0.0], [0.5, 2.0]])
>>> tf.Session().run(plane.covariance())
array([[1.  , 0.5 ],
       [0.5 , 4.25]], dtype=float32)
>>> other = ds.MultivariateNormalFullCovariance([1.0, 2.0], [[1.0, 0.5], [0.5, 4.25]])
>>> tf.Session().run(ds.kl_divergence(plane, other))
np.float32(0.0)
"""

from __future__ import annotations

import math
from typing import Any

import pullback as pb

from ....core.typing import TensorLike
from .distribution import FULLY_REPARAMETERIZED
from .divergences import divergence
from .independent import MultivariateNormalDiag
from .parametrized import AbstractParametrized


class MultivariateNormalTriL(AbstractParametrized):
    """The normal distribution of vectors [batch..., k] with mean `loc` and covariance `scale_tril scale_tril^T`.

    `scale_tril` [batch..., k, k] is lower triangular; what is above its diagonal does not count. `loc` is 0, and
    `scale_tril` the identity, where one of them is None.

    Raises:
        ValueError: both are None.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        if loc is None and scale_tril is None:
            raise ValueError(f"{name}: give loc= or scale_tril=")
        mean: Any = None if loc is None else pb.convert_to_tensor(loc)
        scale: Any = None if scale_tril is None else pb.linalg.band_part(pb.convert_to_tensor(scale_tril), -1, 0)
        self.scale_tril = pb.linalg.diag(pb.ones_like(mean)) if scale is None else scale
        self.loc = pb.zeros_like(self.scale_tril[..., 0]) if mean is None else mean
        super().__init__(self.loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    @property
    def parameters_like(self) -> pb.Tensor:
        return self.loc[..., 0] + self.scale_tril[..., 0, 0]

    def _event_shape(self) -> pb.TensorShape:
        return pb.TensorShape([self.scale_tril.shape.size(-1)])

    def _event_shape_tensor(self) -> pb.Tensor:
        return pb.shape(self.scale_tril)[-1:]

    def _log_prob(self, value: pb.Tensor) -> pb.Tensor:
        x = value - self.loc
        size = pb.cast(self.event_shape_tensor()[0], x.dtype)
        standard = _solved(self.scale_tril, x[..., None])[..., 0]
        norm = 0.5 * size * math.log(2.0 * math.pi) + _log_volume(self.scale_tril)
        return -0.5 * pb.reduce_sum(pb.square(standard), -1) - norm

    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        del count
        whole = pb.concat([lengths, self.event_shape_tensor()], 0)
        x = pb.random_normal(whole, dtype=self.dtype, seed=seed)
        return self.loc + pb.linalg.matvec(self.scale_tril, x)

    def _mean(self) -> pb.Tensor:
        return self.loc + pb.zeros_like(self.scale_tril[..., 0])

    def _covariance(self) -> pb.Tensor:
        return pb.matmul(self.scale_tril, self.scale_tril, transpose_b=True)

    def _variance(self) -> pb.Tensor:
        return pb.reduce_sum(pb.square(self.scale_tril), -1) + pb.zeros_like(self.loc)

    def _entropy(self) -> pb.Tensor:
        size = pb.cast(self.event_shape_tensor()[0], self.dtype)
        whole = 0.5 * size * (1.0 + math.log(2.0 * math.pi)) + _log_volume(self.scale_tril)
        return whole + pb.zeros_like(self.parameters_like)

    def _mode(self) -> pb.Tensor:
        return self._mean()


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of vectors [batch..., k] with mean `loc` and covariance `covariance_matrix`."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        covariance_matrix: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        scale = None if covariance_matrix is None else pb.linalg.cholesky(pb.convert_to_tensor(covariance_matrix))
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


Vectors = MultivariateNormalTriL | MultivariateNormalDiag


@divergence(MultivariateNormalTriL, MultivariateNormalTriL)
@divergence(MultivariateNormalTriL, MultivariateNormalDiag)
@divergence(MultivariateNormalDiag, MultivariateNormalTriL)
def _normal_from_normal(a: Vectors, b: Vectors) -> pb.Tensor:
    left, right = _scale(a), _scale(b)
    size = pb.cast(pb.shape(right)[-1], right.dtype)
    spread = pb.reduce_sum(pb.square(_solved(right, left)), [-2, -1])
    apart = pb.reduce_sum(pb.square(_solved(right, (b.loc - a.loc)[..., None])), [-2, -1])
    return _log_volume(right) - _log_volume(left) + 0.5 * (spread + apart - size)


def _scale(x: Vectors) -> pb.Tensor:
    return x.scale_tril if isinstance(x, MultivariateNormalTriL) else pb.linalg.diag(x.stddev())


def _log_volume(scale: pb.Tensor) -> pb.Tensor:
    """The logarithm of the determinant of a triangular matrix, whatever the signs of its diagonal."""
    return pb.reduce_sum(pb.log(pb.abs(pb.linalg.diag_part(scale))), -1)


def _solved(scale: pb.Tensor, x: pb.Tensor) -> pb.Tensor:
    """`scale^-1 x`, for matrices of batches that broadcast."""
    batch = pb.broadcast_dynamic_shape(pb.shape(scale)[:-2], pb.shape(x)[:-2])
    left = pb.broadcast_to(scale, pb.concat([batch, pb.shape(scale)[-2:]], 0))
    return pb.linalg.triangular_solve(left, pb.broadcast_to(x, pb.concat([batch, pb.shape(x)[-2:]], 0)))
