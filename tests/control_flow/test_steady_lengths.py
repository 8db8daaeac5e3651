"""Symbolic lengths in loops: those that stay the same in all steps are known, those that change are told apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.control_flow.loop import Loop


def gated_blocks(batch: Any) -> list[pb.Operation]:
    """The operations of the gradient of four gated residual blocks."""
    with pb.Graph().as_default() as graph:
        h, weights = pb.placeholder(pb.float32, [batch, 64]), []
        for _ in range(4):
            w, v = pb.Variable(pb.ones([64, 64])), pb.Variable(pb.ones([64, 64]))
            b, c = pb.Variable(pb.zeros([64])), pb.Variable(pb.zeros([64]))
            h = h + pb.sigmoid(pb.matmul(h, w) + b) * pb.tanh(pb.matmul(h, v) + c)
            weights += [w, v, b, c]
        loss, start = pb.reduce_mean(pb.square(h)), len(graph.operations)
        pb.gradients(loss, weights)
        return graph.operations[start:]


@pytest.mark.parametrize("batch", [None, "batch"])
def test_an_unknown_batch_costs_no_operation(batch: Any) -> None:
    assert [op.type for op in gated_blocks(batch)] == [op.type for op in gated_blocks(32)]


def recurrent(make: Callable[..., Any], batch: Any) -> list[list[str]]:
    """The types of the operations of the bodies of a recurrent net and of its gradient."""
    with pb.Graph().as_default() as graph:
        x, w = pb.placeholder(pb.float32, [None, batch, 8]), pb.Variable(pb.ones([8, 8]))
        b = pb.Variable(pb.zeros([8]))
        y = make(lambda h, row: pb.tanh(pb.matmul(h, w) + row + b), x, pb.zeros([pb.shape(x)[1], 8]))
        pb.gradients(pb.reduce_sum(y), [w, b])
        bodies = [op.primitive.body for op in graph.operations if isinstance(op.primitive, Loop)]
        return [[op.type for op in body.operations] for body in bodies]


def by_while_loop(step: Callable[..., Any], x: pb.Tensor, start: pb.Tensor) -> pb.Tensor:
    steps = pb.shape(x)[0]
    return pb.while_loop(lambda i, h: i < steps, lambda i, h: (i + 1, step(h, x[i])), (0, start))[1]


@pytest.mark.parametrize("make", [pb.scan, pb.foldl, by_while_loop])
def test_a_step_knows_the_lengths_that_every_step_hands_on(make: Callable[..., Any]) -> None:
    assert recurrent(make, "batch") == recurrent(make, None) == recurrent(make, 4)


def swapping(a: pb.Tensor, b: pb.Tensor) -> list[pb.Tensor]:
    """What two vectors become that change places, and lengths, in each step."""
    unknown = pb.TensorShape([None])
    _, x, y = pb.while_loop(
        lambda i, x, y: i < 3,
        lambda i, x, y: (i + 1, y * 1.5, x * x),
        (0, a, b),
        (pb.TensorShape([]), unknown, unknown),
    )
    return [x, y]


def test_lengths_that_change_places_are_told_apart() -> None:
    a, b = pb.placeholder(pb.float64, ["n"]), pb.placeholder(pb.float64, ["m"])
    x, y = swapping(a, b)
    assert str(x.type) == str(y.type) == "float64[?]"
    assert x.shape.lengths != y.shape.lengths
    dx, dy = pb.gradients(pb.reduce_sum(x * x) + pb.reduce_sum(y), [a, b])
    session, feeds = pb.Session(engine="numpy"), {a: [1.0, 2.0, 3.0], b: [2.0, 3.0]}
    p, q = np.array(feeds[a]), np.array(feeds[b])
    np.testing.assert_allclose(session.run([x, y], feeds)[0], 1.5 * (1.5 * q) ** 2)
    np.testing.assert_allclose(session.run([x, y], feeds)[1], (1.5 * p * p) ** 2)
    np.testing.assert_allclose(session.run(dx, feeds), 2 * (1.5 * p * p) * 3.0 * p)
    np.testing.assert_allclose(session.run(dy, feeds), 2 * (1.5 * (1.5 * q) ** 2) * 1.5 * 2 * 2.25 * q)


def test_a_length_that_grows_is_not_that_of_the_start() -> None:
    x = pb.placeholder(pb.float64, ["n"])
    grown = pb.while_loop(
        lambda i, y: i < 2,
        lambda i, y: (i + 1, pb.concat([y, x], 0)),
        (0, x),
        (pb.TensorShape([]), pb.TensorShape([None])),
    )[1]
    assert grown.shape.lengths != x.shape.lengths
    dx = pb.gradients(pb.reduce_sum(grown * grown), x)[0]
    assert pb.Session(engine="numpy").run(dx, {x: [1.0, 2.0]}).tolist() == [6.0, 12.0]


def test_a_call_gives_the_lengths_of_its_arguments() -> None:
    @pb.function
    def doubled(x: pb.Tensor) -> pb.Tensor:
        return pb.concat([x, x], 0)

    x = pb.placeholder(pb.float32, ["n", 2])
    y = pb.placeholder(pb.float32, ["m", 2])
    assert str(doubled(x).type) == "float32[2*n,2]"
    assert str(doubled(y).type) == "float32[2*m,2]"


def product_slope(x: Any, y: Any) -> Any:
    """The gradient of a product by its first factor."""
    return pb.gradients(x * y, x)[0]


def test_a_function_takes_names_over_as_lengths_of_its_own() -> None:
    slope = pb.function(product_slope)
    named, open_ = ["batch"], [None]
    a, b = pb.placeholder(pb.float32, named), pb.placeholder(pb.float32, named)
    c, d = pb.placeholder(pb.float32, open_), pb.placeholder(pb.float32, open_)
    by_name, by_none = slope(a, b), slope(c, d)
    assert slope.experimental_get_tracing_count() == 2
    assert str(by_name.type) == "float32[batch]"
    count = [len(y.op.primitive.functions[0].operations) for y in (by_name, by_none)]
    assert count == [3, 4]
    assert pb.Session(engine="numpy").run(by_none, {c: [1.0], d: [2.0, 3.0]}).tolist() == [5.0]


def test_arguments_that_may_differ_are_refused_where_a_function_takes_them_for_equal() -> None:
    spec = pb.TensorSpec(["batch"], pb.float32)
    concrete = pb.function(product_slope).get_concrete_function(spec, spec)
    x, y = pb.placeholder(pb.float32, ["n"]), pb.placeholder(pb.float32, ["m"])
    with pytest.raises(ValueError, match="'batch' is one length") as error:
        concrete(x, y)
    assert str(error.value) == (
        "product_slope: 'batch' is one length in "
        "product_slope(x: float32[batch], y: float32[batch]) -> float32[batch], "
        "but the arguments are float32[n], float32[m]. Give equal lengths one name: "
        'pb.placeholder(dtype, ["batch", ...]).'
    )


@pytest.mark.parametrize("around", [pb.function, pb.recompute_grad])
def test_a_call_in_a_function_takes_lengths_of_one_name_from_it_and_from_around_it(around: Any) -> None:
    x, y = pb.placeholder(pb.float32, ["batch"]), pb.placeholder(pb.float32, ["batch"])
    inner = pb.function(lambda a, b: a * a * b)
    z = around(lambda b: inner(x, b))(y)
    found = pb.Session(engine="numpy").run(pb.gradients(z, [x, y]), {x: [1.0, 2.0], y: [3.0, 4.0]})
    assert np.array_equal(found, [[6.0, 16.0], [1.0, 4.0]])


def test_a_function_is_traced_again_for_lengths_that_have_one_name_and_may_differ() -> None:
    inner = pb.function(lambda a, b: a + b)
    x, y = pb.placeholder(pb.float32, ["batch"]), pb.placeholder(pb.float32, ["batch"])
    inner(x, y)
    pb.function(lambda b: inner(x, b))(y)
    assert inner.experimental_get_tracing_count() == 2


def test_arrays_that_disagree_about_a_name_of_a_function_are_refused() -> None:
    spec = pb.TensorSpec(["batch"], pb.float32)
    slope = pb.function(product_slope, input_signature=[spec, spec])
    assert slope(np.float32([1, 2]), np.float32([3, 4])).tolist() == [3.0, 4.0]
    with pytest.raises((ValueError, pb.errors.InvalidArgumentError), match="'batch'"):
        slope(np.float32([1]), np.float32([3, 4]))


def test_branches_agree_on_what_both_know() -> None:
    x = pb.placeholder(pb.float32, ["n", "m"])
    y = pb.cond(pb.placeholder(pb.bool, []), lambda: x * 2.0, lambda: pb.concat([x, x], 1))
    assert str(y.type) == "float32[n,?]"
