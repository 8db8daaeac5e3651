"""Metrics and constraints of Keras: values are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

M, C = tf.keras.metrics, tf.keras.constraints
T = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], "f")
P = np.array([[0.1, 0.7, 0.2], [0.3, 0.6, 0.1], [0.2, 0.5, 0.3]], "f")
W = np.array([1.0, 2.0, 0.5], "f")
N = np.array([1.0, 0.0, 2.0], "f")
BOTH = pytest.mark.parametrize("engine", ["numpy", "xla"])


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("binary_accuracy", (T, P), [1.0, 1 / 3, 2 / 3]),
        ("binary_accuracy", (T, P, 0.25), [1.0, 2 / 3, 2 / 3]),
        ("categorical_accuracy", (T, P), [1.0, 0.0, 0.0]),
        ("sparse_categorical_accuracy", ([1, 0, 2], P), [1.0, 0.0, 0.0]),
        ("sparse_categorical_accuracy", ([[1], [0], [2]], P), [1.0, 0.0, 0.0]),
        ("top_k_categorical_accuracy", (T, P, 2), [1.0, 1.0, 1.0]),
        ("sparse_top_k_categorical_accuracy", ([1, 0, 0], P, 2), [1.0, 1.0, 0.0]),
        ("cosine_proximity", (T, P), [0.95258, 0.44233, 0.48666]),
        ("mse", (T, P), [0.046667, 0.286667, 0.26]),
    ],
)
@BOTH
def test_functions_give_a_number_an_example(name: str, arguments: Any, expected: Any, engine: str) -> None:
    found = tf.Session(engine=engine).run(getattr(M, name)(*arguments))
    np.testing.assert_allclose(found, expected, rtol=2e-5)


@pytest.mark.parametrize(
    ("kind", "options", "arguments", "expected"),
    [
        ("Mean", {}, (W,), 1.16667),
        ("Mean", {}, (P, W), 0.33333),
        ("Mean", {}, (W, 2.0), 1.16667),
        ("Sum", {}, (P, W), 7.0),
        ("Sum", {}, (W,), 7.0),
        ("Accuracy", {}, (N, W), 1 / 3),
        ("BinaryAccuracy", {}, (T, P), 0.66667),
        ("BinaryAccuracy", {}, (T, P, W), 0.57143),
        ("CategoricalAccuracy", {}, (T, P, W[:, None]), 0.28571),
        ("SparseCategoricalAccuracy", {}, (N, P), 0.33333),
        ("TopKCategoricalAccuracy", {"k": 2}, (T, P), 1.0),
        ("SparseTopKCategoricalAccuracy", {"k": 2}, ([1.0, 0.0, 0.0], P), 0.66667),
        ("MeanSquaredError", {}, (T, P, W), 0.21429),
        ("MeanAbsoluteError", {}, (T, P), 0.37778),
        ("BinaryCrossentropy", {}, (T, P), 0.55901),
        ("CategoricalCrossentropy", {}, (T, P, W), 0.96189),
    ],
)
@BOTH
def test_objects_keep_means(kind: str, options: Any, arguments: Any, expected: float, engine: str) -> None:
    metric = getattr(M, kind)(**options)
    update, result = metric.update_state(*arguments), metric.result()
    with tf.Session(engine=engine) as session:
        session.run(tf.variables_initializer(metric.variables))
        session.run(update)
        session.run(update)
        assert session.run(result) == pytest.approx(expected, rel=2e-5)
        metric.reset_states()
        assert not any(session.run(metric.weights))
    assert [v.op.name for v in metric.variables] == (["total"] if kind == "Sum" else ["total", "count"])
    assert (tf.global_variables(), tf.trainable_variables()) == ([], [])


class Largest(M.Metric):
    def __init__(self) -> None:
        super().__init__("largest")
        self.largest = self.add_weight("value", initializer="zeros")

    def update_state(self, values: Any) -> Any:
        return self.largest.assign(tf.maximum(self.largest, tf.reduce_max(values)))

    def result(self) -> Any:
        return tf.identity(self.largest)


def test_a_program_may_derive_a_metric_of_its_own() -> None:
    x = tf.placeholder(tf.float32, [None])
    metric = Largest()
    largest = metric(x)
    with tf.Session(engine="numpy") as session:
        session.run([v.initializer for v in metric.variables])
        assert [session.run(largest, {x: values}) for values in ([1.0, 3.0], [2.0])] == [3.0, 3.0]
    with pytest.raises(NotImplementedError, match=r"^Metric does not define update_state$"):
        M.Metric().update_state()


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (C.MaxNorm(2.0), [[1.2, -1.0], [1.6, 0.0]]),
        (C.max_norm(2.0, axis=1), [[1.8973665, -0.6324555], [2.0, 0.0]]),
        (C.MinMaxNorm(2.0, 3.0, rate=0.5), [[2.4, -1.5], [3.2, 0.0]]),
        (C.get("non_neg"), [[3.0, 0.0], [4.0, 0.0]]),
        (C.get("UnitNorm"), [[0.6, -1.0], [0.8, 0.0]]),
    ],
)
def test_constraints(constraint: Any, expected: Any) -> None:
    w = tf.constant([[3.0, -1.0], [4.0, 0.0]])
    np.testing.assert_allclose(tf.Session(engine="numpy").run(constraint(w)), expected, rtol=1e-6)
    again = C.deserialize(C.serialize(constraint))
    assert (type(again), again.get_config()) == (type(constraint), constraint.get_config())


def test_constraints_are_found_by_their_names() -> None:
    assert (C.get(None), C.get(abs)) == (None, abs)
    with pytest.raises(ValueError, match=r"^Unknown constraint: 'foo'"):
        C.get("foo")
    with pytest.raises(ValueError, match=r"^Could not interpret constraint identifier: 3$"):
        C.get(3)
    layer = tf.keras.layers.Dense(2, use_bias=False, kernel_constraint="non_neg", kernel_initializer="ones")
    loss = tf.reduce_sum(layer(tf.ones([1, 3])))
    step = tf.keras.optimizers.SGD(2.0).get_updates(loss, layer.variables)
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert not session.run(layer.variables[0]).any()
    cell = tf.keras.layers.LSTM(2, recurrent_constraint="unit_norm")
    assert cell(tf.ones([1, 3, 2])).shape == [1, 2]
