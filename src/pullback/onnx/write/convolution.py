"""ONNX export of convolutions and of their derivatives.

By the input it is a ConvTranspose, or a convolution with the filters turned around. By the filters it is, whichever was
measured to be the fastest: one product of the cotangent with the elements of all windows (im2col) where results are
small, or in groups; a product for each place in the window where they are large; a convolution of the images with the
cotangent, with batch and channels exchanged, where channels are few. Depthwise ones are sums of products of elements,
or diagonals of products of rows, where steps are of one element.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.dtypes import float32, float64
from ...primitives.base.windows import Pads, offsets
from ...primitives.convolution.conv import (
    Conv2D,
    Conv2DBackpropFilter,
    Conv2DBackpropInput,
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
)
from ...primitives.convolution.conv3d import Conv3D, Conv3DBackpropFilterV2, Conv3DBackpropInputV2
from ...primitives.convolution.morphology import (
    Dilation2D,
    Dilation2DBackpropFilter,
    Dilation2DBackpropInput,
    Dilation2DPick,
    Dilation2DPickFilter,
)
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .layout import (
    Geometry,
    as_data_format,
    channels_second,
    convolved,
    convolved_back,
    dims_of,
    padded,
    spatial_sizes,
    split,
    vector,
    zeros,
)
from .traced import traced

_MANY_CHANNELS = 16
_LARGE_IMAGE = 2
"""So many times as many places as filters make one product for each place in the window faster than a single one."""
_SMALL_WINDOW = 9


@writer(Conv2D, Conv3D)
def conv(w: Writer, p: Any, x: Value, f: Value) -> Value:
    return _forward(w, p, x, f, _filters(w, f), _groups(split(x, _form(p))[2], f))


@writer(DepthwiseConv2dNative)
def depthwise(w: Writer, p: Any, x: Value, f: Value) -> Value:
    return _forward(w, p, x, f, _depthwise_filters(w, f), f.type.shape.known[-2])


def _forward(w: Writer, p: Any, x: Value, f: Value, filters: Value, groups: int) -> Value:
    y = convolved(w, _geometry(p, f), channels_second(w, x, p.data_format), filters, groups)
    return as_data_format(w, y, p.data_format)


@writer(Conv2DBackpropInput, Conv3DBackpropInputV2)
def conv_by_input(w: Writer, p: Any, f: Value, dy: Value, sizes: Value | None = None) -> Value:
    groups = _groups(split(w.op.outputs[0], _form(p))[2], f)
    return _by_input(w, p, f, _filters(w, f), dy, sizes, groups)


@writer(DepthwiseConv2dNativeBackpropInput)
def depthwise_by_input(w: Writer, p: Any, f: Value, dy: Value, sizes: Value | None = None) -> Value:
    return _by_input(w, p, f, _depthwise_filters(w, f), dy, sizes, f.type.shape.known[-2])


def _by_input(w: Writer, p: Any, f: Value, filters: Value, dy: Value, sizes: Value | None, groups: int) -> Value:
    _, lengths, _ = split(w.op.outputs[0], p.data_format)
    wanted = None if sizes is None else spatial_sizes(w, sizes, p.data_format)
    cotangent = channels_second(w, dy, p.data_format)
    dx = convolved_back(w, _geometry(p, f), cotangent, filters, groups, lengths, wanted)
    return as_data_format(w, dx, p.data_format)


@writer(Conv2DBackpropFilter, Conv3DBackpropFilterV2)
def conv_by_filter(w: Writer, p: Any, x: Value, dy: Value, sizes: Value | None = None) -> Value:
    del sizes
    *windows, depth, _ = w.op.outputs[0].shape.known
    g = Geometry(tuple(windows), p.strides, p.dilations, p.padding)
    cotangent = channels_second(w, dy, p.data_format)
    if 0 in dims_of(dy, g.rank + 2) or 0 in dims_of(x, g.rank + 2):
        return zeros(w, x, w.op.outputs[0].shape.known)
    images, pads = padded(w, g, channels_second(w, x, p.data_format))
    groups = (split(x, p.data_format)[2] or depth) // depth
    counts = dims_of(cotangent, g.rank + 2)[2:]
    if None in counts:
        return _by_exchange(w, g, images, pads, cotangent, groups)
    places = prod(counts)  # type: ignore[arg-type]
    if groups > 1 or (depth >= _MANY_CHANNELS and places < _LARGE_IMAGE * w.op.outputs[0].shape.known[-1]):
        return _by_windows(w, g, images, pads, cotangent, groups)
    if depth >= _MANY_CHANNELS or prod(windows) == 1:
        return _by_slices(w, g, images, pads, cotangent)
    return _by_exchange(w, g, images, pads, cotangent, groups)


def _by_exchange(w: Writer, g: Geometry, images: Value, pads: Pads, dy: Value, groups: int) -> Value:
    """A convolution of the images with the cotangent, batch and channels exchanged, strides and dilations too."""
    *windows, depth, _ = w.op.outputs[0].shape.known
    rank = g.rank + 2
    exchange = [1, 0, *range(2, rank)]
    if groups > 1:
        lengths = w.lengths(images, g.spatial)
        batch = w.lengths(images, [0])
        parts = w.reshape_to(images, w.concat([batch, vector(w, [groups, depth]), lengths], 0))
        turned = w.transpose(parts, [2, 1, 0, *range(3, rank + 1)])
        x = w.reshape(turned, w.concat([vector(w, [depth, -1]), lengths], 0))
    else:
        x = w.transpose(images, exchange)
    flipped = Geometry(dims_of(dy, rank)[2:], g.dilations, g.strides, pads)
    lengths_ = dims_of(images, rank)[2:]
    found = w.node("Conv", x, w.transpose(dy, exchange), group=groups, **flipped.attributes(pads))
    if max(g.strides) > 1 and flipped.counts(lengths_) != tuple(windows):
        found = w.slice(found, [0] * g.rank, list(windows), g.spatial)
    return w.transpose(found, [*g.spatial, 0, 1])


def _by_windows(w: Writer, g: Geometry, images: Value, pads: Pads, dy: Value, groups: int) -> Value:
    """The cotangent times the elements of all windows, [groups, channels and places in a window, batch and windows]."""
    *windows, depth, count = w.op.outputs[0].shape.known
    rank = g.rank + 2
    exchange = [1, 0, *range(2, rank)]
    pieces = _pieces(w, g, w.transpose(images, exchange), pads, dims_of(dy, rank)[2:])  # type: ignore[arg-type]
    parts = [w.reshape(piece, [groups * depth, 1, -1]) for piece in pieces]
    lead = [groups] if groups > 1 else []
    elements = w.reshape(w.concat(parts, 1), [*lead, depth * prod(windows), -1])
    cotangent = w.reshape(w.transpose(dy, exchange), [*lead, count // groups, -1])
    if groups > 1 or dy.type.dtype not in (float32, float64):
        product = w.node("MatMul", cotangent, w.transpose(elements, [*range(len(lead)), len(lead) + 1, len(lead)]))
    else:
        product = w.node("Gemm", cotangent, elements, transB=1)
    return w.transpose(w.reshape(product, [count, depth, *windows]), [*g.spatial, 1, 0])


def _by_slices(w: Writer, g: Geometry, images: Value, pads: Pads, dy: Value) -> Value:
    """For each place in the window, the elements there times the cotangent."""
    *windows, depth, count = w.op.outputs[0].shape.known
    counts: Any = dims_of(dy, g.rank + 2)[2:]
    size = prod(counts)
    cotangent = w.reshape(dy, [None, count, size])
    pieces = _pieces(w, g, images, pads, counts)
    rows = [w.transpose(w.reshape(piece, [None, depth, size]), [0, 2, 1]) for piece in pieces]
    total = w.sum(w.concat([w.node("MatMul", cotangent, x) for x in rows], 2), [0], False)
    return w.reshape(w.transpose(w.reshape(total, [count, prod(windows), depth]), [1, 2, 0]), [*windows, depth, count])


def _pieces(w: Writer, g: Geometry, images: Value, pads: Pads, counts: tuple[int, ...]) -> list[Value]:
    """For each place in the window, the elements of the images there."""
    if not any(map(any, pads)) and set(g.windows) == {1} and max(g.strides) == 1:
        return [images]
    images = _with_pads(w, images, pads)
    found = []
    for offset in offsets([k or 1 for k in g.windows]):
        starts = [o * d for o, d in zip(offset, g.dilations, strict=True)]
        ends = [a + (m - 1) * s + 1 for a, m, s in zip(starts, counts, g.strides, strict=True)]
        found.append(w.slice(images, starts, ends, g.spatial, list(g.strides)))
    return found


def _with_pads(w: Writer, images: Value, pads: Pads) -> Value:
    around = [0, 0, *[a for a, _ in pads], 0, 0, *[b for _, b in pads]]
    return w.node("Pad", images, vector(w, around)) if any(around) else images


@writer(DepthwiseConv2dNativeBackpropFilter)
def depthwise_by_filter(w: Writer, p: Any, x: Value, dy: Value, sizes: Value | None = None) -> Value:
    del sizes
    *windows, channels, multiplier = w.op.outputs[0].shape.known
    g = Geometry(tuple(windows), p.strides, p.dilations, p.padding)
    images, pads = padded(w, g, channels_second(w, x, p.data_format))
    cotangent = channels_second(w, dy, p.data_format)
    lengths = [*dims_of(images, g.rank + 2)[2:], *dims_of(cotangent, g.rank + 2)[2:]]
    large = prod(windows) > _SMALL_WINDOW
    if multiplier > 1 or max(p.strides) > 1 or None in lengths or 0 in lengths or (large and g.rank != 2):
        return _by_taking(w, g, images, pads, cotangent)
    if large:
        return _by_diagonals(w, g, images, pads, cotangent)
    products = [w.node("Mul", piece, cotangent) for piece in _pieces(w, g, images, pads, tuple(lengths[g.rank :]))]  # type: ignore[arg-type]
    return w.reshape(w.concat([w.sum(v, [0, *g.spatial]) for v in products], 0), [*windows, channels, 1])


def _by_diagonals(w: Writer, g: Geometry, images: Value, pads: Pads, dy: Value) -> Value:
    """For each row of the window, the columns of `dy` times those of the images: what belongs to a place in the window
    is a diagonal of the product.
    """
    height, width, channels, _ = w.op.outputs[0].shape.known
    rows, columns = dims_of(dy, 4)[2:]
    images = _with_pads(w, images, pads)
    wide = dims_of(images, 4)[3]
    starts = [i * g.dilations[0] for i in range(height)]
    pieces = [w.slice(images, [i], [i + rows], [2]) for i in starts]  # type: ignore[operator]
    stacked = w.reshape(w.concat(pieces, 2), [None, channels, height, rows, wide])
    turned = w.transpose(w.unsqueeze(dy, [2]), [0, 1, 2, 4, 3])
    products = w.reshape(w.node("MatMul", turned, stacked), [None, channels * height, columns * wide])  # type: ignore[operator]
    diagonals = np.zeros([columns, wide, width], np.float32)  # type: ignore[list-item]
    for j in range(width):
        np.fill_diagonal(diagonals[:, j * g.dilations[1] :, j], 1)
    chosen = w.cast(w.constant(diagonals.reshape(-1, width)), dy.type.dtype)
    found = w.reshape(w.sum(w.node("MatMul", products, chosen), [0]), [channels, height, width, 1])
    return w.transpose(found, [1, 2, 0, 3])


def _by_taking(w: Writer, g: Geometry, images: Value, pads: Pads, cotangent: Value) -> Value:
    """The windows' elements, taken by a convolution with one filter for each place, times the cotangent."""
    *windows, channels, multiplier = w.op.outputs[0].shape.known
    batch, _, *lengths = dims_of(images, g.rank + 2)
    places, counts = prod(windows), dims_of(cotangent, g.rank + 2)[2:]
    merged: Any = [-1, 1, *lengths]
    if None in lengths:
        merged = w.concat([vector(w, [-1, 1]), w.lengths(images, g.spatial)], 0)
    taking = w.cast(w.constant(np.eye(places, dtype=np.float32).reshape(places, 1, *windows)), images.type.dtype)
    elements = w.node("Conv", w.reshape(images, merged), taking, **g.attributes(pads))
    size = -1 if None in counts else prod(counts)  # type: ignore[arg-type]
    lead = -1 if batch is None else batch
    apart: Any = [lead, channels, places, size]
    if lead == size:
        apart = w.concat([w.lengths(images, [0]), vector(w, [channels, places, -1])], 0)
    rows = w.reshape(elements, apart)
    weights = w.transpose(w.reshape(cotangent, [None, channels, multiplier, size]), [0, 1, 3, 2])
    products = w.node("MatMul", rows, weights)
    return w.reshape(w.transpose(w.sum(products, [0], False), [1, 0, 2]), [*windows, channels, multiplier])


def _geometry(p: Any, f: Value) -> Geometry:
    return Geometry(dims_of(f, len(p.strides) + 2)[: len(p.strides)], p.strides, p.dilations, p.padding)


def _filters(w: Writer, f: Value) -> Value:
    """[count, channels of the group, window...]."""
    rank = len(f.type.shape.sizes or ())
    return w.transpose(f, [rank - 1, rank - 2, *range(rank - 2)])


def _depthwise_filters(w: Writer, f: Value) -> Value:
    """[channels * multiplier, 1, window...]."""
    *windows, channels, multiplier = f.type.shape.known
    rank = len(windows) + 2
    turned = w.transpose(f, [rank - 2, rank - 1, *range(rank - 2)])
    return w.reshape(turned, [channels * multiplier, 1, *windows])


def _groups(channels: int | None, f: Value) -> int:
    depth = dims_of(f, 2)[-2]
    return 1 if channels is None or not depth else channels // depth


def _form(p: Any) -> str:
    form: str = p.data_format
    return form


# Where all lengths are known, the kernels of these say how they are written.
writer(Dilation2D, Dilation2DBackpropInput, Dilation2DPick, Dilation2DBackpropFilter, Dilation2DPickFilter, pairs=True)(
    traced
)
