"""`while_loop`: what it takes and refuses, what is fixed and what changes, state in bodies, derivatives inside."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.fixture(params=["numpy", "xla"])
def run(request: pytest.FixtureRequest) -> Any:
    return lambda fetches, feeds=None: pb.Session(engine=request.param).run(fetches, feeds)


def count_to(n: Any, **options: Any) -> Any:
    return pb.while_loop(lambda i: i < n, lambda i: (i + 1,), (0,), **options)[0]


def test_the_structure_is_that_of_the_loop_variables(run: Any) -> None:
    start = (0, [pb.constant(1.0), {"a": pb.constant([2.0, 3.0])}])

    def body(i: Any, rest: Any) -> Any:
        return i + 1, [rest[0] * 2.0, {"a": rest[1]["a"] + 1.0}]

    i, rest = pb.while_loop(lambda i, rest: i < 3, body, start)
    values = run([i, rest[0], rest[1]["a"]])
    assert values[:2] == [3, 8.0]
    np.testing.assert_array_equal(values[2], [5.0, 6.0])


def test_a_single_variable_needs_no_list(run: Any) -> None:
    assert run(pb.while_loop(lambda y: y < 10.0, lambda y: y * 2.0, pb.constant(1.0))) == 16.0


def test_a_list_of_one_is_unpacked_where_asked() -> None:
    found = pb.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], return_same_structure=False)
    assert isinstance(found, pb.Tensor)


def test_the_number_of_steps_may_be_fed_and_change(run: Any) -> None:
    n = pb.placeholder(pb.int32, [])
    session = pb.Session()
    assert [session.run(count_to(n), {n: k}) for k in (0, 1, 7)] == [0, 1, 7]


@pytest.mark.parametrize("limit", [0, 2, 5])
def test_maximum_iterations_end_the_loop(run: Any, limit: int) -> None:
    assert run(count_to(100, maximum_iterations=limit)) == limit
    assert run(count_to(100, maximum_iterations=pb.identity(limit))) == limit


def test_a_variable_that_never_changes_is_a_constant_of_the_loop() -> None:
    x = pb.constant(2.0)
    _, same, y = pb.while_loop(lambda i, *_: i < 3, lambda i, a, y: (i + 1, a, y * a), (0, x, 1.0))
    assert same is x
    assert y.op.get_attr("carried") == 2


def test_shapes_may_change_where_that_is_said() -> None:
    start = (0, pb.zeros([1, 2]))
    _, y = pb.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, pb.concat([y, pb.ones([1, 2])], 0)),
        start,
        shape_invariants=[pb.TensorShape([]), pb.TensorShape([None, 2])],
    )
    assert y.shape.as_list() == [None, 2]
    assert pb.Session(engine="numpy").run(y).shape == (4, 2)


def test_specs_say_which_shapes_may_change() -> None:
    x = pb.constant([1.0])
    _, rest, y = pb.while_loop(
        lambda i, rest, y: i < 2,
        lambda i, rest, y: (i + 1, rest, pb.concat([y, 2.0 * y], 0)),
        (0, None, x),
        shape_invariants=(pb.TensorSpec([], pb.int32), None, pb.TensorSpec([None])),
    )
    assert (rest, y.shape.as_list()) == (None, [None])
    value, (dx,) = pb.Session(engine="numpy").run([y, pb.gradients(y, x)])
    assert (value.tolist(), dx.tolist()) == ([1.0, 2.0, 2.0, 4.0], [9.0])


def test_a_spec_of_another_kind_is_refused() -> None:
    x, rows = pb.constant(1.0, name="x"), pb.IndexedSlices(pb.constant([1.0]), pb.constant([0]))
    with pytest.raises(TypeError) as error:
        pb.while_loop(lambda x: x < 3.0, lambda x: [x], [x], [pb.TensorSpec([], pb.int32)])
    assert str(error.value) == (
        "while_loop: the invariant TensorSpec(shape=(), dtype=int32, name=None) is not compatible with 'x', "
        "which enters the loop as float32[]"
    )
    with pytest.raises(TypeError) as error:
        pb.while_loop(lambda s: s.values[0] < 3.0, lambda s: [s], [rows], [pb.TensorSpec([1])])
    assert str(error.value) == (
        "while_loop: the invariant TensorSpec(shape=(1,), dtype=float32, name=None) is one of a tensor, "
        "not of a IndexedSlices"
    )


def test_slices_are_loop_variables(run: Any) -> None:
    rows = pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([2]), pb.constant([4, 1]))
    _, found = pb.while_loop(
        lambda i, s: i < 2, lambda i, s: (i + 1, pb.IndexedSlices(s.values * 3.0, s.indices, s.dense_shape)), (0, rows)
    )
    assert run(pb.convert_to_tensor(found)).tolist() == [[0.0], [0.0], [9.0], [0.0]]


def test_back_prop_off_stops_derivatives() -> None:
    x = pb.constant(2.0)
    y = pb.while_loop(lambda y: y < 10.0, lambda y: y * x, (x,), back_prop=False)[0]
    assert pb.gradients(y, x) == [None]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1, lambda i: i, [0]), TypeError, "while_loop: cond must be callable, not 1"),
        ((lambda i: True, 2, [0]), TypeError, "while_loop: body must be callable, not 2"),
        (
            (lambda: True, lambda: [], []),
            ValueError,
            "while_loop: there are no loop variables; pass at least one in loop_vars",
        ),
        (
            (lambda i, j: i < 3, lambda i, j: [i, j], [0, 0], [pb.TensorShape([])]),
            ValueError,
            "while_loop: 1 shape_invariants for 2 loop variables; one for each is needed",
        ),
        (
            (lambda i: i < 3, lambda i: [i], [0], None, 0),
            TypeError,
            "while_loop: parallel_iterations must be a positive integer, not 0",
        ),
        (
            (lambda i: i < 3, lambda i: [i], [0], None, 1.5),
            ValueError,
            "while_loop: parallel_iterations must be a positive integer, not 1.5",
        ),
    ],
)
def test_arguments_are_refused_at_the_door(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as found:
        pb.while_loop(*arguments)
    assert str(found.value) == message


def test_a_string_in_ninth_place_is_the_name() -> None:
    (i,) = pb.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], None, 10, True, False, None, "three")
    assert i.op.name == "three/Loop"


def test_a_condition_must_be_one_truth_value() -> None:
    with pytest.raises(TypeError, match=r"while_loop: cond must return a truth value, not int32\[\]"):
        pb.while_loop(lambda i: i, lambda i: [i + 1], [0])
    with pytest.raises(ValueError, match=r"while_loop: cond must return a scalar, not bool\[2\]"):
        pb.while_loop(lambda x: x < 1.0, lambda x: [x], [pb.zeros([2])])


def test_a_condition_of_one_element_may_have_axes(run: Any) -> None:
    x = pb.constant([[3.0]])
    (y,) = pb.while_loop(lambda y: y < 20.0, lambda y: [y * x], [x])
    assert run([y, *pb.gradients(y, x)]) == [27.0, 27.0]


def test_a_scalar_condition_is_taken_as_it_is() -> None:
    y = count_to(3)
    assert [op.type for op in y.op.primitive.condition.operations][-1] == "Less"


def test_maximum_iterations_must_be_a_scalar() -> None:
    with pytest.raises(ValueError, match="while_loop: maximum_iterations must be a scalar integer, not"):
        count_to(3, maximum_iterations=[1, 2])


def test_a_dtype_must_not_change() -> None:
    with pytest.raises(TypeError) as error:
        pb.while_loop(lambda x: x < 3.0, lambda x: [pb.cast(x, pb.float64)], [pb.constant(1.0, name="x")])
    assert str(error.value) == (
        "while_loop: Loop var x:0 enters the loop with type float32 but has type float64 after 1 iteration. "
        "Convert it with pb.cast"
    )


def test_a_shape_must_not_change() -> None:
    with pytest.raises(ValueError, match="enters the loop with shape") as error:
        pb.while_loop(lambda x: x[0] < 3.0, lambda x: [pb.concat([x, x], 0)], [pb.constant([1.0], name="x")])
    assert str(error.value) == (
        "while_loop: loop variable 'x' enters the loop with shape (1,), but has shape (2,) after one iteration. "
        "To let the shape change from step to step, say so in shape_invariants."
    )


def test_an_invariant_must_fit_the_start() -> None:
    with pytest.raises(ValueError, match=r"the shape invariant \(3,\) is not compatible with 'x', which enters"):
        pb.while_loop(
            lambda x: x[0] < 3.0, lambda x: [x], [pb.constant([1.0], name="x")], shape_invariants=[pb.TensorShape([3])]
        )


def test_an_invariant_must_fit_a_sparse_tensor() -> None:
    x = pb.sparse.SparseTensor([[0], [3]], [2.0, 4.0], [10])
    message = r"the shape invariant \(5,\) is not compatible with SparseTensor\(float32\[10\], 2 values\)"
    with pytest.raises(ValueError, match=message):
        pb.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x), (0, x), [pb.TensorShape([]), pb.TensorShape([5])])


def test_none_is_no_next_value() -> None:
    with pytest.raises(ValueError, match="while_loop: a step returned None where it was given Tensor"):
        pb.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, None), (0, 1.0))


def test_the_structure_must_not_change() -> None:
    with pytest.raises(ValueError, match="while_loop: a step returned another structure than it was given"):
        pb.while_loop(lambda i: i < 3, lambda i: [i, i], [0])


def test_a_failing_body_leaves_the_graph_as_it_was() -> None:
    x = pb.constant([1.0, 2.0])
    before = str(x.graph)
    with pytest.raises(ValueError, match="matmul"):
        pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, pb.matmul(y, y)), (0, x))
    assert str(x.graph) == before


def test_a_tensor_of_a_body_cannot_be_used_outside() -> None:
    kept: list[pb.Tensor] = []

    def body(y: Any) -> Any:
        kept.append(pb.multiply(y, 2.0, name="doubled"))
        return kept

    y = pb.while_loop(lambda y: y < 10.0, body, [pb.constant(1.0)])[0]
    with pytest.raises(ValueError, match="because it is inside the body 'body'; return it from the body instead"):
        pb.square(kept[0])
    with pytest.raises(ValueError, match="Cannot add 'Const' to the body 'body', which is finished"):
        pb.add(kept[0], 1.0)
    with pytest.raises(ValueError, match="doubled:0"):
        pb.add(y, kept[0])
    with pytest.raises(ValueError, match="doubled"):
        pb.Session().run(kept[0])
    with pytest.raises(ValueError, match="doubled"):
        pb.Session().run(y, {kept[0]: 1.0})


def test_a_variable_is_read_before_the_loop_and_its_gradient_reaches_it(run: Any) -> None:
    v = pb.Variable(3.0)
    y = pb.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * v), (0, 1.0))[1]
    (dv,) = pb.gradients(y, v)
    for engine in ("numpy", "xla"):
        session = pb.Session(engine=engine)
        session.run(v.initializer)
        assert session.run([y, dv]) == [9.0, 6.0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_variable_may_be_read_and_assigned_in_each_step(engine: str) -> None:
    total = pb.Variable(0.0)

    def body(i: Any, seen: Any) -> Any:
        now = total.assign_add(pb.cast(i, pb.float32))
        return i + 1, seen + now

    _, seen = pb.while_loop(lambda i, seen: i < 4, body, (0, 0.0))
    session = pb.Session(engine=engine)
    session.run(total.initializer)
    assert session.run(seen) == 0.0 + 1.0 + 3.0 + 6.0
    assert session.run(total) == 6.0


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_was_drawn_at_random_is_the_same_in_the_derivative(engine: str) -> None:
    x = pb.constant(np.ones(8))
    y = pb.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, y * pb.random.uniform([8], dtype=pb.float64)),
        (0, x),
        maximum_iterations=3,
    )[1]
    value, slope = pb.Session(engine=engine).run([y, pb.gradients(y, x)[0]])
    np.testing.assert_allclose(slope, value)


def test_a_graph_that_has_run_can_be_differentiated(run: Any) -> None:
    x = pb.constant(2.0)
    y = pb.while_loop(lambda y: y < 30.0, lambda y: (y * x,), (x,))[0]
    session = pb.Session()
    assert session.run(y) == 32.0
    assert session.run(pb.gradients(y, x)) == [80.0]
    assert session.run(pb.gradients(y, x)) == [80.0]


def test_two_threads_may_differentiate_at_once() -> None:
    x = pb.constant(2.0)
    y = pb.while_loop(lambda y: y < 30.0, lambda y: (y * x,), (x,))[0]
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(pb.gradients(y, x)[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pb.Session(engine="numpy", graph=x.graph).run(found) == [80.0] * 4


def test_a_derivative_adds_one_loop_whatever_the_number_of_steps() -> None:
    x = pb.constant(2.0)
    y = pb.while_loop(lambda i, y: i < 1000, lambda i, y: (i + 1, pb.sin(y)), (0, x))[1]
    before = len(x.graph.operations)
    pb.gradients(y, x)
    assert [op.type for op in x.graph.operations[before:]].count("Loop") == 1
    assert len(x.graph.operations) - before < 5


def test_gradients_inside_a_body_by_loop_variables_and_by_tensors_around(run: Any) -> None:
    w = pb.constant(3.0)
    m = w * w

    def body(i: Any, y: Any, total: Any) -> Any:
        z = y * m
        dy, dm, dw = pb.gradients(z, [y, m, w])
        return i + 1, z, total + dy + dm + dw

    _, y, total = pb.while_loop(lambda i, *_: i < 2, body, (0, 1.0, 0.0))
    # Steps: y = 1, 9; dy = 9, dm = y, dw = 6 y.
    assert run([y, total]) == [81.0, (9 + 1 + 6) + (9 + 9 + 54)]


def test_gradients_inside_a_body_may_be_stopped(run: Any) -> None:
    w = pb.constant(3.0)

    def body(i: Any, total: Any) -> Any:
        m = w * w
        (partial,) = pb.gradients(m * w, w, stop_gradients=[m])
        return i + 1, total + partial

    assert run(pb.while_loop(lambda i, t: i < 1, body, (0, 0.0))[1]) == 9.0


def test_gradients_of_a_tensor_of_another_body_are_refused() -> None:
    kept: list[pb.Tensor] = []
    pb.while_loop(lambda y: y < 10.0, lambda y: [kept.append(y * 2.0) or y * 2.0], [pb.constant(1.0)])
    with pytest.raises(ValueError, match="must be from the same graph as"):
        pb.gradients(kept[0], pb.constant(1.0))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("carried", [False, True])
def test_a_loop_over_the_rows_of_what_has_unknown_length_has_a_derivative(carried: bool, engine: str) -> None:
    x = pb.placeholder(pb.float32, [None])
    y = pb.while_loop(
        lambda i, y, z: i < pb.shape(z if carried else x)[0], lambda i, y, z: (i + 1, y * x[i], z), (0, 1.0, x)
    )[1]
    session = pb.Session(engine=engine)
    for values in ([2.0, 3.0, 5.0], [7.0]):
        product, slope = session.run([y, *pb.gradients(y, x)], {x: values})
        assert product == np.prod(values)
        np.testing.assert_allclose(slope, np.prod(values) / np.array(values))
