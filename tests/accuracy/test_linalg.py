"""Linear algebra is backward stable: results solve a problem that is a few roundings away, at any condition number."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from . import linalg_derivatives
from .linalg import PROBLEMS, missed

SIZES = (1, 2, 7, 40, 64, 65, 129, 200)
DTYPES = ("float32", "float64", "complex64", "complex128")
QUICK = {(40, "float32", "numpy"), (129, "float64", "numpy"), (7, "complex128", "numpy"), (7, "complex128", "xla")}
ENGINES = ("numpy", "xla")
CONDITIONS = (1.0, 1e4, 1e8, 1e12)


def sizes_dtypes_and_engines() -> list[Any]:
    """All of them; those that are not quick are marked slow."""
    return [
        pytest.param(*case, marks=[] if case in QUICK else [pytest.mark.slow], id=f"{case[1]}-{case[0]}-{case[2]}")
        for case in product(SIZES, DTYPES, ENGINES)
    ]


@pytest.mark.parametrize(("n", "dtype", "engine"), sizes_dtypes_and_engines())
def test_results_miss_what_defines_them_by_rounding_only(n: int, dtype: str, engine: str) -> None:
    conditions = CONDITIONS[1::2] if (n, dtype, engine) in QUICK else CONDITIONS
    found = missed(n, dtype, engine, conditions)
    assert not {
        (name, condition): units
        for name, by_condition in found.items()
        for condition, units in by_condition.items()
        if not units <= 20 * PROBLEMS[name].factor * max(n, 5) ** 0.5
    }


@pytest.mark.parametrize(
    ("n", "dtype", "engine"),
    [
        pytest.param(
            n, dtype, engine, marks=[] if (n, dtype, engine) == (7, "float64", "numpy") else [pytest.mark.slow]
        )
        for n, dtype, engine in product((2, 7, 20), ("float32", "float64"), ENGINES)
    ],
)
def test_derivatives_miss_the_exact_ones_by_the_condition_number(n: int, dtype: str, engine: str) -> None:
    found = linalg_derivatives.missed(n, dtype, [engine], linalg_derivatives.CONDITIONS)[engine]
    assert not {name: errors for name, errors in found.items() if not max(errors) <= 4}
