"""Elementwise functions and their derivatives miss the exact values by no more than their rows say."""

from __future__ import annotations

import pytest

from .complexes import COMPLEX, ComplexFunction, missed
from .elementary import ELEMENTARY
from .functions import Function
from .measuring import measured
from .more import ACTIVATIONS, ARGUMENTS, DISTRIBUTIONS
from .special import BESSEL, SPECIAL

FUNCTIONS = {**ELEMENTARY, **ACTIVATIONS, **ARGUMENTS, **SPECIAL, **BESSEL, **DISTRIBUTIONS}
MENDED = ("acosh", "sinh", "erfinv", "digamma", "expint")
"""Where XLA's, or jax's, own formulas lose digits."""


def check(
    function: Function, dtype: str, engines: list[str], every: int = 1, orders: int = 3, factor: float = 1.0
) -> None:
    for engine, regions in measured(function, dtype, engines, every, orders).items():
        for name, errors in regions.items():
            for what, error, bound in zip(
                ("value", "derivative", "second derivative"), errors, function.bounds, strict=False
            ):
                assert error.units <= factor * bound, (
                    f"{engine}: {name}: {what} at {error.at!r}: {error.units:.3g} units"
                )


def check_complex(function: ComplexFunction, dtype: str, engine: str, every: int = 1) -> None:
    for region, errors in missed(function, dtype, engine, every).items():
        assert all(error <= bound for error, bound in zip(errors, function.within, strict=True)), (region, errors)


@pytest.mark.parametrize("name", {**ELEMENTARY, **ACTIVATIONS, **SPECIAL, **BESSEL})
def test_numpy_at_some_points(name: str) -> None:
    check(FUNCTIONS[name], "float64", ["numpy"], every=16, orders=2)


@pytest.mark.parametrize("name", MENDED)
def test_xla_at_some_points(name: str) -> None:
    check(FUNCTIONS[name], "float64", ["xla"], every=4, orders=2)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_engines_at_all_points(name: str, dtype: str) -> None:
    check(FUNCTIONS[name], dtype, ["numpy", "xla"])


@pytest.mark.parametrize("name", ["expm1", "fresnel_sin", "lgamma"])
def test_16_bits_at_some_points(name: str) -> None:
    check(FUNCTIONS[name], "float16", ["numpy"], every=4, orders=2, factor=2)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_16_bits_at_all_points(name: str, dtype: str) -> None:
    check(FUNCTIONS[name], dtype, ["numpy", "xla"], orders=2, factor=2)


@pytest.mark.parametrize(("name", "engine"), [("log1p", "numpy"), ("sinh", "xla"), ("cosh", "xla")])
def test_complex_functions_at_some_points(name: str, engine: str) -> None:
    check_complex(COMPLEX[name], "complex128", engine, every=4)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions_at_all_points(name: str, engine: str, dtype: str) -> None:
    check_complex(COMPLEX[name], dtype, engine)
