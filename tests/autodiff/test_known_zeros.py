"""Known zeros: a derivative that is zero everywhere is zeros, and costs nothing where there are other terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

PIECEWISE_LINEAR = {
    "relu": pb.nn.relu,
    "relu6": pb.nn.relu6,
    "leaky_relu": pb.nn.leaky_relu,
    "max_pool": lambda x: pb.nn.max_pool(x, 2, 2, "VALID"),
    "abs": pb.abs,
}


@pytest.mark.parametrize("f", PIECEWISE_LINEAR.values(), ids=PIECEWISE_LINEAR)
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_second_derivative_of_what_is_linear_in_pieces_is_zeros(f: Callable[..., Any], engine: str) -> None:
    x = pb.placeholder(pb.float32, [None, 4, 4, 1])
    (dx,) = pb.gradients(f(x), x)
    (ddx,) = pb.gradients(dx, x)
    values = np.random.default_rng(0).normal(size=(2, 4, 4, 1))
    zeros = pb.Session(engine=engine).run(ddx, {x: values})
    assert zeros.shape == values.shape
    assert not zeros.any()


def test_zeros_go_on_to_what_stands_before() -> None:
    x, w = pb.placeholder(pb.float32, [2, 3]), pb.placeholder(pb.float32, [3, 4])
    product = pb.matmul(x, w)
    (dy,) = pb.gradients(pb.nn.relu(product), product)
    dx, dw = pb.gradients(dy, [x, w])
    found = pb.Session(engine="numpy").run([dx, dw], {x: np.ones((2, 3)), w: np.ones((3, 4))})
    assert [z.shape for z in found] == [(2, 3), (3, 4)]
    assert not any(z.any() for z in found)


def test_a_known_zero_adds_no_operation_to_a_derivative_that_is_there() -> None:
    x, w = pb.placeholder(pb.float32, [2, 3]), pb.placeholder(pb.float32, [3, 4])
    (dx,) = pb.gradients(pb.nn.relu(pb.matmul(x, w)), x)
    (dw,) = pb.gradients(dx, w)
    added = [op.type for op in dw.graph.operations if op.name.startswith("gradients_1/")]
    assert added == ["Const", "MatMul", "MatMul"]


def test_what_an_x_does_not_reach_stays_none() -> None:
    x, other = pb.placeholder(pb.float32, [2]), pb.placeholder(pb.float32, [2])
    (dx,) = pb.gradients(pb.nn.relu(pb.floor(x) * other), other)
    assert pb.gradients(dx, [x]) == [None]
    assert pb.gradients(pb.gradients(pb.nn.relu(x), x)[0], other) == [None]


def test_gates_leave_known_zeros_alone() -> None:
    x = pb.placeholder(pb.float32, [2])
    (dx,) = pb.gradients(pb.nn.relu(x), x)
    (ddx,) = pb.gradients(dx, x, gate_gradients=True)
    assert pb.Session(engine="numpy").run(ddx, {x: [1.0, -1.0]}).tolist() == [0.0, 0.0]


def test_known_zeros_stand_beside_other_terms() -> None:
    x = pb.placeholder(pb.float32, [2])
    (dx,) = pb.gradients(pb.nn.relu(x), x)
    (ddx,) = pb.gradients(dx * x, x)
    assert pb.Session(engine="numpy").run(ddx, {x: [1.0, -1.0]}).tolist() == [1.0, 0.0]
