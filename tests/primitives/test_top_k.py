"""The few largest of many elements on NumPy: those of a stable sort, equal ones and NaN among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

DTYPES = [pb.float32, pb.float16, pb.bfloat16, pb.float64, pb.int32, pb.uint8]


def expected(x: Any, k: int) -> Any:
    """The places of the largest, by Python: larger ones first, NaN above all, then earlier ones."""
    rows = x.reshape(-1, x.shape[-1]).astype(np.float64)
    keys = [sorted(range(len(row)), key=lambda i: (not np.isnan(row[i]), -row[i], i))[:k] for row in rows]
    return np.array(keys).reshape(*x.shape[:-1], k)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("k", [1, 5, 30, 31, 120])
@pytest.mark.parametrize("kinds", [3, 1000])
def test_the_largest_are_those_of_a_stable_sort(dtype: Any, k: int, kinds: int) -> None:
    x = np.random.default_rng(k).integers(0, min(kinds, 200), [2, 3, 120]).astype(dtype)
    values, places = pb.Session(engine="numpy").run(pb.math.top_k(x, k))
    np.testing.assert_array_equal(places, expected(x, k))
    np.testing.assert_array_equal(values, np.take_along_axis(x, places, -1))


def test_nan_and_infinities_are_among_the_largest() -> None:
    x = np.random.default_rng(0).normal(size=[4, 200]).astype(np.float32)
    x[0, [3, 50]], x[1, [60, 7]], x[2] = np.nan, np.inf, -np.inf
    places = pb.Session(engine="numpy").run(pb.math.top_k(x, 4).indices)
    np.testing.assert_array_equal(places[1:], expected(x, 4)[1:])
    assert places[0, :2].tolist() == [3, 50]


def test_no_rows_and_no_elements() -> None:
    empty, none = pb.math.top_k(np.zeros([0, 100], np.float32), 3), pb.math.top_k(np.zeros([2, 100], np.float32), 0)
    shapes = [y.shape for y in pb.Session(engine="numpy").run([*empty, *none])]
    assert shapes == [(0, 3), (0, 3), (2, 0), (2, 0)]
