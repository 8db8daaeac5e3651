"""What a row says cannot be exported is refused with the documented error: no model of it computes something else."""

from __future__ import annotations

import pytest

import pullback as pb
from tests.cases.case import DRAWN_THERE, Case
from tests.cases.table import building, families

pytest.importorskip("onnx")
REFUSED = [
    pytest.param(case, id=f"{family}-{case.name}")
    for family, cases in families().items()
    for case in cases
    if case.not_onnx not in ("", DRAWN_THERE)
]


@pytest.mark.parametrize("case", REFUSED)
def test_rows_that_are_not_exported_are_refused(case: Case) -> None:
    with building(case) as built, pytest.raises(pb.errors.UnimplementedError):
        pb.onnx.export(built.ys, built.xs)
