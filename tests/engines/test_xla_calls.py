"""Functions that are called many times in one program of XLA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

MANY = 70


class Noted(pb.Primitive):
    """y = x, which notes each time that its kernel is traced."""

    type = "NotedInCall"

    def infer(self, x: Any) -> Any:
        return (x,)

    def kernel(self, xp: Any, x: Any) -> Any:
        traced.append(x)
        return x

    def gradient(self, op: pb.Operation, dy: pb.Tensor) -> pb.Tensor:
        return dy


traced: list[Any] = []


def assert_agree(fetches: Any, feeds: Any) -> None:
    found, expected = [pb.Session(engine=engine).run(fetches, feeds) for engine in ("xla", "numpy")]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def chain(function: Any, x: Any, count: int = MANY) -> Any:
    for _ in range(count):
        x = function(x)
    return x


def test_function_that_is_called_often_is_not_traced_for_each_call() -> None:
    traced.clear()
    x = pb.placeholder(pb.float64, [3])
    y = chain(pb.function(lambda x: pb.sin(Noted()(x))), x)
    session = pb.Session(engine="xla")
    session.run(y, {x: [0.1, 0.2, 0.3]})
    assert len(traced) == 1
    session.run(pb.gradients(y, x), {x: [0.1, 0.2, 0.3]})
    assert len(traced) <= 8


def test_derivatives_through_many_calls() -> None:
    x = pb.placeholder(pb.float64, [3])
    y = chain(pb.function(lambda x: 1.1 * pb.sin(x) + 0.1 * pb.cos(x)), x)
    (dx,) = pb.gradients(y, x)
    assert_agree([y, dx, *pb.gradients(dx, x)], {x: [0.1, 0.2, 0.3]})


def test_many_calls_in_a_loop() -> None:
    x, n = pb.placeholder(pb.float64, [3]), pb.placeholder(pb.int32, [])
    step = pb.function(lambda x: 1.1 * pb.sin(x))
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, chain(step, y) + x), (0, x))[1]
    assert_agree([y, *pb.gradients(y, x)], {x: [0.1, 0.2, 0.3], n: 3})


def test_many_calls_that_call() -> None:
    x = pb.placeholder(pb.float64, [2, 2])
    inner = pb.function(lambda x: pb.tanh(x * x))
    y = chain(pb.function(lambda x: inner(inner(x)) + 0.5 * x), x)
    assert_agree([y, *pb.gradients(y, x)], {x: [[0.1, 0.2], [0.3, 0.4]]})


def test_arguments_of_several_types() -> None:
    f = pb.function(lambda x, y: x * pb.reduce_sum(y))
    wide, narrow = pb.placeholder(pb.float64, [None]), pb.placeholder(pb.float64, [1])
    ys = [f(wide, narrow) for _ in range(MANY)] + [f(narrow, wide) for _ in range(MANY)]
    assert_agree([pb.add_n([pb.reduce_sum(y) for y in ys])], {wide: [0.1, 0.2], narrow: [0.3]})


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + pb.random.uniform([3], dtype=pb.float64),
        lambda x: pb.math.real(pb.signal.fft(pb.cast(0.3 * x, pb.complex128))),
        lambda x: pb.reshape(x, [-1, pb.shape(x)[0]])[0],
        lambda x: x + pb.constant(np.arange(900.0))[:3],
        lambda x: pb.cond(x[0] > 0.0, lambda: 0.5 * x, lambda: x),
        lambda x: pb.while_loop(lambda y: y[0] < 1.0, lambda y: 2.0 * y, x),
    ],
    ids=["state", "transforms", "shapes", "large_constants", "branches", "loops"],
)
def test_what_else_may_be_called_often(function: Any) -> None:
    x = pb.placeholder(pb.float64, [3])
    y = chain(pb.function(function), x)
    random = any(op.primitive.stateful for op in y.graph.operations)
    assert_agree([y * 0.0 if random else y], {x: [0.1, 0.2, 0.3]})


def test_numbers_are_checked_in_functions_that_are_called_often() -> None:
    x = pb.placeholder(pb.float64, [])
    y = chain(pb.function(lambda x: pb.log(x, name="logarithm")), x)
    with pytest.raises(pb.errors.InvalidArgumentError, match="is the first to give"):
        pb.Session(engine="xla", check_numerics=True).run(y, {x: 0.5})
