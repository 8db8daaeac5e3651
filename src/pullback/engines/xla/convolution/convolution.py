"""XLA lowering of convolutions: dense ones by its own operation, depthwise ones as sums of shifted products.

So are dense ones of a single channel on processors: 64 images of 28 x 28 with eight filters of 3 x 3 take 0.25 ms, and
3.6 by XLA's operation; a volume of 128 thousand elements with one filter takes 0.2 ms, and 70. There, too, an axis that
a window covers is part of the channels, and where it covers all this is a product of matrices: 64 sentences of 56 words
of 64 numbers with 32 filters of three words take 9 ms, and 26; their derivative by the words 1 ms, and 1,100, for XLA
multiplies all the zeros around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd, prod
from typing import Any

import jax.numpy as jnp
from jax import lax

from ....core.operation import Operation, Tensor
from ....primitives.base.precision import widened
from ....primitives.base.windows import (
    Pads,
    as_data_format,
    at_offset,
    channels_last,
    has_channels_first,
    offsets,
    pads_of,
    split_axes,
)
from ....primitives.convolution.conv import (
    Conv2D,
    Conv2DBackpropFilter,
    Conv2DBackpropInput,
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
)
from ....primitives.convolution.conv3d import Conv3D, Conv3DBackpropFilterV2, Conv3DBackpropInputV2
from ....primitives.shape.reshape import shape_to_use
from ..array_namespace import added_up
from ..fences import computed_by_loops
from ..fusion import computed_by_shifts
from ..platform import on_processor
from ..registry import xla_kernel
from ..windows import padded, put_windows
from .by_filter import MOST_CHUNKS, chunk_of, filter_by_convolution, filter_by_patches, is_faster_by_patches
from .covered import covered_axes, fold, folded_shape, unfold
from .few_channels import (
    convolve_to_few,
    few_by_filter,
    few_by_input,
    has_few_channels,
    has_strides,
    is_faster_by_places,
    is_input_faster_by_places,
)
from .large_windows import convolve_large, has_large_windows, large_by_input
from .volumes import convolve_volumes, volume_chunks, volume_counts, volumes_by_input

_FEW = 36
"""The products of one element up to which their sum is compiled in little more time than it is worth."""
_FEW_FILTERS = 8


def _may_be_by_shifts(op: Operation) -> bool:
    """Whether a dense convolution may have a single channel, or results of few."""
    primitive, lengths = op.primitive, op.inputs[0].shape.lengths
    assert isinstance(primitive, Conv2D | Conv3D)
    channels = None if lengths is None else split_axes(lengths, primitive.data_format)[2]
    return channels == 1 or not isinstance(channels, int) or _may_be_few(op.inputs[1], by_input=False)


def _may_be_added_up(op: Operation) -> bool:
    """Whether the derivative of a dense convolution by its input may be a sum of shifted products."""
    primitive, sizes = op.primitive, op.inputs[0].shape.lengths
    assert isinstance(primitive, Conv2DBackpropInput | Conv3DBackpropInputV2)
    if sizes is None or _may_be_few(op.inputs[0], by_input=True):
        return True
    return has_strides([n for n in sizes[:-2] if isinstance(n, int)], primitive.strides)


def _may_be_few(filters: Tensor, by_input: bool) -> bool:
    sizes = filters.shape.lengths
    if sizes is None or not all(isinstance(n, int) for n in sizes):
        return True
    *windows, depth, count = filters.shape.known
    return has_few_channels(windows, count, depth) if by_input else has_few_channels(windows, depth, count)


computed_by_loops(DepthwiseConv2dNativeBackpropFilter)
computed_by_shifts(DepthwiseConv2dNative, DepthwiseConv2dNativeBackpropInput, are_cheap=True)
computed_by_shifts(Conv2D, Conv3D, where=_may_be_by_shifts)
computed_by_shifts(Conv2DBackpropInput, Conv3DBackpropInputV2, where=_may_be_added_up)


@xla_kernel(Conv2D, Conv3D)
def _convolve(p: Conv2D | Conv3D, x: Any, f: Any) -> Any:
    dtype, (x, f) = x.dtype, (widened(x), widened(f))
    _, lengths, channels = split_axes(x.shape, p.data_format)
    if on_processor() and channels == 1 and prod(f.shape[:-2]) <= _FEW:
        return _depthwise(p, x, f).astype(dtype)
    if not on_processor() and x.dtype.kind in "iu":
        return _by_products(p, x, f).astype(dtype)
    covered = covered_axes(p, lengths, f.shape, channels)
    if len(covered) == len(lengths):
        y = x.reshape(x.shape[0], -1) @ f.reshape(-1, f.shape[-1])
        return y.reshape(x.shape[0], *[1] * len(lengths), f.shape[-1]).astype(dtype)
    if covered:
        return _convolve(p, fold(x, covered, 1), fold(f, covered, 0)).astype(dtype)
    counts = volume_counts(p, lengths, f.shape[:-2])
    pads = pads_of(lengths, f.shape[:-2], p.strides, p.dilations, p.padding)
    if channels == f.shape[-2] and max(p.strides) == 1 and is_faster_by_places(x, f.shape[:-2], *f.shape[-2:]):
        y = convolve_to_few(p, channels_last(jnp, x, p.data_format), f, counts, pads)
        return as_data_format(jnp, y.astype(dtype), p.data_format)
    chunks = volume_chunks((x.shape[0], *lengths), counts, f)
    if on_processor() and channels == f.shape[-2] and chunks:
        y = convolve_volumes(p, channels_last(jnp, x, p.data_format), f, chunks)
        return as_data_format(jnp, y.astype(dtype), p.data_format)
    if channels == f.shape[-2] and has_large_windows(f.shape[:-2], counts):
        y = convolve_large(p, channels_last(jnp, x, p.data_format), f, counts, pads)
        return as_data_format(jnp, y.astype(dtype), p.data_format)
    if on_processor() and not has_channels_first(p.data_format) and channels == f.shape[-2]:
        x, f = _with_four_channels(x, f)
        channels = f.shape[-2]
    images, filters = _layouts(p)
    y = lax.conv_general_dilated(
        x,
        f,
        p.strides,
        pads,
        rhs_dilation=p.dilations,
        dimension_numbers=(images, filters, images),
        feature_group_count=channels // f.shape[-2],
    )
    return y.astype(dtype)


def _by_products(p: Conv2D | Conv3D, x: Any, f: Any) -> Any:
    """One product for each place in the window: no accelerator has convolutions of integers."""
    x = channels_last(jnp, x, p.data_format)
    *windows, depth, count = f.shape
    pads = pads_of(x.shape[1:-1], windows, p.strides, p.dilations, p.padding)
    counts = _counts(x.shape[1:-1], windows, p.strides, p.dilations, pads)
    groups = x.shape[-1] // depth
    x = padded(x, pads)
    x = x.reshape(*x.shape[:-1], groups, depth)
    filters = f.reshape(*windows, depth, groups, count // groups)
    total: Any = 0
    for offset in offsets(windows):
        piece = x[at_offset(offset, counts, p.strides, p.dilations)]
        total = total + jnp.einsum("...gd,dgc->...gc", piece, filters[offset])
    return as_data_format(jnp, total.reshape(x.shape[0], *counts, count), p.data_format)


def _with_four_channels(x: Any, f: Any) -> tuple[Any, Any]:
    """Both with channels of zeros up to the next multiple of four: odd numbers of channels are four times as slow.

    Not in float64, where each channel costs the same.
    """
    missing = -x.shape[-1] % 4
    if not missing or x.shape[-1] > 16 or x.dtype != jnp.float32:
        return x, f
    nothing = ((0, 0),)
    return jnp.pad(x, nothing * (x.ndim - 1) + ((0, missing),)), jnp.pad(
        f, nothing * (f.ndim - 2) + ((0, missing), (0, 0))
    )


@xla_kernel(Conv2DBackpropInput, Conv3DBackpropInputV2)
def _convolve_by_input(p: Conv2DBackpropInput | Conv3DBackpropInputV2, f: Any, dy: Any, sizes: Any = None) -> Any:
    """The convolution of `dy`, with zeros between its elements for strides, with the filters turned around."""
    dtype, (f, dy) = dy.dtype, (widened(f), widened(dy))
    _, lengths, channels = split_axes(shape_to_use(p.input_sizes, sizes), p.data_format)
    *windows, depth, count = f.shape
    if on_processor() and channels == 1 and prod(windows) * count <= _FEW:
        return _depthwise_by_input(p, f, dy, sizes).astype(dtype)
    covered = covered_axes(p, lengths, f.shape, channels)
    whole = (dy.shape[0], *lengths, channels)
    if len(covered) == len(lengths):
        return (dy.reshape(dy.shape[0], -1) @ f.reshape(-1, count).T).reshape(whole).astype(dtype)
    if covered:
        folded = replace(p, input_sizes=folded_shape(whole, covered, 1))
        return unfold(_convolve_by_input(folded, fold(f, covered, 0), dy), covered, whole, 1).astype(dtype)
    groups = channels // depth
    pads = pads_of(lengths, windows, p.strides, p.dilations, p.padding)
    _, counts, _ = split_axes(dy.shape, p.data_format)
    last = channels_last(jnp, dy, p.data_format)
    by_places = is_faster_by_places(dy, windows, count, depth)
    if groups == 1 and (by_places or is_input_faster_by_places(last, windows, p.strides, depth)):
        x = few_by_input(p, f, last, lengths, pads)
        return as_data_format(jnp, x.astype(dtype), p.data_format)
    chunks = volume_chunks((dy.shape[0], *lengths), counts, f, whole=max(p.strides) > 1)
    if on_processor() and groups == 1 and chunks:
        x = volumes_by_input(p, f, last, lengths, chunks)
        return as_data_format(jnp, x.astype(dtype), p.data_format)
    if groups == 1 and has_large_windows(windows, counts):
        x = large_by_input(p, f, last, lengths, pads)
        return as_data_format(jnp, x.astype(dtype), p.data_format)
    around = []
    for n, k, s, d, m, (before, _) in zip(lengths, windows, p.strides, p.dilations, counts, pads, strict=True):
        reach = (k - 1) * d
        around.append((reach - before, n - 1 - (m - 1) * s + before))
    turned = jnp.flip(f, tuple(range(len(windows))))
    turned = turned.reshape(*windows, depth, groups, count // groups)
    turned = jnp.moveaxis(turned, -1, -3).swapaxes(-1, -2).reshape(*windows, count // groups, channels)
    images, filters = _layouts(p)
    x = lax.conv_general_dilated(
        dy,
        turned,
        (1,) * len(windows),
        around,
        lhs_dilation=p.strides,
        rhs_dilation=p.dilations,
        dimension_numbers=(images, filters, images),
        feature_group_count=groups,
    )
    return x.astype(dtype)


@xla_kernel(Conv2DBackpropFilter, Conv3DBackpropFilterV2)
def _convolve_by_filter(p: Conv2DBackpropFilter | Conv3DBackpropFilterV2, x: Any, dy: Any, sizes: Any = None) -> Any:
    dtype, (x, dy) = x.dtype, (widened(x), widened(dy))
    *windows, depth, count = shape_to_use(p.filter_sizes, sizes)
    _, lengths, channels = split_axes(x.shape, p.data_format)
    pads = pads_of(lengths, windows, p.strides, p.dilations, p.padding)
    if 0 in (*x.shape, *dy.shape):
        return jnp.zeros((*windows, depth, count), dtype)
    covered = covered_axes(p, lengths, (*windows, depth, count), channels)
    if covered:
        whole = (*windows, depth, count)
        folded = replace(p, filter_sizes=folded_shape(whole, covered, 0))
        return unfold(_convolve_by_filter(folded, fold(x, covered, 1), dy), covered, whole, 0).astype(dtype)
    _, counts, _ = split_axes(dy.shape, p.data_format)
    if channels == depth and max(p.strides) == 1 and is_faster_by_places(x, windows, depth, count):
        last = channels_last(jnp, x, p.data_format), channels_last(jnp, dy, p.data_format)
        return few_by_filter(p, *last, windows, pads).astype(dtype)
    by_patches = is_faster_by_patches(x.shape[0], windows, depth, count, prod(counts), prod(lengths) * depth)
    by_patches = by_patches and not has_large_windows(windows, counts)
    if on_processor() and channels == depth and by_patches:
        last = channels_last(jnp, x, p.data_format), channels_last(jnp, dy, p.data_format)
        return filter_by_patches(p, *last, windows, pads).astype(dtype)
    return _filter_by_convolution(p, x, dy, windows, depth, pads).astype(dtype)


_LARGE = 1 << 19
"""The elements of images from which on depthwise filters take less time by chunks, and a fourth of the memory."""


def _filter_by_convolution(p: Any, x: Any, dy: Any, windows: Sequence[int], depth: int, pads: Pads) -> Any:
    """The convolution of `x` with `dy` as filters, batch and channels exchanged."""
    batch, lengths, channels = split_axes(x.shape, p.data_format)
    _, counts, _ = split_axes(dy.shape, p.data_format)
    around = []
    for n, k, s, d, m, (before, _) in zip(lengths, windows, p.strides, p.dilations, counts, pads, strict=True):
        around.append((before, (k - 1) * d + (m - 1) * s + 1 - n - before))
    images, _ = _layouts(p)
    groups = channels // depth
    exchanged = images.translate(str.maketrans("NC", "CN"))
    if groups > 1:
        x = channels_last(jnp, x, p.data_format).reshape(batch, *lengths, groups, depth)
        x = jnp.moveaxis(jnp.moveaxis(x, -1, 0), 1, -1).reshape(depth, *lengths, groups * batch)
        exchanged = _last(p)
    if groups == 1 and on_processor() and not has_channels_first(p.data_format):
        return filter_by_convolution(p, x, dy, windows, around)
    return lax.conv_general_dilated(
        x,
        dy,
        p.dilations,
        around,
        rhs_dilation=p.strides,
        dimension_numbers=(exchanged, images.translate(str.maketrans("NC", "IO")), f"{_axes(p)}NC"),
        feature_group_count=groups,
    )


def _axes(p: Any) -> str:
    return "XYZ"[: len(p.strides)]


def _last(p: Any) -> str:
    return f"N{_axes(p)}C"


def _layouts(p: Any) -> tuple[str, str]:
    """jax's names for the axes of images and of filters."""
    images = f"NC{_axes(p)}" if has_channels_first(p.data_format) else _last(p)
    return images, f"{_axes(p)}IO"


@xla_kernel(DepthwiseConv2dNative)
def _depthwise(p: DepthwiseConv2dNative | Conv2D | Conv3D, x: Any, f: Any) -> Any:
    dtype, (x, f) = x.dtype, (widened(x), widened(f))
    x = channels_last(jnp, x, p.data_format)
    *windows, channels, multiplier = f.shape
    pads = pads_of(x.shape[1:-1], windows, p.strides, p.dilations, p.padding)
    counts = _counts(x.shape[1:-1], windows, p.strides, p.dilations, pads)
    x = padded(x, pads)
    total: Any = 0
    for offset in offsets(windows):
        total = total + x[at_offset(offset, counts, p.strides, p.dilations)][..., None] * f[offset]
    y = total.reshape(x.shape[0], *counts, channels * multiplier)
    return as_data_format(jnp, y.astype(dtype), p.data_format)


@xla_kernel(DepthwiseConv2dNativeBackpropInput)
def _depthwise_by_input(p: Any, f: Any, dy: Any, sizes: Any = None) -> Any:
    dtype, (f, dy) = dy.dtype, (widened(f), widened(dy))
    _, lengths, channels = split_axes(shape_to_use(p.input_sizes, sizes), p.data_format)
    *windows, _, multiplier = f.shape
    dy = channels_last(jnp, dy, p.data_format)
    pads = pads_of(lengths, windows, p.strides, p.dilations, p.padding)

    def piece(_: int, place: tuple[int, ...], arrays: Sequence[Any]) -> Any:
        part = arrays[0]
        products = part.reshape(*part.shape[:-1], channels, multiplier) * f[place]
        return added_up(products, -1) if 0 < multiplier <= _FEW_FILTERS else jnp.sum(products, -1)

    dx = put_windows(piece, [(dy, 0)], windows, p.strides, p.dilations, lengths, pads)
    return as_data_format(jnp, dx.astype(dtype), p.data_format)


@xla_kernel(DepthwiseConv2dNativeBackpropFilter)
def _depthwise_by_filter(p: DepthwiseConv2dNativeBackpropFilter, x: Any, dy: Any, sizes: Any = None) -> Any:
    dtype, (x, dy) = x.dtype, (widened(x), widened(dy))
    *windows, channels, multiplier = shape_to_use(p.filter_sizes, sizes)
    x, dy = channels_last(jnp, x, p.data_format), channels_last(jnp, dy, p.data_format)
    counts = dy.shape[1:-1]
    dy = dy.reshape(*dy.shape[:-1], channels, multiplier)
    pads = pads_of(x.shape[1:-1], windows, p.strides, p.dilations, p.padding)
    over = tuple(range(len(windows) + 1))

    def summed(x: Any, dy: Any) -> Any:
        x = padded(x, pads)
        pieces = [
            jnp.sum(x[at_offset(offset, counts, p.strides, p.dilations)][..., None] * dy, over)
            for offset in offsets(windows)
        ]
        return jnp.stack(pieces).reshape(*windows, channels, multiplier)

    chunks = gcd(x.shape[0], MOST_CHUNKS) if isinstance(x.shape[0], int) else 1
    if chunks == 1 or x.size < _LARGE or not on_processor():
        return summed(x, dy).astype(dtype)

    def step(i: Any, total: Any) -> Any:
        return total + summed(*chunk_of((x, dy), chunks, i))

    return lax.fori_loop(0, chunks, step, jnp.zeros((*windows, channels, multiplier), x.dtype)).astype(dtype)


def _counts(
    lengths: Sequence[int], windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pads: Pads
) -> tuple[int, ...]:
    axes = zip(lengths, windows, strides, dilations, pads, strict=True)
    return tuple([max((n + sum(pad) - (k - 1) * d - 1) // s + 1, 0) for n, k, s, d, pad in axes])
