"""Errors of functions, in units: the last place of the exact result, or what the last place of the input changes in it.

The larger of the two: a function that is steep cannot be told its argument any better.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import mpmath as mp
import numpy as np

import pullback as pb

from .functions import Array, Exact, Function

DIGITS = 60


class Missed(NamedTuple):
    """The largest error of a region in units, that in last places of the result, and where the first is."""

    units: float
    places: float
    at: float


def measured(
    function: Function, dtype: str, engines: list[str], every: int = 1, orders: int = 3
) -> dict[str, dict[str, list[Missed]]]:
    """For each engine and region how much the value and so many derivatives miss, at each point of `every`."""
    found: dict[str, dict[str, list[Missed]]] = {engine: {} for engine in engines}
    points = {name: usable(xs, dtype)[::every] for name, xs in function.regions.items()}
    together = np.concatenate(list(points.values()))
    exact = [scales(f, together, dtype) for f in function.exacts[:orders]]
    for engine in engines:
        values = computed(function, together, engine)[:orders]
        start = 0
        for name, xs in points.items():
            part = slice(start, start + len(xs))
            start += len(xs)
            if len(xs):
                found[engine][name] = [worst(y[part], scale[part], xs) for y, scale in zip(values, exact, strict=True)]
    return found


def usable(xs: Array, dtype: str) -> Array:
    """Points in that dtype without those that are rounded to a pole, or are denormal: XLA takes these for zeros."""
    with np.errstate(all="ignore"):
        rounded = xs.astype(dtype)
    normal = np.isfinite(rounded) & (np.abs(rounded) >= ml_dtypes.finfo(dtype).tiny)
    return np.unique(rounded[normal & ((rounded == xs) | (rounded != np.rint(rounded)) | (np.abs(xs) > 100))])


def computed(function: Function, xs: Array, engine: str) -> list[Array]:
    """The values and both derivatives on an engine."""
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(xs.dtype, [None])
        y = function.build(x)
        (dx,) = pb.gradients(y, x)
        fetches = [y, dx, *pb.gradients(dx, x, unconnected_gradients="zero")]
    with np.errstate(all="ignore"), pb.Session(graph=graph, engine=engine) as session:
        return [np.asarray(a) for a in session.run(fetches, {x: xs})]


def scales(exact: Exact, xs: Array, dtype: str) -> list[tuple[Any, Any, Any]]:
    """For each point the exact result, its last place, and what the last place of the point changes in it."""
    info, found = ml_dtypes.finfo(dtype), []
    eps = mp.mpf(float(info.eps))
    with mp.workdps(DIGITS):
        for x in map(float, xs):
            y, *near = [mp.mpmathify(exact(mp.mpf(x) * (1 + side * eps))) for side in (0, 1, -1)]
            y, moved = y.real, max([abs(z.real - y.real) for z in near if not z.imag] or [mp.mpf(0)])
            exponent = int(mp.floor(mp.log(abs(y), 2))) if y and mp.isfinite(y) else -2000
            place = max(mp.ldexp(1, exponent), float(info.tiny)) * eps
            found.append((y, place, moved))
    return found


_LOST = 8
"""Results up to so many times the smallest normal number may be 0: XLA takes denormal numbers in between for 0."""


def worst(values: Array, exact: list[tuple[Any, Any, Any]], xs: Array) -> Missed:
    """The largest errors of values."""
    info = ml_dtypes.finfo(values.dtype)
    units, places = [], []
    for value, (y, place, moved) in zip(map(float, values), exact, strict=True):
        if not abs(y) <= float(info.max):
            error = 0.0 if abs(value) >= float(info.max) else mp.inf
        elif not np.isfinite(value):
            error = mp.inf
        else:
            error = 0.0 if abs(y) < _LOST * float(info.tiny) and value == 0 else abs(mp.mpf(value) - y)
        units.append(float(error / max(place, moved)))
        places.append(float(error / place))
    return Missed(max(units), max(places), float(xs[int(np.argmax(units))]))
