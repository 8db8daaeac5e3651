"""Every row of the case table at hard points: in onnxruntime, and when its model is read again, it is what it was.

Values, first and second derivatives. What is other there says so in the row, `other_at_hard_points`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.dtypes import COMPLEX
from tests.cases.case import Case
from tests.cases.table import Built, building
from tests.hard_points import Arrays, assert_same, cotangents, hard_rows, keeps_state, with_derivatives

pytest.importorskip("onnxruntime")
FLOAT64, FLOAT32 = 3e-6, 3e-4
"""Tolerances; onnxruntime convolves in float32."""
IN_ITS_OWN_WAY = {
    "convolution": "infinities meet zeros beyond the edge, or do not",
    "image": "it is resized and convolved",
    "linalg": "what is eliminated first decides which elements are NaN",
    "pooling": "the runtime skips NaN in windows",
    "signal": "infinities are added up in another order",
    "sorting": "infinities and NaN are in another order",
}
"""The families that onnxruntime does not compute as NumPy does where numbers are infinite or NaN."""


def check_read_again(case: Case, dtype: Any, tolerance: float) -> None:
    with building(case, dtype=dtype) as built:
        ys = [pb.identity(y) for y in built.ys]
        if keeps_state(built) or any(x.dtype in COMPLEX for x in (*ys, *built.xs)):
            return
        xs = [built.xs[i] for i in case.differentiated()]
        seeds = cotangents(case, dtype)
        expected = with_derivatives(ys, xs, seeds)
        names = [f"y{i}" for i in range(len(ys))]
        model = pb.onnx.export(dict(zip(names, ys, strict=True)), {x.op.name: x for x in built.xs})
        graph = pb.onnx.load(model)
        again = with_derivatives([graph[name] for name in names], [graph[x.op.name] for x in xs], seeds)
        with pb.Session(graph=graph, engine="numpy") as session:
            assert_same(built, expected, lambda arrays: session.run(again, _fed(graph, built, arrays)), tolerance)


def _fed(graph: Any, built: Built, arrays: Arrays) -> dict[Any, Any]:
    return {graph[x.op.name]: array for x, array in zip(built.xs, arrays, strict=True)}


def check_onnxruntime(case: Case, dtype: Any, tolerance: float) -> None:
    with building(case, dtype=dtype) as built:
        if keeps_state(built):
            return
        xs = [built.xs[i] for i in case.differentiated()]
        expected = with_derivatives(built.ys, xs, cotangents(case, dtype))
        with pb.Session(graph=built.graph, engine="onnxruntime") as session:
            assert_same(
                built,
                expected,
                lambda arrays: session.run(expected, dict(zip(built.xs, arrays, strict=True))),
                tolerance,
            )


def check_each(cases: list[Case], check: Any, dtype: Any, tolerance: float) -> None:
    for case in cases:
        try:
            check(case, dtype, tolerance)
        except BaseException as error:
            error.add_note(f"in the row {case}")
            raise


@pytest.mark.parametrize("cases", hard_rows("onnx", "not_onnx", every=4))
def test_what_is_read_again_has_the_derivatives_that_were_there(cases: list[Case]) -> None:
    check_each(cases, check_read_again, np.float64, FLOAT64)


@pytest.mark.slow
@pytest.mark.parametrize("cases", hard_rows("onnx", "not_onnx", "not_float32"))
def test_what_is_read_again_has_them_in_float32(cases: list[Case]) -> None:
    check_each(cases, check_read_again, np.float32, FLOAT32)


@pytest.mark.parametrize("cases", hard_rows("onnxruntime", "not_onnx", every=6, without=IN_ITS_OWN_WAY))
def test_onnxruntime_gives_what_numpy_gives(cases: list[Case]) -> None:
    check_each(cases, check_onnxruntime, np.float64, FLOAT64)


@pytest.mark.slow
@pytest.mark.parametrize("cases", hard_rows("onnxruntime", "not_onnx", "not_float32", without=IN_ITS_OWN_WAY))
def test_onnxruntime_gives_it_in_float32(cases: list[Case]) -> None:
    check_each(cases, check_onnxruntime, np.float32, FLOAT32)
