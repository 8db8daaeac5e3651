"""ONNX import of padding. Negative lengths cut off; what a run pads may do either."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.dtypes import int64
from ....core.operation import Tensor
from ....primitives.casting.cast import cast
from ....primitives.creation.constant import constant
from ....primitives.creation.fill import zeros
from ....primitives.creation.ranges import range_
from ....primitives.elementwise.division import floormod, truncatediv
from ....primitives.elementwise.maximum import maximum, minimum
from ....primitives.indexing.slicing import UNKNOWN, Take, slice_by
from ....primitives.shape.pad import pad as pad_of
from ....primitives.shape.size import shape as shape_of
from ....primitives.shape.size import size
from ....primitives.shape.stacking import stack
from ....primitives.shape.transpose import transpose
from ...reading import Node, reader
from ..lengths import length, lengths, rank_of
from ..operands import from_front, full_like_axes, integers, scalar


@reader("Pad")
def pad(node: Node, x: Tensor, pads: Tensor, value: Tensor | None = None, axes: Tensor | None = None) -> Tensor:
    mode = node.attribute("mode", "constant")
    value = None if value is None else cast(value, x.dtype)  # onnx makes the one of older opsets float32.
    known, places = integers(node, pads), integers(node, axes)
    if known is None or (axes is not None and places is None):
        return _padded_in_run(node, x, pads, value, axes, mode)
    rank = x.shape.rank if x.shape.rank is not None else len(known) // 2
    widths = [(0, 0)] * rank
    half = len(known) // 2
    for i, axis in enumerate(range(rank) if places is None else places):
        widths[from_front(node, axis, rank)] = (known[i], known[half + i])
    return _constant(x, widths, value) if mode == "constant" else _repeated(x, widths, mode)


def _constant(x: Tensor, widths: Sequence[tuple[int, int]], value: Tensor | None) -> Tensor:
    if any(n < 0 for pair in widths for n in pair):
        spec = tuple([(max(0, -a) or None, -max(0, -b) or None, 1) for a, b in widths])
        x = slice_by(x, spec, [])
    added = [(max(0, a), max(0, b)) for a, b in widths]
    if not any(n for pair in added for n in pair):
        return x
    return pad_of(x, added, "CONSTANT", 0 if value is None else scalar(value))


def _repeated(x: Tensor, widths: Sequence[tuple[int, int]], mode: str) -> Tensor:
    """Padding by elements of `x`: mirrored, the last one, or from the other end."""
    dims = x.shape.as_list()
    mirrored = all(n is not None and max(pair) < n for n, pair in zip(dims, widths, strict=True))
    if mode == "reflect" and mirrored and not any(n < 0 for pair in widths for n in pair):
        return pad_of(x, list(widths), "REFLECT")
    for axis, (before, after) in enumerate(widths):
        if (before, after) == (0, 0):
            continue
        n = dims[axis]
        if n is not None:
            places: Any = constant(_places(np.arange(-before, n + after), n, mode))
        else:
            places = _places_in_run(x, axis, before, after, mode)
        x = Take(axis)(x, places)
    return x


def _places(wanted: Any, n: int, mode: str) -> Any:
    """Which elements of an axis of length `n` stand at the places `wanted`, which go beyond it."""
    if mode == "edge":
        return np.clip(wanted, 0, n - 1)
    if mode == "wrap":
        return wanted % n
    period = max(1, 2 * (n - 1))
    return np.minimum(wanted % period, period - wanted % period)


def _places_in_run(x: Tensor, axis: int, before: Any, after: Any, mode: str) -> Tensor:
    n: Any = length(x, axis)
    last = n - 1
    wanted = range_(-before, n + after, dtype=int64)
    if mode == "edge":
        return minimum(maximum(wanted, 0), last)
    if mode == "wrap":
        return floormod(wanted, n)
    period = maximum(last * 2, 1) if isinstance(last, Tensor) else max(1, last * 2)
    folded = floormod(wanted, period)
    return minimum(folded, period - folded)


def _padded_in_run(node: Node, x: Tensor, pads: Tensor, value: Tensor | None, axes: Tensor | None, mode: str) -> Tensor:
    rank = rank_of(node, x)
    half: Any = rank if axes is None else size(axes, int64)
    before = full_like_axes(node, axes, pads[:half], 0, rank)
    after = full_like_axes(node, axes, pads[half:], 0, rank)
    if mode == "constant":
        return padded_or_cut(x, before, after, value)
    for axis in range(rank):
        x = Take(axis)(x, _places_in_run(x, axis, before[axis], after[axis], mode))
    return x


def padded_or_cut(x: Tensor, before: Tensor, after: Tensor, value: Tensor | None = None) -> Tensor:
    """`x` with lengths put on at both ends of each axis, or cut off where they are negative."""
    rank = x.shape.rank or 0
    first = maximum(-before, 0)
    last = shape_of(x, int64) - maximum(-after, 0)
    cut = slice_by(x, tuple([(UNKNOWN, UNKNOWN, 1)] * rank), [v[i] for i in range(rank) for v in (first, last)])
    widths = transpose(stack([maximum(before, 0), maximum(after, 0)]), [1, 0])
    return pad_of(cut, widths, "CONSTANT", 0 if value is None else scalar(value))


@reader("CenterCropPad")
def center_crop_pad(node: Node, x: Tensor, shape: Tensor) -> Tensor:
    rank = rank_of(node, x)
    axes = [from_front(node, a, rank) for a in node.attribute("axes", tuple(range(rank)))]
    asked = integers(node, shape)
    known = [x.shape.size(a) for a in axes]
    if asked is None or None in known:
        own = lengths(x)
        more = [shape[i] - own[a] for i, a in enumerate(axes)]
        halves = [truncatediv(n, 2) for n in more]
        return padded_or_cut(x, _placed(halves, axes, rank), _placed(_rest(more, halves), axes, rank))
    widths = [(0, 0)] * rank
    for n, wanted, axis in zip(known, asked, axes, strict=True):
        half = int((wanted - n) / 2)
        widths[axis] = (half, wanted - n - half)
    return _constant(x, widths, None)


def _rest(whole: Sequence[Tensor], parts: Sequence[Tensor]) -> list[Tensor]:
    return [a - b for a, b in zip(whole, parts, strict=True)]


def _placed(numbers: Sequence[Tensor], axes: Sequence[int], rank: int) -> Tensor:
    row: list[Any] = [zeros([], int64)] * rank
    for n, axis in zip(numbers, axes, strict=True):
        row[axis] = n
    return stack(row)
