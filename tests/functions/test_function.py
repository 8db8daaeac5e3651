"""`function`: tracing, calls in graphs and on arrays, captures, state, derivatives."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import pullback as pb


def run(fetches: Any, engine: str = "numpy", feeds: Any = None) -> Any:
    with pb.Session(engine=engine) as session:
        if pb.get_default_graph().get_collection("variables"):
            session.run(pb.global_variables_initializer())
        return session.run(fetches, feeds)


# Tracing


def test_it_is_traced_once_for_each_dtype_and_shape() -> None:
    seen = []

    @pb.function
    def f(x: Any) -> Any:
        seen.append(x.type)
        return x + x

    for value in (1.0, 2.0, [1.0], [2.0], [1, 2]):
        f(pb.constant(value))
    assert [str(t) for t in seen] == ["float32[]", "float32[1]", "int32[2]"]


def test_python_values_are_part_of_the_signature() -> None:
    f = pb.function(lambda x, n, flag=False: x * float(n))
    x = pb.constant(2.0)
    assert run([f(x, 3), f(x, 4), f(x, 3, flag=True), f(x, n=3)]) == [6.0, 8.0, 6.0, 6.0]
    assert f.experimental_get_tracing_count() == 3


def test_one_and_true_are_different_values() -> None:
    f = pb.function(lambda x, n: pb.cast(n, x.dtype) * x if n is True else x)
    x = pb.constant(2.0)
    f(x, 1), f(x, True), f(x, 1.0)
    assert f.experimental_get_tracing_count() == 3


def test_values_without_a_hash_are_told_apart_by_identity() -> None:
    class Config:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            return True

    f = pb.function(lambda x, config: x)
    a, b = Config(), Config()
    f(pb.constant(1.0), a), f(pb.constant(1.0), a), f(pb.constant(1.0), b)
    assert f.experimental_get_tracing_count() == 2


def test_arguments_and_results_are_nested() -> None:
    @pb.function
    def f(pair: Any, *, rest: Any) -> Any:
        return {"sum": pair[0] + pair[1], "rest": (rest["a"], None, 3)}

    result = f((pb.constant(1.0), pb.constant(2.0)), rest={"a": pb.constant(4.0)})
    assert set(result) == {"sum", "rest"}
    assert isinstance(result["rest"], tuple)
    assert result["rest"][1] is None
    assert run([result["sum"], result["rest"][0], result["rest"][2]]) == [3.0, 4.0, 3]


def test_slices_are_arguments_and_results() -> None:
    @pb.function
    def f(rows: pb.IndexedSlices) -> pb.IndexedSlices:
        return pb.IndexedSlices(rows.values * 2.0, rows.indices, rows.dense_shape)

    rows = pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([2]), pb.constant([3, 1]))
    values = run(f(rows))
    assert values.values.tolist() == [[2.0]]
    assert values.indices.tolist() == [2]


def test_a_method_is_traced_for_each_object() -> None:
    class Scale:
        def __init__(self, by: float) -> None:
            self.by = by

        @pb.function
        def __call__(self, x: Any) -> Any:
            return x * self.by

    a, b = Scale(2.0), Scale(3.0)
    assert run([a(pb.constant(1.0)), b(pb.constant(1.0)), a(pb.constant(2.0))]) == [2.0, 3.0, 4.0]


def test_shapes_that_changed_become_unknown_with_reduce_retracing() -> None:
    f = pb.function(lambda x: x * 2.0, reduce_retracing=True)
    for n in range(1, 6):
        assert f(np.ones(n, np.float32)).tolist() == [2.0] * n
    assert str(f.pretty_printed_concrete_signatures()).split("\n") == [
        "lambda(x: float32[1]) -> float32[1]",
        "lambda_1(x: float32[?]) -> float32[?]",
    ]


def test_an_input_signature_means_one_trace() -> None:
    def twice(x: Any) -> Any:
        return x * 2.0

    f = pb.function(twice, input_signature=[pb.TensorSpec([None], pb.float32)])
    assert f([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert f(np.ones(3, np.float32)).tolist() == [2.0] * 3
    assert f.get_concrete_function().structured_input_signature == ((pb.TensorSpec([None], pb.float32, "x"),), {})
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError) as error:
        f(np.ones(3))
    assert str(error.value) == "twice: x is float64[3], but input_signature asks for float32[?]"


def test_an_input_signature_holds_specs() -> None:
    with pytest.raises(TypeError) as error:
        pb.function(lambda x: x, input_signature=[pb.float32])
    assert str(error.value) == ("function: input_signature must hold nothing but TensorSpec, not dtype('float32')")


def test_many_traces_are_worth_a_warning_that_says_what_changed(caplog: pytest.LogCaptureFixture) -> None:
    f = pb.function(lambda x, n: x * n)
    with caplog.at_level(logging.WARNING, logger="pullback"):
        for n in range(9):
            f(pb.constant(1.0), float(n))
    assert [r.getMessage() for r in caplog.records] == [
        "function 'lambda' was traced 8 times. It changed 'n' from 7.0 to 8.0. "
        "Hand in numbers that change as arrays or tensors."
    ]


def test_too_many_traces_are_an_error_that_says_what_changed() -> None:
    f = pb.function(lambda x: x)
    for n in range(64):
        f(pb.zeros([n]))
    with pytest.raises(RuntimeError) as error:
        f(pb.zeros([64]))
    assert str(error.value) == (
        "function 'lambda' was traced 64 times, which is the limit. It changed 'x' from float32[63] to float32[64]. "
        "Use reduce_retracing=True, or an input_signature with None for the lengths that change."
    )


def test_recursion_is_refused() -> None:
    @pb.function
    def f(x: Any) -> Any:
        return f(x)

    with pytest.raises(RecursionError) as error:
        f(pb.constant(1.0))
    assert str(error.value) == (
        "function 'f' calls itself with arguments of the same kind while it is traced. "
        "A graph cannot recurse: use pb.while_loop."
    )


def test_recursion_over_a_python_number_is_a_chain_of_functions() -> None:
    @pb.function
    def power(x: Any, n: int) -> Any:
        return x if n == 1 else x * power(x, n - 1)

    assert run(power(pb.constant(2.0), 5)) == 32.0


def test_a_result_that_is_no_tensor_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        pb.function(lambda x: {1, 2})(pb.constant(1.0))
    assert str(error.value) == "lambda: result 0 must be a tensor, a number, an array or None, not {1, 2}"


def test_wrong_arguments_name_the_function() -> None:
    f = pb.function(lambda x: x)
    with pytest.raises(TypeError, match=r"^lambda: missing a required argument: 'x'$"):
        f()


def test_a_failed_trace_leaves_nothing() -> None:
    @pb.function
    def f(x: Any) -> Any:
        raise KeyError("inside")

    x = pb.constant(1.0)
    before = str(pb.get_default_graph())
    with pytest.raises(KeyError, match="inside"):
        f(x)
    assert str(pb.get_default_graph()) == before
    assert f.experimental_get_tracing_count() == 0


# Concrete functions


def test_a_concrete_function_prints_its_signature_and_its_operations() -> None:
    f = pb.function(lambda x, by: {"y": x * by})
    concrete = f.get_concrete_function(pb.TensorSpec([None], pb.float32), 2.0)
    assert str(concrete) == "lambda(x: float32[?], by: 2.0) -> {'y': float32[?]}"
    assert concrete.pretty_printed_signature() == "\n".join(
        [
            str(concrete),
            "lambda(x: float32[?]) -> (mul)",
            "  mul/y: float32[] = Const[value=2.0]()",
            "  mul: float32[?] = Mul(x, mul/y)",
        ]
    )


def test_a_concrete_function_adds_a_call_for_arrays_too() -> None:
    concrete = pb.function(lambda x: x * 2.0).get_concrete_function(np.ones(2, np.float32))
    y = concrete(np.array([1.0, 2.0], np.float32))
    assert y.op.type == "PartitionedCall"
    assert run(y).tolist() == [2.0, 4.0]
    with pytest.raises(TypeError, match=r"^lambda: x is float32\[3\], but the function was traced for float32\[2\]$"):
        concrete(pb.zeros([3]))


def test_what_was_captured_is_listed() -> None:
    w, v = pb.constant(2.0, name="w"), pb.Variable(3.0, name="v")
    concrete = pb.function(lambda x: x * w * v).get_concrete_function(pb.TensorSpec([]))
    assert concrete.captured_inputs == [w, v.handle]
    assert concrete.variables == concrete.trainable_variables == (v,)


# Calls in a graph


def test_a_call_is_one_operation() -> None:
    f = pb.function(lambda x: pb.tanh(x) * pb.sin(x))
    x = pb.constant(1.0, name="x")
    f(x)
    assert [op.type for op in pb.get_default_graph().get_operations()] == ["Const", "PartitionedCall"]


def test_captured_tensors_are_inputs_of_the_call() -> None:
    w = pb.constant(2.0, name="w")
    x = pb.constant(3.0, name="x")
    y = pb.function(lambda a: a * w)(x)
    assert [t.name for t in y.op.inputs] == ["x:0", "w:0"]
    assert run(pb.gradients(y, [x, w])) == [2.0, 3.0]


def test_a_function_that_captures_nothing_serves_all_graphs() -> None:
    f = pb.function(lambda x: x * 2.0)
    for _ in range(2):
        with pb.Graph().as_default() as graph:
            assert pb.Session(graph=graph, engine="numpy").run(f(pb.constant(1.0))) == 2.0
    assert f.experimental_get_tracing_count() == 1


def test_a_function_that_captures_is_traced_again_where_it_cannot_read_what_it_captured() -> None:
    outer: list[pb.Tensor] = []
    f = pb.function(lambda a: a * outer[-1])
    for value in (2.0, 3.0):
        with pb.Graph().as_default() as graph:
            outer.append(pb.constant(value))
            assert pb.Session(graph=graph, engine="numpy").run(f(pb.constant(1.0))) == value
    assert f.experimental_get_tracing_count() == 2


def test_calls_in_bodies_capture_through_them() -> None:
    w = pb.constant(3.0)
    inner = pb.function(lambda a: a * w)
    outer = pb.function(lambda a: inner(a) + inner(2.0 * a))
    x = pb.constant(1.0)
    assert run(pb.gradients(outer(x), [x, w])) == [9.0, 3.0]
    assert inner.experimental_get_tracing_count() == 1


def test_a_function_of_another_body_reads_its_loop_variable() -> None:
    def body(i: Any, y: Any) -> Any:
        return i + 1, pb.function(lambda a: a * y)(pb.constant(2.0))

    x = pb.constant(1.5)
    y = pb.while_loop(lambda i, y: i < 3, body, (0, x))[1]
    assert run([y, *pb.gradients(y, x)]) == [12.0, 8.0]


def test_devices_and_overrides_around_the_call_hold_inside() -> None:
    @pb.RegisterGradient("SevenTimes")
    def seven_times(op: Any, dy: Any) -> Any:
        return 7.0 * dy

    f = pb.function(lambda a: pb.tanh(a))
    x = pb.constant(0.5)
    f(x)
    with pb.get_default_graph().gradient_override_map({"Tanh": "SevenTimes"}):
        y = f(x)
    assert run(pb.gradients(y, x)) == [7.0]
    assert f.experimental_get_tracing_count() == 2


# Called with arrays


def test_with_arrays_it_runs_and_leaves_the_graph_alone() -> None:
    f = pb.function(lambda x, y: {"sum": x + y, "none": None})
    result = f(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert result["sum"].tolist() == [4.0, 6.0]
    assert result["none"] is None
    assert pb.get_default_graph().get_operations() == []


def test_with_arrays_variables_begin_with_their_initial_values_and_are_shared() -> None:
    v = pb.Variable(1.0)
    w = pb.Variable(v.initialized_value() * 10.0)
    add = pb.function(lambda x: v.assign_add(x))
    read = pb.function(lambda: (v.value(), w.value()))
    assert [add(np.float32(2.0)), add(np.float32(3.0))] == [3.0, 6.0]
    assert read() == (6.0, 10.0)


def test_with_arrays_the_default_session_is_used() -> None:
    v = pb.Variable(1.0)
    f = pb.function(lambda x: v * x)
    with pb.Session() as session:
        session.run(v.assign(5.0))
        assert f(np.float32(2.0)) == 10.0


def test_with_arrays_captured_tensors_are_computed() -> None:
    w = pb.constant(2.0) * 3.0
    assert pb.function(lambda x: x * w)(np.float32(2.0)) == 12.0


def test_with_arrays_gradients_inside_run() -> None:
    f = pb.function(lambda x: pb.gradients(pb.reduce_sum(x * x), x)[0])
    assert f(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_slices_come_out_as_values() -> None:
    f = pb.function(lambda t: pb.gradients(pb.gather(t, [1]), t)[0])
    rows = f(np.ones([3, 2]))
    assert isinstance(rows, pb.IndexedSlicesValue)
    assert rows.indices.tolist() == [1]


# Saved and loaded


def test_calls_survive_the_dict_form_and_are_differentiated_afterwards() -> None:
    inner = pb.function(lambda a: pb.sin(a))
    y = pb.function(lambda x: inner(x) * x)(pb.constant(2.0, name="x"))
    pb.gradients(y, y.graph.get_tensor_by_name("x:0"))
    graph = pb.Graph.from_dict(y.graph.to_dict())
    assert str(graph) == str(y.graph)
    with graph.as_default():
        (dx,) = pb.gradients(graph.get_tensor_by_name(y.name), graph.get_tensor_by_name("x:0"))
        np.testing.assert_allclose(run(dx), np.sin(2.0) + 2.0 * np.cos(2.0), rtol=1e-6)


# In other company


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_calls_that_assign_or_draw_work_in_loops_and_branches(engine: str) -> None:
    v = pb.Variable(1.0)

    @pb.function
    def step(y: Any) -> Any:
        v.assign_add(1.0)
        return y * v * pb.random.uniform([], 0.5, 1.0)

    @pb.function
    def both(a: Any) -> Any:
        looped = pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, step(y)), (0, a))[1]
        return pb.cond(a > 0.0, lambda: step(looped), lambda: a)

    x = pb.constant(2.0)
    y = both(x)
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        value, dx = session.run([y, *pb.gradients(y, x)])
        assert session.run(v) == 5.0
    assert dx == pytest.approx(value / 2.0)


def test_effects_inside_a_branch_run_without_its_result() -> None:
    v = pb.Variable(0.0)

    @pb.function
    def f(a: Any) -> Any:
        pb.cond(a > 0.0, lambda: v.assign(10.0), lambda: v.assign(20.0))
        return a

    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        session.run(f(pb.constant(1.0)))
        assert session.run(v) == 10.0


def test_get_variable_finds_its_variable_again() -> None:
    @pb.function
    def layer(x: Any) -> Any:
        with pb.variable_scope("layer", reuse=pb.AUTO_REUSE):
            return x * pb.get_variable("w", [2], initializer=pb.ones_initializer())

    x = pb.constant([1.0, 2.0])
    y = layer(layer(x))
    assert [v.name for v in pb.global_variables()] == ["layer/w:0"]
    assert run(pb.gradients(y, pb.global_variables()[0])).pop().tolist() == [2.0, 4.0]


def test_control_dependencies_inside_hold_for_the_call() -> None:
    v = pb.Variable(0.0)
    assign = v.assign(5.0, read_value=False)

    @pb.function
    def f(x: Any) -> Any:
        with pb.control_dependencies([assign]):
            return x * 2.0

    y = f(pb.constant(1.0))
    assert y.op.control_inputs == [assign]


def test_arrays_of_tensors_are_arguments_and_results() -> None:
    @pb.function
    def write(array: Any, x: Any) -> Any:
        return array.write(1, x * 2.0)

    x = pb.constant([3.0, 4.0])
    array = pb.TensorArray(pb.float32, 2, element_shape=[2], clear_after_read=False).write(0, x)
    written = write(array, x)
    y = written.read(0) * written.read(1)
    assert run([y, *pb.gradients(y, x)])[1].tolist() == [12.0, 16.0]


def test_objects_that_cannot_be_referred_to_weakly_have_methods_too() -> None:
    class Point:
        __slots__ = ("by",)

        def __init__(self) -> None:
            self.by = 2.0

        @pb.function
        def scaled(self, x: Any) -> Any:
            return x * self.by

    assert Point().scaled(np.float32(3.0)) == 6.0


def test_a_variable_as_an_argument_makes_a_call() -> None:
    v = pb.Variable(3.0)
    y = pb.function(lambda a: a * a)(v)
    assert run([y, *pb.gradients(y, v)]) == [9.0, 6.0]


def test_tensors_of_the_function_cannot_be_differentiated_from_outside() -> None:
    f = pb.function(lambda a: a * 2.0)
    x = pb.constant(1.0)
    y = f(x)
    inner = f.get_concrete_function(x).outputs[0]
    with pytest.raises(ValueError, match="must be from the same graph as"):
        pb.gradients(y, inner)
