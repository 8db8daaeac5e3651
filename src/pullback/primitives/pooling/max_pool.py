"""Max pooling: the largest element of each window, over one, two or three spatial axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.dtypes import FLOATING, INTEGER
from ...core.operation import Operation, Tensor
from ...core.primitive import ZERO
from ...core.traits import CHOOSES, GIVES_TO_CHOSEN, ZEROS, Links, linear, zero_wins
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base import largest
from ..base.precision import widened
from ..base.windows import as_data_format, at_offset, channels_last, inside, offsets
from ..creation.constant import convert_to_tensor
from ..elementwise.masking import kept
from ..reduction.reduce import lowest
from .geometry import (
    AbstractPool,
    batch_and_channels,
    has_large_windows,
    holes_of,
    is_tiled,
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


def max_pool(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The largest element of each window; the derivative goes to the first of equal ones.

    `ksize` and `strides` are one number, one for each spatial axis, or one for each axis of `input`; `padding` is
    "SAME" (as many results as `ceil(length / stride)`), "VALID", or a list of [before, after] for each axis of
    `input`.

    Shapes: `input` [n, spatial..., c] with one to three spatial axes, or [n, c, spatial...] with a data_format that
    begins with "NC". Dtypes: any real number.

    Derivative: dx = sum of dy over the windows in which the element is the largest, of equals the first.

    Raises:
        ValueError: the arguments do not fit the input. TypeError: it holds no real numbers.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.max_pool([[[[1.0], [2.0]], [[3.0], [4.0]]]], 2, 2, "VALID"))
    array([[[[4.]]]], dtype=float32)
    """
    x = convert_to_tensor(input)
    return MaxPool(*pool_arguments("max_pool", x, ksize, strides, padding, data_format, None))(x, name=name)


def max_pool1d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """`max_pool` over the one spatial axis of `input`.

    Shapes: `input` [n, w, c], or [n, c, w] with data_format="NCW". Dtypes: any real number.

    Derivative: dx = sum of dy over the windows in which the element is the largest, of equals the first.

    Raises:
        ValueError: the arguments do not fit the input. TypeError: it holds no real numbers.

    >>> import pullback as pb
    >>> pb.nn.max_pool1d(pb.zeros([8, 10, 3]), 2, 2, "VALID").shape
    TensorShape([8, 5, 3])
    """
    x = convert_to_tensor(input)
    return MaxPool(*pool_arguments("max_pool1d", x, ksize, strides, padding, data_format, 1))(x, name=name)


def max_pool2d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """`max_pool` over the two spatial axes of `input`.

    Shapes: `input` [n, h, w, c], or [n, c, h, w] with data_format="NCHW". Dtypes: any real number.

    Derivative: dx = sum of dy over the windows in which the element is the largest, of equals the first.

    Raises:
        ValueError: the arguments do not fit the input. TypeError: it holds no real numbers.

    >>> import pullback as pb
    >>> pb.nn.max_pool2d(pb.zeros([8, 28, 28, 3]), 3, 2, "SAME").shape
    TensorShape([8, 14, 14, 3])
    """
    x = convert_to_tensor(input)
    return MaxPool(*pool_arguments("max_pool2d", x, ksize, strides, padding, data_format, 2))(x, name=name)


def max_pool3d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Sequence[int]],
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """`max_pool` over the three spatial axes of `input`.

    Shapes: `input` [n, d, h, w, c], or [n, c, d, h, w] with data_format="NCDHW". Dtypes: any real number.

    Derivative: dx = sum of dy over the windows in which the element is the largest, of equals the first.

    Raises:
        ValueError: the arguments do not fit the input. TypeError: it holds no real numbers.

    >>> import pullback as pb
    >>> pb.nn.max_pool3d(pb.zeros([8, 4, 4, 4, 3]), 2, 2, "SAME").shape
    TensorShape([8, 2, 2, 2, 3])
    """
    x = convert_to_tensor(input)
    return MaxPool(*pool_arguments("max_pool3d", x, ksize, strides, padding, data_format, 3))(x, name=name)


class MaxPool(AbstractPool):
    traits = (CHOOSES,)

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in FLOATING and x.dtype not in INTEGER:
            raise TypeError(f"max_pool: no such operation on {x}; it takes real numbers")
        return (pooled_type("max_pool", self, x),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return pool_links(self, "windows", "elements", x.shape)

    def kernel(self, xp: Any, x: Any) -> Any:
        if has_large_windows(self) and is_tiled(self, x.shape):
            return x.reshape(tiled_shape(self, x.shape)).max(tile_axes(self))
        y = None
        for part in parts(self, xp, x, lowest(x.dtype)):
            y = part if y is None else xp.maximum(y, part)
        return as_data_format(xp, y, self.data_format)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,) = op.inputs
        grad = MaxPoolGrad(*window_of(self))
        return (partial(grad, x, op.outputs[0], dy),)


class MaxPoolGrad(AbstractPool):
    """`dy` put at the first largest element of each window of `x`."""

    traits = (linear(2), GIVES_TO_CHOSEN, ZEROS, zero_wins(2))

    def infer(self, x: TensorType, y: TensorType, dy: TensorType) -> tuple[TensorType, ...]:
        del y, dy
        return (x,)

    def links(self, i: int, x: TensorType, y: TensorType, dy: TensorType) -> Links | None:
        del y, dy
        return pool_links(self, "elements", "windows", x.shape) if i == 2 else batch_and_channels(self)

    def kernel(self, xp: Any, x: Any, y: Any, dy: Any) -> Any:
        del xp
        lengths, pads, counts = pool_geometry(self, x.shape)
        dtype, dy = dy.dtype, widened(channels_last(np, dy, self.data_format))
        tiled = is_tiled(self, x.shape)
        new = np.empty if tiled else np.zeros
        total: Any = new((dy.shape[0], *padded_lengths(lengths, pads), dy.shape[-1]), dy.dtype)
        for offset, hit in zip(offsets(self.ksize), hits(self, np, x, y), strict=True):
            at = at_offset(offset, counts, self.strides, holes_of(self))
            if tiled:
                total[at] = kept(np, hit, dy)
            else:
                total[at] += kept(np, hit, dy)
        return as_data_format(np, total[inside(lengths, pads)].astype(dtype, copy=False), self.data_format)

    def gradient(self, op: Operation, ddx: Tensor) -> Sequence[Any]:
        x, y, _ = op.inputs
        pick = MaxPoolGradGrad(*window_of(self))
        return ZERO, ZERO, partial(pick, x, y, ddx)


class MaxPoolGradGrad(AbstractPool):
    """The element of `ddx` at the first largest element of each window of `x`."""

    traits = (linear(2),)

    def infer(self, x: TensorType, y: TensorType, ddx: TensorType) -> tuple[TensorType, ...]:
        del x, ddx
        return (y,)

    def links(self, i: int, x: TensorType, y: TensorType, ddx: TensorType) -> Links | None:
        del y, ddx
        return pool_links(self, "windows", "elements", x.shape) if i == 2 else batch_and_channels(self)

    def kernel(self, xp: Any, x: Any, y: Any, ddx: Any) -> Any:
        total = None
        for part, hit in zip(parts(self, xp, ddx, 0), hits(self, xp, x, y), strict=True):
            term = kept(xp, hit, part)
            total = term if total is None else xp.add(total, term)
        return as_data_format(xp, total, self.data_format)

    def gradient(self, op: Operation, d: Tensor) -> Sequence[Any]:
        x, y, _ = op.inputs
        put = MaxPoolGrad(*window_of(self))
        return ZERO, ZERO, partial(put, x, y, d)


def hits(pool: Any, xp: Any, x: Any, y: Any) -> Iterator[Any]:
    """For each place in the window, whether the first largest element is there; all with channels last."""
    elements = parts(pool, xp, x, lowest(x.dtype))
    return largest.hits(xp, elements, channels_last(xp, y, pool.data_format))
