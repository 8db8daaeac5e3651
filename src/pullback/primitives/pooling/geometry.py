"""Pooling arguments, and the arrays of elements to reduce: what the largest and the mean of windows share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core.operation import Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import Links, same_axes
from ...core.types import TensorType
from ..base.window_links import Geometry, images, window_links
from ..base.windows import (
    Padding,
    Pads,
    at_offset,
    channels_last,
    check_data_format,
    has_channels_first,
    has_many_places,
    infer_windows,
    offsets,
    padded,
    pads_of,
    result_lengths,
    spatial_lengths,
    spatial_padding,
    split_axes,
    window_shape,
)

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}
Window = tuple[int, ...]


class AbstractPool(Primitive):
    """What is computed of the windows of images, or back."""

    ksize: Window
    strides: Window
    padding: Padding
    data_format: str
    dilations: Window = ()


def pool_arguments(
    what: str, x: Tensor, ksize: Any, strides: Any, padding: Any, data_format: str | None, count: int | None
) -> tuple[Any, ...]:
    if count is None:
        count = _spatial_axes(what, x, ksize, data_format)
    form = check_data_format(what, data_format, _FORMATS[count])
    window = spatial_lengths(what, "ksize", ksize, count, form)
    pads = spatial_padding(what, padding, count, form)
    if not isinstance(pads, str) and any(max(pad) >= k for pad, k in zip(pads, window, strict=True)):
        raise ValueError(f"{what}: a padding of {padding!r} is not smaller than the window {list(window)}")
    return window, spatial_lengths(what, "strides", strides, count, form), pads, form


def _spatial_axes(what: str, x: Tensor, ksize: Any, data_format: str | None) -> int:
    if data_format is not None:
        count = len(data_format) - 2
    elif x.shape.rank is not None:
        count = x.shape.rank - 2
    else:
        count = len(ksize) - 2 if isinstance(ksize, list | tuple) else 0
    if count not in _FORMATS:
        raise ValueError(f"{what}: the input must have one to three spatial axes, which cannot be said of {x}")
    return count


def window_of(pool: Any) -> tuple[Window, Window, Padding, str, Window]:
    """The attributes that all primitives of pooling have."""
    return pool.ksize, pool.strides, pool.padding, pool.data_format, pool.dilations


def holes_of(pool: Any) -> Window:
    """The dilation of each spatial axis."""
    return pool.dilations or (1,) * len(pool.ksize)


def pooled_type(what: str, pool: Any, x: TensorType) -> TensorType:
    batch, counts, channels = infer_windows(
        what, x, pool.ksize, pool.strides, holes_of(pool), pool.padding, pool.data_format
    )
    return TensorType(x.dtype, window_shape(batch, counts, channels, pool.data_format))


def pool_geometry(pool: Any, dims: Sequence[int]) -> tuple[Window, Pads, Window]:
    """Spatial lengths, paddings and numbers of windows for an input of shape `dims`."""
    _, lengths, _ = split_axes(dims, pool.data_format)
    pads = pads_of(lengths, pool.ksize, pool.strides, holes_of(pool), pool.padding)
    counts = result_lengths(lengths, pool.ksize, pool.strides, holes_of(pool), pool.padding)
    return lengths, pads, tuple([max(m or 0, 0) for m in counts])


def parts(pool: Any, xp: Any, x: Any, value: Any) -> Iterator[Any]:
    """For each place in the window, the elements of `x` there, `value` where that is padding; with channels last."""
    _, pads, counts = pool_geometry(pool, x.shape)
    x = padded(xp, channels_last(xp, x, pool.data_format), pads, value)
    for offset in offsets(pool.ksize):
        yield x[at_offset(offset, counts, pool.strides, holes_of(pool))]


def pool_links(pool: Any, y: str, x: str, image: TensorShape) -> Links | None:
    """The axes of `y` that go along axes of `x`; the roles are "windows", of what was pooled, and "elements"."""
    if image.sizes is None or None in image.sizes[1:]:
        return None
    _, lengths, channels = split_axes(image.sizes, pool.data_format)
    same = {"channel": np.arange(channels)}
    geometry = Geometry(lengths, pool.ksize, pool.strides, holes_of(pool), pool.padding)
    return window_links(geometry, images(y, pool.data_format, same), images(x, pool.data_format, same))


def batch_and_channels(pool: Any) -> Links:
    """The axes of images that windows do not go along."""
    return same_axes((0, 1) if has_channels_first(pool.data_format) else (0, len(pool.data_format) - 1))


def padded_lengths(lengths: Window, pads: Pads) -> list[int]:
    return [before + n + after for n, (before, after) in zip(lengths, pads, strict=True)]


def is_tiled(pool: Any, dims: Sequence[int]) -> bool:
    """Whether the windows cover an input of shape `dims` without overlap, rest or padding."""
    lengths, pads, _ = pool_geometry(pool, dims)
    if any(map(any, pads)) or any(d > 1 for d in pool.dilations):
        return False
    axes = zip(lengths, pool.ksize, pool.strides, strict=True)
    return all(n == k or (k == s and n % k == 0) for n, k, s in axes)


def has_large_windows(pool: Any) -> bool:
    """Whether a compiled program should not work on each place of a window apart."""
    return has_many_places(pool.ksize)


def tiled_shape(pool: Any, dims: Sequence[int]) -> tuple[int, ...]:
    """The shape in which each spatial axis is two: the windows, and the places in a window."""
    batch, lengths, channels = split_axes(dims, pool.data_format)
    pairs = [m for n, k in zip(lengths, pool.ksize, strict=True) for m in (n // k, k)]
    return (batch, channels, *pairs) if has_channels_first(pool.data_format) else (batch, *pairs, channels)


def tile_axes(pool: Any) -> tuple[int, ...]:
    """The axes of `tiled_shape` that go along the places in a window."""
    first = 3 if has_channels_first(pool.data_format) else 2
    return tuple(range(first, first + 2 * len(pool.ksize), 2))


def one_per_tile(pool: Any, dims: Sequence[int]) -> tuple[int, ...]:
    """`tiled_shape` with one place in a window."""
    batch, lengths, channels = split_axes(dims, pool.data_format)
    pairs = [m for n, k in zip(lengths, pool.ksize, strict=True) for m in (n // k, 1)]
    return (batch, channels, *pairs) if has_channels_first(pool.data_format) else (batch, *pairs, channels)
