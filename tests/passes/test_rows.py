"""Every row of the case table and its derivative, made lean and optimised: the same values, no more operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from ml_dtypes import finfo

from pullback.core.dtypes import INEXACT
from pullback.core.function import Function, inline
from pullback.passes.fold import fold
from pullback.passes.merge import merge
from pullback.passes.optimizing import Optimizing
from pullback.passes.prune import prune
from pullback.passes.ruleset import rules_of
from tests.cases.case import Case
from tests.cases.table import building, differentiable, differentiate, each, rows

from .functions import size


def _values_of(case: Case, change: Callable[[Function], Function]) -> Iterator[tuple[Any, Any]]:
    """Values and derivatives of a row, plain and as `change` leaves its function, which has no more operations."""
    with building(case) as built:
        results = list(built.ys)
        if not case.not_differentiable:
            results += differentiate(built, differentiable(built.ys), seed=0)
        handles = [op.outputs[0] for op in built.graph.operations if op.type == "VarHandleOp"]
        parameters = (*built.xs, *handles)
        function = Function(built.graph, parameters, tuple(results), "row")
        changed = change(function)
        again = inline(changed, parameters)
        values, found = built.run(results), built.run(again)
    assert size(changed) <= size(function)
    return zip(map(np.asarray, values), map(np.asarray, found), strict=True)


@each(rows("not_on_numpy", "not_exact"))
def test_a_function_that_was_made_lean_gives_the_same(case: Case) -> None:
    _compare_to_the_last_bit(case, lambda f: prune(merge(fold(f))))


@pytest.mark.slow
@each(rows("not_on_numpy", "not_exact"))
def test_an_exact_optimisation_gives_the_same_to_the_last_bit(case: Case) -> None:
    _compare_to_the_last_bit(case, Optimizing(rules_of("exact")).function)


@each(rows("not_on_numpy", "not_exact"))
def test_a_safe_optimisation_gives_the_same(case: Case) -> None:
    _compare(case, Optimizing(rules_of("safe")).function)


@pytest.mark.slow
@each(rows("not_on_numpy", "not_exact"))
def test_a_fast_optimisation_gives_the_same(case: Case) -> None:
    _compare(case, Optimizing(rules_of("fast")).function)


def _compare_to_the_last_bit(case: Case, change: Callable[[Function], Function]) -> None:
    for x, y in _values_of(case, change):
        assert (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())


def _compare(case: Case, change: Callable[[Function], Function]) -> None:
    for x, y in _values_of(case, change):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if x.dtype in INEXACT:
            rounding = 100 * float(finfo(x.dtype).eps)
            np.testing.assert_allclose(y.astype(complex), x.astype(complex), rtol=rounding, atol=rounding)
        else:
            np.testing.assert_array_equal(y, x)
