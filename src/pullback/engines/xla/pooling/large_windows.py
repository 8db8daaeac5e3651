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

from ....primitives.base.windows import as_data_format, channels_last
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
from ..windows import padded


def is_large(pool: Any, *shapes: Sequence[Any]) -> bool:
    """Whether windows have so many places, and all the lengths are known."""
    return has_large_windows(pool) and all(isinstance(n, int) and n > 0 for shape in shapes for n in shape)


def largest_put_back(pool: Any, x: Any, dy: Any) -> Any:
    """MaxPoolGrad: `dy` at the first largest element of each window of `x`, in its data format."""
    if is_tiled(pool, x.shape):
        is_first = _is_first_in_tile(pool, x)
        return jnp.where(is_first, dy.reshape(one_per_tile(pool, x.shape)), jnp.zeros((), dy.dtype)).reshape(x.shape)
    lengths, pads, _ = pool_geometry(pool, x.shape)
    shape = (x.shape[0], *padded_lengths(lengths, pads), dy.shape[channel_axis(pool)])
    at = _numbers(pool, first_places(pool, x), shape)
    cotangents = channels_last(jnp, dy, pool.data_format).ravel()
    total = jnp.zeros((prod(shape),), dy.dtype).at[at.ravel()].add(cotangents, mode="promise_in_bounds")
    inside = tuple([slice(before, before + n) for n, (before, _) in zip(lengths, pads, strict=True)])
    return as_data_format(jnp, total.reshape(shape)[(slice(None), *inside)], pool.data_format)


def largest_picked(pool: Any, x: Any, ddx: Any) -> Any:
    """MaxPoolGradGrad: the element of `ddx` at the first largest one of each window of `x`, in its data format."""
    if is_tiled(pool, x.shape):
        tiles = ddx.reshape(tiled_shape(pool, x.shape))
        return jnp.where(_is_first_in_tile(pool, x), tiles, jnp.zeros((), ddx.dtype)).sum(tile_axes(pool))
    _, pads, _ = pool_geometry(pool, x.shape)
    image = padded(channels_last(jnp, ddx, pool.data_format), pads)
    at = _numbers(pool, first_places(pool, x), image.shape)
    return as_data_format(jnp, image.ravel().at[at].get(mode="promise_in_bounds"), pool.data_format)


def first_places(pool: Any, x: Any) -> Any:
    """The number of the place of each window's first largest element, or its first NaN; channels last."""
    _, pads, counts = pool_geometry(pool, x.shape)
    image = padded(channels_last(jnp, x, pool.data_format), pads, lowest(x.dtype))
    holes = holes_of(pool)

    def step(number: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        largest, found = carried
        part = image
        for i, o in enumerate(jnp.unravel_index(number, pool.ksize)):
            span = (counts[i] - 1) * pool.strides[i] + 1
            part = lax.dynamic_slice_in_dim(part, o * holes[i], span, i + 1)
            part = lax.slice_in_dim(part, 0, span, pool.strides[i], i + 1)
        larger = (part > largest) | ((part != part) & (largest == largest))
        return jnp.where(larger, part, largest), jnp.where(larger, number, found)

    shape = (x.shape[0], *counts, image.shape[-1])
    begin = jnp.full(shape, lowest(x.dtype), x.dtype), jnp.zeros(shape, np.int32)
    return lax.fori_loop(np.int32(0), np.int32(prod(pool.ksize)), step, begin)[1]


def coordinates(pool: Any, places: Any) -> list[Any]:
    """Along each spatial axis where the places of windows, given by their numbers, are in the padded image."""
    found = []
    for i, o in enumerate(jnp.unravel_index(places, pool.ksize)):
        starts = np.arange(places.shape[i + 1], dtype=np.int32) * np.int32(pool.strides[i])
        found.append(o * np.int32(holes_of(pool)[i]) + starts.reshape([-1] + [1] * (places.ndim - i - 2)))
    return found


def channel_axis(pool: Any) -> int:
    """The axis of channels in the pool's data format."""
    found: int = pool.data_format.index("C")
    return found


def _numbers(pool: Any, places: Any, shape: Sequence[int]) -> Any:
    """The numbers of those elements in the flattened padded image."""
    wide = np.int64 if prod(shape) > np.iinfo(np.int32).max else np.int32
    rank = places.ndim
    batch, channels = [
        np.arange(shape[i], dtype=wide).reshape([-1 if j == i else 1 for j in range(rank)]) for i in (0, rank - 1)
    ]
    number: Any = batch
    for at, n in zip(coordinates(pool, places), shape[1:-1], strict=True):
        number = number * wide(n) + at.astype(wide)
    return number * wide(shape[-1]) + channels


def _is_first_in_tile(pool: Any, x: Any) -> Any:
    """In the shape of tiles, whether an element is the first largest, or the first NaN, of its own."""
    tiles = x.reshape(tiled_shape(pool, x.shape))
    axes, numbers = tile_axes(pool), np.zeros((1,) * tiles.ndim, np.int32)
    for axis, k in zip(axes, pool.ksize, strict=True):
        numbers = numbers * k + np.arange(k, dtype=np.int32).reshape([-1] + [1] * (tiles.ndim - axis - 1))
    every = jnp.broadcast_to(numbers, tiles.shape)

    def combine(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        (x, i), (y, j) = a, b
        alike = (x == y) | ((x != x) & (y != y))
        second = (y > x) | ((y != y) & (x == x)) | (alike & (j < i))
        return jnp.where(second, y, x), jnp.where(second, j, i)

    begin = np.asarray(lowest(x.dtype), x.dtype), np.asarray(np.iinfo(np.int32).max, np.int32)
    _, first = lax.reduce((tiles, every), begin, combine, axes)
    return numbers == first.reshape(one_per_tile(pool, x.shape))
