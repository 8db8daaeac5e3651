"""Every row of the case table and its derivative, folded, merged and pruned: the same values, no more operations."""

from __future__ import annotations

import numpy as np
import pytest

from pullback.core.function import Function, inline
from pullback.passes.fold import fold
from pullback.passes.merge import merge
from pullback.passes.prune import prune
from tests.cases.case import Case
from tests.cases.table import building, differentiable, differentiate, rows

from .functions import size


@pytest.mark.parametrize("case", rows("not_on_numpy", "not_exact"))
def test_a_function_that_was_made_lean_gives_the_same(case: Case) -> None:
    with building(case) as built:
        results = list(built.ys)
        if not case.not_differentiable:
            results += differentiate(built, differentiable(built.ys), seed=0)
        handles = [op.outputs[0] for op in built.graph.operations if op.type == "VarHandleOp"]
        parameters = (*built.xs, *handles)
        function = Function(built.graph, parameters, tuple(results), "row")
        lean = prune(merge(fold(function)))
        again = inline(lean, parameters)
        values, found = built.run(results), built.run(again)
    assert size(lean) <= size(function)
    for a, b in zip(values, found, strict=True):
        x, y = np.asarray(a), np.asarray(b)
        assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
