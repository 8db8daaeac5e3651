"""Rows of the case table without static lengths: what can be written is right, and what cannot is said to be so.

Nothing is silently wrong. How many rows of each family cannot be written is data: it may only become less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb
from tests.cases.case import Case
from tests.cases.table import building, differentiable, differentiate, erased_lengths, families
from tests.test_cases import assert_close

pytest.importorskip("onnxruntime")
LOOSEST = 6e-5
NOTHING_TO_COMPUTE = "onnxruntime has no kernel for windows over no elements"
NO_STEPS = "a loop of no steps cannot know how long its rows would be"
EXCEPTIONS = {
    "signal-fft_of_no_elements": "the angles of a transform of no elements are a division by zero",
    "control_flow-map_fn_no_rows": NO_STEPS,
    "control_flow-scan_no_rows": NO_STEPS,
    "pooling-max_pool_no_rows": NOTHING_TO_COMPUTE,
    "pooling-avg_pool_no_rows": NOTHING_TO_COMPUTE,
    "pooling-avg_pool_no_images": NOTHING_TO_COMPUTE,
}
"""Rows that are written, and that onnxruntime does not run as NumPy does; all of them have no elements."""
NOT_WRITTEN = {
    "casting": 1,
    "control_flow": 1,
    "convolution": 66,
    "cumulative": 1,
    "image": 53,
    "indexing": 3,
    "linalg": 176,
    "logic": 2,
    "losses": 7,
    "normalization": 1,
    "pooling": 3,
    "quantization": 3,
    "random": 9,
    "reduction": 7,
    "segment": 8,
    "shape": 3,
    "signal": 42,
    "sorting": 9,
    "sparse": 1,
    "special": 26,
}
"""Of each family how many rows that is: most take matrices apart, are complex, or have filters of unknown size."""


def _rows(family: str) -> Sequence[Case]:
    """The rows of a family that can be compared and have inputs whose lengths can be unknown."""
    fields = ("not_onnx", "not_on_numpy", "not_float32", "not_exact", "not_erased")
    return [case for case in families()[family] if case.inputs and not any(getattr(case, f) for f in fields)]


def _is_written(case: Case) -> bool:
    """Whether the row and its first derivative can be written; they are compared with NumPy then."""
    with building(case, erased_lengths, np.float32) as built:
        fetches: list[Any] = list(built.ys)
        if not case.not_differentiable and case.differentiated():
            fetches += differentiate(built, differentiable(built.ys), 1)
        expected = built.run(fetches)
        try:
            found = built.run(fetches, "onnxruntime")
        except pb.errors.UnimplementedError as error:
            if not str(error).startswith("onnx.export: these operations cannot be written:\n"):
                raise
            return False
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert_close(a, b, max(3 * case.float32_tolerance, LOOSEST), f"fetch {i}: {fetches[i]}")
    return True


@pytest.mark.parametrize("family", families())
def test_a_sample_of_rows_without_static_lengths_is_right_or_refused(family: str) -> None:
    for case in _rows(family)[::20]:
        if f"{family}-{case.name}" not in EXCEPTIONS and not case.slow:
            _is_written(case)


@pytest.mark.slow
@pytest.mark.parametrize("family", families())
def test_rows_without_static_lengths_are_right_or_refused(family: str) -> None:
    refused = 0
    for case in _rows(family):
        if f"{family}-{case.name}" not in EXCEPTIONS:
            refused += not _is_written(case)
    assert refused <= NOT_WRITTEN.get(family, 0)
