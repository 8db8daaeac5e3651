"""Resampling of images at given places, between their pixels: `tf.contrib.resampler`."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike


@in_graph_of_inputs
def resampler(data: TensorLike, warp: TensorLike, name: str = "resampler") -> pb.Tensor:
    """The images `data` at the places `warp`, (x, y) in pixels, by bilinear interpolation; zeros outside.

    Shapes: `data` [batch, height, width, channels], `warp` [batch, ..., 2], the result [batch, ..., channels].

    Derivative: to both; that by places is the slope between the four pixels around them.

    Raises:
        ValueError: the shapes are others.

    >>> import pullback.compat.v1 as tf
    >>> image = tf.constant([[0.0, 10.0], [20.0, 30.0]])[None, :, :, None]
    >>> tf.Session().run(tf.contrib.resampler.resampler(image, [[[0.5, 0.0], [1.0, 0.5]]]))[0, :, 0]
    array([ 5., 20.], dtype=float32)
    """
    images, places = pb.convert_to_tensor(data), pb.convert_to_tensor(warp)
    if images.shape.rank not in (4, None) or (places.shape.rank and places.shape.size(-1) not in (2, None)):
        raise ValueError(
            f"{name}: takes images [batch, height, width, channels] and places [batch, ..., 2]: {images}, {places}"
        )
    with pb.name_scope(name):
        shape = pb.shape(images)
        rows = pb.reshape(images, pb.stack([shape[0], shape[1] * shape[2], shape[3]]))
        flat = pb.reshape(places, pb.stack([shape[0], -1, 2]))
        x, y = flat[..., 0], flat[..., 1]
        left, top = pb.floor(x), pb.floor(y)
        sides = [((left, 1.0 - (x - left)), (left + 1.0, x - left)), ((top, 1.0 - (y - top)), (top + 1.0, y - top))]
        found: Any = 0.0
        for column, share in sides[0]:
            for row, part in sides[1]:
                found += (share * part)[..., None] * _pixels(rows, column, row, shape[2], shape[1])
        wanted = places.shape[:-1].concatenate(images.shape[-1:]) if places.shape.rank else None
        whole = pb.reshape(found, pb.concat([pb.shape(places)[:-1], shape[3:]], 0))
        return whole if wanted is None else pb.ensure_shape(whole, wanted)


def _pixels(rows: Any, column: Any, row: Any, width: Any, height: Any) -> Any:
    """The pixels at whole places, zeros outside of the image."""
    i, j = pb.cast(row, pb.int32), pb.cast(column, pb.int32)
    inside = (i >= 0) & (j >= 0) & (i < height) & (j < width)
    at = pb.where(inside, i * width + j, pb.zeros_like(i))
    return pb.gather(rows, at, batch_dims=1) * pb.cast(inside, rows.dtype)[..., None]
