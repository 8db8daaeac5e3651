"""Calls, branches and loops on XLA."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pullback as pb

from .loops import COUNTS, FEW, Derivatives, nested, two_variables, with_random_numbers

pytest.importorskip("jax")


@pytest.fixture
def xla(graph: pb.Graph) -> pb.Session:
    """A session of the default graph."""
    return pb.Session(graph=graph, engine="xla")


def assert_agree(loop: Any, order: int, memory: pb.Memory | None, counts: Sequence[int]) -> None:
    """XLA, with that policy, gives what NumPy gives that keeps everything."""
    found, expected = Derivatives(loop, order, "xla", memory), Derivatives(loop, order, "numpy")
    for n in counts:
        np.testing.assert_allclose(found(n), expected(n), rtol=1e-8, atol=1e-10, err_msg=f"{n} steps")


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_from_few_checkpoints_for_any_number_of_steps(order: int) -> None:
    assert_agree(two_variables, order, FEW, COUNTS)


@pytest.mark.slow
def test_third_derivative_from_few_checkpoints_for_any_number_of_steps() -> None:
    assert_agree(two_variables, 3, FEW, COUNTS)


def test_derivatives_without_a_policy_for_any_number_of_steps() -> None:
    assert_agree(two_variables, 2, None, [0, 1, 50, 1024, 1025, 3000])


def test_derivatives_from_every_fifth_state() -> None:
    assert_agree(two_variables, 1, pb.Memory(every=5), COUNTS)


@pytest.mark.parametrize(
    ("every", "order"), [(50, 1), *[pytest.param(k, 2, marks=pytest.mark.slow) for k in (3, 50, 70, 500)]]
)
def test_every_kth_state_of_a_bounded_loop_takes_room_for_no_more(xla: pb.Session, every: int, order: int) -> None:
    def derivative(memory: pb.Memory) -> Any:
        y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, pb.sin(y * 1.1)), (0, x), maximum_iterations=1000)[1]
        for _ in range(order):
            (y,) = pb.gradients(y, x, memory=memory)
        return y

    x, n = pb.placeholder(pb.float64, [2000]), pb.placeholder(pb.int32, [])
    plain, sparse = derivative(pb.Memory()), derivative(pb.Memory(every=every))
    feeds = {x: np.linspace(0.1, 1.0, 2000), n: 0}
    for count in (0, 1, 64, 999, 1000):
        found, expected = xla.run([sparse, plain], {**feeds, n: count})
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12, err_msg=f"{count} steps")
    if order == 1:
        least, most = (xla.compiled_memory(y, feeds)["temporary"] for y in (sparse, plain))
        assert least < most / 6


@pytest.mark.slow
def test_second_derivatives_of_a_loop_in_a_branch_in_a_loop() -> None:
    assert_agree(nested, 2, None, [0, 1, 7, 40])


def test_loop_in_a_branch_in_a_loop_from_few_checkpoints() -> None:
    assert_agree(nested, 1, FEW, [0, 1, 7, 40])


def test_random_numbers_are_the_same_when_a_step_is_made_again() -> None:
    assert_agree(with_random_numbers, 2, FEW, [0, 1, 9, 40])


def test_another_number_of_steps_compiles_nothing() -> None:
    class Noted(pb.Primitive):
        type = "NotedInLoop"

        def infer(self, x: Any) -> Any:
            return (x,)

        def kernel(self, xp: Any, x: Any) -> Any:
            kernels.append(x)
            return x

        def gradient(self, op: pb.Operation, dy: pb.Tensor) -> pb.Tensor:
            return dy

    kernels: list[Any] = []
    derivatives = Derivatives(lambda x, w, n: two_variables(Noted()(x), w, n), 1, "xla", FEW)
    derivatives(1)
    count = len(kernels)
    derivatives(1000)
    assert count > 0
    assert len(kernels) == count


def test_memory_of_a_loop_stays_within_the_budget(graph: pb.Graph, xla: pb.Session) -> None:
    x, n = pb.placeholder(pb.float32, [1000]), pb.placeholder(pb.int32, [])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, pb.sin(y)], [0, x])[1]
    dx = pb.gradients(y, x, memory=pb.Memory(budget=400_000))
    found = xla.compiled_memory(dx, {x: np.ones(1000, np.float32), n: 10})
    assert 300_000 < found["temporary"] < 500_000


def test_what_an_earlier_run_left_in_the_rooms_is_not_seen(graph: pb.Graph, xla: pb.Session) -> None:
    x, n = pb.placeholder(pb.float64, [100]), pb.placeholder(pb.int32, [])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, pb.sin(y) + 0.01 * x], [0, x])[1]
    (dx,) = pb.gradients(y, x)
    (ddx,) = pb.gradients(dx, x)
    start = np.linspace(0.5, 1.5, 100)
    for steps in (5, 3000, 5, 0, 1100):
        for a, b in zip(
            xla.run([dx, ddx], {x: start, n: steps}), _with_numpy([dx, ddx], {x: start, n: steps}), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=1e-9)
    assert xla._engine.rooms.size > 0


def test_rooms_of_a_run_belong_to_no_other_thread(graph: pb.Graph, xla: pb.Session) -> None:
    x, n = pb.placeholder(pb.float64, [100]), pb.placeholder(pb.int32, [])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, pb.sin(y)], [0, x])[1]
    (dx,) = pb.gradients(y, x)
    feeds = [{x: np.linspace(0.5, 1.5, 100), n: steps} for steps in (3, 50, 700, 1500)]
    expected = [_with_numpy(dx, feed) for feed in feeds]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda feed: xla.run(dx, feed), feeds * 5))
    for a, b in zip(found, expected * 5, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def _with_numpy(fetches: Any, feeds: Any) -> Any:
    return pb.Session(engine="numpy").run(fetches, feeds)


def test_bound_far_above_the_steps_costs_no_more_than_none(graph: pb.Graph, xla: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [1000])
    found = []
    for most in (None, 10**6):
        y = pb.while_loop(lambda i, y: y[0] > 0.1, lambda i, y: [i + 1, pb.sin(y)], [0, x], maximum_iterations=most)[1]
        found.append(xla.compiled_memory(pb.gradients(y, x), {x: np.ones(1000, np.float32)})["temporary"])
    assert found[1] < 1.1 * found[0] < 60_000_000


def test_large_constants_of_a_body_are_arguments_of_the_program(graph: pb.Graph, xla: pb.Session) -> None:
    x, n = pb.placeholder(pb.float32, [100]), pb.placeholder(pb.int32, [])

    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, y * pb.constant(np.arange(100, dtype=np.float64).repeat(100).reshape(100, 100))[:, 0]]

    x = pb.placeholder(pb.float64, [100])
    y = pb.while_loop(lambda i, y: i < n, body, [0, x])[1]
    assert xla.compiled_memory(y, {x: np.ones(100), n: 2})["arguments"] >= 80_000


def test_branch_that_is_not_taken_does_not_run(graph: pb.Graph, xla: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [])

    def endless() -> pb.Tensor:
        found: pb.Tensor = pb.while_loop(lambda y: y < 1.0, lambda y: [y * 0.5], [x * 0.0])[0]
        return found

    y = pb.cond(x > 0.0, lambda: x * 2.0, endless)
    assert xla.run([y, *pb.gradients(y, x)], {x: 3.0}) == [6.0, 2.0]


def test_branch_whose_number_is_known_is_the_only_one_in_the_program(graph: pb.Graph, xla: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [None])
    y = pb.switch_case(pb.shape(x)[0], [lambda: x[:0], lambda: x * 2.0, lambda: pb.concat([x, x], 0)])
    np.testing.assert_array_equal(xla.run(y, {x: [1.0, 2.0]}), [1, 2, 1, 2])
    np.testing.assert_array_equal(xla.run(y, {x: [1.0]}), [2])


def test_shape_that_is_known_outside_is_known_inside_a_loop(graph: pb.Graph, xla: pb.Session) -> None:
    shape = pb.placeholder(pb.int32, [1])
    y = pb.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y + pb.ones(shape)], [0, pb.zeros(shape)])[1]
    np.testing.assert_array_equal(xla.run(y, {shape: [2]}), [3, 3])


def test_state_assigned_in_a_loop(graph: pb.Graph, xla: pb.Session) -> None:
    v = pb.Variable(1.0)
    n = pb.placeholder(pb.int32, [])

    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        with pb.control_dependencies([v.assign_add(1.0)]):
            return [i + 1, y * v.read_value()]

    y = pb.while_loop(lambda i, y: i < n, body, [0, 1.0])[1]
    xla.run(pb.global_variables_initializer())
    assert xla.run(y, {n: 3}) == 24.0
    assert xla.run(v) == 4.0


def test_numbers_are_checked_inside_of_loops_and_branches(graph: pb.Graph) -> None:
    x = pb.placeholder(pb.float32, [])

    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, pb.cond(y > 0.0, lambda: pb.log(y - 1.0, name="logarithm"), lambda: y)]

    y = pb.while_loop(lambda i, y: i < 5, body, [0, x])[1]
    session = pb.Session(engine="xla", check_numerics=True)
    assert session.run(y, {x: -1.0}) == -1.0
    expected = "check_numerics: operation 'logarithm' (Log) is the first to give NaN, in float32[] 'logarithm:0'."
    with pytest.raises(pb.errors.InvalidArgumentError, match=re.escape(expected)):
        session.run(y, {x: 3.0})


def test_rows_of_a_bounded_loop_are_those_of_the_steps_that_were_made(graph: pb.Graph, xla: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [])
    y = pb.while_loop(lambda i, y: y < 10.0, lambda i, y: [i + 1, y * 2.0], [0, x], maximum_iterations=6)[1]
    history = y.op.outputs[4]
    np.testing.assert_array_equal(xla.run(history, {x: 2.0}), [2, 4, 8])


@pytest.mark.parametrize("most", [None, 20])
def test_steps_that_call_python_are_not_made_twice(graph: pb.Graph, xla: pb.Session, most: int | None) -> None:
    calls: list[Any] = []

    def noted(y: Any) -> Any:
        calls.append(y)
        return np.asarray(y * 2.0)

    x, n = pb.placeholder(pb.float64, []), pb.placeholder(pb.int32, [])

    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        doubled = pb.numpy_function(noted, [y], pb.TensorSpec([], pb.float64))
        return [i + 1, pb.sin(y) * pb.stop_gradient(doubled)]

    y = pb.while_loop(lambda i, y: i < n, body, [0, x], maximum_iterations=most)[1]
    dx = pb.gradients(y, x, memory=pb.Memory(every=4))
    xla.run(dx, {x: 0.5, n: 10})
    assert len(calls) == 10


@pytest.mark.parametrize("most", [None, 10])
def test_an_assertion_in_a_loop_holds_or_is_named(graph: pb.Graph, xla: pb.Session, most: int | None) -> None:
    x, n = pb.placeholder(pb.float32, []), pb.placeholder(pb.int32, [])

    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        with pb.control_dependencies([pb.Assert(y < 10.0, [y])]):
            doubled = pb.case([(y < 1.0, lambda: y * 3.0), (y > 5.0, lambda: y + x)], lambda: y * x, exclusive=True)
        return [i + 1, doubled]

    y = pb.while_loop(lambda i, y: i < n, body, [0, x], maximum_iterations=most)[1]
    dx = pb.gradients(y, x)[0]
    assert xla.run([y, dx], {x: 2.0, n: 3}) == [10.0, 13.0]
    for fetched in (y, dx):
        with pytest.raises(pb.errors.InvalidArgumentError, match=r"^operation 'Assert' \(Assert\) failed on bool\[\]"):
            xla.run(fetched, {x: 2.0, n: 4})


@pytest.mark.parametrize("row", [(1, 64), (64, 1), (1, 8, 8)])
def test_rows_with_axes_of_length_one_are_not_copied_before_a_loop(xla: pb.Session, row: tuple[int, ...]) -> None:
    x = pb.placeholder(pb.float32, [1000, 64])
    y = pb.foldl(lambda total, part: pb.tanh(total) + pb.sin(part), pb.reshape(x, [1000, *row]), pb.zeros(row))
    memory = xla.compiled_memory(y, {x: np.ones([1000, 64], np.float32)})
    assert memory["temporary"] < 10_000


@pytest.mark.parametrize(("known", "condition"), [(True, "stablehlo.compare LT"), (False, "stablehlo.return")])
def test_a_loop_of_a_known_number_of_steps_says_so(known: bool, condition: str) -> None:
    """XLA looks no further than the condition, and then asks none after each step."""
    x, n = pb.placeholder(pb.float32, [6, 3]), pb.placeholder(pb.int32, [])
    if known:
        y = pb.foldl(lambda h, row: pb.tanh(h * 0.5 + row), x, pb.zeros([3]))
    else:
        y = pb.while_loop(lambda i, _: i < n, lambda i, h: [i + 1, pb.sin(h)], [0, x[0]])[1]
    text = pb.xla.to_stablehlo(y, [x, n], platform="cpu").mlir_module()
    first = re.search(r"cond \{\s+(?:%\d+ = )?(.*)", text)
    assert first is not None
    assert first[1].startswith(condition)
