"""Fractional pooling: windows of two lengths in random order, so that the ratio need not be an integer.

Follows B. Graham, Fractional Max-Pooling, arXiv:1412.6071.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, float32, int64
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import ADDS, MOVES, ZEROS, reads_shape
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.scattering import sum_rows
from ..base.windows import offsets
from ..creation.constant import convert_to_tensor
from ..linalg.einsum import einsum
from ..random.stateful import random_uniform
from ..shape.size import shape


class FractionalPooled(NamedTuple):
    """What is pooled, and where the windows begin along rows and along columns, with the end of the last one."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


@in_graph_of_inputs
def fractional_max_pool(
    value: TensorLike,
    pooling_ratio: TensorLike,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalPooled:
    """The largest element of each window of images, and where the windows begin along rows and along columns.

    Each window has the integer part of the ratio as its length, or one more: in random order, or with `pseudo_random`
    in an order that comes of one random number. Windows that are `overlapping` also have the first element of the next
    one. `seed`: 0 draws others in each session; any other number the same ones.

    Shapes: `value` [n, h, w, c]; `pooling_ratio` is one number, two, or four of which the first and last are 1.0; the
    results have `floor(h / ratio)` rows, and likewise columns; the beginnings, with the end of the last window, one
    more. Dtypes: any real number; the beginnings are int64.

    Derivative: dx = sum of dy over the windows in which the element is the largest, of equals the first.

    Raises:
        ValueError: the shape or the ratio is another. TypeError: no real numbers.

    >>> import pullback as pb
    >>> y, rows, columns = pb.nn.fractional_max_pool(pb.zeros([2, 10, 7, 3]), 1.4, seed=1)
    >>> y.shape, rows.shape, columns.shape
    (TensorShape([2, 7, 5, 3]), TensorShape([8]), TensorShape([6]))
    """
    x = convert_to_tensor(value)
    with x.graph.within(name or "fractional_max_pool"):
        sequences = _sequences("fractional_max_pool", x, pooling_ratio, pseudo_random, seed)
        y = FractionalMaxPool(bool(overlapping)).operation(x, *sequences).outputs[0]
        return FractionalPooled(y, *sequences)


@in_graph_of_inputs
def fractional_avg_pool(
    value: TensorLike,
    pooling_ratio: TensorLike,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalPooled:
    """The mean of each window of images, and where the windows begin; see `fractional_max_pool`.

    Shapes: as there. Dtypes: any float; the beginnings are int64.

    Derivative: dx = sum over the windows that hold an element of dy / (number of elements of the window).

    Raises:
        ValueError: the shape or the ratio is another. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.nn.fractional_avg_pool(pb.zeros([2, 10, 7, 3]), [1.0, 1.4, 2.0, 1.0])[0].shape
    TensorShape([2, 7, 3, 3])
    """
    x = convert_to_tensor(value)
    with x.graph.within(name or "fractional_avg_pool"):
        sequences = _sequences("fractional_avg_pool", x, pooling_ratio, pseudo_random, seed)
        means = [
            WindowMeans(axis, bool(overlapping))(x, starts) for axis, starts in zip((1, 2), sequences, strict=True)
        ]
        return FractionalPooled(einsum("oh,pw,nhwc->nopc", *means, x), *sequences)


def _sequences(what: str, x: Tensor, ratio: Any, pseudo_random: bool, seed: int) -> tuple[Tensor, Tensor]:
    """The beginnings of windows along rows and along columns."""
    if x.shape.rank not in (4, None):
        raise ValueError(f"{what}: images have four axes, but {x} has {x.shape.rank}")
    given = [float(r) for r in np.reshape(ratio, -1)]
    ratios = given * 2 if len(given) == 1 else given[1:3] if len(given) == 4 else given
    outer = given[::3] if len(given) == 4 else []
    if len(ratios) != 2 or min(ratios) < 1 or any(r != 1 for r in outer):
        raise ValueError(f"{what}: pooling_ratio must be numbers from 1 on, 1.0 for batch and channels, not {ratio!r}")
    sequences = []
    for i, r in enumerate(ratios):
        primitive = PoolingSequence(i + 1, r, bool(pseudo_random))
        length = None if x.shape.rank is None else x.shape.size(i + 1)
        count = () if pseudo_random else (shape(x)[i + 1] if length is None else length,)
        random = random_uniform(count, dtype=float32, seed=seed + i if seed else None)
        sequences.append(primitive(x, random))
    rows, columns = sequences
    return rows, columns


class PoolingSequence(Primitive):
    """The beginnings of random windows along an axis of the first input, and the end of the last, from numbers in
    [0, 1): one where `pseudo_random`, else one for each element along the axis."""

    traits = (reads_shape(0),)

    axis: int
    ratio: float
    pseudo_random: bool

    def infer(self, x: TensorType, random: TensorType) -> tuple[TensorType, ...]:
        del random
        n = None if x.shape.sizes is None else x.shape.sizes[self.axis]
        return (TensorType(int64, TensorShape([None if n is None else int(n / self.ratio) + 1])),)

    def kernel(self, xp: Any, x: Any, random: Any) -> Any:
        n = x.shape[self.axis]
        count = int(n / self.ratio)
        length, rest = divmod(n, count)
        if rest and self.pseudo_random:
            # Section 2 of the paper; u is such that the first and the last window fit too.
            a = n / count
            most = min((length + 2) / a - 1, (n + 1 - length) / a - (count - 1))
            inner = xp.ceil(a * (np.arange(1, count) + random.astype(np.float64) * most)) - 1
            return xp.concatenate([np.zeros(1), inner, np.full(1, float(n))]).astype(int64)
        longer = xp.argsort(xp.argsort(random.reshape(-1)[:count])) < rest if rest else np.zeros(count, bool)
        return xp.concatenate([np.zeros(1, int64), xp.cumsum(length + longer.astype(int64))]).astype(int64)

    gradient = no_gradient


def _bounds(starts: Any, n: int, overlapping: bool) -> tuple[Any, Any]:
    """The first element of each window, and the first one after it."""
    return starts[:-1], (starts[1:] + 1).clip(max=n) if overlapping else starts[1:]


class WindowMeans(Primitive):
    """The matrix that takes an axis of the first input to the means of windows, which begin at the second."""

    axis: int
    overlapping: bool

    def infer(self, x: TensorType, starts: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in FLOATING:
            raise TypeError(f"fractional_avg_pool: no such operation on {x}; it takes floats")
        count = None if starts.shape.sizes is None or starts.shape.size(0) is None else starts.shape.size(0) - 1
        n = None if x.shape.sizes is None else x.shape.sizes[self.axis]
        return (TensorType(x.dtype, TensorShape([count, n])),)

    def kernel(self, xp: Any, x: Any, starts: Any) -> Any:
        del xp
        n = x.shape[self.axis]
        first, end = _bounds(starts, n, self.overlapping)
        places = np.arange(n)
        inside = (places >= first[:, None]) & (places < end[:, None])
        wide = np.float64 if x.dtype == np.float64 else float32
        return (inside.astype(wide) / (end - first)[:, None].astype(wide)).astype(x.dtype)

    gradient = no_gradient


class FractionalMaxPool(Primitive):
    """The largest elements, and the number of the first such element of each window in its flattened image."""

    overlapping: bool

    def infer(self, x: TensorType, rows: TensorType, columns: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in FLOATING and x.dtype not in INTEGER:
            raise TypeError(f"fractional_max_pool: no such operation on {x}; it takes real numbers")
        batch, _, _, channels = x.shape.sizes or (None,) * 4
        counts = [
            None if s.shape.sizes is None or s.shape.size(0) is None else s.shape.size(0) - 1 for s in (rows, columns)
        ]
        result = TensorShape([batch, *counts, channels])
        return TensorType(x.dtype, result), TensorType(int64, result)

    def kernel(self, xp: Any, x: Any, rows: Any, columns: Any) -> Any:
        n, height, width, channels = x.shape
        (top, bottom), (left, right) = [_bounds(s, k, self.overlapping) for s, k in ((rows, height), (columns, width))]
        flat = x.reshape(n, height * width, channels)
        longest = [-(-k // (s.shape[0] - 1)) + int(self.overlapping) for s, k in ((rows, height), (columns, width))]
        y = number = None
        for i, j in offsets(longest):
            row, column = (top + i).clip(max=height - 1), (left + j).clip(max=width - 1)
            inside = (top + i < bottom)[:, None] & (left + j < right)
            places = row[:, None] * width + column
            part = xp.take(flat, places.reshape(-1), axis=1).reshape(n, *places.shape, channels)
            if y is None:
                y, number = part, xp.broadcast_to(places[..., None], part.shape)
                continue
            larger = inside[..., None] & (part > y)
            y, number = xp.where(larger, part, y), xp.where(larger, places[..., None], number)
        return y, number

    def gradient(self, op: Operation, dy: Tensor, dnumber: Any) -> Sequence[Any]:
        del dnumber
        return partial(PutPixels(), dy, op.outputs[1], op.inputs[0]), None, None


class PutPixels(Primitive):
    """`dy` [n, ..., c] added up at the pixels that the numbers name, in zeros of the shape of the third input."""

    traits = (ADDS, ZEROS, reads_shape(2))

    def infer(self, dy: TensorType, numbers: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        del numbers
        return (TensorType(dy.dtype, like.shape),)

    def kernel(self, xp: Any, dy: Any, numbers: Any, like: Any) -> Any:
        n, height, width, channels = like.shape
        first = np.arange(n)[:, None, None, None] * (height * width)
        elements = (first + numbers) * channels + np.arange(channels)
        return sum_rows(xp, elements.reshape(-1), dy.reshape(-1), like.size).reshape(like.shape)

    def gradient(self, op: Operation, d: Tensor) -> Sequence[Any]:
        return partial(PickPixels(), d, op.inputs[1]), None, None


class PickPixels(Primitive):
    """The elements of images [n, h, w, c] at the pixels that the numbers [n, ..., c] name."""

    traits = (MOVES,)

    def infer(self, x: TensorType, numbers: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, numbers.shape),)

    def kernel(self, xp: Any, x: Any, numbers: Any) -> Any:
        n, height, width, channels = x.shape
        flat = x.reshape(n, height * width, channels)
        return xp.take_along_axis(flat, numbers.reshape(n, -1, channels), axis=1).reshape(numbers.shape)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, numbers = op.inputs
        return partial(PutPixels(), dy, numbers, x), None
