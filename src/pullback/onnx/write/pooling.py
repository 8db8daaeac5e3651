"""ONNX export of pooling and of its derivatives: maxima remember their places, means are spread by convolutions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.dtypes import int64, uint64
from ...core.errors import NotRecordedError
from ...core.limits import Reading
from ...primitives.pooling.argmax import MaxPoolWithArgmax
from ...primitives.pooling.avg_pool import AvgPool, AvgPoolGrad, sizes_of
from ...primitives.pooling.fractional import FractionalMaxPool, PickPixels, PoolingSequence, PutPixels, WindowMeans
from ...primitives.pooling.geometry import holes_of, is_tiled
from ...primitives.pooling.max_pool import MaxPool, MaxPoolGrad, MaxPoolGradGrad
from ...primitives.pooling.places import MaxPoolPlaces
from ..pairs import trace_kernel
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
    no_pads,
    spatial_sizes,
    split,
    vector,
    zeros,
)
from .traced import traced


@writer(MaxPool)
def max_pool(w: Writer, p: Any, x: Value) -> Any:
    if 0 in (w.op.outputs[0].shape.sizes or ()):
        return zeros(w, x, w.op.outputs[0].shape.known)
    if x.type.dtype in (int64, uint64):
        return trace_kernel(w, [x])
    return as_data_format(w, _maxima(w, p, x)[0], _form(p))


@writer(MaxPoolGrad)
def max_pool_grad(w: Writer, p: Any, x: Value, y: Value, dy: Value) -> Value:
    """`dy` added up at the places of the maxima in the flattened input."""
    if 0 in (x.type.shape.sizes or ()) or 0 in (y.type.shape.sizes or ()):
        return zeros(w, x, w.op.outputs[0].shape.known)
    form = _form(p)
    _, places = _maxima(w, p, x)
    images = channels_second(w, x, form)
    wide, _ = _widened(w, _geometry(p), images)
    blank = w.expand(w.scalar(0, dy), _flat_shape(w, wide))
    updates = w.reshape(channels_second(w, dy, form), [-1])
    flat = w.node("ScatterElements", blank, w.reshape(places, [-1]), updates, axis=0, reduction="add")
    whole = w.reshape_to(flat, w.shape(wide))
    return as_data_format(w, _cut(w, _geometry(p), whole, images), form)


@writer(MaxPoolGradGrad)
def max_pool_grad_grad(w: Writer, p: Any, x: Value, y: Value, ddx: Value) -> Value:
    del y
    form = _form(p)
    _, places = _maxima(w, p, x)
    images, _ = _widened(w, _geometry(p), channels_second(w, ddx, form), 0.0)
    return as_data_format(w, w.gather(w.reshape(images, [-1]), places, 0), form)


@writer(MaxPoolPlaces)
def max_pool_places(w: Writer, p: Any, x: Value, y: Value) -> Value:
    del y
    return as_data_format(w, _places(w, p, x, int(p.column_major))[1], p.data_format)


@writer(MaxPoolWithArgmax)
def max_pool_with_argmax(w: Writer, p: Any, x: Value) -> list[Value]:
    """Places in [n, c, h, w] become those in [h, w, c] or [n, h, w, c]."""
    y, places = _places(w, p, x)
    lengths = w.shape(x)
    batch, rows, columns, channels = [w.gather(lengths, w.constant(np.asarray(i, int64)), 0) for i in range(4)]
    pixels = w.node("Mul", rows, columns)
    image = w.node("Div", places, pixels)
    channel = w.node("Mod", image, channels)
    found = w.node("Add", w.node("Mul", w.node("Mod", places, pixels), channels), channel)
    if p.include_batch_in_index:
        size = w.node("Mul", pixels, channels)
        found = w.node("Add", found, w.node("Mul", w.node("Div", image, channels), size))
    del batch
    return [as_data_format(w, v, p.data_format) for v in (y, w.cast(found, p.output_dtype))]


def _flat_shape(w: Writer, x: Value) -> Value:
    """The number of elements of `x`, as a vector."""
    size = x.type.shape.num_elements()
    return vector(w, [size]) if size is not None else w.reshape(w.node("Size", x), [1])


def _is_wide(g: Geometry, pads: Any) -> bool:
    """Whether a padding is as wide as a window, which onnxruntime refuses: it is put around the images before."""
    return pads is not None and any(max(pad) >= (k or 1) for pad, k in zip(pads, g.windows, strict=True))


def _widened(w: Writer, g: Geometry, images: Value, fill: float | None = None) -> tuple[Value, Any]:
    """The images, with wide paddings around them, and the paddings that are left; None fills in the lowest number."""
    dims = dims_of(images, g.rank + 2)
    pads: Any = g.known_pads(dims[2:])
    if not _is_wide(g, pads):
        return images, pads
    dtype: Any = images.type.dtype
    around = vector(w, [0, 0, *[a for a, _ in pads], 0, 0, *[b for _, b in pads]])
    lowest = np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf
    number = w.scalar(lowest if fill is None else fill, images)
    return w.node("Pad", images, around, number), no_pads(g)


def _cut(w: Writer, g: Geometry, whole: Value, images: Value) -> Value:
    """What belongs to the images in an array of the shape of the widened ones."""
    pads: Any = g.known_pads(dims_of(images, g.rank + 2)[2:])
    if not _is_wide(g, pads):
        return whole
    first = vector(w, [a for a, _ in pads])
    return w.slice(whole, first, w.node("Add", first, w.lengths(images, g.spatial)), g.spatial)


def _places(w: Writer, p: Any, x: Value, storage_order: int = 0) -> tuple[Value, Value]:
    """The maxima and their places, which are those in the images themselves."""
    g = _geometry(p)
    if _is_wide(g, g.known_pads(split(x, p.data_format)[1])):
        raise NotRecordedError("argmax of a pool whose padding is as wide as its window")
    return _maxima(w, p, x, storage_order)


def _maxima(w: Writer, p: Any, x: Value, storage_order: int = 0) -> tuple[Value, Value]:
    """The maxima and their places in the flattened images, in ONNX's layout: one node for all who ask."""
    if x.type.dtype in (int64, uint64):
        raise NotRecordedError("places of the largest whole numbers of 64 bits: MaxPool has them as float64")
    g = _geometry(p)
    outer = channels_second(w, x, p.data_format)
    counts = g.counts(dims_of(outer, g.rank + 2)[2:])
    images, pads = _widened(w, g, outer)
    dims = dims_of(images, g.rank + 2)
    more: dict[str, Any] = {"storage_order": storage_order} if storage_order else {}
    if pads is None and max(g.dilations) > 1:
        raise NotRecordedError("dilated windows with strides and padding SAME over axes of unknown length")
    if pads is None:
        more["auto_pad"] = "SAME_UPPER"
    shape = (*dims[:2], *counts)
    y, places = w.nodes(
        "MaxPool", images, dtypes=(x.type.dtype, int64), shapes=(shape, shape), **more, **g.attributes(pads)
    )
    return y, places


@writer(AvgPool)
def avg_pool(w: Writer, p: Any, x: Value) -> Value:
    g = _geometry(p)
    if 0 in (w.op.outputs[0].shape.sizes or ()):
        return zeros(w, x, w.op.outputs[0].shape.known)
    images = channels_second(w, x, p.data_format)
    dims = dims_of(images, g.rank + 2)
    pads = g.known_pads(dims[2:])
    skips = pads is None and any(s > (k or 1) for s, k in zip(g.strides, g.windows, strict=True))
    if max(g.dilations) > 1 or skips:
        return as_data_format(w, _dilated_means(w, g, images), p.data_format)
    attributes = g.attributes(pads)
    del attributes["dilations"]
    if pads is None:
        attributes["auto_pad"] = "SAME_UPPER"
    return as_data_format(w, w.node("AveragePool", images, **attributes), p.data_format)


def _dilated_means(w: Writer, g: Geometry, x: Value) -> Value:
    """Sums of each channel over the number of terms: dilated windows, which AveragePool has only in later opsets,
    and windows with elements between them, for which onnxruntime works out a negative padding.
    """
    single = w.reshape(x, _single(w, g, x))
    ones = _ones(w, g, x)
    total = convolved(w, g, single, ones, 1)
    size = convolved(w, g, w.expand(w.scalar(1, x), w.shape(single)), ones, 1)
    counts = w.lengths(total, g.spatial)
    return w.reshape(w.node("Div", total, size), w.concat([w.lengths(x, [0, 1]), counts], 0))


@writer(AvgPoolGrad)
def avg_pool_grad(w: Writer, p: Any, dy: Value, sizes: Value | None = None) -> Value:
    g = _geometry(p)
    _, lengths, _ = split(w.op.outputs[0], p.data_format)
    cotangent = channels_second(w, dy, p.data_format)
    known = w.op.outputs[0].shape.sizes
    if known is not None and 0 in (*known, *dims_of(dy, g.rank + 2)):
        return zeros(w, dy, known)
    if known is not None and None not in lengths and is_tiled(p, [n or 0 for n in known]):
        return as_data_format(w, _repeated(w, g, cotangent, lengths), p.data_format)
    wanted = None if sizes is None else spatial_sizes(w, sizes, p.data_format)
    if None in lengths:
        assert wanted is not None
        share = w.node("Div", cotangent, _sizes_at_run_time(w, g, dy, wanted))
        weight = 1.0
    else:
        share, weight = _shares(w, p, cotangent, lengths)
    single = w.reshape(share, _single(w, g, share))
    dx = convolved_back(w, g, single, _ones(w, g, dy, weight), 1, lengths, wanted)
    outer = w.lengths(cotangent, [0, 1])
    inner = w.lengths(dx, g.spatial)
    return as_data_format(w, w.reshape_to(dx, w.concat([outer, inner], 0)), p.data_format)


def _shares(w: Writer, p: Any, dy: Value, lengths: Any) -> tuple[Value, float]:
    """`dy` and a factor whose product each element of a window gets."""
    Reading("onnx.export").takes_bytes(dy.type.dtype.itemsize * prod(lengths))
    sizes = np.moveaxis(sizes_of(p, lengths, dy.type.dtype), -1, 0)
    if sizes.size and np.all(sizes == sizes.flat[0]):
        return dy, float(1 / sizes.flat[0])
    return w.node("Mul", dy, w.constant(1 / sizes, dy.type.dtype)), 1.0


def _sizes_at_run_time(w: Writer, g: Geometry, dy: Value, lengths: Value) -> Value:
    ones = w.expand(w.scalar(1, dy), w.concat([vector(w, [1, 1]), lengths], 0))
    return convolved(w, g, ones, _ones(w, g, dy), 1)


def _repeated(w: Writer, g: Geometry, dy: Value, lengths: Any) -> Value:
    """Windows side by side: each share is repeated all over its window."""
    counts = [n // k for n, k in zip(lengths, g.windows, strict=True)]
    apart = w.reshape(dy, [None, None, *[m for count in counts for m in (count, 1)]])
    share = w.node("Mul", apart, w.scalar(1 / prod(g.windows), dy))  # type: ignore[arg-type]
    ones = [m for k in g.windows for m in (1, k)]
    spread = w.expand(share, vector(w, [1, 1, *ones]))
    return w.reshape(spread, [None, None, *lengths])


def _single(w: Writer, g: Geometry, x: Value) -> Any:
    """The shape of `x` [n, c, spatial...] with its batch and channels as one axis."""
    dims = dims_of(x, g.rank + 2)
    if None not in dims[2:]:
        return [-1, 1, *dims[2:]]
    return w.concat([vector(w, [-1, 1]), w.lengths(x, g.spatial)], 0)


def _ones(w: Writer, g: Geometry, like: Value, value: float = 1.0) -> Value:
    """A filter that adds up what is in a window."""
    array = np.full((1, 1, *[k or 1 for k in g.windows]), value)
    return w.cast(w.constant(array), like.type.dtype)


def _geometry(p: Any) -> Geometry:
    return Geometry(p.ksize, p.strides, holes_of(p), p.padding)


def _form(p: Any) -> str:
    form: str = p.data_format
    return form


# Where all lengths are known, the kernels of these say how they are written.
writer(PoolingSequence, WindowMeans, FractionalMaxPool, PutPixels, PickPixels, pairs=True)(traced)
