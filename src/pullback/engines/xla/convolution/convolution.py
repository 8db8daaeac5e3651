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
    joined_axes,
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
from ....primitives.convolution.formulations import (
    Formulation,
    Sizes,
    by_filter,
    by_input,
    depthwise_chunks,
    forward,
    has_few_channels,
    has_strides,
    result_counts,
    volume_chunks,
)
from ....primitives.shape.reshape import shape_to_use
from ..array_namespace import added_up
from ..fences import computed_by_loops, computed_with_borders, steps_after, zeros_after
from ..fusion import computed_by_shifts
from ..linalg.products import made
from ..platform import on_processor
from ..registry import xla_kernel
from ..windows import padded, put_windows
from .by_filter import chunk_of, filter_by_convolution, filter_by_patches
from .covered import fold, folded_shape, unfold
from .few_channels import convolve_to_few, few_by_filter, few_by_input
from .large_depthwise import is_large, large_depthwise, large_depthwise_by_filter, large_depthwise_by_input
from .large_windows import convolve_large, large_by_input
from .volumes import convolve_volumes, volumes_by_input

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


def _has_few_places(op: Operation) -> bool:
    """Whether a depthwise convolution, or its derivative by the images, is a sum of shifted products."""
    filters = op.inputs[0 if isinstance(op.primitive, DepthwiseConv2dNativeBackpropInput) else 1].shape
    return not (filters.is_fully_defined() and is_large(filters.known[:-2]))


computed_by_loops(DepthwiseConv2dNativeBackpropFilter)
computed_with_borders(DepthwiseConv2dNativeBackpropInput)
computed_by_shifts(DepthwiseConv2dNative, where=_has_few_places, are_cheap=True)
computed_by_shifts(DepthwiseConv2dNativeBackpropInput, where=_has_few_places, are_cheap=True)
computed_by_shifts(Conv2D, Conv3D, where=_may_be_by_shifts)
computed_by_shifts(Conv2DBackpropInput, Conv3DBackpropInputV2, where=_may_be_added_up)


@xla_kernel(Conv2D, Conv3D)
def _convolve(p: Conv2D | Conv3D, x: Any, f: Any) -> Any:
    dtype, (x, f) = x.dtype, (widened(x), widened(f))
    _, lengths, _ = split_axes(x.shape, p.data_format)
    counts = result_counts(p, lengths, f.shape[:-2])
    sizes = Sizes.of(p, x.shape, f.shape, counts, x.dtype.itemsize, x.dtype.kind == "f")
    if not on_processor():
        return (_own if x.dtype.kind == "f" else _by_products)(p, x, f).astype(dtype)
    way = forward(sizes)
    if way is Formulation.SHIFTED:
        return _depthwise(p, x, f).astype(dtype)
    if way is Formulation.COVERED and len(sizes.covered) == len(lengths):
        y = x.reshape(x.shape[0], -1) @ f.reshape(-1, f.shape[-1])
        return y.reshape(x.shape[0], *[1] * len(lengths), f.shape[-1]).astype(dtype)
    if way is Formulation.COVERED:
        return _convolve(p, fold(x, sizes.covered, 1), fold(f, sizes.covered, 0)).astype(dtype)
    last = channels_last(jnp, x, p.data_format)
    if way is Formulation.PLACES:
        y = convolve_to_few(p, last, f, counts, sizes.pads)
    elif way is Formulation.VOLUMES:
        y = convolve_volumes(p, last, f, volume_chunks(sizes, counts) or 1)
    elif way is Formulation.LARGE_WINDOWS:
        y = convolve_large(p, last, f, counts, sizes.pads)
    elif sizes.is_whole and not sizes.channels_first:
        return _own(p, *_with_four_channels(x, f)).astype(dtype)
    else:
        return _own(p, x, f).astype(dtype)
    return as_data_format(jnp, y.astype(dtype), p.data_format)


def _own(p: Conv2D | Conv3D, x: Any, f: Any) -> Any:
    """The convolution by XLA's own operation."""
    _, lengths, channels = split_axes(x.shape, p.data_format)
    images, filters = _layouts(p)
    y = lax.conv_general_dilated(
        x,
        f,
        p.strides,
        pads_of(lengths, f.shape[:-2], p.strides, p.dilations, p.padding),
        rhs_dilation=p.dilations,
        dimension_numbers=(images, filters, images),
        feature_group_count=channels // f.shape[-2],
    )
    return y


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
    count = f.shape[-1]
    _, counts, _ = split_axes(dy.shape, p.data_format)
    whole = joined_axes(dy.shape[0], lengths, channels, p.data_format)
    n = Sizes.of(p, whole, f.shape, counts, dy.dtype.itemsize, dy.dtype.kind == "f")
    way = by_input(n) if on_processor() else Formulation.OWN
    if way is Formulation.SHIFTED:
        return _depthwise_by_input(p, f, dy, sizes).astype(dtype)
    if way is Formulation.COVERED and len(n.covered) == len(lengths):
        return (dy.reshape(dy.shape[0], -1) @ f.reshape(-1, count).T).reshape(whole).astype(dtype)
    if way is Formulation.COVERED:
        folded = replace(p, input_sizes=folded_shape(whole, n.covered, 1))
        return unfold(_convolve_by_input(folded, fold(f, n.covered, 0), dy), n.covered, whole, 1).astype(dtype)
    last = channels_last(jnp, dy, p.data_format)
    if way is Formulation.PLACES:
        x = few_by_input(p, f, last, lengths, n.pads)
    elif way is Formulation.VOLUMES:
        x = volumes_by_input(p, f, last, lengths, volume_chunks(n, lengths, whole=max(p.strides) > 1) or 1)
    elif way is Formulation.LARGE_WINDOWS:
        x = large_by_input(p, f, last, lengths, n.pads)
    else:
        return _own_by_input(p, f, dy, n).astype(dtype)
    return as_data_format(jnp, x.astype(dtype), p.data_format)


def _own_by_input(p: Any, f: Any, dy: Any, n: Sizes) -> Any:
    """The convolution of `dy` by XLA's own operation."""
    *windows, depth, count = f.shape
    groups = n.channels // depth
    around = []
    axes = zip(n.images, windows, p.strides, p.dilations, n.results, n.pads, strict=True)
    for length, k, s, d, m, (before, _) in axes:
        reach = (k - 1) * d
        around.append((reach - before, length - 1 - (m - 1) * s + before))
    dy, around = _without_unread(p, dy, around)
    turned = jnp.flip(f, tuple(range(len(windows))))
    turned = turned.reshape(*windows, depth, groups, count // groups)
    turned = jnp.moveaxis(turned, -1, -3).swapaxes(-1, -2).reshape(*windows, count // groups, n.channels)
    images, filters = _layouts(p)
    return lax.conv_general_dilated(
        dy,
        turned,
        (1,) * len(windows),
        around,
        lhs_dilation=p.strides,
        rhs_dilation=p.dilations,
        dimension_numbers=(images, filters, images),
        feature_group_count=groups,
    )


def _without_unread(p: Any, dy: Any, around: Sequence[tuple[Any, Any]]) -> tuple[Any, list[tuple[Any, Any]]]:
    """`dy` without the first results, of windows that see padding only, and what is to be put around it then.

    XLA's convolution on processors reads other memory where less than nothing comes before, and something behind.
    """
    first, padded_by = 2 if has_channels_first(p.data_format) else 1, []
    for axis, ((before, after), s) in enumerate(zip(around, p.strides, strict=True), first):
        unread, count = max(-(before // s), 0) if isinstance(before, int) else 0, dy.shape[axis]
        if unread:
            dy = lax.slice_in_dim(dy, min(unread, count), None, axis=axis)
        none_is_read = unread and unread >= count
        padded_by.append((0, (count - 1) * s + 1 + before + after) if none_is_read else (before + unread * s, after))
    return dy, padded_by


@xla_kernel(Conv2DBackpropFilter, Conv3DBackpropFilterV2)
def convolve_by_filter(
    p: Conv2DBackpropFilter | Conv3DBackpropFilterV2, x: Any, dy: Any, sizes: Any = None, *, shares: bool = False
) -> Any:
    """The sum over all windows; what others are computed of as well it `shares`."""
    dtype, (x, dy) = x.dtype, (widened(x), widened(dy))
    *windows, depth, count = shape_to_use(p.filter_sizes, sizes)
    if 0 in (*x.shape, *dy.shape):
        return jnp.zeros((*windows, depth, count), dtype)
    whole = (*windows, depth, count)
    _, counts, _ = split_axes(dy.shape, p.data_format)
    n = Sizes.of(p, x.shape, whole, counts, x.dtype.itemsize, x.dtype.kind == "f")
    way = by_filter(n) if on_processor() else Formulation.OWN
    if way is Formulation.COVERED:
        folded = replace(p, filter_sizes=folded_shape(whole, n.covered, 0))
        return unfold(convolve_by_filter(folded, fold(x, n.covered, 1), dy), n.covered, whole, 0).astype(dtype)
    last = channels_last(jnp, x, p.data_format), channels_last(jnp, dy, p.data_format)
    if way is Formulation.PLACES:
        return few_by_filter(p, *last, windows, n.pads).astype(dtype)
    if way is Formulation.PATCHES:
        return filter_by_patches(p, *last, windows, n.pads).astype(dtype)
    if way is Formulation.PARTS:
        return filter_by_convolution(p, x, dy, windows, _around_filters(n), shares).astype(dtype)
    return _own_by_filter(p, x, dy, n).astype(dtype)


def _around_filters(n: Sizes) -> list[tuple[Any, Any]]:
    """What is put around images for the convolution with results as filters."""
    axes = zip(n.images, n.windows, n.strides, n.dilations, n.results, n.pads, strict=True)
    return [(before, (k - 1) * d + (m - 1) * s + 1 - length - before) for length, k, s, d, m, (before, _) in axes]


def _own_by_filter(p: Any, x: Any, dy: Any, n: Sizes) -> Any:
    """The convolution of `x` with `dy` as filters, batch and channels exchanged."""
    batch, depth, channels = n.batch, n.depth, n.channels
    images, _ = _layouts(p)
    groups = channels // depth
    exchanged = images.translate(str.maketrans("NC", "CN"))
    if groups > 1:
        x = channels_last(jnp, x, p.data_format).reshape(batch, *n.images, groups, depth)
        x = jnp.moveaxis(jnp.moveaxis(x, -1, 0), 1, -1).reshape(depth, *n.images, groups * batch)
        exchanged = _last(p)
    return lax.conv_general_dilated(
        x,
        dy,
        p.dilations,
        _around_filters(n),
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
    if is_large(windows, x.shape, f.shape, counts):
        y = large_depthwise(x, f, counts, p.strides, p.dilations, pads)
        return as_data_format(jnp, y.astype(dtype), p.data_format)
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
    if is_large(windows, lengths, f.shape, dy.shape):
        dx = large_depthwise_by_input(f, dy, lengths, p.strides, p.dilations, pads)
        return as_data_format(jnp, dx.astype(dtype), p.data_format)

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
    pads = pads_of(x.shape[1:-1], windows, p.strides, p.dilations, p.padding)
    if is_large(windows, x.shape, dy.shape):
        each = dy.reshape(*dy.shape[:-1], channels, multiplier)
        return large_depthwise_by_filter(x, each, windows, p.strides, p.dilations, pads).astype(dtype)
    over = tuple(range(len(windows) + 1))

    def summed(x: Any, dy: Any) -> Any:
        x, dy = padded(x, pads), dy.reshape(*dy.shape[:-1], channels, multiplier)
        pieces = [
            jnp.sum(x[at_offset(offset, counts, p.strides, p.dilations)][..., None] * dy, over)
            for offset in offsets(windows)
        ]
        return jnp.stack(pieces).reshape(*windows, channels, multiplier)

    if not (on_processor() and all(isinstance(n, int) for n in (*x.shape, *dy.shape)) and dy.size):
        return summed(x, dy).astype(dtype)
    chunks = depthwise_chunks(x.shape[0], x.size)

    def step(i: Any, total: Any) -> Any:
        return total + summed(*(chunk_of((x, dy), chunks, i) if chunks > 1 else made((x, dy, i))[:2]))

    nothing = zeros_after((*windows, channels, multiplier), dy, x)
    return lax.fori_loop(0, steps_after(chunks, dy, x), step, nothing).astype(dtype)


def _counts(
    lengths: Sequence[int], windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pads: Pads
) -> tuple[int, ...]:
    axes = zip(lengths, windows, strides, dilations, pads, strict=True)
    return tuple([max((n + sum(pad) - (k - 1) * d - 1) // s + 1, 0) for n, k, s, d, pad in axes])
