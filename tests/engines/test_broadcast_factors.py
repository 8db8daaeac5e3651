"""Products on XLA with a second factor that YNNPACK broadcasts itself: it gives memory that nobody has written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

from pullback.engines.xla.broadcast_factors import has_broadcast_factor
from pullback.engines.xla.program import Program

X = np.random.default_rng(0).normal(size=(300, 24)).astype(np.float32)


def by_rows(x: Any) -> Any:
    return x * pb.reduce_sum(x, 1, keepdims=True)


def of_gram(x: Any) -> Any:
    rows = pb.vectorized_map(lambda row: pb.tanh(row) * pb.reduce_sum(row), x)
    return pb.gradients(pb.reduce_sum(pb.matmul(rows, rows, transpose_a=True)) * 1e-4, x)[0]


def same(x: Any) -> Any:
    return pb.fill([24, 24], pb.reduce_sum(x))


def in_loop(x: Any) -> Any:
    numbers = pb.fill([24, 24], pb.reduce_max(x) * 0.01)
    return pb.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, pb.tanh(pb.matmul(by_rows(y), numbers))], [0, x])[1]


def of_loop(x: Any) -> Any:
    return pb.matmul(x, pb.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y * 1.0], [0, same(x)])[1])


def of_branch(x: Any) -> Any:
    return pb.matmul(x, pb.cond(pb.constant(True), lambda: same(x), lambda: pb.zeros([24, 24])))


def of_map(x: Any) -> Any:
    return pb.matmul(x, pb.vectorized_map(lambda i: pb.fill([24], pb.reduce_sum(x)), pb.range(24)))


def of_rule(x: Any) -> Any:
    return pb.matmul(x, pb.custom_gradient(lambda a: (same(a), lambda dy: a * pb.reduce_sum(dy)))(x))


PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "a sum": lambda x: pb.matmul(x, pb.fill([24, 24], pb.reduce_sum(x))),
    "a largest element": lambda x: pb.matmul(x, pb.fill([24, 24], pb.reduce_max(x))),
    "ones": lambda x: pb.matmul(by_rows(x), pb.ones([24, 24])),
    "a constant": lambda x: pb.matmul(by_rows(x), pb.constant(np.full((24, 3), 0.1, np.float32))),
    "a transpose": lambda x: pb.matmul(by_rows(x), pb.fill([7, 24], pb.reduce_sum(x)), transpose_b=True),
    "a stack": lambda x: pb.matmul(pb.reshape(x, [3, 100, 24]), pb.fill([3, 24, 24], pb.reduce_sum(x))),
    "an einsum": lambda x: pb.einsum("ij,jk->ik", by_rows(x), pb.zeros([24, 5]) + 2.0),
    "a column": lambda x: pb.matmul(x[:24], pb.reduce_sum(x, 0)[:, None] * pb.ones([24, 30])),
    "joined columns": lambda x: pb.matmul(x[:24], pb.stack([pb.reduce_sum(x, 0)] * 30, 1)),
    "scattered": lambda x: pb.matmul(
        x, pb.scatter_nd([[0]], [pb.reduce_sum(x) * pb.ones([24])], [1, 24]) * pb.ones([24, 1])
    ),
    "a function": lambda x: pb.function(lambda a, b: pb.matmul(by_rows(a), b))(x, pb.fill([24, 24], 0.3)),
    "what a function gives": lambda x: pb.matmul(x, pb.function(same)(x)),
    "what is computed again": lambda x: pb.matmul(x, pb.recompute_grad(same)(x)),
    "a filter": lambda x: pb.nn.conv2d(
        pb.reshape(x, [1, 30, 10, 24]), pb.fill([3, 3, 24, 24], pb.reduce_sum(x)), 1, "SAME"
    ),
    "a rule": of_rule,
    "a Gram matrix": of_gram,
    "a loop": in_loop,
    "what a loop gives": of_loop,
    "a branch": of_branch,
    "a map": of_map,
}


def agree(y: pb.Tensor, feeds: dict[pb.Tensor, Any]) -> None:
    expected = pb.Session(engine="numpy").run(y, feeds)
    session = pb.Session(engine="xla", compile_effort="fast")
    for _ in range(3):
        left = [np.full((300, 24), np.nan, np.float32) for _ in range(30)]
        del left
        np.testing.assert_allclose(session.run(y, feeds), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@pytest.mark.usefixtures("optimized_programs")
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_equal_numbers_are_those_of_numpy(name: str) -> None:
    x = pb.placeholder(pb.float32, [300, 24])
    agree(PRODUCTS[name](x), {x: X})


@pytest.mark.usefixtures("optimized_programs")
@pytest.mark.parametrize(("shape", "fed"), [([None, None], [[0.3]]), (None, 0.3)], ids=["lengths", "rank"])
def test_of_what_only_a_run_knows_to_be_one_number(shape: Any, fed: Any) -> None:
    x, number = pb.placeholder(pb.float32, [300, 24]), pb.placeholder(pb.float32, shape)
    agree(pb.matmul(by_rows(x), number * pb.ones([24, 24])), {x: X, number: np.array(fed, np.float32)})


@pytest.mark.usefixtures("optimized_programs")
def test_of_some_of_the_lengths_that_a_program_is_given() -> None:
    x, factor = pb.placeholder(pb.float32, [300, 24]), pb.placeholder(pb.float32, [None, 24])
    y = pb.matmul(by_rows(x), factor * pb.ones([24, 24]))
    session, expected = pb.Session(engine="xla"), pb.Session(engine="numpy")
    for rows in (24, 1, 24):
        feeds = {x: X, factor: X[:rows, :1] * np.ones((1, 24), np.float32)}
        found, right = session.run(y, feeds), expected.run(y, feeds)
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4 * np.abs(right).max())


@pytest.mark.usefixtures("optimized_programs")
def test_of_a_step_of_training() -> None:
    x = pb.placeholder(pb.float32, [300, 24])
    weights = pb.Variable(X[:24])
    y = pb.matmul(x, weights * pb.function(same)(x))
    product = pb.matmul(x, pb.function(same)(x))
    step = weights.assign_sub(1e-3 * pb.tanh(pb.matmul(product[:24], pb.ones([24, 24])) + y[:24]))
    values = []
    for engine in ("numpy", "xla"):
        with pb.Session(engine=engine) as session:
            session.run(weights.initializer)
            for _ in range(3):
                session.run(step, {x: X})
            values.append(session.run(weights))
    np.testing.assert_allclose(values[1], values[0], rtol=1e-5, atol=1e-5)


OTHERS: dict[str, Callable[[Any], Any]] = {
    "other numbers": lambda x: pb.matmul(by_rows(x), pb.constant(X[:24])),
    "the first factor": lambda x: pb.matmul(pb.fill([8, 24], pb.reduce_sum(x)), pb.transpose(x)),
    "no product": lambda x: x * pb.fill([300, 24], pb.reduce_sum(x)),
    "two numbers": lambda x: pb.matmul(by_rows(x), pb.concat([pb.ones([24, 8]), pb.zeros([24, 2])], 1)),
}


def with_library(y: pb.Tensor, x: pb.Tensor, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the program that computes `y` is one that YNNPACK may have a part in."""
    made: list[Program] = []
    start = Program._start_first

    def noted(self: Program, *args: Any) -> None:
        made.append(self)
        start(self, *args)

    monkeypatch.setattr(Program, "_start_first", noted)
    pb.Session(engine="xla").run(y, {x: X})
    return made[0].with_ynnpack


@pytest.mark.usefixtures("optimized_programs")
@pytest.mark.parametrize("name", OTHERS)
def test_other_programs_keep_their_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = pb.placeholder(pb.float32, [300, 24])
    assert with_library(OTHERS[name](x), x, monkeypatch)


FUSION = """
%fused (param_0: f32[300,24], param_1: f32[24,24]) -> f32[300,24] {
  %param_0 = f32[300,24]{1,0} parameter(0)
  %param_1 = f32[24,24]{1,0} parameter(1)
  %sum.2 = f32[] reduce(%param_0, %zero.1), dimensions={0,1}, to_apply=%region_0.1
  %all.3 = f32[24,24]{1,0} broadcast(%sum.2), dimensions={}
  %turned.4 = f32[24,24]{1,0} bitcast(%all.3)
  %scaled.5 = f32[24,24]{1,0} multiply(%param_1, %all.3)
  ROOT %dot.6 = f32[300,24]{1,0} dot(%param_0, %FACTOR), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

ENTRY %main (x.1: f32[300,24], y.1: f32[24,24]) -> f32[300,24] {
  %x.1 = f32[300,24]{1,0} parameter(0)
  %y.1 = f32[24,24]{1,0} parameter(1)
  ROOT %fusion = f32[300,24]{1,0} fusion(%x.1, %y.1), kind=kCustom, calls=%fused, backend_config={"kind":"CALLED"}
}
"""


@pytest.mark.parametrize(
    ("factor", "called", "found"),
    [
        ("all.3", "__ynn_fusion", True),
        ("turned.4", "__ynn_fusion", True),
        ("scaled.5", "__ynn_fusion", False),
        ("param_1", "__ynn_fusion", False),
        ("all.3", "__xnn_fusion", False),
    ],
)
def test_it_is_found_in_the_text_of_a_program(factor: str, called: str, found: bool) -> None:
    assert has_broadcast_factor(FUSION.replace("FACTOR", factor).replace("CALLED", called)) == found
