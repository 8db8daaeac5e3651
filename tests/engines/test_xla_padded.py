"""Derivatives of bounded loops on XLA, which keep more rows than there are steps, of which some count none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

_STEPS: dict[str, Any] = {
    "products": lambda i, y, x: pb.tanh(pb.linalg.matvec(np.arange(9.0).reshape(3, 3) / 10.0, y) + x),
    "one_row": lambda i, y, x: pb.sin(y) * pb.gather(x, i),
    "rows": lambda i, y, x: pb.sin(y) * pb.reduce_sum(pb.gather(x, [0, 1])),
    "branch": lambda i, y, x: pb.cond(y[0] > 0.2, lambda: pb.sin(y) * x, lambda: y * y),
}


@pytest.mark.parametrize("what", _STEPS)
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
