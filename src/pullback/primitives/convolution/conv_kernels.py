"""Convolution kernels in NumPy, of inputs [batch, spatial..., channels], and those of their derivatives.

One matrix product for each place in the window; for few channels one product with all places side by side (im2col),
because thin matrices multiply slowly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.windows import Pads, at_offset, inside, offsets, padded

Array = np.ndarray[Any, Any]
_FEW_CHANNELS = 16


def convolve(x: Array, f: Array, strides: tuple[int, ...], dilations: tuple[int, ...], pads: Pads) -> Array:
    """The correlation of `x` with the filters `f` [window..., channels / groups, count]."""
    *windows, depth, count = f.shape
    x = padded(np, x, pads)
    counts = _counts(x, windows, strides, dilations)
    groups = x.shape[-1] // depth
    if groups == 1 and depth < _FEW_CHANNELS:
        patches = _patches(x, windows, counts, strides, dilations)
        rows: Array = np.dot(patches, f.reshape(patches.shape[1], count))
        return rows.reshape(x.shape[0], *counts, count)
    total = None
    for offset in offsets(windows):
        piece = _rows(x[at_offset(offset, counts, strides, dilations)], groups)
        total = _add(total, np.matmul(piece, _matrices(f[offset], groups)))
    assert total is not None
    return _unrows(total, (x.shape[0], *counts))


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
    total = np.zeros((dy.shape[0], *_padded_lengths(lengths, pads), channels), dy.dtype)
    rows = _rows(dy, groups)
    for offset in offsets(windows):
        piece = np.matmul(rows, _matrices(f[offset], groups).swapaxes(-1, -2))
        total[at_offset(offset, counts, strides, dilations)] += _unrows(piece, dy.shape[:-1])
    return total[inside(lengths, pads)]


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
    x = padded(np, x, pads)
    counts, count = dy.shape[1:-1], dy.shape[-1]
    groups = x.shape[-1] // depth
    if groups == 1 and depth < _FEW_CHANNELS:
        patches = _patches(x, windows, counts, strides, dilations)
        flat: Array = np.dot(patches.T, dy.reshape(len(patches), count))
        return flat.reshape(*windows, depth, count)
    rows = _rows(dy, groups)
    result = np.empty((*windows, depth, count), dy.dtype)
    for offset in offsets(windows):
        piece = _rows(x[at_offset(offset, counts, strides, dilations)], groups)
        result[offset] = np.moveaxis(np.matmul(piece.swapaxes(-1, -2), rows), 0, 1).reshape(depth, count)
    return result


def convolve_depthwise(x: Array, f: Array, strides: tuple[int, ...], dilations: tuple[int, ...], pads: Pads) -> Array:
    """Each channel of `x` correlated with its own filters, `f` [window..., channels, multiplier]."""
    *windows, channels, multiplier = f.shape
    x = padded(np, x, pads)
    counts = _counts(x, windows, strides, dilations)
    total = None
    for offset in offsets(windows):
        piece = x[at_offset(offset, counts, strides, dilations)]
        total = _add(total, piece * f[offset][:, 0] if multiplier == 1 else piece[..., None] * f[offset])
    assert total is not None
    return total.reshape(x.shape[0], *counts, channels * multiplier)


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
    counts = dy.shape[1:-1]
    total = np.zeros((dy.shape[0], *_padded_lengths(lengths, pads), channels), dy.dtype)
    parts = dy.reshape(*dy.shape[:-1], channels, multiplier)
    for offset in offsets(windows):
        piece = dy * f[offset][:, 0] if multiplier == 1 else (parts * f[offset]).sum(-1)
        total[at_offset(offset, counts, strides, dilations)] += piece
    return total[inside(lengths, pads)]


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
    x = padded(np, x, pads)
    counts, multiplier = dy.shape[1:-1], dy.shape[-1] // depth
    parts = dy.reshape(math.prod(dy.shape[:-1]), depth, multiplier)
    result = np.empty((*windows, depth, multiplier), dy.dtype)
    for offset in offsets(windows):
        piece = x[at_offset(offset, counts, strides, dilations)].reshape(len(parts), depth)
        result[offset] = np.einsum("rc,rcm->cm", piece, parts)
    return result


def _counts(x: Array, windows: list[int], strides: tuple[int, ...], dilations: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of windows in a padded input."""
    axes = zip(x.shape[1:-1], windows, strides, dilations, strict=True)
    return tuple([max((n - (k - 1) * d - 1) // s + 1, 0) for n, k, s, d in axes])


def _padded_lengths(lengths: tuple[int, ...], pads: Pads) -> list[int]:
    return [before + n + after for n, (before, after) in zip(lengths, pads, strict=True)]


def _add(total: Array | None, term: Array) -> Array:
    """`total + term`, in the memory of `total` once there is one."""
    if total is None:
        return term
    total += term
    return total


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
