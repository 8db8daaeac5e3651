"""Elementwise functions and their derivatives miss the exact values by no more than their rows say."""

from __future__ import annotations

import pytest

from .elementary import ELEMENTARY
from .functions import Function
from .measuring import measured
from .special import BESSEL, SPECIAL

FUNCTIONS = {**ELEMENTARY, **SPECIAL, **BESSEL}
MENDED = ("acosh", "sinh", "erfinv", "digamma", "expint")
"""Where XLA's, or jax's, own formulas lose digits."""


def check(function: Function, dtype: str, engines: list[str], every: int = 1) -> None:
    for engine, regions in measured(function, dtype, engines, every).items():
        for name, errors in regions.items():
            for what, error, bound in zip(("value", "derivative"), errors, function.within, strict=True):
                assert error.units <= bound, f"{engine}: {name}: {what} at {error.at!r}: {error.units:.3g} units"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpy_at_some_points(name: str) -> None:
    check(FUNCTIONS[name], "float64", ["numpy"], every=16)


@pytest.mark.parametrize("name", MENDED)
def test_xla_at_some_points(name: str) -> None:
    check(FUNCTIONS[name], "float64", ["xla"], every=4)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_engines_at_all_points(name: str, dtype: str) -> None:
    check(FUNCTIONS[name], dtype, ["numpy", "xla"])
