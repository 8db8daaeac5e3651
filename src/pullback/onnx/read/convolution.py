"""ONNX import of convolutions: filters [count, channels / groups, window...] are transposed to ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.dtypes import int32, int64
from ...core.operation import Tensor
from ...core.primitive import Primitive
from ...primitives.activations.bias import bias_add
from ...primitives.base.windows import Padding
from ...primitives.convolution.conv import Conv2D, Conv2DBackpropInput, DepthwiseConv2dNative
from ...primitives.convolution.conv3d import Conv3D, Conv3DBackpropInputV2
from ...primitives.creation.constant import constant
from ...primitives.creation.ranges import range_
from ...primitives.identity.identity import ensure_shape
from ...primitives.indexing.scatter_nd import scatter_nd
from ...primitives.indexing.where import where
from ...primitives.shape.pad import pad
from ...primitives.shape.reshape import reshape, split_shape
from ...primitives.shape.transpose import transpose
from ..reading import Node, reader
from .dtypes import cast
from .lengths import length, lengths, rank_of
from .windows import FORMATS, numbers, pairs, placing, windows_of

_FORWARD: dict[int, Callable[..., Primitive]] = {1: Conv2D, 2: Conv2D, 3: Conv3D}
_TRANSPOSED: dict[int, Any] = {1: Conv2DBackpropInput, 2: Conv2DBackpropInput, 3: Conv3DBackpropInputV2}


@reader("Conv")
def conv(node: Node, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    y = convolved(node, x, w)
    return y if b is None else bias_add(y, b, "NC")


@reader("ConvInteger")
def conv_integer(
    node: Node, x: Tensor, w: Tensor, x_zero_point: Tensor | None = None, w_zero_point: Tensor | None = None
) -> Tensor:
    return convolved(node, shifted(x, x_zero_point), shifted(w, w_zero_point))


def shifted(x: Tensor, zero_point: Tensor | None) -> Tensor:
    """`x - zero_point` in int32; a vector of zero points has one for each entry of the first axis."""
    wide = cast(x, int32)
    if zero_point is None:
        return wide
    zero = cast(zero_point, int32)
    rank = x.shape.rank
    return wide - (reshape(zero, [-1, *[1] * (rank - 1)]) if zero.shape.rank == 1 and rank else zero)


def convolved(node: Node, x: Tensor, w: Tensor) -> Tensor:
    """The convolution that the node's attributes describe, without a bias."""
    groups, kernel = node.attribute("group", 1), kernel_of(node, w)
    _require_groups(node, groups, x, w)
    if (
        groups > 1
        and (x.shape.rank is None or x.shape.size(1) is None)
        and w.shape.rank
        and w.shape.size(1) is not None
    ):
        # Our convolutions tell the number of groups by that of the channels.
        x = ensure_shape(x, [None, groups * w.shape.size(1), *[None] * len(kernel)])
    windows = windows_of(node, x, kernel)
    count = len(windows.kernel)
    geometry = (windows.strides, windows.padding, windows.form, windows.dilations)
    if groups > 1 and w.shape.size(1) == 1 and count < 3 and w.shape.size(0) is not None:
        parts = reshape(w, [groups, w.shape.size(0) // groups, *windows.kernel])
        return DepthwiseConv2dNative(*geometry)(windows.x, transpose(parts, [*range(2, count + 2), 0, 1]))
    y = _FORWARD[count](*geometry)(windows.x, transpose(w, [*range(2, count + 2), 1, 0]))
    return y


def _require_groups(node: Node, groups: int, x: Tensor, w: Tensor) -> None:
    """Raise unless the channels are so many groups, and what is made of them too, as far as that is known."""
    if min(x.shape.rank or 3, w.shape.rank or 3) < 3:
        node.reject(f"windows need images of at least 3 axes, not {x} and {w}")
    channels, (made, each) = x.shape.size(1), (w.shape.size(0), w.shape.size(1))
    divides = groups > 0 and (made is None or made % groups == 0)
    if not divides or (None not in (channels, each) and channels != groups * each):
        node.reject(f"{groups} groups do not divide {channels} channels for filters that read {each} and make {made}")


def kernel_of(node: Node, w: Tensor) -> list[int]:
    """The window's lengths: those of the filters, or the attribute where these are not known."""
    dims = [None] if w.shape.sizes is None else w.shape.as_list()[2:]
    found = node.attribute("kernel_shape", None) if None in dims else dims
    if found is None:
        node.refuse(f"the windows of the filters {w} are not known, and there is no kernel_shape")
    return list(found)


@reader("ConvTranspose")
def conv_transpose(node: Node, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    kernel = kernel_of(node, w)
    if x.shape.rank is None:
        x = ensure_shape(x, [None] * (len(kernel) + 2))
    count = rank_of(node, x) - 2
    if count not in FORMATS:
        node.refuse(f"windows over {count} spatial axes; one to three can be had")
    groups = node.attribute("group", 1)
    if groups < 1 or (
        w.shape.size(0) is not None and (w.shape.size(0) % groups or x.shape.size(1) not in (None, w.shape.size(0)))
    ):
        node.reject(f"{groups} groups do not divide {x.shape.size(1)} channels for filters that read {w.shape.size(0)}")
    strides, dilations = numbers(node, "strides", count, 1, 1), numbers(node, "dilations", count, 1, 1)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads, more = pairs(node, count), numbers(node, "output_padding", count, 0, 0)
    places = [_place(node, i, length(x, i + 2), spans[i], strides[i], pads[i], more[i]) for i in range(count)]
    if any(isinstance(place[0], int) and place[0] < 0 for place in places):
        node.reject(f"its pads {pads} take more than there is")
    padding: Padding = tuple((place[1], place[2]) for place in places)
    channels = length(w, 1) * groups
    dims, vector = split_shape([length(x, 0), channels, *[place[0] for place in places]])
    primitive = _TRANSPOSED[count](strides, padding, FORMATS[count], dilations, dims)
    y: Tensor = primitive(transpose(w, [*range(2, count + 2), 1, 0]), x, *(() if vector is None else (vector,)))
    if any(place[3] for place in places):
        y = pad(y, [(0, 0), (0, 0), *[(0, place[3]) for place in places]])
    return y if b is None else bias_add(y, b, "NC")


def _place(
    node: Node, i: int, n: Any, span: int, stride: int, pads: tuple[int, int], more: int
) -> tuple[Any, int, int, int]:
    """Of a transposed convolution's axis: the length that is computed, the pads, and how many zeros come after it."""
    kind, shape = placing(node), node.attribute("output_shape", None)
    full = (n - 1) * stride + span
    if not shape and kind in ("NOTSET", "VALID"):
        before, after = pads if kind == "NOTSET" else (0, 0)
        return _made_longer(full, before, after - more, stride)
    if shape and not isinstance(n, int):
        node.refuse(f"output_shape needs spatial lengths that are known; that of axis {i + 2} is not")
    # What the pads leave is `shape`, or as many strides as there are elements.
    total = full + more - shape[i] if shape else span + more - stride
    total = max(total, 0)
    before = total // 2 if kind == "SAME_UPPER" else total - total // 2
    wanted = shape[i] if shape else None
    after = full - before - wanted if wanted is not None else span - stride - before
    return _made_longer(full, before, after, stride)


def _made_longer(full: Any, before: int, after: int, stride: int) -> tuple[Any, int, int, int]:
    """For `after` below 0: the result is longer than what the windows reach."""
    zeros_after = max(-after - (stride - 1), 0)
    return full - before - after - zeros_after, before, max(after, 0), zeros_after


@reader("Col2Im")
def col2im(node: Node, x: Tensor, image_shape: Tensor, block_shape: Tensor) -> Tensor:
    count = image_shape.shape.size(0) or block_shape.shape.size(0)
    if count is None:
        node.refuse("how many axes the image has is not known")
    strides, dilations = numbers(node, "strides", count, 1, 1), numbers(node, "dilations", count, 1, 1)
    places: Any = constant(0, int64)
    total: Any = constant(1, int64)
    outside: Any = constant(False)
    for i, (before, after) in enumerate(pairs(node, count)):
        n, k = image_shape[i], block_shape[i]
        windows = (n + (before + after) - (k - 1) * dilations[i] - 1) // strides[i] + 1
        in_window = reshape(range_(constant(0, int64), k) * dilations[i], _alone(i, 2 * count))
        along = reshape(range_(constant(0, int64), windows) * strides[i] - before, _alone(count + i, 2 * count))
        at = in_window + along
        outside = outside | (at < 0) | (at >= n)
        places, total = places * n + at, total * n
    flat = reshape(where(outside, total, places), [-1, 1])
    batch, rows, columns = lengths(x)
    blocks = _product(block_shape)
    del rows
    parts = reshape(x, [batch, -1, blocks * columns])
    updates = reshape(transpose(parts, [2, 0, 1]), [blocks * columns, -1])
    image = scatter_nd(flat, updates, [total + 1, length(updates, 1)])[:-1]
    shape = [batch, -1, *[image_shape[i] for i in range(count)]]
    return reshape(transpose(image, [1, 0]), shape)


def _alone(i: int, count: int) -> list[int]:
    return [-1 if j == i else 1 for j in range(count)]


def _product(vector: Tensor) -> Tensor:
    total = vector[0]
    for i in range(1, vector.shape.size(0) or 1):
        total = total * vector[i]
    return total
