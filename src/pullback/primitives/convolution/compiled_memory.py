"""Memory of compiled convolutions: what programs for processors take beside a result, for each formulation."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

from ..base.windows import has_many_places, split_axes
from .abstract import AbstractConvolution, AbstractConvolutionByInput, AnyConvolution
from .conv import (
    Conv2DBackpropInput,
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
)
from .conv3d import Conv3DBackpropInputV2
from .formulations import (
    MOST_CHUNKS,
    Formulation,
    Sizes,
    by_filter,
    by_input,
    depthwise_chunks,
    forward,
    parts_of,
    result_counts,
    volume_chunks,
)

_SUMS = 6
"""How many arrays of sums XLA keeps in a step of a loop over rows, about."""
Shape = Sequence[int]


def compiled_bytes(p: AnyConvolution, shapes: Sequence[Shape], itemsize: int) -> int:
    """The bytes beside the result; `shapes` are those of the first two inputs and of the result."""
    n = _sizes(p, shapes, itemsize)
    if n is None:
        return 0
    widened = sum(map(prod, shapes)) * 4 if itemsize < 4 else 0
    if isinstance(p, DepthwiseConv2dNative):
        return widened + _bordered(n)
    if isinstance(p, DepthwiseConv2dNativeBackpropInput):
        return widened + _depthwise_by_input(n)
    if isinstance(p, DepthwiseConv2dNativeBackpropFilter):
        return widened + _depthwise_by_filter(n)
    if isinstance(p, AbstractConvolution):
        return widened + _forward(n)
    return widened + (_by_input(n) if isinstance(p, AbstractConvolutionByInput) else _by_filter(n))


def filters_turned(p: AnyConvolution, shapes: Sequence[Shape], itemsize: int) -> int:
    """Of these bytes those of filters that are turned around for the derivative by images."""
    n = _sizes(p, shapes, itemsize)
    is_dense = isinstance(p, Conv2DBackpropInput | Conv3DBackpropInputV2)
    return n.filter_bytes if n is not None and is_dense and n.places > 1 and by_input(n) is Formulation.OWN else 0


def _sizes(p: AnyConvolution, shapes: Sequence[Shape], itemsize: int) -> Sizes | None:
    """The lengths; None where there is no element."""
    if any(0 in shape for shape in shapes):
        return None
    if isinstance(p, AbstractConvolution):
        x, f, _ = shapes
    elif isinstance(p, AbstractConvolutionByInput):
        f, _, x = shapes
    else:
        x, _, f = shapes
    counts = result_counts(p, split_axes(tuple(x), p.data_format)[1], f[:-2])
    return Sizes.of(p, x, f, counts, max(itemsize, 4))


def _forward(n: Sizes) -> int:
    way = forward(n)
    if way is Formulation.SHIFTED:
        return _bordered(n)
    if way is Formulation.COVERED:
        return _folded(n, n.image_bytes) + (0 if len(n.covered) == len(n.images) else _forward(n.folded()))
    if way is Formulation.PLACES:
        return n.bytes(n.batch, *n.images, n.places, n.count) + n.filter_bytes
    if way is Formulation.VOLUMES:
        chunks = volume_chunks(n, n.results) or 1
        return _bordered(n) + n.bytes(n.batch // chunks, *n.results, n.places, n.depth)
    if way is Formulation.LARGE_WINDOWS:
        return 2 * _cells(n)
    missing = -n.channels % 4
    if n.is_whole and not n.channels_first and missing and n.channels <= 16 and n.itemsize == 4:
        return n.bytes(n.batch * prod(n.images) + n.places * n.count, n.channels + missing)
    return 0


def _by_input(n: Sizes) -> int:
    way = by_input(n)
    if way is Formulation.SHIFTED:
        return _put_back(n, n.count)
    if way is Formulation.COVERED:
        return _folded(n, n.image_bytes) + (0 if len(n.covered) == len(n.images) else _by_input(n.folded()))
    if way is Formulation.PLACES:
        return n.bytes(n.batch, *n.results, n.places, n.depth) + n.filter_bytes
    if way is Formulation.VOLUMES:
        chunks = volume_chunks(n, n.images, whole=max(n.strides) > 1) or 1
        return n.bytes(n.batch // chunks, *n.results, n.places, n.depth)
    if way is Formulation.LARGE_WINDOWS:
        return _cells(n) + 2 * n.filter_bytes
    return n.filter_bytes if n.places > 1 else 0


def _by_filter(n: Sizes) -> int:
    way = by_filter(n)
    if way is Formulation.COVERED:
        return _folded(n, n.image_bytes) + _by_filter(n.folded())
    if way is Formulation.PLACES:
        return n.bytes(n.batch, *n.images, 2 * n.places - 1, n.count)
    if way is Formulation.PATCHES:
        chunks = gcd(n.batch, MOST_CHUNKS)
        patches = n.bytes(n.batch, *n.results, n.places, n.depth)
        return (patches + _bordered(n) + n.result_bytes) // chunks
    parts = parts_of(n.batch, prod(n.results), n.count) if way is Formulation.PARTS else 1
    return (n.image_bytes + n.result_bytes) // parts + n.filter_bytes


def _depthwise_by_input(n: Sizes) -> int:
    if not has_many_places(n.windows):
        return _put_back(n, n.channels * n.count)
    axes = zip(n.images, n.windows, n.dilations, strict=True)
    spread = n.bytes(n.batch, *[length + (k - 1) * d for length, k, d in axes], n.channels * n.count)
    return spread + (n.image_bytes * n.count if n.count > 1 else 0)


def _depthwise_by_filter(n: Sizes) -> int:
    """For each place what it sees of a part of the batch, unless that is all; sums of each image for large windows."""
    if has_many_places(n.windows):
        cotangents = n.bytes(n.batch, *n.results, n.channels) if n.count == 1 else 0
        return _bordered(n) + cotangents + _SUMS * n.bytes(n.batch, n.places, n.channels, n.count)
    chunks = depthwise_chunks(n.batch, n.batch * prod(n.images) * n.channels)
    seen = n.bytes(n.batch, *n.results, n.channels)
    pieces = (n.places - 1 if n.results == n.images else n.places) * seen
    return pieces if chunks == 1 else (pieces + 2 * seen) // chunks


def _bordered(n: Sizes) -> int:
    """Images with a border, if they get one."""
    if not any(map(any, n.pads)):
        return 0
    around = [length + sum(pad) for length, pad in zip(n.images, n.pads, strict=True)]
    return n.bytes(n.batch, *around, n.channels)


def _put_back(n: Sizes, channels: int) -> int:
    """Cotangents of results of so many channels with a border, as wide as windows reach."""
    axes = zip(n.images, n.windows, n.strides, n.dilations, n.results, n.pads, strict=True)
    around = []
    for length, k, s, d, m, pad in axes:
        reach = (k - 1) * d // s
        around.append(reach + max(m, -(-(length + sum(pad)) // s)))
    if tuple(around) == tuple(n.results):
        return 0
    return n.bytes(n.batch, *around, channels)


def _cells(n: Sizes) -> int:
    """Images that are cut by strides, with a border."""
    axes = zip(n.windows, n.strides, n.dilations, n.results, strict=True)
    return n.bytes(n.batch, *[(m + (k - 1) * d // s) * s for k, s, d, m in axes], n.channels)


def _folded(n: Sizes, size: int) -> int:
    """A copy whose axes are in another order, unless those that are folded are the last ones."""
    count = len(n.covered)
    return 0 if n.covered == tuple(range(len(n.images) - count, len(n.images))) else size
