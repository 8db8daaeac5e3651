"""ONNX import of image sampling: grids, regions of interest, deformable convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....core.dtypes import FLOATING, float32, int64
from ....core.operation import Tensor
from ....primitives.activations.bias import bias_add
from ....primitives.creation.constant import constant
from ....primitives.creation.fill import ones_like
from ....primitives.creation.ranges import range_
from ....primitives.elementwise.clip import clip_by_value
from ....primitives.elementwise.division import floormod
from ....primitives.elementwise.masking import mask
from ....primitives.elementwise.maximum import maximum
from ....primitives.elementwise.rounding import ceil, floor
from ....primitives.elementwise.rounding import round as round_
from ....primitives.elementwise.sign import absolute
from ....primitives.indexing.gather import gather
from ....primitives.indexing.where import where
from ....primitives.linalg.matmul import matmul
from ....primitives.reduction.reduce import reduce_max
from ....primitives.shape.broadcast import broadcast_to
from ....primitives.shape.reshape import reshape
from ....primitives.shape.squeeze import expand_dims
from ....primitives.shape.stacking import stack
from ....primitives.shape.transpose import transpose
from ...reading import Node, reader
from ..convolution import kernel_of
from ..dtypes import cast
from ..lengths import lengths, rank_of
from ..places import cubic, elements, images_first, inside, joined, rows_of, weighted
from ..windows import numbers, pairs

_KEYS = -0.75
_OFFSETS = {"nearest": [0.0], "linear": [0.0, 1.0], "cubic": [-1.0, 0.0, 1.0, 2.0]}
"""The elements that count, from the last one that is not beyond the point.

Weights are made of the part of the way to the next element: on an element the derivative is that of what follows it.
"""


@reader("GridSample")
def grid_sample(node: Node, x: Tensor, grid: Tensor) -> Tensor:
    count = rank_of(node, x) - 2
    mode, padding = node.attribute("mode", "linear"), node.attribute("padding_mode", "zeros")
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    align = bool(node.attribute("align_corners", 0))
    batch, *shape, _ = lengths(grid)
    spatial = lengths(x)[2:]
    dtype = x.dtype if x.dtype in FLOATING else float32
    columns, weights = [], []
    for i, n in enumerate(spatial):
        # The grid holds the last axis first.
        at = reshape(cast(grid[..., count - 1 - i], grid.dtype), [batch, -1])
        column, number = _grid_taps(at, n, mode, padding, align)
        columns.append(column)
        weights.append(number)
    places, factors = joined(columns, weights, spatial)
    rows = rows_of(cast(x, dtype))
    y = weighted(rows, images_first(places, None, elements(spatial)), factors)
    return cast(reshape(y, [batch, lengths(x)[1], *shape]), x.dtype)


def _grid_taps(at: Tensor, n: Any, mode: str, padding: str, align: bool) -> tuple[Tensor, Tensor]:
    """The elements [..., taps] that count along an axis of length `n` for coordinates in [-1, 1], and their weights."""
    dtype = at.dtype
    size: Any = cast(n, dtype) if isinstance(n, Tensor) else float(n)
    x = (at + 1.0) * ((size - 1.0) * 0.5) if align else ((at + 1.0) * size - 1.0) * 0.5
    x = round_(x) if mode == "nearest" else x
    low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
    # A cubic is never moved as a whole, only the elements that it reaches.
    if padding == "border" and mode != "cubic":
        x = where((x < low) | (x > high), clip_by_value(x, 0.0, size - 1.0), x)
    elif padding == "reflection" and mode != "cubic":
        x = where((x < low) | (x > high), _reflected(x, low, high), x)
    first = floor(x)
    columns = expand_dims(first, -1) + constant(_OFFSETS[mode], dtype)
    part = x - first
    if mode == "nearest":
        weights = ones_like(columns)
    elif mode == "linear":
        weights = stack([1.0 - part, part], -1)
    else:
        weights = stack(cubic(part, _KEYS), -1)
    if padding == "reflection":
        columns = where((columns < low) | (columns > high), floor(_reflected(columns, low, high) + 0.25), columns)
    found, within = inside(cast(columns, int64), n)
    return found, mask(within, weights) if padding == "zeros" else weights


def _reflected(x: Tensor, low: Any, high: Any) -> Tensor:
    """`x` mirrored at both ends until it is between them."""
    span = high - low
    if not isinstance(span, Tensor) and span == 0:
        return x * 0.0 + float(low)
    twice = span * 2.0
    folded = floormod(absolute(x - low), twice)
    y: Tensor = where(folded > span, twice - folded, folded) + low
    return y


@reader("AffineGrid")
def affine_grid(node: Node, theta: Tensor, size: Tensor) -> Tensor:
    """For each place of an image of `size` the point to which `theta` moves it; the last axis comes first."""
    count = theta.shape.size(1) if size.shape.size(0) is None else size.shape.size(0) - 2
    if count is None:
        node.refuse(f"how many axes {theta} is for is not known")
    align = bool(node.attribute("align_corners", 0))
    found = node.static(size)
    shape: list[Any] = [size[i] if found is None else int(found[i]) for i in range(count + 2)]
    spatial = shape[2:]
    axes = []
    for i, n in enumerate(spatial):
        steps = cast(range_(constant(0, int64), n), theta.dtype)
        length: Any = cast(n, theta.dtype) if isinstance(n, Tensor) else float(n)
        if align:
            last = maximum(length - 1.0, 1.0) if isinstance(length, Tensor) else max(length - 1, 1.0)
            at = steps * 2.0 / last - 1.0
        else:
            at = (steps * 2.0 + 1.0) / length - 1.0
        at = reshape(at, [-1 if j == i else 1 for j in range(count)])
        axes.append(broadcast_to(at, spatial))
    points = reshape(stack([*reversed(axes), axes[0] * 0.0 + 1.0], -1), [-1, count + 1])
    y = matmul(points, theta, transpose_b=True)
    return reshape(y, [shape[0], *spatial, count])


@reader("DeformConv")
def deform_conv(
    node: Node, x: Tensor, w: Tensor, offset: Tensor, b: Tensor | None = None, mask_: Tensor | None = None
) -> Tensor:
    """A convolution of which each element of each window is read at a point moved by `offset`, zeros outside."""
    count = rank_of(node, x) - 2
    groups, parts = node.attribute("group", 1), node.attribute("offset_group", 1)
    kernel = kernel_of(node, w)
    batch, channels, *spatial = lengths(x)
    out = lengths(offset)[2:]
    taps = math.prod(kernel)
    moved = reshape(offset, [batch * parts, *kernel, count, *out])
    columns, weights = [], []
    for i in range(count):
        at = _start(node, i, count, kernel, out, x.dtype)
        point = reshape(moved[(slice(None),) * (1 + count) + (i,)] + at, [batch * parts, -1])
        column, number = _zero_padded_taps(point, spatial[i])
        columns.append(column)
        weights.append(number)
    places, factors = joined(columns, weights, spatial)
    if mask_ is not None:
        factors = factors * reshape(mask_, [batch * parts, -1, 1])
    rows = rows_of(reshape(x, [batch * parts, channels // parts, *spatial]))
    read = weighted(rows, images_first(places, None, elements(spatial)), factors)
    inner = reshape(read, [batch, groups, (channels // groups) * taps, -1])
    filters = reshape(w, [groups, lengths(w)[0] // groups, -1])
    y = reshape(matmul(filters, inner), [batch, lengths(w)[0], *out])
    return y if b is None else bias_add(y, b, "NC")


def _start(node: Node, i: int, count: int, kernel: Sequence[int], out: Sequence[Any], dtype: Any) -> Tensor:
    """Where axis `i` of each element of each window stands, to broadcast against [..., kernel..., out...]."""
    stride, dilation = numbers(node, "strides", count, 1)[i], numbers(node, "dilations", count, 1)[i]
    before = pairs(node, count)[i][0]
    in_window = reshape(range_(kernel[i]) * dilation, [-1 if j == i else 1 for j in range(2 * count)])
    along = reshape(
        range_(constant(0, int64), out[i]) * stride - before, [-1 if j == count + i else 1 for j in range(2 * count)]
    )
    return cast(in_window, dtype) + cast(along, dtype)


def _zero_padded_taps(x: Tensor, n: Any) -> tuple[Tensor, Tensor]:
    """The two elements around a point and their weights, zeros outside."""
    first = floor(x)
    part = x - first
    found, within = inside(cast(stack([first, first + 1.0], -1), int64), n)
    return found, mask(within, stack([1.0 - part, part], -1))


@reader("RoiAlign")
def roi_align(node: Node, x: Tensor, rois: Tensor, batch_indices: Tensor) -> Tensor:
    height, width = node.attribute("output_height", 1), node.attribute("output_width", 1)
    half = node.attribute("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    scale, ratio = node.attribute("spatial_scale", 1.0), int(node.attribute("sampling_ratio", 0))
    bounds = rois * scale - (0.5 if half else 0.0)
    spatial = lengths(x)[2:]
    columns, weights, within, counts = [], [], [], []
    for i, (n, bins) in enumerate(zip(spatial, (height, width), strict=True)):
        start, end = bounds[:, 1 - i], bounds[:, 3 - i]
        extent = end - start if half else maximum(end - start, 1.0)
        points, valid, count = _roi_points(start, extent, bins, ratio)
        column, number = _roi_taps(points, n)
        columns.append(column)
        weights.append(number)
        within.append(valid)
        counts.append(count)
    places, factors, valid = _crossed(columns, weights, within, spatial)
    rows = rows_of(x)
    at = images_first(places, batch_indices, elements(spatial))
    regions, channels = lengths(rois)[0], lengths(x)[1]
    if node.attribute("mode", "avg") == "avg":
        sums = weighted(rows, at, mask(valid, factors))
        area = reshape(maximum(counts[0] * counts[1], 1.0), [-1, 1, 1])
        return reshape(cast(sums / cast(area, sums.dtype), x.dtype), [regions, channels, height, width])
    products = where(expand_dims(valid, -1), gather(rows, at) * expand_dims(factors, -1), constant(-math.inf, x.dtype))
    y = transpose(reduce_max(products, 2), [0, 2, 1])
    return reshape(y, [regions, channels, height, width])


def _roi_points(start: Tensor, extent: Tensor, bins: int, ratio: int) -> tuple[Tensor, Tensor, Tensor]:
    """The points [regions, bins, points] that are read in each bin, which of them count, and how many these are."""
    size = extent / float(bins)
    count = ceil(size) if ratio <= 0 else size * 0.0 + float(ratio)
    most: Any = constant(ratio) if ratio > 0 else cast(maximum(reduce_max(count), 1.0), "int32")
    steps = cast(range_(most), start.dtype)
    per_bin = expand_dims(expand_dims(size, 1), 2)
    within = (steps + 0.5) * per_bin / maximum(expand_dims(expand_dims(count, 1), 2), 1.0)
    first = expand_dims(start, 1) + constant([float(i) for i in range(bins)], start.dtype) * expand_dims(size, 1)
    points = expand_dims(first, 2) + within
    valid = steps < expand_dims(expand_dims(count, 1), 2)
    return points, broadcast_to(valid, lengths(points)), count


def _roi_taps(y: Tensor, n: Any) -> tuple[Tensor, Tensor]:
    """The two elements around a point and their weights, none for points that are more than one outside."""
    size: Any = cast(n, y.dtype) if isinstance(n, Tensor) else float(n)
    at = clip_by_value(y, 0.0, size - 1.0)
    low = floor(at)
    part = at - low
    columns = stack([low, low + 1.0], -1)
    weights = stack([1.0 - part, part], -1)
    found, _ = inside(cast(columns, int64), n)
    return found, mask(expand_dims((y >= -1.0) & (y <= size), -1), weights)


def _crossed(
    columns: Sequence[Tensor], weights: Sequence[Tensor], within: Sequence[Tensor], spatial: Sequence[Any]
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows crossed with columns: places, weights and truth values [regions, bins, taps]."""
    regions, rows, points_y, _ = lengths(columns[0])
    _, across, points_x, _ = lengths(columns[1])
    shape = [regions, rows, across, points_y, points_x, 2, 2]
    of_y, of_x = [0, 1, 3, 5], [0, 2, 4, 6]

    def spread(x: Tensor, axes: Sequence[int]) -> Tensor:
        return reshape(x, [n if i in axes else 1 for i, n in enumerate(shape)])

    places = spread(columns[0], of_y) * spatial[1] + spread(columns[1], of_x)
    factors = spread(weights[0], of_y) * spread(weights[1], of_x)
    valid = spread(within[0], of_y[:3]) & spread(within[1], of_x[:3])
    taken = [regions, rows * across, -1]
    return reshape(places, taken), reshape(factors, taken), reshape(broadcast_to(valid, shape), taken)


@reader("MaxRoiPool")
def max_roi_pool(node: Node, x: Tensor, rois: Tensor) -> Tensor:
    """The largest element of each bin of each region, whose bounds are rounded; 0 for an empty bin."""
    bins, rois = node.attribute("pooled_shape"), cast(rois, x.dtype)
    scale = node.attribute("spatial_scale", 1.0)
    y = gather(x, cast(rois[:, 0], int64))
    lowest = constant(-math.inf, x.dtype)
    some = None
    for i in range(2):
        start, end = floor(rois[:, 2 - i] * scale + 0.5), floor(rois[:, 4 - i] * scale + 0.5)
        within = _bins(start, end, bins[i], lengths(x)[2 + i], x.dtype)
        # One axis after the other: [regions, channels, bins, ...] from [regions, channels, rows, columns].
        if i == 0:
            hit = expand_dims(expand_dims(within, 1), -1)
            y = reduce_max(where(hit, expand_dims(y, 2), lowest), 3)
        else:
            hit = expand_dims(expand_dims(within, 1), 1)
            y = reduce_max(where(hit, expand_dims(y, 3), lowest), 4)
        some = y > lowest
    assert some is not None
    return where(some, y, constant(0.0, x.dtype))


def _bins(start: Tensor, end: Tensor, bins: int, n: Any, dtype: Any) -> Tensor:
    """Which elements are in which bin, [regions, bins, n]."""
    size = expand_dims(maximum(end - start + 1.0, 1.0) / float(bins), 1)
    at = constant([float(i) for i in range(bins)], dtype)
    first = floor(at * size) + expand_dims(start, 1)
    last = ceil((at + 1.0) * size) + expand_dims(start, 1)
    places = cast(range_(constant(0, int64), n), dtype)
    return (places >= expand_dims(first, 2)) & (places < expand_dims(last, 2))
