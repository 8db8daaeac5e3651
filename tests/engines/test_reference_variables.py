"""What a fetch of a variable gives beside what assigns to it: TensorFlow 1's variables, and resource variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])


@pytest.fixture(autouse=True)
def version_1() -> Iterator[None]:
    tf.disable_resource_variables()
    yield
    tf.enable_resource_variables()


def step_of(v: Any) -> Any:
    return tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(v * v * v))


UPDATES: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "assigned": (lambda v: v.assign([5.0, 6.0]), [5.0, 6.0]),
    "added": (lambda v: v.assign_add([1.0, 1.0]), [2.0, 3.0]),
    "scattered": (lambda v: tf.scatter_add(v, [1], [10.0]), [1.0, 12.0]),
    "trained": (step_of, [-0.5, -4.0]),
    "in a branch": (
        lambda v: tf.cond(tf.constant(True), lambda: v.assign_add([1.0, 1.0]), lambda: v + 0.0),
        [2.0, 3.0],
    ),
    "read only": (lambda v: v * 2.0, [1.0, 2.0]),
}


@ENGINES
@pytest.mark.parametrize("update", UPDATES)
def test_a_fetch_is_the_value_at_the_end_of_the_run(update: str, engine: str) -> None:
    make, wanted = UPDATES[update]
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    doubled, op = v * 2.0, make(v)
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        first, _, (by_name, before) = session.run([v, op, ["v:0", doubled]])
        np.testing.assert_array_equal(first, wanted)
        np.testing.assert_array_equal(by_name, wanted)
        np.testing.assert_array_equal(before, [2.0, 4.0])
        first[:] = 0.0
        np.testing.assert_array_equal(session.run(v), wanted)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.get_variable("v", initializer=1.0, use_resource=True),
        lambda: tf.Variable(1.0, use_resource=True),
        lambda: [tf.keras.layers.Dense(1, kernel_initializer="ones")(tf.ones([1, 1])), tf.global_variables()[0]][1],
    ],
    ids=["get_variable", "Variable", "keras"],
)
def test_one_of_a_resource_is_the_value_before(make: Any) -> None:
    v = make()
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        before, after = session.run([v, v.assign_add(tf.ones_like(v))])
    assert before == 1.0
    assert after == 2.0


@ENGINES
def test_the_global_step_beside_a_training_step_is_that_behind_it(engine: str) -> None:
    step, v = tf.train.get_or_create_global_step(), tf.get_variable("v", initializer=1.0)
    train = tf.train.AdamOptimizer(0.1).minimize(v * v, global_step=step)
    pb.config.use_engine(engine)
    try:
        with tf.train.MonitoredTrainingSession() as session:
            assert [session.run([train, step])[1] for _ in range(3)] == [1, 2, 3]
    finally:
        pb.config.use_engine(None)


def test_a_function_of_feeds_gives_it_and_so_does_a_fed_variable() -> None:
    v = tf.get_variable("v", initializer=1.0)
    x = tf.placeholder(tf.float32, [])
    grown = v.assign_add(x)
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.make_callable([v, grown], [x])(2.0) == [3.0, 3.0]
        assert session.run([v, grown], {v: 10.0, x: 1.0}) == [11.0, 11.0]
        assert session.run(v) == 3.0
