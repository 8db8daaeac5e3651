"""Functions of several arguments, and of one far out: float32, and XLA, agree with SciPy's float64 over wide grids.

Rows of `special` look closely at a few parameters; here are the others, from where series are long to where logarithms
of gamma cancel. Every argument is rounded to float32 first, so that SciPy is given the same one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import pullback as pb

from .functions import Array

S = pb.math.special
SIZES = [1e-6, 0.01, 0.07, 0.3, 1.0, 2.5, 30.0, 300.0, 3e4]
FRACTIONS = [1e-20, 1e-5, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999]
PARTS = [1e-20, 1e-5, 0.01, 0.3, 0.9, 0.99, 1.0, 1.01, 1.1, 2.0, 20.0]


class Grid(NamedTuple):
    """A function, its arguments, and by how many units float32, and float64 on XLA, may miss."""

    build: Callable[..., Any]
    arguments: Sequence[Array]
    within: Callable[..., Any] = lambda *_: 64.0
    wide: Callable[..., Any] = lambda *_: 256.0
    of_slopes: Callable[..., Any] = lambda *_: 0.0
    """By how many more the derivatives may, in float64 on XLA."""


def products(*lists: Sequence[float]) -> list[Array]:
    return list(np.array(list(itertools.product(*lists))).T)


def beside_means() -> list[Array]:
    """a, b and x, some of these few deviations from the mean."""
    a, b, x = products(SIZES, SIZES, FRACTIONS)
    p, q, steps = products(SIZES, SIZES, [-3.0, -1.0, 0.0, 1.0, 3.0])
    near = np.clip(p / (p + q) * (1 + steps / np.sqrt(p + q)), 1e-12, 1 - 1e-6)
    return [np.concatenate(pair) for pair in ((a, p), (b, q), (x, near))]


def multiples() -> list[Array]:
    a, part = products([*SIZES, 1e6], PARTS)
    return [a, a * part]


LINE = np.concatenate(
    [sign * np.geomspace(least, most, 400) for sign, least, most in ((1, 1e-30, 700), (-1, 1e-30, 80))]
)
GRIDS = {
    "betainc": Grid(
        pb.math.betainc,
        beside_means(),
        wide=lambda a, b, x: 8000.0 + 16 * (a + b),
        of_slopes=lambda a, b, x: 64 * (a + b) / np.minimum(a, b),  # Digammas of a + b and of b differ by so little.
    ),
    "igamma": Grid(pb.math.igamma, multiples(), wide=lambda a, x: 400.0 + 16 * a),
    "igammac": Grid(pb.math.igammac, multiples(), wide=lambda a, x: 400.0 + 16 * a),
    "zeta": Grid(pb.math.zeta, products([1.01, 1.5, 3.0, 10.0, 30.0], [0.1, 0.5, 1.0, 7.5, 50.0, 1e3, 1e6])),
    "polygamma": Grid(pb.math.polygamma, products([1.0, 2.0, 5.0, 10.0], [0.1, 0.5, 1.0, 7.5, 50.0, 1e3, 1e6])),
    **{
        name: Grid(build, [LINE])
        for name, build in (("erfcx", S.erfcx), ("expint", S.expint), ("dawsn", S.dawsn), ("ndtr", S.ndtr))
    },
    **{name: Grid(getattr(S, name), [np.abs(LINE)]) for name in ("bessel_i0", "bessel_i1", "bessel_k0", "bessel_k1")},
}


def computed(grid: Grid, arrays: Sequence[Array], engine: str, orders: int) -> list[Array]:
    """The values, and with two `orders` the derivatives by all arguments, as float64."""
    with pb.Graph().as_default() as graph:
        xs = [pb.placeholder(array.dtype, [None]) for array in arrays]
        y = grid.build(*xs)
        fetches = [y, *[dx for dx in (pb.gradients(y, xs) if orders > 1 else []) if dx is not None]]
    with np.errstate(all="ignore"), pb.Session(graph=graph, engine=engine) as session:
        found = session.run(fetches, dict(zip(xs, arrays, strict=True)))
    return [np.asarray(y, np.float64) for y in found]


def check(name: str, dtype: type[Any], engine: str, orders: int = 2) -> None:
    grid, info = GRIDS[name], np.finfo(dtype)
    rounded = [x.astype(np.float32) for x in grid.arguments]
    given = [x.astype(np.float64) for x in rounded]
    found = computed(grid, [x.astype(dtype) for x in rounded], engine, orders)
    exact = computed(grid, given, "numpy", orders)
    moved = [np.zeros_like(y) for y in exact]
    with np.errstate(all="ignore"):
        for i, side in itertools.product(range(len(given)), (1, -1)):
            nudged = [x * (1 + side * float(info.eps)) if i == k else x for k, x in enumerate(given)]
            near = computed(grid, nudged, "numpy", orders)
            moved = [np.fmax(m, np.abs(z - y)) for m, z, y in zip(moved, near, exact, strict=True)]
        bound = (grid.within if dtype is np.float32 else grid.wide)(*given)
        for k, (y, z, m) in enumerate(zip(found, exact, moved, strict=True)):
            units = np.abs(y - z) / np.maximum(np.maximum(np.abs(z), float(info.tiny)) * float(info.eps), m)
            if k and dtype is np.float64:
                bound = bound + grid.of_slopes(*given)
            said = (np.abs(z) > 1e4 * float(info.tiny)) & (np.abs(z) < float(info.max)) & np.isfinite(m)
            wrong = said & ~(units <= bound)  # XLA takes denormal numbers, of terms too, for zeros.
            at = [tuple(float(x[i]) for x in given) for i in np.flatnonzero(wrong)[:5]]
            assert not at, f"output {k} at {at}: {y[wrong][:5]}, exact {z[wrong][:5]}, {units[wrong][:5]} units"


@pytest.mark.parametrize("name", GRIDS)
def test_values_in_float32_over_a_wide_grid(name: str) -> None:
    check(name, np.float32, "numpy", 1)


@pytest.mark.parametrize("name", ["betainc", "erfcx", "expint"])
def test_values_in_float32_on_xla_over_a_wide_grid(name: str) -> None:
    check(name, np.float32, "xla", 1)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", GRIDS)
def test_values_and_derivatives_in_float32_over_a_wide_grid(name: str, engine: str) -> None:
    check(name, np.float32, engine)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRIDS)
def test_xla_in_float64_over_a_wide_grid(name: str) -> None:
    check(name, np.float64, "xla")
