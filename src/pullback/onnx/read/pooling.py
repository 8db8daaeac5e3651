"""ONNX import of pooling: over windows, and over everything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.base.windows import Pads
from ...primitives.creation.fill import ones_like, zeros
from ...primitives.elementwise.powers import pow, sqrt, square
from ...primitives.elementwise.sign import absolute
from ...primitives.indexing.scatter_nd import tensor_scatter_nd_update
from ...primitives.indexing.where import where
from ...primitives.pooling.avg_pool import AvgPool
from ...primitives.pooling.max_pool import MaxPool
from ...primitives.pooling.places import MaxPoolPlaces
from ...primitives.reduction.norms import euclidean_norm
from ...primitives.reduction.reduce import lowest, reduce_max, reduce_mean, reduce_sum
from ...primitives.shape.pad import pad
from ...primitives.shape.reshape import reshape
from ...primitives.shape.stacking import stack
from ..reading import Node, reader
from .dtypes import cast
from .lengths import lengths, rank_of
from .windows import Windows, numbers, pairs, windows_of, with_zeros


@reader("MaxPool")
def max_pool(node: Node, x: Tensor) -> Any:
    around = lowest(x.dtype)
    windows = windows_of(node, x, node.attribute("kernel_shape"), around)
    y = MaxPool(*_pool(windows))(windows.x)
    if not node.wants(1):
        return _counted(y, windows)
    column_major = bool(node.attribute("storage_order", 0))
    if windows.x is not x:
        numbering: tuple[Any, ...] = (*_pool(windows), False)
        return y, _in_original(MaxPoolPlaces(*numbering)(windows.x, y), windows.x, x, column_major)
    numbering = (*_pool(windows), column_major)
    places = MaxPoolPlaces(*numbering)(x, y)
    return _counted(y, windows), _counted(places, windows)


def _in_original(places: Tensor, longer: Tensor, x: Tensor, column_major: bool) -> Tensor:
    """Numbers of elements of `x` for those of `longer`, in which as many or one more element stands before `x`."""
    rest, columns = places, []
    for n, padded in zip(lengths(x)[:1:-1], lengths(longer)[:1:-1], strict=True):
        columns.append(rest % padded - ((padded - n) - (padded - n) // 2))
        rest = rest // padded
    spatial, columns = lengths(x)[2:], columns[::-1]
    image = _joined(spatial[::-1], columns[::-1]) if column_major else _joined(spatial, columns)
    for n in spatial:
        rest = rest * n
    return rest + image


def _joined(spatial: Sequence[Any], columns: Sequence[Tensor]) -> Tensor:
    """The number of an element, the last axis fastest."""
    total = columns[0]
    for n, column in zip(spatial[1:], columns[1:], strict=True):
        total = total * n + column
    return total


def _pool(windows: Windows) -> tuple[Any, ...]:
    """The attributes that all our pools have."""
    holes = windows.dilations if max(windows.dilations) > 1 else ()
    return windows.kernel, windows.strides, windows.padding, windows.form, holes


def _counted(y: Tensor, windows: Windows) -> Tensor:
    """`y` without the windows that do not count."""
    if windows.counts is None:
        return y
    return y[(slice(None), slice(None), *[slice(0, m) for m in windows.counts])]


@reader("AveragePool")
def average_pool(node: Node, x: Tensor) -> Tensor:
    windows = windows_of(node, x, node.attribute("kernel_shape"))
    if node.attribute("count_include_pad", 0):
        windows = _counting_pads(node, windows)
    y = AvgPool(*_pool(windows))(windows.x)
    if windows.x is not x and not node.attribute("count_include_pad", 0):
        # Pads were put on in a run: the share of each window that is inside.
        inside = windows_of(node, ones_like(x), windows.kernel)
        y = y / AvgPool(*_pool(windows))(inside.x)
    return _counted(y, windows)


def _counting_pads(node: Node, windows: Windows) -> Windows:
    """Pads count as zeros, but not what rounding up adds to them."""
    if windows.padding == "SAME" or node.attribute("auto_pad", "NOTSET") != "NOTSET":
        return with_zeros(windows)
    given = pairs(node, len(windows.kernel))
    own = tuple((b, min(a, total)) for (b, a), (_, total) in zip(given, _pads(windows), strict=True))
    rest = tuple((0, total - a) for (_, a), (_, total) in zip(own, _pads(windows), strict=True))
    return windows._replace(x=with_zeros(windows._replace(padding=own)).x, padding=rest)


def _pads(windows: Windows) -> Pads:
    padding: Any = windows.padding
    pads: Pads = ((0, 0),) * len(windows.kernel) if isinstance(padding, str) else padding
    return pads


@reader("LpPool")
def lp_pool(node: Node, x: Tensor) -> Tensor:
    """The root of the sum of powers: the mean over windows, pads counted as zeros, times their size."""
    p, kernel = int(node.attribute("p", 2)), node.attribute("kernel_shape")
    windows = with_zeros(windows_of(node, _power(x, p), kernel))
    means = AvgPool(*_pool(windows))(windows.x)
    return _counted(_root(means * math.prod(kernel), p), windows)


def _power(x: Tensor, p: int) -> Tensor:
    if p == 1:
        return absolute(x)
    return square(x) if p == 2 else pow(absolute(x), p)


@reader("GlobalAveragePool")
def global_average_pool(node: Node, x: Tensor) -> Tensor:
    return reduce_mean(x, _spatial(node, x), True)


@reader("GlobalMaxPool")
def global_max_pool(node: Node, x: Tensor) -> Tensor:
    return reduce_max(x, _spatial(node, x), True)


@reader("GlobalLpPool")
def global_lp_pool(node: Node, x: Tensor) -> Tensor:
    p = int(node.attribute("p", 2))
    if p == 2:
        return euclidean_norm(x, _spatial(node, x), True)
    return _root(reduce_sum(_power(x, p), _spatial(node, x), True), p)


def _spatial(node: Node, x: Tensor) -> list[int]:
    return list(range(2, rank_of(node, x)))


@reader("MaxUnpool")
def max_unpool(node: Node, x: Tensor, places: Tensor, output_shape: Tensor | None = None) -> Tensor:
    kernel = node.attribute("kernel_shape")
    count = len(kernel)
    strides, pads = numbers(node, "strides", count, 1), pairs(node, count)
    dims = lengths(x)
    spatial = [(dims[i + 2] - 1) * strides[i] + kernel[i] - sum(pads[i]) for i in range(count)]
    inner = [*dims[:2], *spatial]
    total: Any = 1
    for n in inner:
        total = n * total
    rows = reshape(places, [-1, 1])
    y = reshape(tensor_scatter_nd_update(zeros([total], x.dtype), rows, reshape(x, [-1])), inner)
    if output_shape is None:
        return y
    wanted = cast(output_shape, int64)
    more = [wanted[i] - inner[i] for i in range(count + 2)]
    return pad(y, stack([stack([n * 0, n]) for n in more]))


def _root(x: Tensor, p: int) -> Tensor:
    """The root of order `p` of sums that are not negative; no derivative where they are zero."""
    if p == 1:
        return x
    none = x <= 0
    safe = where(none, 1.0, x)
    return where(none, 0.0, sqrt(safe) if p == 2 else pow(safe, 1 / p))
