"""Glimpses of TensorFlow 1: windows of images around places that may lie beyond their edges."""

from __future__ import annotations

from collections.abc import Sequence

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import TensorLike


@in_graph_of_inputs
def extract_glimpse(
    input: TensorLike,
    size: Sequence[int],
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> pb.Tensor:
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
    x, off = pb.convert_to_tensor(input), pb.convert_to_tensor(offsets, pb.float32)
    with x.graph.within(name or "ExtractGlimpse"):
        whole = pb.cast(pb.shape(x)[1:3], pb.float32)
        window = pb.constant([float(n) for n in size])
        place = off * whole if normalized else off
        if centered:
            place = place / 2.0 + whole / 2.0
        first = pb.cast(place - window / 2.0, pb.int32)
        rows, rows_there = _along(first[:, 0], size[0], pb.shape(x)[1])
        columns, columns_there = _along(first[:, 1], size[1], pb.shape(x)[2])
        seen = pb.gather(pb.gather(x, rows, axis=1, batch_dims=1), columns, axis=2, batch_dims=1)
        is_seen = rows_there[:, :, None, None] & columns_there[:, None, :, None]
        return pb.where(is_seen, seen, _noise(pb.stop_gradient(x), seen, uniform_noise))


def _along(first: pb.Tensor, count: int, length: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
    """The numbers of the pixels along an axis, and which of them there are."""
    numbers = first[:, None] + pb.range(count)
    return pb.clip_by_value(numbers, 0, length - 1), (numbers >= 0) & (numbers < length)


def _noise(x: pb.Tensor, like: pb.Tensor, uniform: bool) -> pb.Tensor:
    if uniform:
        low, high = pb.reduce_min(x), pb.reduce_max(x)
        return low + (high - low) * pb.random_uniform(pb.shape(like), dtype=x.dtype)
    mean, variance = pb.nn.moments(x, list(range(4)))
    return mean + pb.sqrt(variance) * pb.random_normal(pb.shape(like), dtype=x.dtype)
