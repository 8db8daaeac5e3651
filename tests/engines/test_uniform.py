"""Products with matrices of equal numbers on XLA: beside a sum, YNNPACK gives memory that nobody has written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

from pullback.engines.plan import make_plan
from pullback.engines.xla.uniform import has_uniform_factor

X = np.random.default_rng(0).normal(size=(300, 24)).astype(np.float32)


def by_rows(x: Any) -> Any:
    return x * pb.reduce_sum(x, 1, keepdims=True)


def of_gram(x: Any) -> Any:
    rows = pb.vectorized_map(lambda row: pb.tanh(row) * pb.reduce_sum(row), x)
    return pb.gradients(pb.reduce_sum(pb.matmul(rows, rows, transpose_a=True)) * 1e-4, x)[0]


def in_loop(x: Any) -> Any:
    same = pb.fill([24, 24], pb.reduce_max(x) * 0.01)
    return pb.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, pb.tanh(pb.matmul(by_rows(y), same))], [0, x])[1]


PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "a sum": lambda x: pb.matmul(x, pb.fill([24, 24], pb.reduce_sum(x))),
    "a largest element": lambda x: pb.matmul(x, pb.fill([24, 24], pb.reduce_max(x))),
    "ones": lambda x: pb.matmul(by_rows(x), pb.ones([24, 24])),
    "a constant": lambda x: pb.matmul(by_rows(x), pb.constant(np.full((24, 3), 0.1, np.float32))),
    "a transpose": lambda x: pb.matmul(by_rows(x), pb.fill([7, 24], pb.reduce_sum(x)), transpose_b=True),
    "a stack": lambda x: pb.matmul(pb.reshape(x, [3, 100, 24]), pb.fill([3, 24, 24], pb.reduce_sum(x))),
    "an einsum": lambda x: pb.einsum("ij,jk->ik", by_rows(x), pb.zeros([24, 5]) + 2.0),
    "a function": lambda x: pb.function(lambda a, b: pb.matmul(by_rows(a), b))(x, pb.fill([24, 24], 0.3)),
    "a Gram matrix": of_gram,
    "a loop": in_loop,
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_equal_numbers_are_those_of_numpy(name: str) -> None:
    x = pb.placeholder(pb.float32, [300, 24])
    y = PRODUCTS[name](x)
    assert has_uniform_factor(make_plan([y], [], [x]))
    expected = pb.Session(engine="numpy").run(y, {x: X})
    session = pb.Session(engine="xla", compile_effort="fast")
    for _ in range(3):
        left = [np.full((300, 24), np.nan, np.float32) for _ in range(30)]
        del left
        np.testing.assert_allclose(session.run(y, {x: X}), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(
    "build",
    [
        lambda x: pb.matmul(x, pb.constant(X[:24])),
        lambda x: pb.matmul(pb.zeros([8, 24]), pb.transpose(x)),
        lambda x: pb.matmul(by_rows(x), pb.ones([24, 1])),
        lambda x: pb.gradients(
            pb.gradients(pb.matmul(x, X[:24] * 1.0)[:, 0], x)[0][:, 0], x, unconnected_gradients="zero"
        )[0],
        lambda x: pb.matmul(x, pb.concat([pb.ones([24, 8]), pb.zeros([24, 2])], 1)),
        lambda x: pb.matmul(x, pb.pad(pb.ones([20, 24]), [[2, 2], [0, 0]])),
        lambda x: x * pb.fill([300, 24], pb.reduce_sum(x)),
        lambda x: pb.foldl(lambda h, row: pb.tanh(pb.matmul(X[:24, :24], h) + row[:, None]), x, pb.zeros([24, 1])),
    ],
    ids=[
        "other numbers",
        "the first factor",
        "a vector",
        "a slice",
        "two numbers",
        "a border",
        "no product",
        "a first state",
    ],
)
def test_other_programs_keep_their_library(build: Callable[[Any], Any]) -> None:
    x = pb.placeholder(pb.float32, [300, 24])
    assert not has_uniform_factor(make_plan([build(x)], [], [x]))


def test_what_is_joined_of_equal_numbers_is_uniform() -> None:
    x = pb.placeholder(pb.float32, [300, 24])
    number = pb.reduce_sum(x)
    joined = pb.concat([2.0 * pb.fill([24, n], number) for n in (8, 2)], 1)
    first, second = pb.identity_n([joined, number])
    assert has_uniform_factor(make_plan([pb.matmul(x, first) * second], [], [x]))
