"""Lookups in while loops whose steps are counted: the derivative of the table is the slices of all steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

ROWS = np.random.default_rng(7).normal(size=(5, 2)).astype(np.float32)
IDS = np.array([0, 3, 3, 1, 4, 2], np.int32)
ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])


def energy(table: Any, ids: Any) -> pb.Tensor:
    return pb.reduce_sum(pb.square(pb.gather(table, ids)))


def counted(table: Any, ids: Any) -> pb.Tensor:
    return pb.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + energy(table, [ids[i], 1])), [0, 0.0])[1]


def downward(table: Any, ids: Any) -> pb.Tensor:
    return pb.while_loop(lambda i, s: i >= 0, lambda i, s: (i - 2, s * energy(table, ids[i])), [4, 1.0])[1]


def ended_by_its_values(table: Any, ids: Any) -> pb.Tensor:
    def going(i: pb.Tensor, s: pb.Tensor) -> pb.Tensor:
        return pb.logical_and(i < 6, s < 3.0)

    return pb.while_loop(going, lambda i, s: (i + 1, s + energy(table, ids[i])), [0, 0.0])[1]


def in_another(table: Any, ids: Any) -> pb.Tensor:
    def step(k: pb.Tensor, t: pb.Tensor) -> list[pb.Tensor]:
        inner = pb.while_loop(lambda i, s: i < 3, lambda i, s: (i + 2, s + energy(table, ids[i + k])), [0, 0.0])
        return [k + 1, t + inner[1] * inner[1]]

    return pb.while_loop(lambda k, t: k < 3, step, [0, 0.0])[1]


def of_no_step(table: Any, ids: Any) -> pb.Tensor:
    return pb.while_loop(lambda i, s: i < 0, lambda i, s: (i + 1, s * energy(table, ids[i])), [0, 1.0])[1]


LOOPS = (counted, downward, ended_by_its_values, in_another, of_no_step)


@ENGINES
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_slices_add_up_to_the_dense_derivative(loop: Callable[..., pb.Tensor], engine: str) -> None:
    table, ids = pb.placeholder(pb.float32, [5, 2]), pb.placeholder(pb.int32, [6])
    (slices,) = pb.gradients(loop(table, ids), table)
    (dense,) = pb.gradients(loop(table * 1.0, ids), table)
    assert isinstance(slices, pb.IndexedSlices)
    assert isinstance(dense, pb.Tensor)
    ddx = [pb.gradients(pb.reduce_sum(pb.convert_to_tensor(dx) ** 2), table)[0] for dx in (slices, dense)]
    fetches = [
        pb.convert_to_tensor(dx) for dx in (slices, dense, *[pb.zeros_like(table) if d is None else d for d in ddx])
    ]
    found = pb.Session(engine=engine).run(fetches, {table: ROWS, ids: IDS})
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[2], found[3], rtol=1e-4, atol=1e-5)


@ENGINES
def test_rows_of_steps_are_in_the_order_of_the_steps(engine: str) -> None:
    table, ids = pb.placeholder(pb.float32, [5, 2]), pb.placeholder(pb.int32, [6])
    (slices,) = pb.gradients(counted(table, ids), table)
    found = pb.Session(engine=engine).run(slices, {table: ROWS, ids: IDS})
    assert found.indices.tolist() == [0, 1, 3, 1, 3, 1, 1, 1]
    np.testing.assert_allclose(found.values, 2 * ROWS[found.indices], rtol=1e-6)


def test_where_only_a_run_knows_the_steps_the_derivative_is_dense() -> None:
    table, n = pb.placeholder(pb.float32, [5, 2]), pb.placeholder(pb.int32, [])
    _, y = pb.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + energy(table, i)), [0, 0.0])
    assert isinstance(pb.gradients(y, table)[0], pb.Tensor)


@ENGINES
def test_variables_are_trained_by_the_slices(engine: str) -> None:
    table = pb.Variable(ROWS)
    step = pb.train.GradientDescentOptimizer(0.5).minimize(counted(table, pb.constant(IDS)))
    session = pb.Session(engine=engine)
    session.run(table.initializer)
    session.run(step)
    times = np.bincount([0, 1, 3, 1, 3, 1, 1, 1], minlength=5)[:, None]
    np.testing.assert_allclose(session.run(table), ROWS - times * ROWS, rtol=1e-5, atol=1e-5)
