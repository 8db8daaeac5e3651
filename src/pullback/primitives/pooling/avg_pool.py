"""Average pooling: the mean of each window, over one, two or three spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...core.dtypes import FLOATING
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import ZEROS, Links, linear, shaped_by
from ...core.types import TensorType, shape_to_infer
from ...core.typing import TensorLike
from ..base.precision import widened
from ..base.windows import (
    Padding,
    as_data_format,
    at_offset,
    channels_last,
    inside,
    offsets,
    pads_of,
    result_lengths,
    split_axes,
    window_shape,
)
from ..creation.constant import convert_to_tensor
from ..shape.reshape import shape_to_use
from ..shape.size import shape
from .geometry import (
    AbstractPool,
    Window,
    has_large_windows,
    holes_of,
    is_tiled,
    one_per_tile,
    padded_lengths,
    parts,
    pool_arguments,
    pool_geometry,
    pool_links,
    pooled_type,
    tile_axes,
    tiled_shape,
    window_of,
)


def avg_pool(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The mean of each window, of its elements inside `input` only; see `max_pool` for the arguments.

    Shapes: `input` [n, spatial..., c] with one to three spatial axes, or [n, c, spatial...] with a data_format that
    begins with "NC". Dtypes: any float.

    Derivative: dx = sum over the windows that hold an element of dy / (number of elements of the window).

    Raises:
        ValueError: the arguments do not fit the input; `padding` is not SAME or VALID. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.avg_pool([[[[1.0], [2.0]], [[3.0], [4.0]]]], 2, 2, "VALID"))
    array([[[[2.5]]]], dtype=float32)
    """
    return _avg_pool("avg_pool", input, ksize, strides, padding, data_format, None, name)


def avg_pool1d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """`avg_pool` over the one spatial axis of `input`.

    Shapes: `input` [n, w, c], or [n, c, w] with data_format="NCW". Dtypes: any float.

    Derivative: dx = sum over the windows that hold an element of dy / (number of elements of the window).

    Raises:
        ValueError: the arguments do not fit the input; `padding` is not SAME or VALID. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.nn.avg_pool1d(pb.zeros([8, 10, 3]), 2, 2, "VALID").shape
    TensorShape([8, 5, 3])
    """
    return _avg_pool("avg_pool1d", input, ksize, strides, padding, data_format, 1, name)


def avg_pool2d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """`avg_pool` over the two spatial axes of `input`.

    Shapes: `input` [n, h, w, c], or [n, c, h, w] with data_format="NCHW". Dtypes: any float.

    Derivative: dx = sum over the windows that hold an element of dy / (number of elements of the window).

    Raises:
        ValueError: the arguments do not fit the input; `padding` is not SAME or VALID. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.nn.avg_pool2d(pb.zeros([8, 28, 28, 3]), 3, 2, "SAME").shape
    TensorShape([8, 14, 14, 3])
    """
    return _avg_pool("avg_pool2d", input, ksize, strides, padding, data_format, 2, name)


def avg_pool3d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """`avg_pool` over the three spatial axes of `input`.

    Shapes: `input` [n, d, h, w, c], or [n, c, d, h, w] with data_format="NCDHW". Dtypes: any float.

    Derivative: dx = sum over the windows that hold an element of dy / (number of elements of the window).

    Raises:
        ValueError: the arguments do not fit the input; `padding` is not SAME or VALID. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.nn.avg_pool3d(pb.zeros([8, 4, 4, 4, 3]), 2, 2, "SAME").shape
    TensorShape([8, 2, 2, 2, 3])
    """
    return _avg_pool("avg_pool3d", input, ksize, strides, padding, data_format, 3, name)


def _avg_pool(
    what: str,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    count: int | None,
    name: str | None,
) -> Tensor:
    if not isinstance(padding, str):
        raise ValueError(f"{what}: padding must be SAME or VALID, not {padding!r}")
    x = convert_to_tensor(input)
    return AvgPool(*pool_arguments(what, x, ksize, strides, padding, data_format, count))(x, name=name)


class AvgPool(AbstractPool):
    traits = (linear(0),)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in FLOATING:
            raise TypeError(f"avg_pool: no such operation on {x}; it takes floats")
        return (pooled_type("avg_pool", self, x),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return pool_links(self, "windows", "elements", x.shape)

    def kernel(self, xp: Any, x: Any) -> Any:
        dtype = x.dtype
        if has_large_windows(self) and is_tiled(self, x.shape):
            total = widened(x).reshape(tiled_shape(self, x.shape)).sum(tile_axes(self))
            return (total / total.dtype.type(prod(self.ksize))).astype(dtype)
        total = None
        for part in parts(self, xp, widened(x), 0):
            total = part if total is None else xp.add(total, part)
        _, lengths, _ = split_axes(x.shape, self.data_format)
        mean = (total / sizes_of(self, lengths, widened(x).dtype)).astype(dtype)
        return as_data_format(xp, mean, self.data_format)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(_spread_back, self, op.inputs[0], dy),)


def _spread_back(pool: Any, x: Tensor, dy: Tensor) -> Tensor:
    dims = x.shape.sizes
    if dims is None or None in dims[1:]:
        return AvgPoolGrad(*window_of(pool), None)(dy, shape(x))
    return AvgPoolGrad(*window_of(pool), dims)(dy)


class AvgPoolGrad(Primitive):
    """`dy` spread evenly over each window of an input of shape `input_sizes`, whose batch may be None, or of the shape
    that a second input holds."""

    traits = (linear(0), shaped_by(1), ZEROS)
    shape_inputs = length_inputs = (1,)

    ksize: Window
    strides: Window
    padding: Padding
    data_format: str
    dilations: Window
    input_sizes: tuple[int | None, ...] | None

    def infer(self, dy: TensorType, sizes: TensorType | None = None) -> tuple[TensorType, ...]:
        count = len(self.ksize)
        batch = None if dy.shape.lengths is None else dy.shape.lengths[0]
        known = shape_to_infer(self.input_sizes, sizes).lengths
        _, lengths, channels = split_axes(known or (None,) * (count + 2), self.data_format)
        return (TensorType(dy.dtype, window_shape(batch, lengths, channels, self.data_format)),)

    def links(self, i: int, dy: TensorType, sizes: TensorType | None = None) -> Links | None:
        del i, dy, sizes
        return pool_links(self, "elements", "windows", TensorShape(self.input_sizes))

    def kernel(self, xp: Any, dy: Any, sizes: Any = None) -> Any:
        dims = shape_to_use(self.input_sizes, sizes)
        dtype, dy = dy.dtype, widened(dy)
        if is_tiled(self, dims):
            dims = (dy.shape[0], *dims[1:])
            share = dy / dy.dtype.type(np.prod(self.ksize))
            dx = xp.broadcast_to(share.reshape(one_per_tile(self, dims)), tiled_shape(self, dims)).reshape(dims)
            return dx.astype(dtype)
        return spread_over_windows(self, dims, dy).astype(dtype)

    def gradient(self, op: Operation, ddx: Tensor) -> Sequence[Any]:
        pool = AvgPool(*window_of(self))
        return (partial(pool, ddx), None)[: len(op.inputs)]


def spread_over_windows(pool: Any, dims: Sequence[int], dy: Any) -> Any:
    """AvgPoolGrad in NumPy, for windows that may overlap."""
    lengths, pads, counts = pool_geometry(pool, dims)
    share = channels_last(np, dy, pool.data_format) / sizes_of(pool, lengths, dy.dtype)
    total = np.zeros((dy.shape[0], *padded_lengths(lengths, pads), share.shape[-1]), dy.dtype)
    for offset in offsets(pool.ksize):
        total[at_offset(offset, counts, pool.strides, holes_of(pool))] += share
    return as_data_format(np, total[inside(lengths, pads)], pool.data_format)


def sizes_of(pool: Any, lengths: Window, dtype: Any) -> np.ndarray[Any, Any]:
    """How many elements of the input each window covers, to divide arrays with channels last by."""
    pads = pads_of(lengths, pool.ksize, pool.strides, holes_of(pool), pool.padding)
    result = np.ones((1,) * (len(lengths) + 1), dtype)
    axes = zip(lengths, pool.ksize, pool.strides, holes_of(pool), pads, strict=True)
    for axis, (n, k, s, d, pad) in enumerate(axes):
        count = result_lengths([n], [k], [s], [d], pool.padding if isinstance(pool.padding, str) else (pad,))[0]
        starts = np.arange(max(count or 0, 0)) * s - pad[0]
        inside_ = [(starts >= -i * d) & (starts < n - i * d) for i in range(k)]
        covered = np.maximum(sum(inside_, np.zeros(len(starts), np.int64)), 1)
        along = [1] * (len(lengths) + 1)
        along[axis] = len(starts)
        result = result * covered.astype(dtype).reshape(along)
    return result
