"""ONNX export of convolutions and of their derivatives.

By the input it is a ConvTranspose, or a convolution with the filters turned around. By the filters it is, whichever was
measured to be the fastest: a matrix product for windows of one element; shifted slices times the cotangent where
channels are many and images large; elsewhere a convolution of the images with the cotangent, with batch and channels
exchanged.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.operation import Operation
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
_LARGE_IMAGE = 128


@writer(Conv2D, Conv3D)
def conv(w: Writer, op: Operation, x: Value, f: Value) -> Value:
    return _forward(w, op.primitive, x, f, _filters(w, f), _groups(split(x, _form(op))[2], f))


@writer(DepthwiseConv2dNative)
def depthwise(w: Writer, op: Operation, x: Value, f: Value) -> Value:
    return _forward(w, op.primitive, x, f, _depthwise_filters(w, f), f.type.shape.known[-2])


def _forward(w: Writer, p: Any, x: Value, f: Value, filters: Value, groups: int) -> Value:
    y = convolved(w, _geometry(p, f), channels_second(w, x, p.data_format), filters, groups)
    return as_data_format(w, y, p.data_format)


@writer(Conv2DBackpropInput, Conv3DBackpropInputV2)
def conv_by_input(w: Writer, op: Operation, f: Value, dy: Value, sizes: Value | None = None) -> Value:
    groups = _groups(split(op.outputs[0], _form(op))[2], f)
    return _by_input(w, op, f, _filters(w, f), dy, sizes, groups)


@writer(DepthwiseConv2dNativeBackpropInput)
def depthwise_by_input(w: Writer, op: Operation, f: Value, dy: Value, sizes: Value | None = None) -> Value:
    return _by_input(w, op, f, _depthwise_filters(w, f), dy, sizes, f.type.shape.known[-2])


def _by_input(w: Writer, op: Operation, f: Value, filters: Value, dy: Value, sizes: Value | None, groups: int) -> Value:
    p: Any = op.primitive
    _, lengths, _ = split(op.outputs[0], p.data_format)
    wanted = None if sizes is None else spatial_sizes(w, sizes, p.data_format)
    cotangent = channels_second(w, dy, p.data_format)
    dx = convolved_back(w, _geometry(p, f), cotangent, filters, groups, lengths, wanted)
    return as_data_format(w, dx, p.data_format)


@writer(Conv2DBackpropFilter, Conv3DBackpropFilterV2)
def conv_by_filter(w: Writer, op: Operation, x: Value, dy: Value, sizes: Value | None = None) -> Value:
    del sizes
    p: Any = op.primitive
    *windows, depth, _ = op.outputs[0].shape.known
    g = Geometry(tuple(windows), p.strides, p.dilations, p.padding)
    cotangent = channels_second(w, dy, p.data_format)
    if 0 in dims_of(dy, g.rank + 2) or 0 in dims_of(x, g.rank + 2):
        return zeros(w, x, op.outputs[0].shape.known)
    images, pads = padded(w, g, channels_second(w, x, p.data_format))
    groups = (split(x, p.data_format)[2] or depth) // depth
    counts = dims_of(cotangent, g.rank + 2)[2:]
    if None in counts:
        return _by_exchange(w, op, g, images, pads, cotangent, groups)
    many = depth >= _MANY_CHANNELS and max(p.strides) == 1 and prod(counts) >= _LARGE_IMAGE  # type: ignore[arg-type]
    if groups > 1 or many or prod(windows) == 1:
        return _by_slices(w, op, g, images, pads, cotangent, groups)
    return _by_exchange(w, op, g, images, pads, cotangent, groups)


def _by_exchange(w: Writer, op: Operation, g: Geometry, images: Value, pads: Pads, dy: Value, groups: int) -> Value:
    """A convolution of the images with the cotangent, batch and channels exchanged, strides and dilations too."""
    *windows, depth, _ = op.outputs[0].shape.known
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


def _by_slices(w: Writer, op: Operation, g: Geometry, images: Value, pads: Pads, dy: Value, groups: int) -> Value:
    """For each place in the window, the elements there times the cotangent."""
    *windows, depth, count = op.outputs[0].shape.known
    counts: Any = dims_of(dy, g.rank + 2)[2:]
    pieces = _pieces(w, g, images, pads, counts)
    size = prod(counts)
    if groups == 1:
        cotangent = w.reshape(dy, [None, count, size])
        rows = [w.transpose(w.reshape(piece, [None, depth, size]), [0, 2, 1]) for piece in pieces]
        products = [w.node("MatMul", cotangent, x) for x in rows]
        total = w.sum(products[0] if len(products) == 1 else w.concat(products, 2), [0], False)
        return w.reshape(
            w.transpose(w.reshape(total, [count, prod(windows), depth]), [1, 2, 0]), [*windows, depth, count]
        )
    parts = w.reshape(w.concat(pieces, 1), [None, prod(windows), groups, depth, size])
    cotangent = w.transpose(w.reshape(dy, [None, 1, groups, count // groups, size]), [0, 1, 2, 4, 3])
    total = w.sum(w.node("MatMul", parts, cotangent), [0], False)
    return w.reshape(w.transpose(total, [0, 2, 1, 3]), [*windows, depth, count])


def _pieces(w: Writer, g: Geometry, images: Value, pads: Pads, counts: tuple[int, ...]) -> list[Value]:
    """For each place in the window, the elements of the images there."""
    if any(map(any, pads)):
        around = [0, 0, *[a for a, _ in pads], 0, 0, *[b for _, b in pads]]
        images = w.node("Pad", images, vector(w, around))
    elif set(g.windows) == {1} and max(g.strides) == 1:
        return [images]
    found = []
    for offset in offsets([k or 1 for k in g.windows]):
        starts = [o * d for o, d in zip(offset, g.dilations, strict=True)]
        ends = [a + (m - 1) * s + 1 for a, m, s in zip(starts, counts, g.strides, strict=True)]
        found.append(w.slice(images, starts, ends, g.spatial, list(g.strides)))
    return found


@writer(DepthwiseConv2dNativeBackpropFilter)
def depthwise_by_filter(w: Writer, op: Operation, x: Value, dy: Value, sizes: Value | None = None) -> Value:
    """The windows' elements, taken by a convolution with one filter for each place, times the cotangent."""
    del sizes
    p: Any = op.primitive
    *windows, channels, multiplier = op.outputs[0].shape.known
    g = Geometry(tuple(windows), p.strides, p.dilations, p.padding)
    images, pads = padded(w, g, channels_second(w, x, p.data_format))
    cotangent = channels_second(w, dy, p.data_format)
    batch, _, *lengths = dims_of(images, g.rank + 2)
    places, counts = prod(windows), dims_of(cotangent, g.rank + 2)[2:]
    merged: Any = [-1, 1, *lengths]
    if None in lengths:
        merged = w.concat([vector(w, [-1, 1]), w.lengths(images, g.spatial)], 0)
    taking = w.cast(w.constant(np.eye(places, dtype=np.float32).reshape(places, 1, *windows)), x.type.dtype)
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


def _form(op: Operation) -> str:
    p: Any = op.primitive
    form: str = p.data_format
    return form


# Where all lengths are known, the kernels of these say how they are written.
writer(Dilation2D, Dilation2DBackpropInput, Dilation2DPick, Dilation2DBackpropFilter, Dilation2DPickFilter, pairs=True)(
    traced
)
