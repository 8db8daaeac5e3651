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
import numpy as np
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
from ..fences import computed_by_loops, is_there
from ..fusion import computed_by_shifts
from ..linalg.products import made
from ..platform import on_processor
from ..registry import xla_kernel
from ..windows import padded, put_windows
from .covered import covered_axes, fold, folded_shape, unfold
from .few_channels import convolve_to_few, few_by_filter, few_by_input, has_few_channels, is_faster_by_places
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


def _may_give_few(op: Operation) -> bool:
    """Whether the derivative of a dense convolution by its input may have few channels."""
    return _may_be_few(op.inputs[0], by_input=True)


def _may_be_few(filters: Tensor, by_input: bool) -> bool:
    sizes = filters.shape.lengths
    if sizes is None or not all(isinstance(n, int) for n in sizes):
        return True
    *windows, depth, count = filters.shape.known
    return has_few_channels(windows, count, depth) if by_input else has_few_channels(windows, depth, count)


computed_by_loops(DepthwiseConv2dNativeBackpropFilter)
computed_by_shifts(DepthwiseConv2dNative, DepthwiseConv2dNativeBackpropInput)
computed_by_shifts(Conv2D, Conv3D, where=_may_be_by_shifts)
computed_by_shifts(Conv2DBackpropInput, Conv3DBackpropInputV2, where=_may_give_few)


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
    if groups == 1 and is_faster_by_places(dy, windows, count, depth):
        x = few_by_input(p, f, channels_last(jnp, dy, p.data_format), lengths, pads)
        return as_data_format(jnp, x.astype(dtype), p.data_format)
    chunks = volume_chunks((dy.shape[0], *lengths), counts, f, whole=max(p.strides) > 1)
    if on_processor() and groups == 1 and chunks:
        x = volumes_by_input(p, f, channels_last(jnp, dy, p.data_format), lengths, chunks)
        return as_data_format(jnp, x.astype(dtype), p.data_format)
    if groups == 1 and has_large_windows(windows, counts):
        x = large_by_input(p, f, channels_last(jnp, dy, p.data_format), lengths, pads)
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
    by_chunks = _is_faster_by_chunks(x.shape[0], windows, depth, count, prod(counts))
    by_chunks = by_chunks and not has_large_windows(windows, counts)
    if on_processor() and channels == depth and by_chunks:
        last = channels_last(jnp, x, p.data_format), channels_last(jnp, dy, p.data_format)
        return _filter_by_chunks(p, *last, windows, pads).astype(dtype)
    return _filter_by_convolution(p, x, dy, windows, depth, pads).astype(dtype)


_MOST_PATCHES = 1 << 23
"""The elements of a chunk's patches up to which they are made where XLA's own operation is slow, but needs none."""
_TRANSPOSED = 1 << 18
"""The elements of images, at the places of results, below which XLA's own operation may copy them, long before."""


def _is_faster_by_chunks(batch: Any, windows: Sequence[int], depth: int, count: int, places: Any) -> bool:
    """Measured: XLA's own operation is the faster one for small batches, but for few filters on fewer images yet.

    For an image of 64 x 64 x 8 and 8 filters of 3 x 3 it takes 1.8 ms, and 0.3 by chunks; for 32 of 14 x 14 x 32 and 64
    filters of 5 x 5 with strides of two 2.1 ms, and 3.6.
    """
    if not isinstance(batch, int):
        return False
    if len(windows) > 2 or max(windows) == 1:
        return True
    if batch <= 16:
        made_at_once = batch // gcd(batch, _MOST_CHUNKS) * prod(windows) * depth
        are_few = isinstance(places, int) and places * made_at_once <= _MOST_PATCHES
        return depth >= 128 or (count < 32 and are_few)
    few_copied = depth <= 8 or (isinstance(places, int) and batch * places * depth < _TRANSPOSED)
    return batch > 32 or depth > 32 or not few_copied


_MOST_CHUNKS = 32
_LARGE = 1 << 19
"""The elements of images from which on depthwise filters take less time by chunks, and a fourth of the memory."""


def _filter_by_chunks(p: Any, x: Any, dy: Any, windows: Sequence[int], pads: Pads) -> Any:
    """The sum over chunks of the batch of the patches, transposed, times `dy`.

    The patches are written in place and stay in the cache; neither matrix of the product is to be transposed. All is
    made of a chunk when `dy` is there: what could be made of `x` before XLA would keep beside it. A loop goes over the
    places of the window, which takes no longer to run: a kernel for each would take half of the compilation of a net.
    """
    counts, depth, count = dy.shape[1:-1], x.shape[-1], dy.shape[-1]
    chunks = gcd(x.shape[0], _MOST_CHUNKS)
    size = x.shape[0] // chunks
    places = list(offsets(windows))
    begins = jnp.asarray(np.pad(np.array(places, np.int32) * np.array(p.dilations, np.int32), ((0, 0), (2, 0))))
    spans = [(m - 1) * s + 1 for m, s in zip(counts, p.strides, strict=True)]
    strided = (slice(None), slice(None), *[slice(None, None, s) for s in p.strides])

    def step(i: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        total, patches = carried
        chunk, part = _chunk((x, dy), chunks, i)
        planes = made(chunk.reshape(-1, depth).T).reshape(depth, *chunk.shape[:-1])
        planes = made(jnp.pad(planes, ((0, 0), (0, 0), *pads)))

        def put(j: Any, patches: Any) -> Any:
            piece = lax.dynamic_slice(planes, begins[j], (*planes.shape[:2], *spans))[strided]
            return lax.dynamic_update_slice_in_dim(patches, piece, j * depth, 0)

        patches = lax.fori_loop(0, len(places), put, patches)
        return total + patches.reshape(len(places) * depth, -1) @ part.reshape(-1, count), patches

    rows = len(places) * depth
    room = jnp.full((rows, size, *counts), dy.ravel()[0], x.dtype)
    total, _ = lax.fori_loop(0, chunks, step, (jnp.zeros((rows, count), x.dtype), room))
    return total.reshape(*windows, depth, count)


def _chunk(arrays: Sequence[Any], chunks: int, i: Any) -> list[Any]:
    """The rows of chunk `i` of arrays of the same number of rows."""
    sizes = [x.shape[0] // chunks for x in arrays]
    return [lax.dynamic_slice_in_dim(x, i * n, n, 0) for x, n in zip(arrays, sizes, strict=True)]


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
        return _filter_in_plain_layout(p, x, dy, around)
    return lax.conv_general_dilated(
        x,
        dy,
        p.dilations,
        around,
        rhs_dilation=p.strides,
        dimension_numbers=(exchanged, images.translate(str.maketrans("NC", "IO")), f"{_axes(p)}NC"),
        feature_group_count=groups,
    )


def _filter_in_plain_layout(p: Any, x: Any, dy: Any, around: Sequence[Any]) -> Any:
    """The same, of copies that have batch and channels exchanged: the result is that of filters, exchanged as well.

    XLA makes these copies by itself, but not in loops, branches and calls: there it goes through plain loops, and takes
    383 ms rather than 9 for 16 images of 32 x 32 x 32 with 32 filters of 3 x 3.
    """
    last = x.ndim - 1
    late = jnp.where(is_there(dy), x, 0)  # Else the copy is made long before, and stays.
    images, filters = made(jnp.swapaxes(late, 0, last)), made(jnp.moveaxis(dy, 0, last - 1))
    dimensions = (_last(p), f"{_axes(p)}IO", _last(p))
    found = lax.conv_general_dilated(
        images, filters, p.dilations, around, rhs_dilation=p.strides, dimension_numbers=dimensions
    )
    return jnp.moveaxis(made(found), 0, last - 1)


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

    chunks = gcd(x.shape[0], _MOST_CHUNKS) if isinstance(x.shape[0], int) else 1
    if chunks == 1 or x.size < _LARGE or not on_processor():
        return summed(x, dy).astype(dtype)

    def step(i: Any, total: Any) -> Any:
        return total + summed(*_chunk((x, dy), chunks, i))

    return lax.fori_loop(0, chunks, step, jnp.zeros((*windows, channels, multiplier), x.dtype)).astype(dtype)


def _counts(
    lengths: Sequence[int], windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pads: Pads
) -> tuple[int, ...]:
    axes = zip(lengths, windows, strides, dilations, pads, strict=True)
    return tuple([max((n + sum(pad) - (k - 1) * d - 1) // s + 1, 0) for n, k, s, d, pad in axes])
