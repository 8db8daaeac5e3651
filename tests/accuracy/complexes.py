"""Functions of complex numbers beside their exact values, on both sides of their branch cuts too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np

import pullback as pb

from .functions import Array, Exact, between, sized, slope_of
from .measuring import DIGITS


class ComplexFunction(NamedTuple):
    """A function as pullback builds it, its value by mpmath, and the regions where to look."""

    build: Any
    exact: Exact
    regions: Mapping[str, Array]
    within: tuple[float, float] = (8.0, 16.0)
    """By how many units the value and the derivative may miss."""


def turned(sizes: Array) -> Array:
    """Numbers of these sizes in all directions, none along an axis."""
    return sizes * np.exp(1j * (0.3 + 2.4 * np.arange(len(sizes))))


def beside_cut(along: complex, start: float) -> Array:
    """Numbers beyond `start` in a direction, a little to the left and to the right of it."""
    sizes = start + sized(1e-3, 1e3, count=6)
    return np.concatenate([along * sizes + side * 1j * along * 1e-20 for side in (1, -1)])


ORDINARY = {"ordinary": turned(between(0.05, 3, 24)), "tiny": turned(sized(1e-12, 1e-3, count=12))}
LARGE = {"large": turned(sized(3, 1e8, count=12))}
AXES = {"near the axes": np.concatenate([beside_cut(a, 0.0) for a in (1, -1, 1j, -1j)])}
STEEP = {"near the real axis": np.concatenate([between(-20, 20, 12) + side * 1e-20j for side in (1, -1)])}


def on_real_cuts(start: float) -> dict[str, Array]:
    return {"beside the cuts": np.concatenate([beside_cut(1, start), beside_cut(-1, start)])}


def on_imaginary_cuts(start: float) -> dict[str, Array]:
    return {"beside the cuts": np.concatenate([beside_cut(1j, start), beside_cut(-1j, start)])}


NEGATIVE = {"beside the cut": beside_cut(-1, 0.0)}
COMPLEX = {
    "exp": ComplexFunction(pb.exp, mp.exp, {**ORDINARY, **STEEP}),
    "expm1": ComplexFunction(pb.expm1, mp.expm1, {**ORDINARY, **STEEP}),
    "log": ComplexFunction(pb.log, mp.log, {**ORDINARY, **LARGE, **NEGATIVE}),
    "log1p": ComplexFunction(pb.log1p, mp.log1p, {**ORDINARY, **LARGE, "beside the cut": beside_cut(-1, 1.0)}),
    "sqrt": ComplexFunction(pb.sqrt, mp.sqrt, {**ORDINARY, **LARGE, **NEGATIVE}),
    "rsqrt": ComplexFunction(pb.rsqrt, lambda z: 1 / mp.sqrt(z), {**ORDINARY, **LARGE, **NEGATIVE}),
    "reciprocal": ComplexFunction(pb.math.reciprocal, lambda z: 1 / z, {**ORDINARY, **LARGE, **AXES}),
    "square": ComplexFunction(pb.square, lambda z: z * z, {**ORDINARY, **LARGE, **AXES}),
    "pow": ComplexFunction(
        lambda z: pb.pow(z, pb.ones_like(z) * 2.5), lambda z: z ** mp.mpf(2.5), {**ORDINARY, **NEGATIVE}, (32.0, 64.0)
    ),
    "tanh": ComplexFunction(pb.tanh, mp.tanh, {**ORDINARY, **STEEP}, (8.0, float("inf"))),
    "sigmoid": ComplexFunction(pb.sigmoid, lambda z: 1 / (1 + mp.exp(-z)), {**ORDINARY}),
    **{
        name: ComplexFunction(getattr(pb, name), getattr(mp, name), {**ORDINARY, **STEEP})
        for name in ("sin", "cos", "tan", "sinh", "cosh")
    },
    **{
        name: ComplexFunction(getattr(pb, name), getattr(mp, name), {**ORDINARY, **LARGE, **cuts})
        for name, cuts in {
            "asin": on_real_cuts(1.0),
            "acos": on_real_cuts(1.0),
            "atan": on_imaginary_cuts(1.0),
            "asinh": on_imaginary_cuts(1.0),
            "acosh": on_real_cuts(1.0),
            "atanh": on_real_cuts(1.0),
        }.items()
    },
}


def missed(function: ComplexFunction, dtype: str, engine: str, every: int = 1) -> dict[str, tuple[float, float]]:
    """For each region by how many units, and those of the larger part, the value and the derivative miss."""
    points = {name: zs.astype(dtype)[::every] for name, zs in function.regions.items()}
    together = np.concatenate(list(points.values()))
    with pb.Graph().as_default() as graph:
        z = pb.placeholder(dtype, [None])
        w = function.build(z)
        (dz,) = pb.gradients(w, z, pb.ones_like(w))
    with np.errstate(all="ignore"), pb.Session(graph=graph, engine=engine) as session:
        values, slopes = session.run([w, dz], {z: together})
    slope = slope_of(function.exact)
    errors = np.array(
        [errors_at(function.exact, slope, *at) for at in zip(together, values, np.conj(slopes), strict=True)]
    )
    found, start = {}, 0
    for name, zs in points.items():
        part = errors[start : start + len(zs)]
        start += len(zs)
        found[name] = (float(part[:, 0].max()), float(part[:, 1].max()))
    return found


def errors_at(exact: Exact, slope: Exact, z: Any, value: Any, derivative: Any) -> tuple[float, float]:
    """Errors in units: the last place of the size of the exact result, or what that of the number changes in it."""
    eps = float(np.finfo(z.dtype).eps)
    errors = []
    with mp.workdps(DIGITS):
        for f, computed in ((exact, value), (slope, derivative)):
            y = mp.mpc(f(mp.mpc(complex(z))))
            moved = max(abs(f(mp.mpc(complex(z)) * (1 + eps * turn)) - y) for turn in (1, -1))
            unit = eps * max(abs(y), float(np.finfo(z.dtype).tiny) / eps)
            errors.append(float(abs(mp.mpc(complex(computed)) - y) / max(unit, moved)))
    return errors[0], errors[1]
