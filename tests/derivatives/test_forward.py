"""Forward derivatives: what is asked beside a result, so that cotangents cancel, changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

from ..cases.case import Case
from ..cases.table import building, differentiable, each, rows, weights_like

OF_TWO = [pb.math.xlogy, pb.math.xlog1py, pb.math.xdivy, pb.math.divide_no_nan, pb.math.multiply_no_nan]


def forward(ys: list[Any], xs: Any, vs: Any) -> list[pb.Tensor]:
    """The forward derivatives of `ys` beside those of `-ys`."""
    return pb.jvp([*ys, *[-y for y in ys]], xs, vs)[: len(ys)]


@pytest.mark.parametrize("function", OF_TWO, ids=lambda f: f.__name__)
def test_cotangents_that_cancel_hide_nothing(function: Callable[..., Any]) -> None:
    a, b = pb.constant([0.5, 2.0], pb.float64), pb.constant([3.0, 0.25], pb.float64)
    y, v = function(a, b), [np.array([1.0, -2.0]), np.array([0.5, 1.0])]
    found, expected = pb.Session(engine="numpy").run([forward([y], [a, b], v), pb.jacobian(y, [a, b])])
    np.testing.assert_allclose(found[0], expected[0] @ v[0] + expected[1] @ v[1], rtol=1e-12)


@pytest.mark.parametrize("function", OF_TWO[:3], ids=lambda f: f.__name__)
def test_a_hidden_pole_stays_hidden_in_second_derivatives(function: Callable[..., Any]) -> None:
    x, y = pb.constant([0.0, 2.0]), pb.constant([0.0 if function is not pb.math.xlog1py else -1.0, 0.5])
    first = pb.gradients(function(x, y), [x, y])
    second = [pb.gradients(dx, [x, y], unconnected_gradients="zero") for dx in first]
    for derivative in pb.Session(engine="numpy").run([*first, *second[0], *second[1]]):
        assert derivative[0] == 0
        assert np.isfinite(derivative[1])


def test_a_logit_of_minus_infinity_counts_for_nothing_where_cotangents_cancel() -> None:
    x = pb.constant([[1.0, 2.0, 0.5]])
    y = pb.gather(pb.nn.log_softmax(x + np.array([0.0, -np.inf, 0.0])), [0, 2], axis=1)
    v = np.array([[1.0, -1.0, 2.0]], np.float32)
    found, expected = pb.Session(engine="numpy").run([forward([y], x, [v])[0], pb.jvp(y, x, [v])[0]])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.slow
@each(rows("not_on_numpy", "not_differentiable", "not_second_order", "not_exact", "slow"))
def test_forward_derivatives_of_all_rows_are_those_of_gradients(case: Case) -> None:
    with building(case) as built:
        ys = [y for y in differentiable(built.ys) if y.dtype.kind in "fc"]
        xs = [built.xs[i] for i in case.differentiated()]
        if not ys or not xs:
            return
        weights = weights_like(built.run(ys), 1)
        directions = weights_like([built.arrays[i] for i in case.differentiated()], 2)
        with pb.densify_policy("allow"):
            dxs = pb.gradients(ys, xs, weights, unconnected_gradients="zero")
            dys = forward(ys, xs, directions)
        pulled, pushed = built.run([[pb.convert_to_tensor(dx) for dx in dxs], dys])
        reverse, forwards = _inner(pulled, directions), _inner(pushed, weights)
        if np.isfinite(np.sum(reverse)):
            scale = max(np.sum(np.abs(reverse)), np.sum(np.abs(forwards)), 1e-3)
            assert abs(np.sum(reverse) - np.sum(forwards)) < 1e-7 * scale


def _inner(xs: Any, ys: Any) -> np.ndarray[Any, Any]:
    return np.array([np.real(np.sum(np.conj(x) * y)) for x, y in zip(xs, ys, strict=True)])
