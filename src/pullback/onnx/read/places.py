"""Interpolation: which elements count for a point between them, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.creation.constant import constant
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.indexing.gather import gather
from ...primitives.indexing.where import where
from ...primitives.linalg.einsum import einsum
from ...primitives.shape.reshape import reshape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.transpose import transpose
from .dtypes import cast
from .lengths import lengths


def rows_of(x: Tensor) -> Tensor:
    """[images, channels, spatial...] as [images * elements, channels]."""
    rank = len(x.shape)
    return reshape(transpose(x, [0, *range(2, rank), 1]), [-1, lengths(x)[1]])


def elements(spatial: Sequence[Any]) -> Any:
    """How many elements there are in spatial axes of these lengths."""
    total: Any = 1
    for n in spatial:
        total = n * total
    return total


def joined(columns: Sequence[Tensor], numbers: Sequence[Tensor], spatial: Sequence[Any]) -> tuple[Tensor, Tensor]:
    """Places [..., taps] of the flattened image and their weights, from those along each axis, all [..., some]."""
    places, weights = columns[0], numbers[0]
    for i, n in enumerate(spatial[1:], 1):
        column, number = columns[i], numbers[i]
        for _ in range(i):
            column, number = expand_dims(column, -2), expand_dims(number, -2)
        places, weights = expand_dims(places, -1) * n + column, expand_dims(weights, -1) * number
    lead = lengths(columns[0])[:-1]
    return reshape(places, [*lead, -1]), reshape(weights, [*lead, -1])


def images_first(places: Tensor, images: Tensor | None, size: Any) -> Tensor:
    """Places [images, points, taps] of rows_of(...), of images numbered `images`, or of one after the other."""
    if images is None:
        n = lengths(places)[0]
        images = range_(constant(0, int64), n if isinstance(n, Tensor) else constant(n, int64))
    return places + reshape(cast(images, int64) * size, [-1, 1, 1])


def weighted(rows: Tensor, places: Tensor, weights: Tensor) -> Tensor:
    """The weighted sums [images, channels, points] of the rows at places [images, points, taps]."""
    return einsum("npt,nptc->ncp", cast(weights, rows.dtype), gather(rows, places))


def inside(column: Tensor, n: Any) -> tuple[Tensor, Tensor]:
    """A place along an axis of length `n`, moved into it, and whether it was in it."""
    last = n - 1 if isinstance(n, Tensor) else constant(n - 1, int64)
    moved: Tensor = clip_by_value(column, constant(0, int64), last)
    return moved, (column >= constant(0, int64)) & (column <= last)


def cubic(part: Tensor, a: float) -> list[Tensor]:
    """The weights of the two elements before a point, which is `part` of the way to the next, and the two after it.

    `a` is the slope of the cubic where it is zero first: Keys, Cubic Convolution Interpolation for Digital Image
    Processing, 1981.
    """
    rest = 1.0 - part
    return [_far(part + 1.0, a), _near(part, a), _near(rest, a), _far(rest + 1.0, a)]


def _near(distance: Tensor, a: float) -> Tensor:
    return ((a + 2) * distance - (a + 3)) * distance * distance + 1.0


def _far(distance: Tensor, a: float) -> Tensor:
    return ((distance - 5.0) * distance + 8.0) * distance * a - 4 * a


def cubic_at(distance: Tensor, a: float) -> Tensor:
    """The same for distances from a point: a cubic up to 1, another up to 2, then 0."""
    return where(distance <= 1.0, _near(distance, a), where(distance < 2.0, _far(distance, a), 0.0))
