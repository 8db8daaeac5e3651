"""Effects in branches and loops of TensorFlow 1's graphs: those that what is fetched waits for, and no others."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pullback as pb
import pullback.compat.v1 as tf


@pytest.fixture(autouse=True)
def version_1() -> Iterator[None]:
    tf.disable_v2_behavior()
    with pb.Graph().as_default():
        yield
    pb.enable_v2_tensorshape()
    pb.enable_resource_variables()


@pytest.fixture
def variables() -> list[Any]:
    return [tf.get_variable(name, initializer=0.0) for name in "abc"]


@pytest.fixture(params=["numpy", "xla"])
def after(request: pytest.FixtureRequest, variables: list[Any]) -> Callable[[Any], list[float]]:
    """The values of the variables after a run of some fetches."""

    def run(fetches: Any) -> list[float]:
        with tf.Session(engine=request.param) as session:
            session.run(tf.global_variables_initializer())
            session.run(fetches)
            return [float(v) for v in session.run(variables)]

    return run


After = Callable[[Any], list[float]]


def test_a_branch_does_what_the_result_that_is_fetched_waits_for(variables: list[Any], after: After) -> None:
    a, b, c = variables

    def chosen() -> tuple[Any, Any]:
        tf.assign(a, 1.0)
        x = tf.assign(b, 2.0) * 1.0
        with tf.control_dependencies([tf.assign(c, 3.0)]):
            return x, tf.identity(5.0)

    x, y = tf.cond(tf.placeholder_with_default(True, []), chosen, lambda: (tf.constant(0.0), tf.constant(0.0)))
    assert after(x) == [0.0, 2.0, 0.0]
    assert after(y) == [0.0, 0.0, 3.0]
    assert after([x, y]) == [0.0, 2.0, 3.0]


def test_operations_among_the_results_of_a_branch_run_one_by_one(variables: list[Any], after: After) -> None:
    a, b, c = variables
    ran = tf.cond(
        tf.constant(True),
        lambda: [tf.assign(a, 1.0).op, tf.assign(b, 2.0).op],
        lambda: [tf.assign(c, 3.0).op, tf.no_op()],
    )
    assert after(ran[1]) == [0.0, 2.0, 0.0]
    assert after(ran) == [1.0, 2.0, 0.0]


def test_a_loop_does_what_the_variable_that_is_fetched_waits_for(variables: list[Any], after: After) -> None:
    a, b, c = variables

    def body(i: Any, x: Any) -> tuple[Any, Any]:
        tf.assign_add(a, 1.0)
        with tf.control_dependencies([tf.assign_add(b, 1.0)]):
            x = x + 1.0
        with tf.control_dependencies([tf.assign_add(c, 1.0)]):
            return i + 1, x

    i, x = tf.while_loop(lambda i, x: i < 3, body, [0, 0.0])
    assert after(i) == [0.0, 0.0, 3.0]
    assert after(x) == [0.0, 3.0, 3.0]


def test_a_branch_that_is_waited_for_does_all_that_its_results_wait_for(variables: list[Any], after: After) -> None:
    a, b, _ = variables

    def chosen() -> Any:
        return tf.cond(tf.constant(True), lambda: tf.assign(a, a + 1.0), lambda: a)

    def body(i: Any) -> Any:
        with tf.control_dependencies([chosen()]):
            return i + 1

    with tf.control_dependencies(
        [tf.cond(tf.placeholder_with_default(True, []), lambda: tf.assign(b, 2.0), lambda: b)]
    ):
        waits = tf.identity(1.0)
    assert after(tf.while_loop(lambda i: i < 4, body, [0])) == [4.0, 0.0, 0.0]
    assert after(waits) == [0.0, 2.0, 0.0]
    assert after(tf.cond(tf.placeholder_with_default(True, []), lambda: tf.assign(b, 2.0), lambda: b).op) == [0, 2, 0]


def test_derivatives_maps_and_cases_do_nothing_that_nobody_waits_for(variables: list[Any], after: After) -> None:
    def beside(y: Any) -> Any:
        tf.assign(variables[0], 1.0)
        return y

    x = tf.placeholder_with_default(2.0, [])
    y = tf.cond(x > 0.0, lambda: beside(x * x), lambda: x)
    mapped = tf.map_fn(lambda row: beside(row * 2.0), tf.constant([1.0, 2.0]))
    summed = tf.scan(lambda total, row: beside(total + row), tf.constant([1.0, 2.0]))
    first = tf.case([(x > 0.0, lambda: beside(tf.constant(7.0)))], default=lambda: tf.constant(0.0))
    assert after([*tf.gradients(y, x), mapped, summed, first]) == [0.0, 0.0, 0.0]


def test_a_function_does_all_that_it_says(variables: list[Any], after: After) -> None:
    @tf.function
    def chosen() -> Any:
        return tf.cond(
            tf.constant(True), lambda: (tf.assign(variables[0], 1.0), tf.constant(7.0))[1], lambda: tf.constant(0.0)
        )

    assert after(chosen()) == [1.0, 0.0, 0.0]


def test_a_wrapped_function_does_what_its_results_wait_for(variables: list[Any], after: After) -> None:
    a, b, _ = variables

    def wrapped(x: Any) -> Any:
        tf.assign(a, tf.constant(1.0, name="one"))
        with tf.control_dependencies([tf.assign(b, x)]):
            return tf.identity(2.0 * x, name="y")

    whole = tf.wrap_function(wrapped, [tf.TensorSpec([], tf.float32)])
    assert after(whole(3.0)) == [0.0, 3.0, 0.0]
    assert after(whole.prune([], whole.graph.get_tensor_by_name("one:0"))()) == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="prune: 'y:0' needs args_0:0; pass it among the feeds"):
        whole.prune([], "y:0")


def test_branches_without_results_are_run_for_their_effects(variables: list[Any], after: After) -> None:
    def nothing() -> None:
        pb.assign(variables[0], 1.0)

    assert after(pb.cond(tf.placeholder_with_default(True, []), nothing, lambda: None)) == [1.0, 0.0, 0.0]


def test_outside_of_version_1_a_branch_does_all_that_it_says(variables: list[Any], after: After) -> None:
    pb.enable_v2_tensorshape()
    both = lambda: (tf.assign(variables[0], 1.0), tf.constant(7.0))[1]  # noqa: E731
    assert after(tf.cond(tf.placeholder_with_default(True, []), both, lambda: tf.constant(0.0))) == [1.0, 0.0, 0.0]
