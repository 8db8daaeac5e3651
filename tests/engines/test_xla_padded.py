"""Derivatives of bounded loops on XLA, which keep more rows than there are steps, of which some count none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.control_flow.while_loop import while_rows

pytest.importorskip("jax")

_STEPS: dict[str, Any] = {
    "products": lambda i, y, x: pb.tanh(pb.linalg.matvec(np.arange(9.0).reshape(3, 3) / 10.0, y) + x),
    "one_row": lambda i, y, x: pb.sin(y) * pb.gather(x, i),
    "rows": lambda i, y, x: pb.sin(y) * pb.reduce_sum(pb.gather(x, [0, 1])),
    "branch": lambda i, y, x: pb.cond(y[0] > 0.2, lambda: pb.sin(y) * x, lambda: y * y),
}


@pytest.mark.parametrize(
    "what", ["products", "rows", *[pytest.param(name, marks=pytest.mark.slow) for name in ("one_row", "branch")]]
)
def test_derivatives_of_jacobians_hessians_and_histories(what: str) -> None:
    x, n = pb.placeholder(pb.float64, [3]), pb.placeholder(pb.int32, [])
    step = _STEPS[what]
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, step(i, y, x)), (0, x), maximum_iterations=9)[1]
    rows = pb.history(y)
    (slope,) = pb.gradients(pb.cos(rows) * rows, x)
    wholes = [pb.jacobian(y, x), pb.hessians(y, x)[0], slope]
    fetches = [*wholes, *[pb.gradients(z, x)[0] for z in wholes]]
    found, expected = [pb.Session(engine=e).run(fetches, {x: [0.3, 0.4, 0.5], n: 3}) for e in ("xla", "numpy")]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_a_seed_for_rows_of_a_loop_has_as_many_rows_as_the_run_makes() -> None:
    x, n, seed = pb.placeholder(pb.float64, [2]), pb.placeholder(pb.int32, []), pb.placeholder(pb.float64, [None, 2])
    rows = pb.TensorArray(pb.float64, size=0, dynamic_size=True, element_shape=[2])
    _, _, rows = pb.while_loop(
        lambda i, y, rows: i < n,
        lambda i, y, rows: (i + 1, y * pb.sin(y), rows.write(i, y * y)),
        [0, x, rows],
        maximum_iterations=5,
    )
    (dx,) = pb.gradients(rows.stack(), x, grad_ys=seed)
    fed = {x: [0.5, 0.7], n: 3, seed: np.arange(6.0).reshape(3, 2)}
    found, expected = [pb.Session(engine=engine).run(dx, fed) for engine in ("xla", "numpy")]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def _steps(n: pb.Tensor, x: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
    """What a loop of so many steps makes of `x` in each of them, [steps, 2, 3], and the places of the greatest."""
    rows = while_rows(
        lambda i, y: i < n, lambda i, y: ([i + 1, pb.sin(y) * 1.1], (y, pb.argmax(y, 1))), [0, x], maximum_iterations=5
    )[1]
    return rows


@pytest.mark.parametrize("steps", [3, 5])
def test_rows_may_lie_along_another_axis(steps: int) -> None:
    x, n = pb.placeholder(pb.float64, [2, 3]), pb.placeholder(pb.int32, [])
    values, places = _steps(n, x)
    turned, weights = pb.transpose(values, [1, 0, 2]), pb.constant([[[2.0]], [[3.0]]], pb.float64)
    scaled = turned * weights + pb.constant([1.0, 2.0, 3.0], pb.float64)
    total = pb.reduce_sum(pb.tanh(scaled))
    fetches = [
        turned,
        pb.transpose(places),
        scaled,
        pb.transpose(turned, [0, 2, 1]),
        pb.transpose(scaled, [1, 2, 0]),
        pb.reduce_sum(scaled * scaled, 1),
        total,
        *pb.gradients(total, x),
    ]
    fed = {x: np.arange(6.0).reshape(2, 3) / 5, n: steps}
    found, expected = [pb.Session(engine=engine).run(fetches, fed) for engine in ("xla", "numpy")]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize(
    "count",
    [
        pb.reduce_mean,
        pb.nn.softmax,
        lambda y: y[:, 0],
        lambda y: pb.reshape(y, [-1, 3]),
        lambda y: pb.map_fn(pb.sin, y),
        lambda y: y * pb.ones([2, 3, 3], pb.float64),
        lambda y: pb.cond(y[0, 0, 0] > 0.0, lambda: y, lambda: -y),
    ],
)
def test_what_might_count_rows_along_another_axis_counts_those_that_were_made(count: Any) -> None:
    x, n = pb.placeholder(pb.float64, [2, 3]), pb.placeholder(pb.int32, [])
    turned = pb.transpose(_steps(n, x)[0], [1, 0, 2])
    y, feeds = count(turned), {x: np.ones([2, 3]), n: 3}
    with pytest.raises(pb.errors.InvalidArgumentError, match="XLA keeps zeros behind them"):
        pb.Session(engine="xla", mesh={"x": 1}).run(y, feeds)
    found, expected = [pb.Session(engine=e).run(y, feeds) for e in ("xla", "numpy")]
    np.testing.assert_allclose(found, expected)
