"""Linear algebra is backward stable: results solve a problem that is a few roundings away, at any condition number."""

from __future__ import annotations

from typing import Any

import pytest

from .linalg import PROBLEMS, missed

SIZES = (1, 2, 7, 40, 64, 65, 129, 200)
DTYPES = ("float32", "float64", "complex64", "complex128")
QUICK = {(40, "float32"), (129, "float64"), (7, "complex128")}
CONDITIONS = (1.0, 1e4, 1e8, 1e12)


def sizes_and_dtypes() -> list[Any]:
    """All pairs; those that are not quick are marked slow."""
    return [
        pytest.param(n, dtype, marks=[] if (n, dtype) in QUICK else [pytest.mark.slow], id=f"{dtype}-{n}")
        for n in SIZES
        for dtype in DTYPES
    ]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(("n", "dtype"), sizes_and_dtypes())
def test_results_miss_what_defines_them_by_rounding_only(n: int, dtype: str, engine: str) -> None:
    conditions = CONDITIONS[1::2] if (n, dtype) in QUICK else CONDITIONS
    found = missed(n, dtype, engine, conditions)
    assert not {
        (name, condition): units
        for name, by_condition in found.items()
        for condition, units in by_condition.items()
        if not units <= 20 * PROBLEMS[name].factor * max(n, 5) ** 0.5
    }
