"""Truncated normal draws between bounds of one's own: `random_ops.parameterized_truncated_normal` of TensorFlow 1."""

from __future__ import annotations

import pullback as pb

from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ...primitives.special.integrals import ndtr


def parameterized_truncated_normal(
    shape: ShapeLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    dtype: DTypeLike = pb.float32,
    seed: int | None = None,
    name: str | None = None,
) -> pb.Tensor:
    """Numbers drawn anew in each run, normal given that they are between `minvals` and `maxvals`.

    The parameters are scalars, or vectors with a number for each row of `shape`. What is drawn are quantiles of uniform
    numbers, on the side of the mean where probabilities are small.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.truncated_normals import parameterized_truncated_normal
    >>> y = tf.Session().run(parameterized_truncated_normal([99], 1.0, 0.1, minvals=9.0, maxvals=10.0))
    >>> bool(9.0 <= y.min() and y.max() <= 10.0)
    True
    """
    with pb.name_scope(name or "parameterized_truncated_normal"):
        u = pb.random.uniform(shape, dtype=dtype, seed=seed)
        mean, deviation, lowest, highest = [_along_rows(x, u) for x in (means, stddevs, minvals, maxvals)]
        low, high = (lowest - mean) / deviation, (highest - mean) / deviation
        is_above = low > 0.0
        start, end = pb.where(is_above, -high, low), pb.where(is_above, -low, high)
        below, within = ndtr(start), ndtr(end) - ndtr(start)
        z = pb.clip_by_value(pb.math.ndtri(below + u * within), start, end)
        drawn = mean + deviation * pb.where(is_above, -z, z)
        return pb.clip_by_value(drawn, lowest, highest)


def _along_rows(parameter: TensorLike, like: pb.Tensor) -> pb.Tensor:
    x = pb.convert_to_tensor(parameter, like.dtype)
    if x.shape.rank != 1:
        return x
    return pb.reshape(x, pb.concat([[-1], pb.ones_like(pb.shape(like)[1:])], 0))
