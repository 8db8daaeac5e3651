"""State in bodies: what is read before, what is kept for the derivative, what random numbers are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.fixture(params=["numpy", "xla"])
def session(request: pytest.FixtureRequest) -> pb.Session:
    return pb.Session(engine=request.param)


def dropped(x: Any) -> Any:
    return pb.nn.dropout(x, rate=0.5)


def in_loop(x: Any, step: Any) -> Any:
    return pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, step(i, y)), (0, x))[1]


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: in_loop(x, lambda i, y: dropped(y)),
        lambda x: in_loop(x, lambda i, y: pb.cond(pb.equal(i, 1), lambda: dropped(y), lambda: y * 2.0)),
        lambda x: in_loop(x, lambda i, y: pb.function(dropped)(y)),
        lambda x: pb.cond(x[0] > 0.0, lambda: in_loop(x, lambda i, y: dropped(y)), lambda: x),
        lambda x: pb.cond(x[0] > 0.0, lambda: dropped(x), lambda: dropped(2.0 * x)),
        lambda x: pb.switch_case(1, [lambda: x, lambda: dropped(x) * 2.0, lambda: dropped(dropped(x))]),
        lambda x: pb.scan(lambda a, b: dropped(a) * b, pb.ones([3]), x)[-1],
    ],
    ids=["loop", "branch_in_loop", "call_in_loop", "loop_in_branch", "branch", "switch_case", "scan"],
)
@pytest.mark.parametrize("shape", [[64], [None]], ids=["known", "unknown"])
def test_the_derivative_sees_the_mask_that_was_drawn(session: pb.Session, compute: Any, shape: Any) -> None:
    x = pb.placeholder(pb.float32, shape)
    y = compute(x)
    (dx,) = pb.gradients(y, x)
    for _ in range(3):
        value, slope = session.run([y, dx], {x: np.ones(64)})
        assert 0 < np.count_nonzero(value) < 64
        np.testing.assert_allclose(slope, value)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_a_loop_in_a_branch_draws_is_an_array_for_its_derivative(engine: str) -> None:
    x, n, choice = pb.placeholder(pb.float32, [4]), pb.placeholder(pb.int32, []), pb.placeholder(pb.bool, [])
    y = pb.cond(
        choice, lambda: pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, dropped(y)), (0, x))[1], lambda: x
    )
    (dx,) = pb.gradients(y, x)
    feeds = {x: np.ones(4), n: 2, choice: True}
    value, slope = pb.Session(engine=engine).run([y, dx], feeds)
    np.testing.assert_allclose(slope, value)


def test_what_a_loop_in_a_branch_draws_needs_no_other_bound_than_a_counter(session: pb.Session) -> None:
    x, choice = pb.placeholder(pb.float32, [64]), pb.placeholder(pb.bool, [])
    y = pb.cond(choice, lambda: in_loop(x, lambda i, y: dropped(y)), lambda: 2.0 * x)
    (dx,) = pb.gradients(y, x)
    value, slope = session.run([y, dx], {x: np.ones(64), choice: True})
    assert 0 < np.count_nonzero(value) < 64
    np.testing.assert_allclose(slope, value)
    np.testing.assert_allclose(session.run(dx, {x: np.ones(64), choice: False}), np.full(64, 2.0))


def test_two_loops_draw_different_numbers(session: pb.Session) -> None:
    pb.random.set_seed(1)
    a, b = [in_loop(pb.zeros([4]), lambda i, y: y + pb.random.uniform([4])) for _ in range(2)]
    first, second = session.run([a, b])
    assert not np.array_equal(first, second)


def test_a_table_that_is_only_read_has_the_value_that_it_had(session: pb.Session) -> None:
    table = pb.Variable(np.array([[1.0], [2.0], [3.0]]))
    y = in_loop(pb.zeros([1], pb.float64), lambda i, y: y + pb.square(pb.gather(table, i)))
    with pb.control_dependencies([y]):
        later = table.assign(np.zeros((3, 1)))
    with pb.control_dependencies([later]):
        (slope,) = pb.gradients(y, table)
        slope = pb.convert_to_tensor(slope)
    session.run(table.initializer)
    assert session.run(slope).tolist() == [[2.0], [4.0], [6.0]]


def test_rows_of_a_variable_that_a_branch_reads_stay_rows(session: pb.Session) -> None:
    table = pb.Variable(np.array([[1.0], [2.0], [3.0]]))
    y = pb.cond(pb.reduce_sum(table) > 0.0, lambda: pb.gather(table, [1, 1]), lambda: pb.gather(table, [0, 2]) ** 2.0)
    (slope,) = pb.gradients(y, table)
    assert isinstance(slope, pb.IndexedSlices)
    session.run(table.initializer)
    assert session.run(pb.convert_to_tensor(slope)).tolist() == [[0.0], [2.0], [0.0]]


def test_a_counter_in_a_loop_is_not_counted_again_by_the_derivative(session: pb.Session) -> None:
    count, x = pb.Variable(1.0), pb.constant(2.0)
    y = in_loop(x, lambda i, y: y * count.assign_add(1.0))
    (dx,) = pb.gradients(y, x)
    session.run(count.initializer)
    assert session.run([y, dx]) == [48.0, 24.0]
    assert session.run(count) == 4.0


def test_what_a_branch_read_is_given_to_its_derivative(session: pb.Session) -> None:
    v, x = pb.Variable(1.0), pb.constant(2.0)
    y = pb.cond(x > 0.0, lambda: x * v.assign_add(2.0), lambda: x)
    with pb.control_dependencies([y]):
        later = v.assign(100.0)
    with pb.control_dependencies([later]):
        (dx,) = pb.gradients(y, x)
    session.run(v.initializer)
    assert session.run(dx) == 3.0


def test_a_variable_made_in_a_body_belongs_to_the_graph_around(session: pb.Session) -> None:
    two = pb.constant_initializer(2.0)
    y = in_loop(pb.constant(1.0), lambda i, y: y * pb.get_variable("w", [], initializer=two))
    (w,) = pb.global_variables()
    session.run(w.initializer)
    assert session.run([y, *pb.gradients(y, w)]) == [8.0, 12.0]
