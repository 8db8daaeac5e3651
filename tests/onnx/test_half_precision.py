"""16-bit floats on onnxruntime: what runs along an axis is kept in float32; NaN stays NaN, beside infinities too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from tests.programs.differences import distance

pytest.importorskip("onnxruntime")
LARGE = np.array([60000.0, 60.0, 1e-3, 1e-4, 0.5] * 20)
NANS = np.concatenate([[np.inf], np.linspace(-3, 3, 70), [np.nan], np.linspace(-3, 3, 300)])


def on_both(f: Callable[[Any], Any], array: Any, dtype: Any) -> list[Any]:
    x = pb.placeholder(dtype, array.shape)
    y = f(x)
    return [pb.Session(engine=engine).run(y, {x: array.astype(dtype)}) for engine in ("onnxruntime", "numpy")]


@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16])
@pytest.mark.parametrize("f", [pb.cumprod, pb.cumsum, pb.math.cumulative_logsumexp, pb.reduce_prod])
def test_running_results_are_rounded_once(f: Callable[[Any], Any], dtype: Any) -> None:
    found, expected = on_both(f, LARGE, dtype)
    assert distance(found, expected) < 1e-2


@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16, pb.float32, pb.float64])
@pytest.mark.parametrize("f", [pb.sign, pb.nn.log_softmax, pb.nn.softmax, pb.reduce_max])
def test_nan_is_not_lost(f: Callable[[Any], Any], dtype: Any) -> None:
    for array in (NANS, NANS[1:]):
        found, expected = on_both(f, array, dtype)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
