"""Sliding windows: strides, dilations and paddings as users write them, and the lengths that come of them.

Lengths and paddings are TensorFlow's: "SAME" gives ceil(n / stride), with the odd element of padding at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...core.lengths import Dimension, greatest
from ...core.shape import TensorShape
from ...core.types import TensorType

Pads = tuple[tuple[int, int], ...]
Padding = str | Pads
"""SAME, VALID, or the numbers of elements before and after each spatial axis."""
MOST_PLACES = 49
"""The places of a window up to which their sum is compiled in little more time than it is worth."""


def has_channels_first(data_format: str | None) -> bool:
    """Whether the channels come right after the batch, as in NCHW."""
    return data_format is not None and data_format.startswith("NC")


def check_data_format(what: str, data_format: str | None, allowed: Sequence[str]) -> str:
    """`data_format`, the first allowed one for None; ValueError if it is not allowed."""
    if data_format is None:
        return allowed[0]
    if data_format not in allowed:
        raise ValueError(f"{what}: data_format must be {' or '.join(allowed)}, not {data_format!r}")
    return data_format


def spatial_lengths(what: str, name: str, value: Any, count: int, data_format: str) -> tuple[int, ...]:
    """One number for each of `count` spatial axes, from one number, that many, or one for each axis of the input.

    Whole floats are taken, as TensorFlow takes them: programs divide lengths.
    """
    numbers = list(np.atleast_1d(value))
    if any(n != int(n) for n in numbers):
        raise TypeError(f"{what}: {name} must be integers, not {value!r}")
    if len(numbers) == 1:
        numbers = numbers * count
    if len(numbers) == count + 2:
        outer = [numbers[0], numbers[1] if has_channels_first(data_format) else numbers[-1]]
        if any(n != 1 for n in outer):
            raise ValueError(f"{what}: {name} must be 1 along batch and channels, not {value!r}")
        numbers = numbers[2:] if has_channels_first(data_format) else numbers[1:-1]
    if len(numbers) != count:
        raise ValueError(f"{what}: {name} must be an integer or {count} of them, not {value!r}")
    if any(n < 1 for n in numbers):
        raise ValueError(f"{what}: {name} must be positive, not {value!r}")
    return tuple([int(n) for n in numbers])


def spatial_padding(what: str, padding: Any, count: int, data_format: str) -> Padding:
    """A padding as primitives keep it, from SAME, VALID, or a list of [before, after] for each axis of the input."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f"{what}: padding must be SAME, VALID or a list of pairs, not {padding!r}")
        return padding.upper()
    pairs = [tuple([int(n) for n in pair]) for pair in padding]
    if len(pairs) != count + 2 or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise ValueError(f"{what}: an explicit padding has a pair of numbers for each axis, not {padding!r}")
    outer = (pairs[0], pairs[1] if has_channels_first(data_format) else pairs[-1])
    if any(pair != (0, 0) for pair in outer):
        raise ValueError(f"{what}: batch and channels cannot be padded: {padding!r}")
    inner = pairs[2:] if has_channels_first(data_format) else pairs[1:-1]
    return tuple([(before, after) for before, after in inner])


def result_length(
    n: Dimension | None, window: int | None, stride: int, dilation: int, pad: str | tuple[int, int]
) -> Any:
    """How many windows there are along an axis of length `n`; negative or zero where none fits."""
    if stride < 1 or dilation < 1:
        raise ValueError(f"windows are at least 1 apart, and so are their elements, not {stride} and {dilation}")
    if n is None:
        return None
    if pad == "SAME":
        return -(-n // stride)
    if window is None:
        return None
    before, after = (0, 0) if isinstance(pad, str) else pad
    return (n + before + after - (window - 1) * dilation - 1) // stride + 1


def result_lengths(
    lengths: Sequence[Dimension | None],
    windows: Sequence[int | None],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Padding,
) -> list[Any]:
    """`result_length` for each spatial axis."""
    pads: Sequence[str | tuple[int, int]] = [padding] * len(lengths) if isinstance(padding, str) else padding
    return [
        result_length(n, k, s, d, pad)
        for n, k, s, d, pad in zip(lengths, windows, strides, dilations, pads, strict=True)
    ]


def pads_of(
    lengths: Sequence[int],
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Padding,
) -> Pads:
    """The numbers of elements before and after each spatial axis."""
    if not isinstance(padding, str):
        return padding
    if padding == "VALID":
        return ((0, 0),) * len(lengths)
    pads = []
    for n, k, s, d in zip(lengths, windows, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def infer_windows(
    what: str,
    x: TensorType,
    windows: Sequence[int | None],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Padding,
    data_format: str,
) -> tuple[Any, list[Any], Any]:
    """Batch, numbers of windows and channels of `x`; ValueError where no window fits or the rank is wrong."""
    count = len(windows)
    dims = x.shape.lengths
    if 0 in windows:
        raise ValueError(f"{what}: a window of {list(windows)} has no elements; its lengths must be 1 or more")
    if dims is None:
        return None, [None] * count, None
    if len(dims) != count + 2:
        raise ValueError(f"{what}: the input must have {count + 2} axes, {data_format}, not {x}")
    batch, spatial, channels = split_axes(dims, data_format)
    lengths = result_lengths(spatial, windows, strides, dilations, padding)
    if any(isinstance(m, int) and m < 1 and n != 0 for m, n in zip(lengths, spatial, strict=True)):
        raise ValueError(f"{what}: a window of {list(windows)} does not fit into {x}")
    return batch, [None if m is None else greatest(m, 0) for m in lengths], channels


def split_axes(dims: Sequence[Any], data_format: str) -> tuple[Any, tuple[Any, ...], Any]:
    """Batch, spatial axes, channels."""
    if has_channels_first(data_format):
        return dims[0], tuple(dims[2:]), dims[1]
    return dims[0], tuple(dims[1:-1]), dims[-1]


def joined_axes(batch: Any, spatial: Sequence[Any], channels: Any, data_format: str) -> list[Any]:
    """The axes in the order of `data_format`."""
    return [batch, channels, *spatial] if has_channels_first(data_format) else [batch, *spatial, channels]


def window_shape(batch: Any, spatial: Sequence[Any], channels: Any, data_format: str) -> TensorShape:
    """The shape with the axes in the order of `data_format`."""
    return TensorShape(joined_axes(batch, spatial, channels, data_format))


def channels_last(xp: Any, x: Any, data_format: str) -> Any:
    """`x` with its channels as the last axis."""
    return xp.moveaxis(x, 1, -1) if has_channels_first(data_format) else x


def as_data_format(xp: Any, x: Any, data_format: str) -> Any:
    """`x`, whose channels are the last axis, in the order of `data_format`."""
    return xp.moveaxis(x, -1, 1) if has_channels_first(data_format) else x


def padded(xp: Any, x: Any, pads: Pads, value: Any = 0) -> Any:
    """`x` [batch, spatial..., channels] with `value` around its spatial axes."""
    if not any(map(any, pads)):
        return x
    if xp is not np:
        return xp.pad(x, ((0, 0), *pads, (0, 0)), constant_values=value)
    lengths = [before + n + after for n, (before, after) in zip(x.shape[1:-1], pads, strict=True)]
    result = np.full((x.shape[0], *lengths, x.shape[-1]), value, x.dtype)
    result[inside(x.shape[1:-1], pads)] = x
    return result


def inside(lengths: Sequence[int], pads: Pads) -> tuple[slice, ...]:
    """The index of what `padded` was given, in its result."""
    return (slice(None), *[slice(before, before + n) for n, (before, _) in zip(lengths, pads, strict=True)])


def taps(n: int, window: int, stride: int, dilation: int, before: int, count: int) -> tuple[Any, Any, Any]:
    """All triples of a window of `count`, an element of the `n` of the input, and a place in the window where it is."""
    most = max(n, count * max(stride, window) + window * dilation + before)
    dtype: Any = np.int32 if most < 2**31 else np.int64  # Half of the memory to go through where that will do.
    starts, places = np.arange(count, dtype=dtype) * dtype(stride), np.arange(window, dtype=dtype)
    elements = starts[:, None] + (places * dtype(dilation) - dtype(before))
    there = np.flatnonzero((elements >= 0) & (elements < n)).astype(dtype)
    windows = there // dtype(max(window, 1))
    return windows, elements.reshape(-1)[there], there - windows * window


def count_of_taps(n: int, window: int, stride: int, dilation: int, before: int, count: int) -> int:
    """How many triples `taps` gives: for each place in the window those windows whose element there is one."""
    starts = [place * dilation - before for place in range(window)]
    return sum([max(min(count, (n - 1 - start) // stride + 1) - max(0, -(start // stride)), 0) for start in starts])


def has_many_places(windows: Sequence[int]) -> bool:
    """Whether a compiled program should not work on each place of a window apart."""
    return prod(windows) > MOST_PLACES


def offsets(windows: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The places in a window, last axis fastest."""
    return product(*[range(k) for k in windows])


def at_offset(
    offset: Sequence[int], counts: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[slice, ...]:
    """The index, into a padded input, of the element at `offset` of every window."""
    index = [slice(None)]
    for o, m, s, d in zip(offset, counts, strides, dilations, strict=True):
        start = o * d
        index.append(slice(start, start + (m - 1) * s + 1 if m else start, s))
    return tuple(index)
