"""Glimpses of TensorFlow 1: windows of images around places that may lie beyond their edges."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.dtypes import float32, int32
from ...core.graph import Tensor
from ...core.typing import TensorLike
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import constant, convert_to_tensor
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.elementwise.powers import sqrt
from ...primitives.identity.identity import stop_gradient
from ...primitives.indexing.gather import gather
from ...primitives.indexing.where import where
from ...primitives.random.stateful import random_normal, random_uniform
from ...primitives.reduction.moments import moments
from ...primitives.reduction.reduce import reduce_max, reduce_min
from ...primitives.shape.size import shape


def extract_glimpse(
    input: TensorLike,
    size: Sequence[int],
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """Windows of the `size` [height, width] of images [b, h, w, channels], around `offsets` [b, 2]; noise beyond edges.

    `offsets` (down, right) are shares of the height and width with `normalized`, else pixels; with `centered` 0 is the
    middle of the image, and 1 the edge below it or to its right; without, 0 is the first pixel. Noise is as far spread
    as all pixels, or normally distributed as they are. Derivatives go to the pixels that are seen.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.Session().run(tf.image.extract_glimpse(x, [2, 2], [[0.0, 0.0]]))[0, :, :, 0]
    array([[ 5.,  6.],
           [ 9., 10.]], dtype=float32)
    """
    x, off = convert_to_tensor(input), convert_to_tensor(offsets, float32)
    with x.graph.name_scope(name or "ExtractGlimpse"):
        whole = cast(shape(x)[1:3], float32)
        window = constant([float(n) for n in size])
        place = off * whole if normalized else off
        if centered:
            place = place / 2.0 + whole / 2.0
        first = cast(place - window / 2.0, int32)
        rows, rows_there = _along(first[:, 0], size[0], shape(x)[1])
        columns, columns_there = _along(first[:, 1], size[1], shape(x)[2])
        seen = gather(gather(x, rows, axis=1, batch_dims=1), columns, axis=2, batch_dims=1)
        is_seen = rows_there[:, :, None, None] & columns_there[:, None, :, None]
        return where(is_seen, seen, _noise(stop_gradient(x), seen, uniform_noise))


def _along(first: Tensor, count: int, length: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers of the pixels along an axis, and which of them there are."""
    numbers = first[:, None] + range_(count)
    return clip_by_value(numbers, 0, length - 1), (numbers >= 0) & (numbers < length)


def _noise(x: Tensor, like: Tensor, uniform: bool) -> Tensor:
    if uniform:
        low, high = reduce_min(x), reduce_max(x)
        return low + (high - low) * random_uniform(shape(like), dtype=x.dtype)
    mean, variance = moments(x, list(range(4)))
    return mean + sqrt(variance) * random_normal(shape(like), dtype=x.dtype)
