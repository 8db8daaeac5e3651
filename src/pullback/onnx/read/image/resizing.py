"""ONNX import of resizing: along one axis after the other, each a linear map."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....core.dtypes import FLOATING, float32, float64, int64
from ....core.limits import reading
from ....core.operation import Tensor
from ....core.shape import same_length
from ....core.values import length_values
from ....primitives.creation.constant import constant
from ....primitives.creation.ranges import range_
from ....primitives.elementwise.add_n import add_n
from ....primitives.elementwise.clip import clip_by_value
from ....primitives.elementwise.masking import mask
from ....primitives.elementwise.maximum import maximum, minimum
from ....primitives.elementwise.rounding import ceil, floor
from ....primitives.elementwise.sign import absolute
from ....primitives.image.resampling import COORDINATES, Resampling, matrix, nearest, taps
from ....primitives.indexing.gather import gather
from ....primitives.indexing.where import where
from ....primitives.linalg.einsum import Einsum
from ....primitives.linalg.matmul import matmul
from ....primitives.logic.comparison import equal
from ....primitives.reduction.reduce import reduce_sum
from ....primitives.shape.broadcast import broadcast_like
from ....primitives.shape.reshape import reshape
from ....primitives.shape.squeeze import expand_dims
from ....primitives.shape.tile import repeat
from ...reading import Node, reader
from ..dtypes import cast
from ..lengths import length, rank_of, require_rank
from ..operands import from_front
from ..places import cubic, cubic_at, inside

_LONG = 512
"""From this length on, places are picked one by one instead of multiplying by a matrix that is almost all zeros."""


_BY_LENGTH = ("align_corners", "tf_crop_and_resize")
"""The coordinates whose distance depends on the length, and not on the scale only."""

_TABLE_BYTES = 64
"""What an element of an axis takes in the tables that say what it is made of."""


class Axis(NamedTuple):
    """What is to become of one axis; numbers are tensors where they are worked out in a run."""

    axis: int
    length: Any
    scale: Any
    start: Any = 0.0
    end: Any = 1.0

    def numbers(self) -> tuple[Any, ...]:
        return self.length, self.scale, self.start, self.end


@reader("Upsample")
def upsample(node: Node, x: Tensor, scales: Tensor) -> Tensor:
    how = Resampling(node.attribute("mode", "nearest"), "asymmetric", "floor")
    axes = _axes(node, x, None, scales, None, list(range(rank_of(node, x))))
    return _resized(node, x, how, axes, 0.0)


@reader("Resize")
def resize(
    node: Node, x: Tensor, roi: Tensor | None = None, scales: Tensor | None = None, sizes: Tensor | None = None
) -> Tensor:
    how = Resampling(
        node.attribute("mode", "nearest"),
        node.attribute("coordinate_transformation_mode", "half_pixel"),
        node.attribute("nearest_mode", "round_prefer_floor"),
        node.attribute("cubic_coeff_a", -0.75),
        bool(node.attribute("antialias", 0)),
        bool(node.attribute("exclude_outside", 0)),
    )
    if how.coordinates not in COORDINATES:
        node.refuse(f"coordinate_transformation_mode {how.coordinates!r} is not one of {', '.join(COORDINATES)}")
    rank = rank_of(node, x)
    places = [from_front(node, int(a), rank) for a in node.attribute("axes", None) or range(rank)]
    roi, scales, sizes = [None if v is None or v.shape.size(0) == 0 else v for v in (roi, scales, sizes)]
    if how.coordinates != "tf_crop_and_resize":
        roi = None
    axes = _axes(node, x, roi, scales, sizes, places)
    return _resized(node, x, how, axes, node.attribute("extrapolation_value", 0.0))


def _axes(
    node: Node, x: Tensor, roi: Tensor | None, scales: Tensor | None, sizes: Tensor | None, places: list[int]
) -> list[Axis]:
    require_rank(node, 1, roi, scales, sizes)
    if scales is None and sizes is None:
        node.refuse("neither scales nor sizes are given")
    old = [length(x, a) for a in places]
    if scales is not None:
        factors = _numbers(node, scales, float64, len(places))
        new = [_floor_of(f, n) for f, n in zip(factors, old, strict=True)]
    else:
        assert sizes is not None
        new = _numbers(node, sizes, int64, len(places))
        if roi is None and node.attribute("keep_aspect_ratio_policy", "stretch") == "stretch":
            new, places, old = _changed(x, sizes, new, places, old)
        factors = [_ratio(m, n) for m, n in zip(new, old, strict=True)]
        new, factors = _with_aspect(node, new, factors, old)
    crops = [(0.0, 1.0)] * len(places)
    if roi is not None:
        bounds = _numbers(node, roi, float64, 2 * len(places))
        crops = list(zip(bounds[: len(places)], bounds[len(places) :], strict=True))
    return [Axis(a, m, f, *crop) for a, m, f, crop in zip(places, new, factors, crops, strict=True)]


def _changed(
    x: Tensor, sizes: Tensor, new: list[Any], places: list[int], old: list[Any]
) -> tuple[list[Any], list[int], list[Any]]:
    """New lengths, axes and old lengths, without the axes whose length stays: often the batch, the channels."""
    found = length_values(sizes) or [None] * len(new)
    told = [source if isinstance(source, int) else n for n, source in zip(new, found, strict=True)]
    kept = [i for i, a in enumerate(places) if not same_length(found[i], x.shape.length(a))]
    return [told[i] for i in kept], [places[i] for i in kept], [old[i] for i in kept]


def _numbers(node: Node, vector: Tensor, dtype: Any, count: int) -> list[Any]:
    """The elements: Python's numbers where they are known."""
    value = node.static(vector)
    if value is not None:
        return [n.item() for n in value.astype(dtype)]
    wide = cast(vector, dtype)
    return [wide[i] for i in range(count)]


def _floor_of(factor: Any, n: Any) -> Any:
    if isinstance(factor, float) and isinstance(n, int):
        return int(factor * n)
    return cast(floor(_wide(factor) * _wide(n)), int64)


def _ratio(m: Any, n: Any) -> Any:
    return m / n if isinstance(m, int) and isinstance(n, int) else _wide(m) / _wide(n)


def _wide(number: Any) -> Tensor:
    """A number as a scalar of float64."""
    return cast(number, float64) if isinstance(number, Tensor) else constant(float(number), float64)


def _with_aspect(node: Node, new: list[Any], factors: list[Any], old: list[Any]) -> tuple[list[Any], list[Any]]:
    """Lengths and scales as the policy changes them: one scale for all axes."""
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return new, factors
    if all(isinstance(f, float) for f in factors):
        common = min(factors) if policy == "not_larger" else max(factors)
        return [int(common * n + 0.5) for n in old], [common] * len(old)
    choose = minimum if policy == "not_larger" else maximum
    best = _wide(factors[0])
    for factor in factors[1:]:
        best = choose(best, _wide(factor))
    return [cast(floor(best * _wide(n) + 0.5), int64) for n in old], [best] * len(old)


def _resized(node: Node, x: Tensor, how: Resampling, axes: list[Axis], value: float) -> Tensor:
    del node
    for axis in axes:
        # Tables of the elements that each element of the result is made of, and their weights.
        longest = max([n for n in (axis.length, x.shape.size(axis.axis)) if isinstance(n, int)], default=0)
        reading().takes_bytes(_TABLE_BYTES * longest)
    if how.mode == "nearest":
        for axis in axes:
            x = _nearest_along(x, how, axis, value)
        return x
    dtype = x.dtype
    y = x if dtype in FLOATING and dtype.itemsize > 2 else cast(x, float32)
    for axis in axes:
        y = _interpolated(y, how, axis, value)
    if dtype in FLOATING:
        return cast(y, dtype)
    limits = np.iinfo(dtype)
    return cast(clip_by_value(y, float(limits.min), float(limits.max)), dtype)


def _is_static(x: Tensor, axis: Axis) -> bool:
    return x.shape.size(axis.axis) is not None and not any(isinstance(n, Tensor) for n in axis.numbers())


def _changes_nothing(x: Tensor, axis: Axis) -> bool:
    if _is_static(x, axis):
        return axis.numbers() == (x.shape.size(axis.axis), 1.0, 0.0, 1.0)
    return _is_plain(axis) and axis.scale == 1.0


def _is_plain(axis: Axis) -> bool:
    """Whether the new length is the old one times a scale that is known, and nothing is cut off."""
    return isinstance(axis.scale, float) and (axis.start, axis.end) == (0.0, 1.0)


def _times(how: Resampling, axis: Axis) -> int | None:
    """How often each element is there one after the other, whatever the length; None where that is not so.

    The copies of an element lie one place behind those of the one before, so that three elements tell.
    """
    if not _is_plain(axis) or axis.scale != int(axis.scale) or how.coordinates in _BY_LENGTH:
        return None
    times = int(axis.scale)
    found = nearest(how, 3, 3 * times, axis.scale, axis.start, axis.end)
    return times if np.array_equal(found, np.repeat(np.arange(3), times)) else None


def _nearest_along(x: Tensor, how: Resampling, axis: Axis, value: float) -> Tensor:
    if _changes_nothing(x, axis):
        return x
    if _is_static(x, axis):
        n = x.shape.size(axis.axis)
        found = nearest(how, n, *axis.numbers())
        times = len(found) // n if n else 0
        if n and np.array_equal(found, np.repeat(np.arange(n), times)):
            return repeat(x, times, axis.axis)
        outside = None if (found >= 0).all() else constant(found < 0)
        places = constant(np.maximum(found, 0))
    else:
        repeats = _times(how, axis)
        if repeats is not None:
            return repeat(x, repeats, axis.axis)
        at = _points(x, how, axis)
        places, _ = inside(cast(_rounded(at, how.rounding), int64), length(x, axis.axis))
        outside = _outside(x, how, axis, at)
    return _with_value(gather(x, places, axis=axis.axis), outside, axis.axis, value)


def _beside(x: Tensor, axis: int) -> list[int]:
    """The shape in which a vector stands along `axis`."""
    return [-1, *[1] * (len(x.shape) - 1 - axis)]


def _interpolated(x: Tensor, how: Resampling, axis: Axis, value: float) -> Tensor:
    if _changes_nothing(x, axis):
        return x
    if not _is_static(x, axis):
        return _interpolated_in_run(x, how, axis, value)
    n = x.shape.size(axis.axis)
    if n >= _LONG and not how.antialias and not value:
        return _picked(x, how, axis)
    weights = matrix(how, n, *axis.numbers())
    outside = weights.sum(1) == 0 if how.coordinates == "tf_crop_and_resize" and value else None
    y = _product(constant(weights, x.dtype), x, axis.axis)
    return _with_value(y, None if outside is None else constant(outside), axis.axis, value)


def _with_value(y: Tensor, outside: Tensor | None, axis: int, value: float) -> Tensor:
    """`y` with `value` at the places along `axis` that are outside."""
    return y if outside is None else where(reshape(outside, _beside(y, axis)), constant(value, y.dtype), y)


def _interpolated_in_run(x: Tensor, how: Resampling, axis: Axis, value: float) -> Tensor:
    """For lengths, scales or crops that a run gives; by scales and crops there are derivatives too."""
    at = _points(x, how, axis)
    y = _of_all(x, how, axis, at) if how.antialias else _of_nearest(x, how, axis, at)
    return _with_value(y, _outside(x, how, axis, at), axis.axis, value)


def _points(x: Tensor, how: Resampling, axis: Axis) -> Tensor:
    """The point of the input for each place of the result; `primitives/image/resampling.py` has known numbers."""
    m, scale, start, end = [axis.length, *[_wide(number) for number in axis.numbers()[1:]]]
    n, kind = _wide(length(x, axis.axis)), how.coordinates
    places, count = cast(range_(constant(0, int64), m), float64), _wide(m)
    one = equal(count, 1.0)
    last, steps = n - 1.0, where(one, 1.0, count - 1.0)
    half = (places + 0.5) / scale - 0.5
    at = half
    if kind == "align_corners":
        at = where(one, 0.0, places * (last / steps))
    elif kind == "tf_crop_and_resize":
        at = (start + where(one, 0.5, places / steps) * (end - start)) * last
    elif kind == "asymmetric":
        at = places / scale
    elif kind == "pytorch_half_pixel":
        at = where(one, -0.5, half)
    elif kind == "half_pixel_symmetric":
        at = half + n * 0.5 * (1.0 - count / (scale * n))
    return at


def _rounded(at: Tensor, rounding: str) -> Tensor:
    if rounding == "round_prefer_floor":
        return ceil(at - 0.5)
    if rounding == "round_prefer_ceil":
        return floor(at + 0.5)
    return floor(at) if rounding == "floor" else ceil(at)


def _outside(x: Tensor, how: Resampling, axis: Axis, at: Tensor) -> Tensor | None:
    """Which points a crop has outside; None where there are none."""
    if how.coordinates != "tf_crop_and_resize":
        return None
    return (at < 0.0) | (at > _wide(length(x, axis.axis)) - 1.0)


def _of_nearest(x: Tensor, how: Resampling, axis: Axis, at: Tensor) -> Tensor:
    """The weighted sum of the two or four places around each point."""
    n, first = length(x, axis.axis), floor(at)
    part = at - first
    numbers = [1.0 - part, part] if how.mode == "linear" else cubic(part, how.slope)
    offsets = (0, 1) if how.mode == "linear" else (-1, 0, 1, 2)
    moved = [inside(cast(first, int64) + o, n) for o in offsets]
    if how.exclude_outside:
        numbers = [mask(within, number) for number, (_, within) in zip(numbers, moved, strict=True)]
        total = add_n(numbers)
        numbers = [number / total for number in numbers]
    beside = _beside(x, axis.axis)
    terms = [
        gather(x, place, axis=axis.axis) * reshape(cast(number, x.dtype), beside)
        for number, (place, _) in zip(numbers, moved, strict=True)
    ]
    return add_n(terms)


def _of_all(x: Tensor, how: Resampling, axis: Axis, at: Tensor) -> Tensor:
    """The sum of all places, weighted by their distance, which counts less where the length shrinks."""
    n = length(x, axis.axis)
    shrink = minimum(_wide(axis.scale), 1.0)
    reach = cast(ceil((1.0 if how.mode == "linear" else 2.0) / shrink), int64) + 1
    columns = range_(-reach, n + reach)
    distance = absolute(cast(columns, float64) - expand_dims(at, 1)) * shrink
    numbers = maximum(1.0 - distance, 0.0) if how.mode == "linear" else cubic_at(distance, how.slope)
    places, within = inside(columns, n)
    numbers = mask(broadcast_like(within, numbers), numbers) if how.exclude_outside else numbers
    numbers = numbers / reduce_sum(numbers, 1, True)
    return _product(cast(numbers, x.dtype), gather(x, places, axis=axis.axis), axis.axis)


def _picked(x: Tensor, how: Resampling, axis: Axis) -> Tensor:
    """The weighted sum of the few places that count for each."""
    columns, numbers = taps(how, x.shape.size(axis.axis), *axis.numbers())
    total: Any = None
    for k in range(columns.shape[1]):
        weights = constant(numbers[:, k].reshape(_beside(x, axis.axis)), x.dtype)
        term = gather(x, constant(columns[:, k]), axis=axis.axis) * weights
        total = term if total is None else total + term
    y: Tensor = total
    return y


def _product(weights: Tensor, x: Tensor, axis: int) -> Tensor:
    """The product along `axis`."""
    rank = len(x.shape)
    if axis == rank - 1:
        return matmul(x, weights, transpose_b=True) if rank > 1 else matmul(weights, reshape(x, [-1, 1]))[:, 0]
    if axis == rank - 2:
        return matmul(weights, x)
    letters = "abcdefgh"[:rank]
    term = letters[:axis] + "y" + letters[axis + 1 :]
    return Einsum(f"y{letters[axis]},{letters}->{term}")(weights, x)
