"""Narrow matrices of many rows on XLA: which steps compute transposes, and that they compute the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

from pullback.engines.plan import make_plan
from pullback.engines.xla.column_major import ColumnMajor

ROWS = (1, 255, 256, 1000)


def normals(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def perceptron(x: pb.Tensor, *widths: int) -> tuple[pb.Tensor, list[pb.Tensor]]:
    weights = []
    for i, (m, n) in enumerate(pairwise(widths)):
        w, b = pb.constant(normals(i, m, n) / np.float32(m) ** 0.5), pb.constant(normals(-i % 7, n))
        x = pb.add(pb.matmul(x, w), b)
        x = pb.tanh(x) if i < len(widths) - 2 else x
        weights += [w, b]
    return x, weights


def chosen(results: list[pb.Tensor], feeds: list[pb.Tensor]) -> list[str]:
    """The types of the operations whose steps compute transposes."""
    plan = make_plan(results, [], feeds)
    steps = ColumnMajor(plan).steps
    return [step.op.type for step in plan.steps if set(step.outputs) & steps]


def test_all_of_a_narrow_perceptron() -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    y, weights = perceptron(x, 2, 20, 20, 20, 1)
    results = [y, *pb.gradients(pb.reduce_sum(y * y), weights)]
    found = chosen(results, [x])
    assert found.count("MatMul") == 11
    assert found.count("Tanh") == found.count("TanhGrad") == 3
    assert found.count("Sum") == 4


@pytest.mark.parametrize("width", [16, 32, 40, 64, 200])
def test_nothing_of_widths_that_are_no_slower_by_rows(width: int) -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    y, weights = perceptron(x, 2, width, width, width, 1)
    assert chosen([y, *pb.gradients(pb.reduce_sum(y * y), weights)], [x]) == []


@pytest.mark.parametrize("dtype", [pb.float64, pb.bfloat16])
def test_nothing_of_other_dtypes(dtype: Any) -> None:
    x = pb.placeholder(dtype, [None, 20])
    w = pb.ones([20, 20], dtype)
    assert chosen([pb.reduce_sum(pb.tanh(pb.matmul(pb.tanh(pb.matmul(x, w)), w)))], [x]) == []


def test_nothing_of_few_rows() -> None:
    x = pb.placeholder(pb.float32, [100, 2])
    y, weights = perceptron(x, 2, 20, 20, 20, 1)
    assert chosen([y, *pb.gradients(pb.reduce_sum(y * y), weights)], [x]) == []


def test_nothing_where_as_much_would_be_transposed() -> None:
    x = pb.placeholder(pb.float32, [None, 20])
    w = pb.ones([20, 20])
    assert chosen([pb.nn.softmax(pb.matmul(x, w)) @ w], [x]) == []


def test_what_reads_shapes_only_costs_nothing() -> None:
    x = pb.placeholder(pb.float32, [None, 1])
    y, _ = perceptron(x, 1, 20, 20, 20, 1)
    with_likes = [y, *[pb.ones_like(op.outputs[0]) for op in y.graph.get_operations() if op.type == "Tanh"]]
    assert chosen(with_likes, [x]).count("MatMul") == 4


def masked(x: pb.Tensor) -> pb.Tensor:
    h = pb.matmul(x, pb.constant(normals(1, 3, 20)))
    h = pb.where(h > 0.2, h * pb.constant(normals(2, 1, 20)), pb.zeros_like(h) - 0.5)
    h = pb.matmul(h, pb.constant(normals(3, 20, 20))) * pb.reduce_sum(x, 1, keepdims=True) + pb.constant(normals(4, 20))
    h = pb.nn.bias_add(pb.matmul(h, pb.constant(normals(6, 20, 20)), transpose_b=True), pb.constant(normals(5, 20)))
    return pb.tanh(h / 5.0)


def reduced(x: pb.Tensor) -> pb.Tensor:
    h = masked(x)
    rows, columns = pb.reduce_max(h, 1), pb.reduce_sum(h, 0)
    return pb.matmul(h, h, transpose_a=True) + columns + pb.reduce_mean(h) * pb.reduce_sum(rows)


def read_by_others(x: pb.Tensor) -> pb.Tensor:
    h, _ = perceptron(masked(x), 20, 20, 20, 20, 20, 20)
    return pb.concat([pb.nn.softmax(h), pb.matmul(h, pb.constant(normals(6, 20, 5)))], 1)


def looped(x: pb.Tensor) -> pb.Tensor:
    w = pb.constant(normals(7, 20, 20) / np.float32(5))
    return pb.while_loop(
        lambda i, h: i < 3,
        lambda i, h: (i + 1, pb.tanh(pb.matmul(pb.tanh(pb.matmul(pb.tanh(pb.matmul(h, w)), w)), w)) + h),
        [0, masked(x)],
        maximum_iterations=3,
    )[1]


def branched(x: pb.Tensor) -> pb.Tensor:
    h = masked(x)
    return pb.cond(pb.reduce_sum(h) > 0, lambda: perceptron(h, 20, 20, 20)[0], lambda: perceptron(-h, 20, 20, 20)[0])


def guarded(x: pb.Tensor) -> pb.Tensor:
    """A sum of constants that XLA would add up beforehand."""
    h = masked(x)
    h = pb.matmul(h * h, pb.constant(normals(9, 20, 20))) * 0.0 + 1.0
    return pb.math.log((1.0 - h) + 1e-8) + pb.matmul(h, pb.constant(normals(8, 20, 20)))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("program", [masked, reduced, read_by_others, looped, branched, guarded])
def test_the_values_and_two_derivatives_are_those_of_numpy(
    program: Callable[[pb.Tensor], pb.Tensor], rows: int
) -> None:
    x = pb.placeholder(pb.float32, [None, 3])
    y = program(x)
    (dx,) = pb.gradients(pb.reduce_sum(y * pb.cos(y)), x)
    (ddx,) = pb.gradients(pb.reduce_sum(dx * x), x)
    assert chosen([y, dx, ddx], [x])
    given = {x: normals(rows, rows, 3)}
    found = pb.Session(engine="xla").run([y, dx, ddx], given)
    for expected, value in zip(pb.Session(engine="numpy").run([y, dx, ddx], given), found, strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-3, atol=2e-4 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("rows", ROWS)
def test_training_is_that_of_numpy(rows: int) -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    variables = [pb.Variable(normals(i, *shape) / 3) for i, shape in enumerate([(2, 20), (20,), (20, 20), (20, 1)])]
    w, b, u, v = variables
    (slope,) = pb.gradients(pb.matmul(pb.tanh(pb.matmul(pb.tanh(pb.matmul(x, w) + b), u)), v), x)
    loss = pb.reduce_mean(pb.square(slope - 1.0))
    train = pb.train.AdamOptimizer(0.01).minimize(loss)
    losses = []
    for engine in ("numpy", "xla"):
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        losses.append([session.run([loss, train], {x: normals(1, rows, 2)})[0] for _ in range(5)])
    np.testing.assert_allclose(losses[1], losses[0], rtol=2e-5)


def test_what_nobody_reads_is_no_such_step() -> None:
    x = pb.placeholder(pb.float32, [None, 20])
    y, _ = perceptron(x, 20, 20, 20, 20, 20, 20)
    largest, _ = pb.math.top_k(y, 3)
    last = pb.sin(y)
    plan = make_plan([largest], [last.op], [x])
    steps = ColumnMajor(plan).steps
    assert steps
    assert all(len(step.outputs) == 1 for step in plan.steps if steps & set(step.outputs))
    given = {x: normals(1, 500, 20)}
    (expected, _), (found, _) = (
        pb.Session(engine=engine).run([largest, last.op], given) for engine in ("numpy", "xla")
    )
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_infinities_are_found_in_the_operation_that_makes_them() -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    y, _ = perceptron(x, 2, 20, 20, 20, 1)
    session = pb.Session(engine="xla", check_numerics=True)
    given = normals(0, 500, 2)
    given[3, 1] = np.inf
    with pytest.raises(pb.errors.InvalidArgumentError, match="MatMul"):
        session.run(y, {x: given})
