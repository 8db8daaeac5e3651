"""XLA lowering of pooling: XLA's own derivative of a window maximum is tens of times slower on processors."""

from __future__ import annotations

from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....core.operation import Operation
from ....primitives.base.largest import first_largest
from ....primitives.base.precision import widened
from ....primitives.base.windows import as_data_format, channels_last, offsets, split_axes
from ....primitives.pooling.argmax import MaxPoolWithArgmax
from ....primitives.pooling.avg_pool import AvgPool, AvgPoolGrad, sizes_of
from ....primitives.pooling.geometry import (
    has_large_windows,
    holes_of,
    is_tiled,
    one_per_tile,
    parts,
    pool_geometry,
    tile_axes,
    tiled_shape,
    window_of,
)
from ....primitives.pooling.max_pool import MaxPool, MaxPoolGrad, MaxPoolGradGrad
from ....primitives.pooling.places import MaxPoolPlaces
from ....primitives.reduction.reduce import lowest
from ....primitives.shape.reshape import shape_to_use
from ..fusion import computed_by_shifts
from ..platform import on_processor
from ..registry import xla_kernel
from ..windows import padded, put_sums, put_windows, reduce_windows
from .large_windows import (
    first_places,
    has_wide_tiles,
    is_large,
    largest_picked,
    largest_put_back,
    numbers_in_tile,
    windows_of,
)


def _has_small_windows(op: Operation) -> bool:
    return not has_large_windows(op.primitive)


computed_by_shifts(AvgPool, AvgPoolGrad, where=_has_small_windows, are_cheap=True)
computed_by_shifts(MaxPool, MaxPoolGrad, where=_has_small_windows)


@xla_kernel(MaxPool)
def _max_pool(p: MaxPool, x: Any) -> Any:
    _, pads, counts = pool_geometry(p, x.shape)
    if not on_processor() or is_tiled(p, x.shape) or 0 in counts:
        return p.kernel(jnp, x)
    x = padded(channels_last(jnp, x, p.data_format), pads, lowest(x.dtype))
    y = reduce_windows(jnp.maximum, x, p.ksize, p.strides, holes_of(p), counts)
    return as_data_format(jnp, y, p.data_format)


@xla_kernel(MaxPoolGrad)
def _max_pool_grad(p: MaxPoolGrad, x: Any, y: Any, dy: Any) -> Any:
    """The number of the place of each window's first largest element is worked out; each place looks for its own."""
    del y
    if is_large(p, x.shape) or has_wide_tiles(p, x):
        return largest_put_back(p, x, widened(dy)).astype(dy.dtype)
    if is_tiled(p, x.shape):
        return _put_in_tiles(p, x, dy)
    lengths, pads, _ = pool_geometry(p, x.shape)
    dtype, dy = dy.dtype, widened(channels_last(jnp, dy, p.data_format))
    number = first_largest(jnp, parts(p, jnp, x, lowest(x.dtype)))
    nothing = jnp.zeros((), dy.dtype)
    dx = put_windows(
        lambda i, _, arrays: jnp.where(arrays[0] == i, arrays[1], nothing),
        [(number, -1), (dy, 0)],
        p.ksize,
        p.strides,
        holes_of(p),
        lengths,
        pads,
    )
    return as_data_format(jnp, dx.astype(dtype), p.data_format)


@xla_kernel(MaxPoolGradGrad)
def _max_pool_grad_grad(p: MaxPoolGradGrad, x: Any, y: Any, ddx: Any) -> Any:
    return largest_picked(p, x, ddx) if is_large(p, x.shape) or has_wide_tiles(p, x) else p.kernel(jnp, x, y, ddx)


@xla_kernel(MaxPoolPlaces)
def _max_pool_places(p: MaxPoolPlaces, x: Any, y: Any) -> Any:
    if not is_large(p, x.shape):
        return p.kernel(jnp, x, y)
    places = first_places(p, x)
    _, pads, _ = pool_geometry(p, x.shape)
    _, lengths, channels = split_axes(x.shape, p.data_format)
    steps = [prod(lengths[:i]) if p.column_major else prod(lengths[i + 1 :]) for i in range(len(lengths))]
    images = np.arange(x.shape[0] * channels).reshape(x.shape[0], *[1] * len(lengths), channels)
    total = images * prod(lengths)
    for at, (before, _), n, step in zip(windows_of(p, x.shape).coordinates(places), pads, lengths, steps, strict=True):
        total = total + jnp.clip(at.astype(np.int64) - before, 0, n - 1) * step
    return as_data_format(jnp, total, p.data_format)


@xla_kernel(MaxPoolWithArgmax)
def _max_pool_with_argmax(p: MaxPoolWithArgmax, x: Any) -> Any:
    if not is_large(p, x.shape):
        return p.kernel(jnp, x)
    (height, width), pads, _ = pool_geometry(p, x.shape)
    places = windows_of(p, x.shape).coordinates(first_places(p, x))
    rows, columns = [at.astype(np.int64) - before for at, (before, _) in zip(places, pads, strict=True)]
    images = np.arange(x.shape[0] if p.include_batch_in_index else 1).reshape(-1, 1, 1, 1)
    numbers = ((images * height + rows) * width + columns) * x.shape[3] + np.arange(x.shape[3])
    return _max_pool(MaxPool(*window_of(p)), x), numbers.astype(p.output_dtype)


@xla_kernel(AvgPool)
def _avg_pool(p: AvgPool, x: Any) -> Any:
    if not is_large(p, x.shape) or is_tiled(p, x.shape):
        return p.kernel(jnp, x)
    lengths, pads, counts = pool_geometry(p, x.shape)
    wide = padded(widened(channels_last(jnp, x, p.data_format)), pads)
    total = reduce_windows(jnp.add, wide, p.ksize, p.strides, holes_of(p), counts)
    return as_data_format(jnp, (total / sizes_of(p, lengths, wide.dtype)).astype(x.dtype), p.data_format)


def _put_in_tiles(pool: Any, x: Any, dy: Any) -> Any:
    """MaxPoolGrad for windows that do not overlap: every element of the input looks whether the number is its own."""
    tiles = tiled_shape(pool, x.shape)
    kept = one_per_tile(pool, x.shape)
    elements = []
    for place in offsets(pool.ksize):
        index: list[Any] = [slice(None)] * len(tiles)
        for axis, o in zip(tile_axes(pool), place, strict=True):
            index[axis] = slice(o, o + 1)
        elements.append(x.reshape(tiles)[tuple(index)])
    number = first_largest(jnp, elements)
    return jnp.where(numbers_in_tile(pool, x.shape) == number, dy.reshape(kept), jnp.zeros((), dy.dtype)).reshape(
        x.shape
    )


@xla_kernel(AvgPoolGrad)
def _avg_pool_grad(p: AvgPoolGrad, dy: Any, sizes: Any = None) -> Any:
    dims = shape_to_use(p.input_sizes, sizes)
    if is_tiled(p, dims):
        return p.kernel(jnp, dy, sizes)
    lengths, pads, _ = pool_geometry(p, dims)
    dtype, dy = dy.dtype, widened(channels_last(jnp, dy, p.data_format))
    share = dy / sizes_of(p, lengths, dy.dtype)
    if is_large(p, dims):
        dx = put_sums(share, p.ksize, p.strides, holes_of(p), lengths, pads)
    else:
        dx = put_windows(_whole, [(share, 0)], p.ksize, p.strides, holes_of(p), lengths, pads)
    return as_data_format(jnp, dx.astype(dtype), p.data_format)


def _whole(number: int, place: Any, arrays: Any) -> Any:
    del number, place
    return arrays[0]
