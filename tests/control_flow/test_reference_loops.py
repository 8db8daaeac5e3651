"""Loops and arrays do what graph-mode TensorFlow's do, and what it leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = ["numpy", "xla"]


@pytest.fixture(params=ENGINES)
def run(request: pytest.FixtureRequest) -> Any:
    return lambda fetches, feeds=None: pb.Session(engine=request.param).run(fetches, feeds)


def compute(fetches: Any, feeds: Any = None) -> Any:
    return pb.Session(engine="numpy").run(fetches, feeds)


def times(n: Any, step: Callable[[Any], Any], start: Any, **options: Any) -> Any:
    """What `step`, done n times, makes of `start`."""
    return pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, step(y)), (0, start), **options)[1]


# Derivatives by initial values and by what is the same in each step


def test_no_steps_hand_the_cotangent_to_the_start_and_zeros_to_invariants(run: Any) -> None:
    x, w, n = pb.constant(2.0), pb.constant(3.0), pb.placeholder(pb.int32, [])
    slopes = pb.gradients(times(n, lambda y: y * w, x), [x, w], grad_ys=[5.0])
    assert run(slopes, {n: 0}) == [5.0, 0.0]


def test_an_unused_result_counts_as_zeros(run: Any) -> None:
    a = pb.constant(2.0)
    _, p, _ = pb.while_loop(lambda i, *_: i < 2, lambda i, p, q: (i + 1, q * 2.0, p * 3.0), (0, a, a))
    assert run(pb.gradients(p, a)) == [6.0]


def test_the_start_of_a_variable_that_the_result_never_saw_has_no_gradient() -> None:
    a, b = pb.constant(2.0), pb.constant(3.0)
    _, p, _ = pb.while_loop(lambda i, *_: i < 2, lambda i, p, q: (i + 1, p * p, q * 2.0), (0, a, b))
    assert pb.gradients(p, b) == [None]
    assert compute(pb.gradients(p, b, unconnected_gradients="zero")) == [0.0]


@pytest.mark.parametrize(("steps", "by_start", "by_weight"), [(0, 1.0, 0.0), (1, 0.0, 8.0), (3, 0.0, 8.0)])
def test_a_next_value_that_forgets_the_last_one(run: Any, steps: int, by_start: float, by_weight: float) -> None:
    a, w, n = pb.constant(2.0), pb.constant(4.0), pb.placeholder(pb.int32, [])
    y = times(n, lambda y: w * w, a)
    assert run(pb.gradients(y, [a, w]), {n: steps}) == [by_start, by_weight]


def test_the_counter_has_no_gradient() -> None:
    start = pb.constant(0)
    (i,) = pb.while_loop(lambda i: i < 3, lambda i: (i + 1,), (start,))
    assert pb.gradients(i, start) == [None]


def test_an_integer_variable_may_be_read_by_a_step(run: Any) -> None:
    x = pb.constant(2.0)
    _, y = pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * pb.cast(i, pb.float32) + x), (1, x))
    assert run(pb.gradients(y, x)) == [5.0]


def test_integers_on_the_way_through_a_step_break_the_path(run: Any) -> None:
    x, n = pb.constant(2.0), pb.placeholder(pb.int32, [])
    y = times(n, lambda y: pb.cast(pb.cast(y, pb.int32), pb.float32), x)
    assert [run(pb.gradients(y, x), {n: k}) for k in (0, 1)] == [[1.0], [0.0]]


def test_integers_written_in_each_step_break_the_path_without_an_error() -> None:
    x = pb.placeholder(pb.float32, [])
    array = pb.TensorArray(pb.int32, size=3)
    _, array = pb.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, pb.cast(x, pb.int32))), (pb.constant(0), array)
    )
    assert pb.gradients(array.stack(), x) == [None]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_variable_and_its_handle_get_the_sum_over_the_steps(engine: str) -> None:
    v = pb.Variable(3.0)
    dv = pb.gradients(times(3, lambda y: y * v, 1.0), [v, v.handle])
    session = pb.Session(engine=engine)
    session.run(v.initializer)
    assert session.run(dv) == [27.0, 27.0]


def test_an_unknown_length_is_known_of_the_gradient_as_of_x(run: Any) -> None:
    x = pb.placeholder(pb.float32, [None])
    (dx,) = pb.gradients(times(2, lambda y: y * 2.0, x), x)
    assert dx.shape.as_list() == [None]
    assert run(dx, {x: [1.0, 2.0]}).tolist() == [4.0, 4.0]


def test_a_variable_that_grows_is_differentiated_on_numpy() -> None:
    x = pb.constant([1.0, 2.0])
    shapes = [pb.TensorShape([]), pb.TensorShape([None])]
    y = times(2, lambda y: pb.concat([y, y * 2.0], 0), x, shape_invariants=shapes)
    assert compute(pb.gradients(y, x)[0]).tolist() == [9.0, 9.0]


# Order and nesting


def test_a_dependence_through_saved_values_only_is_differentiated_again() -> None:
    x = pb.constant(3.0)
    (dx,) = pb.gradients(times(1, lambda y: y * y, x), x)
    assert compute([dx, *pb.gradients(dx, x)]) == [6.0, 2.0]


def test_three_orders_of_a_power() -> None:
    x = pb.constant(1.5, pb.float64)
    y = times(5, lambda y: y * x, pb.constant(1.0, pb.float64))
    found = []
    for _ in range(3):
        (y,) = pb.gradients(y, x)
        found.append(y)
    np.testing.assert_allclose(compute(found), [5 * 1.5**4, 20 * 1.5**3, 60 * 1.5**2])


def test_the_inner_count_may_depend_on_the_outer_step() -> None:
    x = pb.constant(2.0)

    def outer(i: Any, y: Any) -> Any:
        return i + 1, times(i, lambda z: z * x, y)

    _, y = pb.while_loop(lambda i, y: i < 4, outer, (0, pb.constant(1.0)))
    (dx,) = pb.gradients(y, x)
    assert compute([y, dx, *pb.gradients(dx, x)]) == [64.0, 6 * 32.0, 30 * 16.0]


def test_a_branch_in_a_step_remembers_which_way_it_went() -> None:
    x = pb.placeholder(pb.float32, [])
    _, y = pb.while_loop(
        lambda i, y: i < 4, lambda i, y: (i + 1, pb.cond(pb.equal(i % 2, 0), lambda: y * x, lambda: y + x)), (0, x)
    )
    (dx,) = pb.gradients(y, x)
    assert compute([y, dx, *pb.gradients(dx, x)], {x: 2.0}) == [14.0, 17.0, 14.0]


# Rows of a table


def test_rows_read_in_each_step_stay_rows_where_the_steps_are_bounded(run: Any) -> None:
    table, n = pb.constant(np.ones((4, 2), np.float32)), pb.placeholder(pb.int32, [])
    _, y = pb.while_loop(
        lambda i, y: i < n,
        lambda i, y: (i + 1, y + pb.reduce_sum(pb.gather(table, [i, i]))),
        (0, 0.0),
        maximum_iterations=5,
    )
    (dt,) = pb.gradients(y, table)
    assert isinstance(dt, pb.IndexedSlices)
    assert run(pb.convert_to_tensor(dt), {n: 2}).tolist() == [[2.0, 2.0], [2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    assert not run(pb.convert_to_tensor(dt), {n: 0}).any()


def test_rows_read_in_steps_without_a_bound_are_added_up(run: Any) -> None:
    table, n = pb.constant(np.ones((3, 1), np.float32)), pb.placeholder(pb.int32, [])
    _, y = pb.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y + pb.reduce_sum(pb.gather(table, [i, 0]))), (0, 0.0)
    )
    (dt,) = pb.gradients(y, table)
    assert run(dt, {n: 2}).tolist() == [[3.0], [1.0], [0.0]]


def test_slices_that_reach_a_loop_are_made_dense(run: Any) -> None:
    x = pb.constant(np.ones((3, 1), np.float32))
    (dx,) = pb.gradients(pb.gather(times(2, lambda y: y * 3.0, x), [1, 1]), x)
    assert run(dx).tolist() == [[0.0], [18.0], [0.0]]


# Calls inside a body, and of what is inside from outside


def test_inside_a_body_the_loop_variable_is_no_function_of_its_start() -> None:
    x, found = pb.constant(2.0), []
    times(3, lambda y: found.append(pb.gradients(y * y, x)) or y * 2.0, x)
    assert found == [[None]]


def test_what_is_the_start_and_is_read_as_well_counts_as_read(run: Any) -> None:
    x = pb.constant(2.0)
    start = x * 3.0
    y = times(1, lambda y: pb.gradients(y * y * start, x)[0], start)
    assert run(y) == 108.0


def test_a_tensor_of_a_body_cannot_be_differentiated_by_from_outside() -> None:
    kept: list[Any] = []
    y = times(3, lambda y: kept.append(y * 2.0) or kept[0], pb.constant(2.0))
    with pytest.raises(ValueError, match="must be from the same graph as") as raised:
        pb.gradients(y, kept[0])
    assert str(raised.value).endswith(
        f"{kept[0]} is inside the body 'body'; call gradients there, or return it from the body. "
        "pb.history gives what a loop variable is in each step."
    )


def test_a_tensor_of_one_loop_cannot_be_used_in_another() -> None:
    kept: list[Any] = []
    times(3, lambda y: kept.append(pb.identity(y, name="kept")) or y, pb.constant(2.0))
    with pytest.raises(pb.errors.InaccessibleTensorError, match=r"'kept:0'.* is inside the body 'body'"):
        times(3, lambda y: y + kept[0], pb.constant(2.0))


# Arguments


def test_derivatives_through_a_loop_ended_by_maximum_iterations(run: Any) -> None:
    x, most = pb.constant(2.0), pb.placeholder_with_default(3, [])
    (y,) = pb.while_loop(lambda y: y < 1e9, lambda y: y * x, (x,), maximum_iterations=most)
    assert run([y, *pb.gradients(y, x)]) == [16.0, 32.0]


def test_parallel_iterations_and_swap_memory_change_nothing(run: Any) -> None:
    x = pb.constant(1.0)
    (y,) = pb.while_loop(lambda y: y < 10.0, lambda y: y * 2.0, [x], parallel_iterations=1, swap_memory=True)
    assert run(pb.gradients(y, x)) == [16.0]


def test_a_differentiated_loop_is_the_operation_that_it_was() -> None:
    x = pb.constant(2.0)
    y = times(3, lambda y: pb.sin(y) * x, x)
    before = pb.operation_text(y.op)
    pb.gradients(pb.gradients(y, x), x)
    assert pb.operation_text(y.op) == before


def test_a_graph_that_was_saved_and_loaded_is_differentiated_through_its_loop() -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    pb.identity(times(3, lambda y: y * x, x), name="y")
    graph = pb.Graph.from_dict(x.graph.to_dict())
    x, y = graph.get_tensor_by_name("x:0"), graph.get_tensor_by_name("y:0")
    assert pb.Session(engine="numpy", graph=graph).run(pb.gradients(y, x), {x: 2.0}) == [32.0]


# Arrays


def test_an_element_read_twice_gets_the_sum(run: Any) -> None:
    x = pb.constant([1.0, 2.0])
    array = pb.TensorArray(pb.float32, size=3, clear_after_read=False).write(0, x).write(2, x * x)
    (dx,) = pb.gradients(array.read(0) + 3.0 * array.read(0) + array.read(2), x)
    (ddx,) = pb.gradients(dx, x)
    assert [v.tolist() for v in run([dx, ddx])] == [[6.0, 8.0], [2.0, 2.0]]


def test_what_was_not_written_is_zeros(run: Any) -> None:
    x = pb.constant([1.0, 2.0])
    rows = pb.TensorArray(pb.float32, size=2, element_shape=[2]).write(1, x).stack()
    values = run([rows, *pb.gradients(rows, x)])
    assert [v.tolist() for v in values] == [[[0.0, 0.0], [1.0, 2.0]], [1.0, 1.0]]


def test_an_element_gathered_twice_counts_twice(run: Any) -> None:
    x = pb.constant([1.0, 2.0, 3.0])
    array = pb.TensorArray(pb.float32, size=3, clear_after_read=False).unstack(x)
    assert run(pb.gradients(array.gather([0, 2, 2]), x)[0]).tolist() == [1.0, 0.0, 2.0]


def test_scattered_elements_get_their_cotangents(run: Any) -> None:
    x = pb.constant([1.0, 2.0])
    rows = pb.TensorArray(pb.float32, size=3, element_shape=[]).scatter([2, 0], x).stack()
    assert run(pb.gradients(rows * [10.0, 20.0, 30.0], x)[0]).tolist() == [30.0, 10.0]


def test_concat_and_split_are_each_others_derivative(run: Any) -> None:
    x = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    joined = pb.TensorArray(pb.float32, size=2).unstack(x).concat()
    assert run(pb.gradients(joined * [1.0, 2.0, 3.0, 4.0], x)[0]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    flat = pb.constant([1.0, 2.0, 3.0, 4.0])
    piece = pb.TensorArray(pb.float32, size=2).split(flat, [2, 2]).read(1)
    assert run(pb.gradients(piece * [1.0, 5.0], flat)[0]).tolist() == [0.0, 0.0, 1.0, 5.0]


def test_an_array_that_grows_is_differentiated_on_numpy() -> None:
    x = pb.constant(2.0)
    array = pb.TensorArray(pb.float32, size=0, dynamic_size=True).write(0, x).write(1, x * x)
    assert compute([*pb.gradients(array.stack(), x), array.size()]) == [5.0, 2]


def test_the_name_of_a_call_means_nothing_to_arrays(run: Any) -> None:
    x = pb.constant([1.0, 2.0])
    rows = pb.TensorArray(pb.float32, size=2).unstack(x).stack()
    assert run(pb.gradients(rows * rows, x, name="mine")[0]).tolist() == [2.0, 4.0]


def test_an_array_written_in_a_loop_to_the_third_order() -> None:
    x = pb.constant(1.5, pb.float64)
    array = pb.TensorArray(pb.float64, size=4, element_shape=[])
    one = pb.constant(1.0, pb.float64)
    _, _, array = pb.while_loop(lambda i, *_: i < 4, lambda i, y, a: (i + 1, y * x, a.write(i, y)), (0, one, array))
    y, found = pb.reduce_sum(array.stack()), []
    for _ in range(3):
        (y,) = pb.gradients(y, x)
        found.append(y)
    np.testing.assert_allclose(compute(found), [1 + 2 * 1.5 + 3 * 1.5**2, 2 + 6 * 1.5, 6.0])


@pytest.mark.parametrize(
    ("make", "first", "second"),
    [
        (lambda x: pb.map_fn(lambda r: r * r * r, x), [3.0, 12.0, 27.0], [6.0, 12.0, 18.0]),
        (lambda x: pb.scan(lambda a, b: a * b, x), [9.0, 4.0, 2.0], [6.0, 5.0, 3.0]),
        (lambda x: pb.foldl(lambda a, b: a * b, x), [6.0, 3.0, 2.0], [5.0, 4.0, 3.0]),
        (lambda x: pb.foldr(lambda a, b: a * b, x), [6.0, 3.0, 2.0], [5.0, 4.0, 3.0]),
    ],
    ids=["map_fn", "scan", "foldl", "foldr"],
)
def test_maps_and_folds_are_differentiated_twice(make: Any, first: Any, second: Any) -> None:
    x = pb.constant([1.0, 2.0, 3.0])
    (dx,) = pb.gradients(make(x), x)
    (ddx,) = pb.gradients(dx, x)
    assert [v.tolist() for v in compute([dx, ddx])] == [first, second]


def test_what_a_body_reads_and_hands_no_cotangent_to_gets_zeros(run: Any) -> None:
    a, b, rows = pb.constant(2.0), pb.constant([3.0, 4.0]), pb.constant([1.0, 5.0])
    first, second = pb.scan(lambda _, row: (a * row, b * row), rows, initializer=(0.0, np.zeros(2, "f")))
    da, db, d_rows = run(pb.gradients(first + pb.stop_gradient(second[:, 0]), [a, b, rows]))
    assert (da, np.shape(db), d_rows.tolist()) == (6.0, (2,), [2.0, 2.0])
    assert not np.any(db)
    y = pb.map_fn(lambda row: row * pb.stop_gradient(b), rows)
    assert run(pb.gradients(y, b))[0].tolist() == [0.0, 0.0]


def test_such_zeros_are_not_added_to_what_comes_another_way() -> None:
    b, rows = pb.constant(3.0), pb.constant([1.0, 5.0])
    stopped = pb.map_fn(lambda row: row * pb.stop_gradient(b), rows)
    (db,) = pb.gradients([stopped, pb.square(b)], b)
    assert not any(
        op.type in ("AddN", "Loop") for op in pb.get_default_graph().operations if op.name.startswith("grad")
    )
    assert compute(db) == 6.0
