"""Interpolation weights: the matrices that resize one axis of an image, by method.

The methods are TensorFlow's; its bicubic one of old reads its weights from a table of 1024 positions, and so does ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
_TABLE = 1024
_NARROW = 16
"""A band is worth its name where rows are so many times as long; else the product with the whole matrix is faster."""


_MOST_PHASES = 8
_BROAD = 16


class Method(NamedTuple):
    """A way of resizing."""

    name: str
    """bilinear, nearest, bicubic, area, or, for weights by distance, one of `KERNELS`."""
    align_corners: bool = False
    half_pixel_centers: bool = False
    antialias: bool = False


def _lanczos(radius: float) -> Callable[[Any, Any], Any]:
    def kernel(xp: Any, x: Any) -> Any:
        return xp.where(x < radius, xp.sinc(x) * xp.sinc(x / radius), 0.0)

    return kernel


def _keys_cubic(xp: Any, x: Any) -> Any:
    near, far = ((1.5 * x - 2.5) * x) * x + 1.0, ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return xp.where(x >= 2.0, 0.0, xp.where(x >= 1.0, far, near))


def _mitchell_cubic(xp: Any, x: Any) -> Any:
    near = ((7.0 / 6.0 * x - 2.0) * x) * x + 16.0 / 18.0
    far = ((-7.0 / 18.0 * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0
    return xp.where(x >= 2.0, 0.0, xp.where(x >= 1.0, far, near))


KERNELS: dict[str, tuple[float, Callable[[Any, Any], Any]]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda xp, x: xp.where(x < 1.5, xp.exp(-2 * x * x), 0.0)),
    "box": (1.0, lambda xp, x: xp.where(x < 0.5, 1.0, xp.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda xp, x: xp.maximum(1.0 - x, 0.0)),
    "keyscubic": (2.0, _keys_cubic),
    "mitchellcubic": (2.0, _mitchell_cubic),
}
"""Weights by distance: how far they reach, and the function of the distance.

Sources: Duchon, Lanczos Filtering in One and Two Dimensions, 1979; Keys, Cubic Convolution Interpolation for Digital
Image Processing, 1981; Mitchell and Netravali, Reconstruction Filters in Computer Graphics, 1988.
"""


class Bands(NamedTuple):
    """A matrix whose rows have their numbers side by side: for each row which columns, and the numbers there."""

    columns: Array
    numbers: Array


@lru_cache(maxsize=256)
def bands(method: Method, n: int, m: int, transposed: bool) -> Bands | None:
    """`weights`, or its transpose, as bands; None where they are broad."""
    matrix = weights(method, n, m).T if transposed else weights(method, n, m)
    if not matrix.size:
        return None
    length, used = matrix.shape[1], matrix != 0
    first, last = used.argmax(1), length - 1 - used[:, ::-1].argmax(1)
    # A row of zeros begins and ends at neither.
    breadth = int(np.where(used.any(1), last - first, 0).max()) + 1
    if breadth > max(length // _NARROW, 4):
        return None
    columns = np.minimum(np.where(used.any(1), first, 0), length - breadth)[:, None] + np.arange(breadth)
    return Bands(columns, np.take_along_axis(matrix, columns, 1))


class Phases(NamedTuple):
    """Bands that begin a whole number of `step`s further on in each row of a phase: row k, k + p, k + 2 p, ..."""

    starts: list[int]
    """For each of the p phases where its first row begins, in columns with their border."""
    step: int
    numbers: list[Array]
    """For each phase the numbers of its rows."""
    border: tuple[int, int]
    """The columns of zeros that are needed before and behind."""


@lru_cache(maxsize=256)
def phases_of(method: Method, n: int, m: int, transposed: bool) -> Phases | None:
    """`weights`, or its transpose, as the bands of a few phases; None where there are many, or they are broad."""
    if bands(method, n, m, transposed) is None:
        return None
    matrix = weights(method, n, m).T if transposed else weights(method, n, m)
    rows, length = matrix.shape
    count = math.gcd(rows, length)
    step = length // count
    if rows // count > _MOST_PHASES:
        return None
    used = matrix != 0
    moved = np.arange(rows) // (rows // count) * step
    first = np.where(used.any(1), used.argmax(1) - moved, length)
    last = np.where(used.any(1), length - 1 - used[:, ::-1].argmax(1) - moved, -length)
    starts, ends = first.reshape(count, -1).min(0), last.reshape(count, -1).max(0)
    breadth = int((ends - starts).max()) + 1
    if breadth > _BROAD:
        return None
    before = max(0, -int(starts.min()))
    behind = max(0, int(starts.max()) + (count - 1) * step + breadth - length)
    wide = np.pad(matrix, ((0, 0), (before, behind)))
    columns = (np.tile(starts, count) + moved + before)[:, None] + np.arange(breadth)
    numbers = np.take_along_axis(wide, columns, 1).reshape(count, -1, breadth)
    return Phases([int(i) + before for i in starts], step, list(numbers.swapaxes(0, 1)), (before, behind))


@lru_cache(maxsize=256)
def weights(method: Method, n: int, m: int) -> Array:
    """The matrix [m, n] that takes an axis of length `n` to length `m`, in float64."""
    if method.name in KERNELS:
        matrix: Array = span_weights(np, n, m, np.float64(m / max(n, 1)), np.float64(0), method.name, method.antialias)
    elif method.name == "nearest":
        matrix = np.zeros((m, n))
        matrix[np.arange(m), nearest(method, n, m)] = 1.0
    elif method.name == "area":
        matrix = _area(n, m, _scale(method, n, m))
    elif method.name == "bicubic":
        matrix = _bicubic(method, n, m)
    else:
        matrix = _bilinear(method, n, m)
    matrix.setflags(write=False)
    return matrix


def nearest(method: Method, n: int, m: int) -> Array:
    """Which of `n` elements stands at each of `m` places; positions are float32 numbers, so that ties are as usual."""
    scale = np.float32(_scale(method, n, m))
    places = np.arange(m, dtype=np.float32)
    if method.half_pixel_centers:
        position = np.floor((places + np.float32(0.5)) * scale)
    elif method.align_corners:
        position = np.floor(places * scale + np.float32(0.5))
    else:
        position = np.floor(places * scale)
    numbers: Array = np.clip(position.astype(np.int64), 0, max(n - 1, 0))
    return numbers


def span_weights(xp: Any, n: int, m: int, scale: Any, translation: Any, kernel: str, antialias: bool) -> Any:
    """The matrix for `place = position * scale + translation`, weights by distance, zeros where that is outside."""
    reach, function = KERNELS[kernel]
    sample = (np.arange(m) + 0.5) / scale - translation / scale
    width = xp.maximum(1 / scale, 1.0) if antialias else 1.0
    distance = xp.abs(np.arange(n) + 0.5 - sample[:, None]) / width
    # An element takes part where its centre is within reach.
    matrix = xp.where(distance <= reach, function(xp, distance), 0.0)
    total = matrix.sum(1, keepdims=True)
    usable = xp.abs(total) >= 1000 * np.finfo(np.float32).tiny
    matrix = matrix / xp.where(usable, total, 1.0)
    inside = (sample >= 0) & (sample <= n)
    return xp.where(inside[:, None], matrix, 0.0)


def _scale(method: Method, n: int, m: int) -> float:
    return (n - 1) / (m - 1) if method.align_corners and m > 1 else n / max(m, 1)


def _positions(method: Method, n: int, m: int) -> Array:
    scale, places = _scale(method, n, m), np.arange(m)
    return (places + 0.5) * scale - 0.5 if method.half_pixel_centers else places * scale


def _bilinear(method: Method, n: int, m: int) -> Array:
    position = _positions(method, n, m)
    low = np.floor(position)
    part = position - low
    first, second = np.clip(low, 0, n - 1).astype(int), np.clip(np.ceil(position), 0, n - 1).astype(int)
    matrix, rows = np.zeros((m, n)), np.arange(m)
    np.add.at(matrix, (rows, first), 1 - part)
    np.add.at(matrix, (rows, second), part)
    return matrix


def _bicubic(method: Method, n: int, m: int) -> Array:
    a = -0.5 if method.half_pixel_centers else -0.75
    position = _positions(method, n, m)
    low = np.floor(position).astype(int)
    x = np.rint((position - low) * _TABLE) / _TABLE

    def near(t: Array) -> Array:
        return ((a + 2) * t - (a + 3)) * t * t + 1

    def far(t: Array) -> Array:
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a

    matrix, rows = np.zeros((m, n)), np.arange(m)
    for step, weight in ((-1, far(x + 1)), (0, near(x)), (1, near(1 - x)), (2, far(2 - x))):
        place = np.clip(low + step, 0, n - 1)
        if method.half_pixel_centers:
            weight = np.where(place == low + step, weight, 0)
        np.add.at(matrix, (rows, place), weight)
    return matrix / matrix.sum(1, keepdims=True) if method.half_pixel_centers else matrix


def _area(n: int, m: int, scale: float) -> Array:
    """The share of each element in the interval that a new one covers; what is beyond the end counts as the last."""
    begin = np.arange(m) * scale
    first = np.floor(begin).astype(int)
    matrix, rows = np.zeros((m, n)), np.arange(m)
    for step in range(int(np.ceil(scale)) + 2):
        element = first + step
        covered = np.minimum(element + 1, begin + scale) - np.maximum(element, begin)
        np.add.at(matrix, (rows, np.clip(element, 0, n - 1)), np.maximum(covered, 0) / scale)
    return matrix
