"""Derivatives of pooling on XLA, whose own derivative of a window maximum is several times slower on processors."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..primitives.avg_pooling import AvgPoolGrad, sizes_of
from ..primitives.pooling import MaxPoolGrad, hits
from ..primitives.pools import is_tiled, one_per_tile, pool_geometry, tiled_shape
from ..primitives.precision import widened
from ..primitives.reshaping import shape_to_use
from ..primitives.windows import as_data_format, channels_last, has_channels_first, offsets
from .xla_conv import put_at_offset
from .xla_registry import xla_kernel


@xla_kernel(MaxPoolGrad)
def _max_pool_grad(p: MaxPoolGrad, x: Any, y: Any, dy: Any) -> Any:
    if is_tiled(p, x.shape):
        return _put_in_tiles(p, x, y, dy)
    lengths, pads, counts = pool_geometry(p, x.shape)
    dtype, dy = dy.dtype, widened(channels_last(jnp, dy, p.data_format))
    ones = (1,) * len(counts)
    total: Any = 0
    for offset, hit in zip(offsets(p.ksize), hits(p, jnp, x, y), strict=True):
        piece = jnp.where(hit, dy, jnp.zeros((), dy.dtype))
        total = total + put_at_offset(piece, offset, lengths, p.strides, ones, pads)
    return as_data_format(jnp, total.astype(dtype), p.data_format)


def _put_in_tiles(pool: Any, x: Any, y: Any, dy: Any) -> Any:
    """MaxPoolGrad for windows that do not overlap: the number of the place of each window's first largest element is
    worked out, then every element of the input looks whether that is its own number."""
    tiles = tiled_shape(pool, x.shape)
    kept = one_per_tile(pool, x.shape)
    places = list(offsets(pool.ksize))
    first_axis = 3 if has_channels_first(pool.data_format) else 2
    at_axis = [first_axis + 2 * i for i in range(len(pool.ksize))]
    equal = x.reshape(tiles) == y.reshape(kept)
    number = jnp.full((), len(places) - 1, np.int32)
    for i in reversed(range(len(places) - 1)):
        index: list[Any] = [slice(None)] * len(tiles)
        for axis, o in zip(at_axis, places[i], strict=True):
            index[axis] = slice(o, o + 1)
        number = jnp.where(equal[tuple(index)], np.int32(i), number)
    numbers = np.zeros((1,) * len(tiles), np.int32)
    for axis, k in zip(at_axis, pool.ksize, strict=True):
        along = [1] * len(tiles)
        along[axis] = k
        numbers = numbers * k + np.arange(k, dtype=np.int32).reshape(along)
    return jnp.where(numbers == number, dy.reshape(kept), jnp.zeros((), dy.dtype)).reshape(x.shape)


@xla_kernel(AvgPoolGrad)
def _avg_pool_grad(p: AvgPoolGrad, dy: Any, sizes: Any = None) -> Any:
    dims = shape_to_use(p.input_sizes, sizes)
    if is_tiled(p, dims):
        return p.kernel(jnp, dy, sizes)
    lengths, pads, counts = pool_geometry(p, dims)
    dtype, dy = dy.dtype, widened(channels_last(jnp, dy, p.data_format))
    share = dy / sizes_of(p, lengths, dy.dtype)
    ones = (1,) * len(counts)
    total: Any = 0
    for offset in offsets(p.ksize):
        total = total + put_at_offset(share, offset, lengths, p.strides, ones, pads)
    return as_data_format(jnp, total.astype(dtype), p.data_format)
