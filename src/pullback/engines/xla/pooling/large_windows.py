"""XLA lowering of pools of large windows: reductions where they do not overlap, else loops over the places of a window.

What small windows take is compiled for each of their places: the derivative of the largest elements of windows of
32 x 32 was compiled for 35 s, and a step on four images of 64 x 64 x 8 took 18.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ....primitives.base.windows import as_data_format, channels_last, inside
from ....primitives.pooling.geometry import (
    has_large_windows,
    holes_of,
    is_tiled,
    one_per_tile,
    padded_lengths,
    pool_geometry,
    tile_axes,
    tiled_shape,
)
from ....primitives.reduction.reduce import lowest
from ..extrema import number_of_largest
from ..ordering import has_keys
from ..window_loops import Windows
from ..windows import padded

_WIDE = 16


def is_large(pool: Any, dims: Sequence[Any]) -> bool:
    """Whether windows have so many places, all the lengths are known, and there is a window."""
    if not has_large_windows(pool) or not all(isinstance(n, int) and n > 0 for n in dims):
        return False
    return 0 not in pool_geometry(pool, dims)[2]


def has_wide_tiles(pool: Any, x: Any) -> bool:
    """Whether windows do not overlap and have so many places that their elements with numbers are compared sooner."""
    return is_tiled(pool, x.shape) and prod(pool.ksize) >= _WIDE and has_keys(x)


def largest_put_back(pool: Any, x: Any, dy: Any) -> Any:
    """MaxPoolGrad: `dy` at the first largest element of each window of `x`, in its data format."""
    if is_tiled(pool, x.shape):
        is_first = _is_first_in_tile(pool, x)
        return jnp.where(is_first, dy.reshape(one_per_tile(pool, x.shape)), jnp.zeros((), dy.dtype)).reshape(x.shape)
    lengths, pads, _ = pool_geometry(pool, x.shape)
    cotangents = channels_last(jnp, dy, pool.data_format)
    total = windows_of(pool, x.shape).put_back(cotangents, first_places(pool, x), padded_lengths(lengths, pads))
    return as_data_format(jnp, total[inside(lengths, pads)], pool.data_format)


def largest_picked(pool: Any, x: Any, ddx: Any) -> Any:
    """MaxPoolGradGrad: the element of `ddx` at the first largest one of each window of `x`, in its data format."""
    if is_tiled(pool, x.shape):
        tiles = ddx.reshape(tiled_shape(pool, x.shape))
        return jnp.where(_is_first_in_tile(pool, x), tiles, jnp.zeros((), ddx.dtype)).sum(tile_axes(pool))
    _, pads, _ = pool_geometry(pool, x.shape)
    image = padded(channels_last(jnp, ddx, pool.data_format), pads)
    return as_data_format(jnp, windows_of(pool, x.shape).picked(image, first_places(pool, x)), pool.data_format)


def first_places(pool: Any, x: Any) -> Any:
    """The number of the place of each window's first largest element, or its first NaN; channels last."""
    _, pads, _ = pool_geometry(pool, x.shape)
    image = padded(channels_last(jnp, x, pool.data_format), pads, lowest(x.dtype))
    return windows_of(pool, x.shape).first_largest(image)[1]


def windows_of(pool: Any, dims: Sequence[int]) -> Windows:
    """The windows of an input of shape `dims`."""
    return Windows(pool.ksize, pool.strides, holes_of(pool), pool_geometry(pool, dims)[2])


def numbers_in_tile(pool: Any, dims: Sequence[int]) -> Any:
    """The numbers of the places in a window, in a shape that broadcasts to that of tiles."""
    rank = len(tiled_shape(pool, dims))
    numbers: Any = np.zeros((1,) * rank, np.int32)
    for axis, k in zip(tile_axes(pool), pool.ksize, strict=True):
        numbers = numbers * k + np.arange(k, dtype=np.int32).reshape([-1] + [1] * (rank - axis - 1))
    return numbers


def _is_first_in_tile(pool: Any, x: Any) -> Any:
    """In the shape of tiles, whether an element is the first largest, or the first NaN, of its own."""
    tiles, numbers = x.reshape(tiled_shape(pool, x.shape)), numbers_in_tile(pool, x.shape)
    if has_keys(x):
        return numbers == number_of_largest(tiles, numbers, tile_axes(pool)).reshape(one_per_tile(pool, x.shape))
    every = jnp.broadcast_to(numbers, tiles.shape)

    def combine(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        (x, i), (y, j) = a, b
        alike = (x == y) | ((x != x) & (y != y))
        second = (y > x) | ((y != y) & (x == x)) | (alike & (j < i))
        return jnp.where(second, y, x), jnp.where(second, j, i)

    begin = np.asarray(lowest(x.dtype), x.dtype), np.asarray(np.iinfo(np.int32).max, np.int32)
    _, first = lax.reduce((tiles, every), begin, combine, tile_axes(pool))
    return numbers == first.reshape(one_per_tile(pool, x.shape))
