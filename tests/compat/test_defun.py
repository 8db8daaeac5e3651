"""`Defun`: functions of version 1, their derivatives, their calls in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.compat.v1.defun import Defun, get_extra_args, get_extra_vars

ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])


@ENGINES
def test_the_derivative_of_a_defined_function_is_that_of_its_body(engine: str) -> None:
    @Defun(tf.float32, tf.int32)
    def picked(x: Any, i: Any) -> Any:
        return tf.square(x)[i] * w, x

    w, x = tf.constant(10.0), tf.placeholder(tf.float32, [None])
    y, same = picked(x, 1)
    assert y.op.type == "PartitionedCall"
    by_x, by_w = tf.gradients([y, same], [x, w])
    value, dx, dw = pb.Session(engine=engine).run([y, by_x, by_w], {x: [2.0, 3.0]})
    assert value == 90.0
    assert dw == 9.0
    np.testing.assert_array_equal(dx, [1.0, 61.0])


@ENGINES
def test_a_defined_function_has_the_derivative_that_it_was_given(engine: str) -> None:
    @Defun(tf.float32, tf.float32, tf.float32)
    def gradient(x: Any, y: Any, dz: Any) -> Any:
        return tf.exp(dz) * y, tf.zeros_like(y)

    @Defun(tf.float32, tf.float32, grad_func=gradient)
    def product(x: Any, y: Any) -> Any:
        return x * y

    @Defun(tf.float32, python_grad_func=lambda call, dy, _: dy * call.inputs[0] + call.outputs[0])
    def cube(x: Any) -> Any:
        return x**3, tf.cast(x, tf.int32)

    x = tf.constant(2.0)
    fetches = [tf.gradients(product(x, 5.0), x), tf.gradients(cube(x)[0], x)]
    np.testing.assert_allclose(pb.Session(engine=engine).run(fetches), [[np.exp(1.0) * 5.0], [2.0 + 8.0]])


def test_a_defined_function_with_a_derivative_reads_variables() -> None:
    v = tf.Variable(3.0)

    @Defun(tf.float32, python_grad_func=lambda call, dy: 7.0 * dy)
    def scaled(x: Any) -> Any:
        return x * v

    x = tf.constant(2.0)
    y = scaled(x)
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.run([y, tf.gradients(y, x)]) == [6.0, [7.0]]
    assert tf.gradients(y, v) == [None]


def test_calls_have_names() -> None:
    @Defun(tf.float32, func_name="Plus")
    def plus_one(x: Any) -> Any:
        return x + 1.0

    assert (plus_one.name, plus_one.declared_input_types) == ("Plus", [tf.float32])
    assert [plus_one(1.0).op.name, plus_one(1.0).op.name, plus_one(1.0, name="mine").op.name] == [
        "Plus",
        "Plus_1",
        "mine",
    ]


def test_a_function_of_no_arguments_and_one_of_no_results() -> None:
    @Defun()
    def answer() -> Any:
        return tf.constant(42)

    @Defun(tf.float32)
    def nothing(x: Any) -> None:
        del x

    assert pb.Session(engine="numpy").run(answer()) == 42
    assert isinstance(nothing(1.0), pb.Operation)


def test_any_number_of_arguments() -> None:
    @Defun(*[tf.float32] * 3)
    def total(*xs: Any) -> Any:
        return tf.add_n(xs)

    assert pb.Session(engine="numpy").run(total(1.0, 2.0, 3.0)) == 6.0
    with pytest.raises(ValueError, match=r"^total: Expected number of arguments: 3, received: 2$"):
        total(1.0, 2.0)


def test_a_call_that_does_not_fit_is_refused() -> None:
    @Defun(tf.float32, tf.float32)
    def plus_one(x: Any) -> Any:
        return x + 1.0

    with pytest.raises(ValueError, match=r"^plus_one: Expected number of arguments: 1, received: 2$"):
        plus_one(1.0, 2.0)
    with pytest.raises(
        ValueError, match=r"^plus_one: 2 specified input types for 1 arguments; declare one for each, or none$"
    ):
        plus_one(1.0)
    with pytest.raises(ValueError, match=r"^plus_one: Unknown keyword arguments \['device'\]; it takes name only$"):
        plus_one(1.0, device="/gpu:0")


def test_calls_of_functions_of_version_1_are_in_the_graph() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def scaled(x: Any) -> Any:
        return x * v

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(x: Any) -> Any:
        return tf.reduce_sum(x)

    fetches = scaled(np.float32(3.0)), total(np.ones(3, np.float32)), tf.function(lambda: v)()
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.run(fetches) == (6.0, 3.0, 2.0)


def test_a_function_has_one_derivative() -> None:
    with pytest.raises(ValueError, match=r"^Defun: Gradient defined twice; give grad_func or python_grad_func$"):
        Defun(tf.float32, grad_func=lambda x, dy: dy, python_grad_func=lambda op, dy: dy)


def test_functions_to_be_compiled_are_functions() -> None:
    @Defun(tf.float32, compiled=True, separate_compiled_gradients=True)
    def doubled(x: Any) -> Any:
        return 2.0 * x

    assert pb.Session(engine="numpy").run(doubled(3.0)) == 6.0


@ENGINES
def test_a_defined_function_has_a_derivative_by_arguments_that_it_does_not_read(engine: str) -> None:
    @Defun(tf.float32, tf.float32, tf.int32)
    def first(x: Any, y: Any, n: Any) -> Any:
        return x * 2.0

    x, y, n = tf.constant(3.0), tf.constant([1.0, 2.0]), tf.constant(1)
    dx, dy, dn = tf.gradients(first(x, y, n), [x, y, n])
    assert dn is None
    found = pb.Session(engine=engine).run([dx, dy])
    assert (found[0], found[1].tolist()) == (2.0, [0.0, 0.0])
    assert tf.gradients(tf.function(lambda x, y: x * 2.0)(x, y), y) == [None]


def test_a_derivative_of_too_many_results_is_an_invalid_argument() -> None:
    double = Defun(tf.float32, func_name="double", python_grad_func=lambda call, dy: [dy, dy])(lambda x: 2.0 * x)
    x = tf.constant(3.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Num gradients 2 generated for op 'CustomGradient'"):
        tf.gradients(double(x), x)


def test_a_function_says_which_of_its_operations_act() -> None:
    @Defun(tf.float32)
    def checked(x: Any) -> Any:
        with tf.control_dependencies([tf.Assert(x > 0.0, [x])]):
            return x * 2.0

    @Defun(tf.float32, tf.float32, out_names=["sum"])
    def summed(a: Any, b: Any) -> Any:
        return a + b

    assert checked.stateful_ops == [("Assert", "Assert")]
    assert summed.stateful_ops == []


def test_the_definition_of_a_function_says_what_it_is() -> None:
    @Defun(tf.int32, noinline=True, experimental_number=3, experimental_part=0.5, _implements="a.step")
    def step(i: Any) -> Any:
        """One more."""
        return i + 1

    @Defun()
    def drawn() -> Any:
        return tf.random_uniform([2])

    made = step.definition
    assert (made.signature.name, made.signature.description, made.signature.is_stateful) == ("step", "One more.", False)
    assert [node.op for node in made.node_def] == ["Const", "AddV2"]
    assert len(made.signature.input_arg) == len(made.signature.output_arg) == 1
    attributes = made.attr["_noinline"].b, made.attr["experimental_number"].i, made.attr["experimental_part"].f
    assert (*attributes, made.attr["_implements"].s) == (True, 3, 0.5, b"a.step")
    assert drawn.definition.signature.is_stateful
    assert not drawn.definition.attr["_noinline"].b


def test_a_function_of_any_dtypes_is_defined_for_some() -> None:
    @Defun(noinline=True)
    def double(x: Any) -> Any:
        return x * 2

    one = double.instantiate([tf.float64])
    assert (one.name, one.declared_input_types, one.definition.attr["_noinline"].b) == ("double", [tf.float64], True)
    assert tf.Session(engine="numpy").run([one(1.5), double(2)]) == [3.0, 4]
    with pytest.raises(ValueError, match=r"^double: 0 specified input types for 1 arguments; declare one for each, or"):
        _ = double.definition


@pytest.mark.parametrize(
    "func",
    [lambda x=1: x, lambda **options: tf.constant(1), lambda *, x: x],
    ids=["default", "keywords", "keyword only"],
)
def test_functions_have_arguments_by_position(func: Any) -> None:
    with pytest.raises(ValueError, match=r"^f: arguments with defaults and keyword arguments are not supported: "):
        Defun(func_name="f")(func)


def test_a_function_has_no_result_that_is_none() -> None:
    @Defun(tf.float32)
    def half(x: Any) -> Any:
        return x, None

    with pytest.raises(ValueError, match=r"^half: a function can not return None beside other results; leave it out$"):
        half(1.0)


@ENGINES
def test_shapes_that_do_not_fit_are_seen_in_a_run(engine: str) -> None:
    @Defun(tf.float32, tf.float32)
    def product(a: Any, b: Any) -> Any:
        return tf.matmul(a, b)

    y = product(1.0, 2.0)
    assert y.shape.rank is None
    assert product([[1.0, 2.0]], [[3.0], [4.0]]).shape == [1, 1]
    with pytest.raises(pb.errors.InvalidArgumentError, match="matmul: both must be matrices or stacks of them"):
        pb.Session(engine=engine).run(y)


def test_a_function_is_on_the_device_on_which_it_was_made() -> None:
    with tf.device("CPU:0"):

        @Defun(tf.float32)
        def double(x: Any) -> Any:
            return x * 2.0

    with tf.device("/cpu:1"):
        y = double(1.0)
    assert y.device == "/device:CPU:1"
    (function,) = y.graph.as_graph_def().library.function
    assert {node.device for node in function.node_def} == {"/device:CPU:0"}


def test_what_a_function_captures_by_value_does_not_act() -> None:
    drawn, fixed = tf.random_uniform([3]), tf.constant(1.0) + 1.0

    def raised(x: Any) -> Any:
        return x + drawn + fixed

    with pytest.raises(
        ValueError, match=r"^raised: Cannot capture a stateful node by value: 'random_uniform.*whitelist"
    ):
        Defun(tf.float32, capture_by_value=True)(raised)(1.0)
    allowed = Defun(tf.float32, capture_by_value=True, whitelisted_stateful_ops=[drawn.op])
    (y,) = pb.Session(engine="numpy").run([allowed(raised)(10.0)])
    assert ((y >= 12.0) & (y < 13.0)).all()


@ENGINES
def test_a_function_knows_what_it_uses_of_the_graph(engine: str) -> None:
    c = tf.placeholder_with_default(5.0, [])
    inner = Defun(tf.float32)(lambda x: x * tf.get_variable("w", initializer=2.0))
    used: list[Any] = []

    @Defun(tf.float32)
    def slopes(x: Any) -> Any:
        y = inner(x) * c
        used.extend([*get_extra_vars(), *get_extra_args()])
        return tf.gradients(y, get_extra_args())

    with tf.variable_scope("net"):
        found = slopes(3.0)
    assert [v.name for v in tf.global_variables()] == ["net/w:0"]
    assert [used[0], used[1], used[2].shape] == [tf.global_variables()[0], used[0], []]
    with pb.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(found) == [15.0, 6.0]
