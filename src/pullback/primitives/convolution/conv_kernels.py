"""Convolution kernels in NumPy, of inputs [batch, spatial..., channels], and those of their derivatives.

One matrix product for each place in the window; for few channels one product with all places side by side (im2col),
because thin matrices multiply slowly. The batch goes in parts that stay in the cache: what a part takes beside its
result is small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..base.windows import Pads, at_offset, inside, offsets, padded

Array = np.ndarray[Any, Any]
_FEW_CHANNELS = 16
_PART = 1 << 18
"""The bytes of a part of the batch, as many as there are of images, results or patches."""


def convolve(x: Array, f: Array, strides: tuple[int, ...], dilations: tuple[int, ...], pads: Pads) -> Array:
    """The correlation of `x` with the filters `f` [window..., channels / groups, count]."""
    *windows, depth, count = f.shape
    counts = _counts(x, pads, windows, strides, dilations)
    groups = x.shape[-1] // depth
    result = np.empty((len(x), *counts, count), np.result_type(x, f))
    for part in _parts(x, result, _copies(windows, depth, groups)):
        images = padded(np, x[part], pads)
        if _is_thin(depth, groups):
            patches = _patches(images, windows, counts, strides, dilations)
            np.dot(patches, f.reshape(patches.shape[1], count), out=result[part].reshape(len(patches), count))
            del patches  # Before the next ones are made.
            continue
        total = None
        for offset in offsets(windows):
            piece = _rows(images[at_offset(offset, counts, strides, dilations)], groups)
            total = _add(total, np.matmul(piece, _matrices(f[offset], groups)))
        assert total is not None
        result[part] = _unrows(total, (len(images), *counts))
    return result


def convolve_by_input(
    f: Array,
    dy: Array,
    lengths: tuple[int, ...],
    channels: int,
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: Pads,
) -> Array:
    """The cotangent of an input of spatial `lengths` and `channels`."""
    *windows, depth, _ = f.shape
    counts = dy.shape[1:-1]
    groups = channels // depth
    result = np.empty((len(dy), *lengths, channels), dy.dtype)
    for part in _parts(result, dy):
        rows = _rows(dy[part], groups)
        total = np.zeros((len(dy[part]), *_padded_lengths(lengths, pads), channels), dy.dtype)
        for offset in offsets(windows):
            piece = np.matmul(rows, _matrices(f[offset], groups).swapaxes(-1, -2))
            total[at_offset(offset, counts, strides, dilations)] += _unrows(piece, dy[part].shape[:-1])
        result[part] = total[inside(lengths, pads)]
    return result


def convolve_by_filter(
    x: Array,
    dy: Array,
    windows: tuple[int, ...],
    depth: int,
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: Pads,
) -> Array:
    """The cotangent of filters [windows..., depth, count]."""
    counts, count = dy.shape[1:-1], dy.shape[-1]
    groups = x.shape[-1] // depth
    result = np.zeros((*windows, depth, count), dy.dtype)
    for part in _parts(x, dy, _copies(windows, depth, groups)):
        images = padded(np, x[part], pads)
        if _is_thin(depth, groups):
            patches = _patches(images, windows, counts, strides, dilations)
            result += np.dot(patches.T, dy[part].reshape(len(patches), count)).reshape(result.shape)
            del patches
            continue
        rows = _rows(dy[part], groups)
        for offset in offsets(windows):
            piece = _rows(images[at_offset(offset, counts, strides, dilations)], groups)
            result[offset] += np.moveaxis(np.matmul(piece.swapaxes(-1, -2), rows), 0, 1).reshape(depth, count)
    return result


def convolve_depthwise(x: Array, f: Array, strides: tuple[int, ...], dilations: tuple[int, ...], pads: Pads) -> Array:
    """Each channel of `x` correlated with its own filters, `f` [window..., channels, multiplier]."""
    *windows, channels, multiplier = f.shape
    counts = _counts(x, pads, windows, strides, dilations)
    filters = f.reshape(*windows, channels * multiplier)
    result = np.empty((len(x), *counts, channels * multiplier), np.result_type(x, f))
    for part in _parts(x, result):
        images, total = _repeated(padded(np, x[part], pads), multiplier), None
        for offset in offsets(windows):
            total = _add(total, images[at_offset(offset, counts, strides, dilations)] * filters[offset])
        assert total is not None
        result[part] = total
    return result


def depthwise_by_input(
    f: Array,
    dy: Array,
    lengths: tuple[int, ...],
    channels: int,
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: Pads,
) -> Array:
    """The cotangent of a depthwise convolution's input."""
    *windows, _, multiplier = f.shape
    filters = f.reshape(*windows, channels * multiplier)
    counts = dy.shape[1:-1]
    result = np.empty((len(dy), *lengths, channels), dy.dtype)
    for part in _parts(result, dy):
        given = dy[part]
        total = np.zeros((len(given), *_padded_lengths(lengths, pads), channels * multiplier), dy.dtype)
        for offset in offsets(windows):
            total[at_offset(offset, counts, strides, dilations)] += given * filters[offset]
        each = total[inside(lengths, pads)]
        result[part] = sum(each[..., m::multiplier] for m in range(multiplier))
        del total, each  # Before the next ones are made.
    return result


def depthwise_by_filter(
    x: Array,
    dy: Array,
    windows: tuple[int, ...],
    depth: int,
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: Pads,
) -> Array:
    """The cotangent of a depthwise convolution's filters, `depth` channels each."""
    counts, count = dy.shape[1:-1], dy.shape[-1]
    result = np.zeros((*windows, count), dy.dtype)
    for part in _parts(x, dy):
        images = _repeated(padded(np, x[part], pads), count // depth)
        rows = dy[part].reshape(-1, count)
        for offset in offsets(windows):
            piece = images[at_offset(offset, counts, strides, dilations)].reshape(rows.shape)
            result[offset] += np.einsum("rc,rc->c", piece, rows)
    return result.reshape(*windows, depth, count // depth)


def bytes_beside(
    what: Callable[..., Array],
    x: Sequence[int],
    f: Sequence[int],
    y: Sequence[int],
    pads: Pads,
    itemsize: int,
) -> int:
    """The bytes that the kernel `what` takes beside its result: those of a part of the batch.

    That are images with a border, and two copies or products at a time, of a place in the window and of the one before.
    `x`, `f` and `y` are the shapes of images, filters and results.
    """
    windows = f[:-2]
    dense = what in (convolve, convolve_by_filter)
    groups = x[-1] // max(f[-2], 1)
    image, result = [math.prod(shape[1:]) * itemsize for shape in (x, y)]
    copies = _copies(windows, f[-2], groups) if dense else 1
    count = min(_images_at_once(max(image * copies, result)), x[0])
    repeated = f[-1] if what in (convolve_depthwise, depthwise_by_input, depthwise_by_filter) else 1
    bordered = math.prod(_padded_lengths(tuple(x[1:-1]), pads)) * x[-1] * repeated * itemsize
    places = math.prod(y[1:-1]) * x[-1] * repeated * itemsize
    if what is convolve_by_input:
        return count * (bordered + 2 * places)
    if what is depthwise_by_input:
        return count * (bordered + places)
    bordered = bordered if any(map(any, pads)) or repeated > 1 else 0
    if copies > 1:
        return count * (bordered + places * copies)
    totals = {convolve: places + 2 * result, convolve_depthwise: 2 * result}
    return count * (bordered + totals.get(what, 2 * places))


def _parts(x: Array, y: Array, copies: int = 1) -> Iterator[slice]:
    """The batch of images `x`, each of which is copied so many times, and of results `y` in parts."""
    batch = len(x)
    step = _images_at_once(max(x.nbytes * copies, y.nbytes) // max(batch, 1))
    return (slice(start, start + step) for start in range(0, batch, step))


def _images_at_once(size: int) -> int:
    """How many images of `size` bytes a part has."""
    return max(_PART // max(size, 1), 1)


def _is_thin(depth: int, groups: int) -> bool:
    return groups == 1 and depth < _FEW_CHANNELS


def _copies(windows: Sequence[int], depth: int, groups: int) -> int:
    """How many times an image is in its patches, where these are made."""
    return math.prod(windows) if _is_thin(depth, groups) else 1


def _counts(
    x: Array, pads: Pads, windows: Sequence[int], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> tuple[int, ...]:
    """The numbers of windows in an input."""
    axes = zip(_padded_lengths(x.shape[1:-1], pads), windows, strides, dilations, strict=True)
    return tuple([max((n - (k - 1) * d - 1) // s + 1, 0) for n, k, s, d in axes])


def _padded_lengths(lengths: tuple[int, ...], pads: Pads) -> list[int]:
    return [before + n + after for n, (before, after) in zip(lengths, pads, strict=True)]


def _add(total: Array | None, term: Array) -> Array:
    """`total + term`, in the memory of `total` once there is one."""
    if total is None:
        return term
    total += term
    return total


def _repeated(x: Array, count: int) -> Array:
    """Each channel so many times."""
    return x if count == 1 else np.repeat(x, count, axis=-1)


def _rows(x: Array, groups: int) -> Array:
    """[groups, everything else, channels of the group]."""
    return x.reshape(math.prod(x.shape[:-1]), groups, x.shape[-1] // groups).swapaxes(0, 1)


def _unrows(rows: Array, lead: tuple[int, ...]) -> Array:
    """The inverse of `_rows`."""
    return rows.swapaxes(0, 1).reshape(*lead, rows.shape[0] * rows.shape[2])


def _matrices(f: Array, groups: int) -> Array:
    """The filters at one place in the window as [groups, channels of the group, filters of the group]."""
    depth, count = f.shape
    return f.reshape(depth, groups, count // groups).swapaxes(0, 1)


def _patches(
    x: Array, windows: Any, counts: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...]
) -> Array:
    """A row for each window, with all its elements."""
    places = list(offsets(windows))
    result = np.empty((x.shape[0], *counts, len(places), x.shape[-1]), x.dtype)
    for i, offset in enumerate(places):
        result[..., i, :] = x[at_offset(offset, counts, strides, dilations)]
    return result.reshape(x.shape[0] * math.prod(counts), len(places) * x.shape[-1])
