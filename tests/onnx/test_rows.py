"""Every row of the case table as an exported model: values and first derivatives on onnxruntime are those of NumPy.

Each tenth row, and all of loops, branches and functions, are among the quick tests. What cannot be is data in the row,
`not_onnx`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cases.case import Case
from tests.cases.table import building, differentiable, differentiate, families
from tests.test_cases import assert_close

pytest.importorskip("onnxruntime")
WHOLE = {"control_flow", "functions", "maps", "tensor_array", "variables"}
"""The families of which all rows are among the quick tests."""
LOOSEST = 6e-5
"""The tolerance of what is computed in float32 by other kernels than NumPy's."""


def quick_or_slow(fields: tuple[str, ...], *, every: int) -> list[Any]:
    """The rows that give no reason under `fields`; of most families all but some are marked slow."""
    found = []
    for family, cases in families().items():
        kept = [case for case in cases if not any(getattr(case, field) for field in fields)]
        for i, case in enumerate(kept):
            quick = not case.slow and (family in WHOLE or i % every == 0)
            marks = [] if quick else [pytest.mark.slow]
            found.append(pytest.param(case, id=f"{family}-{case.name}", marks=marks))
    return found


def compare(case: Case, order: int) -> None:
    """The values of a row and its derivatives up to `order`, on onnxruntime and on NumPy."""
    with building(case, dtype=np.float32) as built:
        fetches = list(built.ys)
        if not case.not_differentiable and case.differentiated():
            last = differentiable(built.ys)
            for seed in range(1, order + 1):
                last = differentiate(built, last, seed)
                fetches += last
        found, expected = built.run(fetches, "onnxruntime"), built.run(fetches)
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert np.asarray(a).dtype == fetches[i].dtype
            if not (order == 2 and _is_noise(a) and _is_noise(b)):
                assert_close(a, b, max(3 * case.float32_tolerance, LOOSEST), f"fetch {i}: {fetches[i]}")


def _is_noise(x: Any) -> bool:
    """Whether large terms have cancelled: the second derivative is zero."""
    return np.asarray(x).dtype.kind in "fc" and bool(np.abs(x).max(initial=0.0) < 1e-5)


@pytest.mark.parametrize("case", quick_or_slow(("not_onnx", "not_on_numpy", "not_float32", "not_exact"), every=10))
def test_onnxruntime_agrees_with_numpy(case: Case) -> None:
    compare(case, 1)


@pytest.mark.parametrize(
    "case",
    quick_or_slow(
        ("not_onnx", "not_on_numpy", "not_float32", "not_exact", "not_second_order", "not_differentiable"), every=40
    ),
)
def test_second_derivatives_on_onnxruntime_are_those_of_numpy(case: Case) -> None:
    compare(case, 2)


def drawn_at_random() -> list[Any]:
    """The rows whose values cannot be compared."""
    kept = quick_or_slow(("not_onnx", "not_on_numpy", "not_float32"), every=4)
    return [row for row in kept if row.values[0].not_exact]


@pytest.mark.parametrize("case", drawn_at_random())
def test_what_is_drawn_at_random_has_the_right_types(case: Case) -> None:
    with building(case, dtype=np.float32) as built:
        for y, value in zip(built.ys, built.run(built.ys, "onnxruntime"), strict=True):
            assert np.asarray(value).dtype == y.dtype
            assert y.shape.is_compatible_with(np.shape(value))
