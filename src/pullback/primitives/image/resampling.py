"""Resampling matrices: linear maps that change the length of an axis, by the coordinates of interchange formats.

A place of the result is a point between places of the input; its value is a weighted mean of those around.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Resampling(NamedTuple):
    """How values are found: `mode` is nearest, linear or cubic."""

    mode: str
    coordinates: str = "half_pixel"
    rounding: str = "round_prefer_floor"
    """Which of two places is the nearest."""
    slope: float = -0.75
    """The slope of the cubic where it is zero first."""
    antialias: bool = False
    """Whether the weights reach further where the length shrinks, so that every place counts."""
    exclude_outside: bool = False
    """Whether places outside have no weight; they count as the outermost ones otherwise."""


COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)


def points(how: Resampling, n: int, m: int, scale: float, start: float, end: float) -> Array:
    """The point of each of `m` places among the `n` of the input; `m` is about `scale * n`.

    Corners are those of the `m` places that there are, as in onnxruntime and torch: the gradient of a model must be
    that of what they compute.
    """
    y, kind = np.arange(m, dtype=np.float64), how.coordinates
    if kind == "asymmetric":
        return y / scale
    if kind == "align_corners":
        return np.zeros(m) if m == 1 else y * (n - 1) / (m - 1)
    if kind == "tf_crop_and_resize":
        step = (end - start) * (n - 1)
        return start * (n - 1) + (np.full(m, step / 2) if m == 1 else y * step / (m - 1))
    if kind == "pytorch_half_pixel" and m == 1:
        return np.full(m, -0.5)
    shift = n / 2 * (1 - m / (scale * n)) if kind == "half_pixel_symmetric" else 0.0
    return shift + (y + 0.5) / scale - 0.5


def taps(how: Resampling, n: int, m: int, scale: float, start: float = 0.0, end: float = 1.0) -> tuple[Array, Array]:
    """For each place of the result the places of the input that count, and their weights, both [m, taps].

    The weights are zero where a crop reaches outside.
    """
    x = points(how, n, m, scale, start, end)
    shrink = min(scale, 1.0) if how.antialias else 1.0
    reach = 1 if how.mode == "linear" else 2
    first = math.floor(-reach / shrink) + 1
    columns = np.floor(x).astype(np.int64)[:, None] + np.arange(first, 2 - first)
    distance = np.abs(columns - x[:, None]) * shrink
    numbers = np.clip(1 - distance, 0, 1) if reach == 1 else _cubic(distance, how.slope)
    if how.antialias:
        numbers /= numbers.sum(1, keepdims=True)
    if how.exclude_outside:
        numbers = np.where((columns < 0) | (columns >= n), 0.0, numbers)
        total = numbers.sum(1, keepdims=True)
        numbers /= np.where(total == 0, 1.0, total)
    if how.coordinates == "tf_crop_and_resize":
        numbers[(x < 0) | (x > n - 1)] = 0
    return np.clip(columns, 0, max(n - 1, 0)), numbers


def _cubic(distance: Array, a: float) -> Array:
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def matrix(how: Resampling, n: int, m: int, scale: float, start: float = 0.0, end: float = 1.0) -> Array:
    """The same as a matrix [m, n]."""
    columns, numbers = taps(how, n, m, scale, start, end)
    result = np.zeros((m, n))
    np.add.at(result, (np.arange(m)[:, None], columns), numbers)
    return result


def nearest(how: Resampling, n: int, m: int, scale: float, start: float = 0.0, end: float = 1.0) -> Array:
    """The nearest place for each place of the result; -1 where a crop reaches outside."""
    x = points(how, n, m, scale, start, end)
    rounded = {
        "round_prefer_floor": np.ceil(x - 0.5),
        "round_prefer_ceil": np.floor(x + 0.5),
        "floor": np.floor(x),
        "ceil": np.ceil(x),
    }[how.rounding]
    places = np.clip(rounded, 0, max(n - 1, 0)).astype(np.int64)
    outside = (x < 0) | (x > n - 1)
    return np.where(outside, -1, places) if how.coordinates == "tf_crop_and_resize" else places
