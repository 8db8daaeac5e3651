"""Functional control flow: branches, loops, calls and derivatives of functions of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.compat.v1 import functional, generated_names, inner_names
from pullback.compat.v1.defun import Defun

ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])
FLOATS = [tf.float32] * 2


@Defun(*FLOATS)
def powers(n: Any, x: Any) -> Any:
    return n - 1.0, x * 3.0


def run(fetches: Any, engine: str, feed: Any = None) -> Any:
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


@ENGINES
@pytest.mark.parametrize("shape", [[], None])
def test_a_loop_of_defined_functions_and_its_derivative(engine: str, shape: Any) -> None:
    n, x = tf.placeholder(tf.float32, shape), tf.placeholder(tf.float32, shape)
    left, y = functional.While([n, x], Defun(*FLOATS)(lambda n, x: n > 0.0), powers)
    assert y.shape == x.shape
    found = run([left, y, *tf.gradients(y, x)], engine, {n: 4.0, x: 2.0})
    assert [float(v) for v in found] == [0.0, 162.0, 81.0]


@ENGINES
@pytest.mark.parametrize(("start", "limit", "delta", "expected"), [(1, 10, 3, 12), (10, 0, -4, 18), (3, 3, 1, 0)])
def test_a_loop_of_numbers_sees_each_of_them(start: int, limit: int, delta: int, expected: int, engine: str) -> None:
    v = tf.Variable(2.0)

    @Defun(tf.int32, tf.int32, tf.float32)
    def body(i: Any, total: Any, x: Any) -> Any:
        return total + i, x * v

    total, x = functional.For(start, limit, delta, [0, 1.0], body)
    moving = functional.For(tf.placeholder_with_default(start, []), limit, delta, [0, 1.0], body)[0]
    steps = len(range(start, limit, delta))
    assert run([total, moving], engine) == [expected, expected]
    assert run([x, *tf.gradients(x, v)], engine) == [2.0**steps, steps * 2.0 ** (steps - 1)]


@ENGINES
@pytest.mark.parametrize(("chosen", "expected"), [(True, 6.0), (False, 4.0), (-1, 6.0), (0.0, 4.0)])
def test_a_branch_is_chosen_by_a_truth_or_a_number(chosen: Any, expected: float, engine: str) -> None:
    (y,) = functional.If(chosen, [3.0], Defun(tf.float32)(lambda x: 2.0 * x), Defun(tf.float32)(lambda x: x + 1.0))
    assert run(y, engine) == expected


@ENGINES
def test_derivatives_of_functions_are_functions(engine: str) -> None:
    @Defun(*FLOATS)
    def f(x: Any, y: Any) -> Any:
        return x * x * y, 3.0 * x

    @Defun(*FLOATS)
    def slopes(x: Any, y: Any) -> Any:
        return functional.Gradient([x, y, 1.0, 10.0], f)

    dx, dy = slopes(2.0, 5.0)
    (of_one,) = functional.symbolic_gradient([2.0, 1.0], [tf.float32], lambda x: 0.0 * tf.stop_gradient(x))
    assert run([dx, dy, of_one], engine) == [50.0, 4.0, 0.0]


@ENGINES
def test_calls_give_lists_or_an_operation(engine: str) -> None:
    v = tf.Variable(1.0, use_resource=True)

    @Defun()
    def add() -> None:
        v.assign_add(2.0)

    changed = functional.partitioned_call(add.captured_inputs, add)
    with tf.Session(engine=engine) as session:
        session.run(v.initializer)
        session.run(changed)
        assert session.run(v) == 3.0
        assert session.run(functional.partitioned_call([1.0, 2.0], powers)) == [0.0, 6.0]
        assert session.run(functional.remote_call([1.0, 2.0], FLOATS, powers, "/cpu:0")) == [0.0, 6.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: functional.While([1.0, 2.0], powers, powers), "Expected a single scalar of cond, got 2 tensors"),
        (lambda: functional.While([1.0], lambda x: x > 0.0, lambda x: (x, x)), "returned 2 arguments. Expected: 1"),
        (
            lambda: functional.For(0, 3, 1, [1.0], lambda i, x: (x, x)),
            "For loop body returned 2 arguments. Expected: 1",
        ),
        (lambda: functional.For([0], 3, 1, [1.0], lambda i, x: x), r"For: start must be a scalar, not int32\[1\]"),
        (lambda: functional.For(0, 3, -1, [1.0], lambda i, x: x), "For: Invalid start/limit/delta: 0, 3, -1; no step"),
        (lambda: functional.For(0, 3, 0, [1.0], lambda i, x: x), "For: Invalid start/limit/delta: 0, 3, 0; no step"),
    ],
)
def test_what_is_no_loop_is_refused(make: Any, message: str) -> None:
    with pytest.raises(pb.errors.InvalidArgumentError, match=message):
        make()


def test_a_function_is_found_by_its_name() -> None:
    @Defun(tf.float32, func_name="square_and_one")
    def squared(x: Any) -> Any:
        return x * x + 1.0

    @Defun(tf.float32, tf.float32)
    def slope(x: Any, dy: Any) -> Any:
        return functional.symbolic_gradient([x, dy], [tf.float32], "square_and_one")

    assert tf.Session(engine="numpy").run([squared(3.0), slope(3.0, 0.5)]) == [10.0, 3.0]
    with pytest.raises(TypeError, match=r"^symbolic_gradient: f must be a function, or the name of a Defun that is"):
        functional.symbolic_gradient([1.0], [tf.float32], "cubed")


def test_a_defined_function_may_be_of_any_callable_and_name() -> None:
    def _hidden(x: Any) -> Any:
        return x + 1.0

    class Doubled:
        def __call__(self, x: Any) -> Any:
            return 2.0 * x

    made = [Defun(tf.float32)(f) for f in (_hidden, lambda x: x - 1.0, Doubled(), Defun(tf.float32)(_hidden))]
    ys = [f(3.0) for f in made]
    assert [y.op.name for y in ys] == ["hidden", "lambda", "Doubled", "DefinedFunction"]
    assert tf.Session(engine="numpy").run(ys) == [4.0, 2.0, 6.0, 4.0]


def test_what_a_definition_takes_for_tensorflows_sake() -> None:
    c = tf.constant(2.0)
    f = Defun(tf.float32, capture_by_value=True, experimental_tag=1, _implements="f", out_names=["y"])(lambda x: x * c)
    assert f.captured_inputs == []
    assert tf.Session(engine="numpy").run(f(3.0)) == 6.0
    with pytest.raises(TypeError, match=r"^Defun: there is no argument 'captured'$"):
        Defun(tf.float32, captured=True)
    named = Defun(*FLOATS, out_names=["left"])(powers)
    message = r"^DefinedFunction: output names must be either empty .*output names size = 1 outputs size = 2$"
    with pytest.raises(pb.errors.InvalidArgumentError, match=message):
        named(1.0, 2.0)


def test_functions_of_the_graph_by_their_old_name() -> None:
    @inner_names.defun
    def double(x: Any) -> Any:
        return 2 * x

    np.testing.assert_array_equal(tf.Session(engine="numpy").run(double(tf.constant([1, 2]))), [2, 4])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_results_are_found_by_the_name_of_the_call(engine: str) -> None:
    functional.While([3.0, 0.0], lambda n, x: n > 0.0, lambda n, x: (n - 1.0, x + n), name="sum")
    functional.If(tf.constant(True), [1.0], lambda x: (x, 2.0 * x), lambda x: (x, x))
    (square,) = functional.For(0, 3, 1, [1.0], lambda i, x: x + x, rewrite_with_while=True)
    assert functional.For(0, 3, 1, [], lambda i: ()) == []
    generated_names.case(1, [3.0], [tf.float32], [lambda x: x, lambda x: -x], name="which")
    graph, session = tf.get_default_graph(), pb.Session(engine=engine)
    fetches = ["sum:1", "If:1", "While:0", "which:0", square]
    assert session.run(fetches) == [6.0, 2.0, 8.0, -3.0, 8.0]
    assert session.run(graph.get_operation_by_name("For")) is None
    assert tf.gradients(graph.get_tensor_by_name("sum:1"), graph.get_operations()[0].outputs[0]) != [None]


def test_hints_of_how_tensorflow_runs_a_node_are_taken() -> None:
    op = tf.constant(1.0).op
    op._set_attr("_lower_using_switch_merge", True)
    with pytest.raises(ValueError, match=r"^attribute 'dtype' of operation 'Const' cannot be assigned to: "):
        op._set_attr("dtype", tf.float64)


def test_a_number_chooses_no_branch() -> None:
    branches = [lambda: tf.constant(1.0), lambda: tf.constant(2.0)]
    assert tf.Session(engine="numpy").run(tf.switch_case(tf.constant(1), branches)) == 2.0
    with pytest.raises(TypeError, match=r"^switch_case: branch_index must be a Tensor, not 1; call the func"):
        tf.switch_case(1, branches)
