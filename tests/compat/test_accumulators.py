"""Conditional accumulators: means, steps and rows are TensorFlow 2.21's."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError

BOTH = pytest.mark.parametrize("engine", ["numpy", "xla"])


@BOTH
def test_gradients_of_steps_that_are_over_are_dropped(engine: str) -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, [2], name="acc")
    x, step = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int64, [])
    give, mean, count = accumulator.apply_grad(x * 1.0, step), accumulator.take_grad(1), accumulator.num_accumulated()
    third = accumulator.set_global_step(3)
    assert (accumulator.name, mean.shape.as_list(), count.name) == ("acc", [2], "acc_NumAccumulated:0")
    with tf.Session(engine=engine) as session:

        def given(value: float, at: int) -> int:
            session.run(give, {x: [value, 2 * value], step: at})
            return int(session.run(count))

        assert [given(1.0, 0), given(3.0, 0)] == [1, 2]
        assert session.run(mean).tolist() == [2.0, 4.0]
        assert [given(9.0, 0), given(9.0, 1)] == [0, 1]
        session.run(third)
        assert [given(5.0, 2), given(5.0, 7)] == [1, 2]
        assert session.run(mean).tolist() == [7.0, 14.0]
        assert [given(5.0, 3), given(5.0, 4)] == [0, 1]


def test_sums_may_be_taken_and_sessions_have_their_own() -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, reduction_type="SUM")
    give = accumulator.apply_grad([1.0, 2.0])
    with tf.Session(engine="numpy") as session, tf.Session(engine="numpy") as other:
        session.run(give)
        session.run(give)
        other.run(give)
        assert session.run(accumulator.take_grad(2)).tolist() == [2.0, 4.0]
        assert other.run(accumulator.num_accumulated()) == 1


def test_a_run_waits_until_there_are_enough() -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, [])
    give, mean = accumulator.apply_grad(3.0), accumulator.take_grad(2)
    with tf.Session(engine="numpy") as session:
        session.run(give)
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(session.run(mean)))
        thread.start()
        session.run(give)
        thread.join()
        assert found == [3.0]


def test_a_variable_steps_by_the_mean_of_what_was_given() -> None:
    x = tf.Variable([1.0, 2.0])
    scale = tf.placeholder(tf.float32, [])
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    ((dx, _),) = optimizer.compute_gradients(scale * tf.reduce_sum(x * x))
    accumulator = tf.ConditionalAccumulator(tf.float32, [2])
    give = accumulator.apply_grad(dx)
    step = optimizer.apply_gradients([(accumulator.take_grad(2), x)])
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        for value in (0.0, 1.0):
            session.run(give, {scale: value})
        session.run(step)
        assert session.run(x).tolist() == [0.5, 1.0]


@BOTH
def test_the_mean_of_a_row_is_that_of_the_gradients_that_have_it(engine: str) -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, [4, 2], name="rows")
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 2], tf.int64))
    first = accumulator.apply_indexed_slices_grad(slices, 0)
    second = accumulator.apply_grad([2, 3], [[1.0, 1.0], [1.0, 1.0]], [4, 2], 0)
    mean, parts = accumulator.take_indexed_slices_grad(2), accumulator.take_grad(1)
    dense = tf.convert_to_tensor(accumulator.take_indexed_slices_grad(1))
    with tf.Session(engine=engine) as session:
        session.run(first)
        session.run(second)
        found = session.run(mean)
        assert found.values.tolist() == [[1.0, 2.0], [2.0, 2.5], [1.0, 1.0]]
        assert (found.indices.tolist(), found.dense_shape.tolist()) == ([0, 2, 3], [4, 2])
        session.run(accumulator.apply_grad([3, 2], [[1.0, 1.0], [2.0, 2.0]], local_step=5))
        assert [x.tolist() for x in session.run(list(parts))] == [[2, 3], [[2.0, 2.0], [1.0, 1.0]], [4, 2]]
        session.run(accumulator.apply_grad([1], [[1.0, 1.0]], local_step=5))
        assert session.run(tf.reduce_sum(dense)) == 2.0


def test_the_shape_need_not_be_known() -> None:
    accumulator = tf.sparse.SparseConditionalAccumulator(tf.float32, reduction_type="SUM")
    with tf.Session(engine="numpy") as session:
        session.run(accumulator.apply_grad([0], [[1.0, 1.0]]))
        found = session.run(accumulator.take_indexed_slices_grad(1))
        assert found.dense_shape.tolist() == [-1, 2]
        np.testing.assert_array_equal(found.values, [[1.0, 1.0]])


def test_what_cannot_be_is_refused() -> None:
    dense, rows = tf.ConditionalAccumulator(tf.float32, [2]), tf.SparseConditionalAccumulator(tf.float32, [4, 2])
    with pytest.raises(ValueError, match=r"reduction_type must be 'MEAN' or 'SUM', not 'FOO'$"):
        tf.ConditionalAccumulator(tf.float32, reduction_type="FOO")
    with pytest.raises(
        ValueError, match=r"^conditional_accumulator: the gradient float32\[3\].* have the shape \(2,\)$"
    ):
        dense.apply_grad(tf.ones([3]))
    unknown = tf.placeholder_with_default(tf.ones([3]), None)
    for op, text in (
        (dense.apply_grad(unknown, 100), r"conditional_accumulator: Shape mismatch: expected \(2,\), got \[3\]"),
        (dense.take_grad(0), "conditional_accumulator: num_required must be positive, not 0"),
        (rows.apply_grad([2, 3], [[1.0], [1.0]], [4, 1], 9), r"Shape mismatch: expected \(4, 2\), got \[4, 1\]"),
        (rows.apply_grad([2, 9], [[1.0, 1.0], [1.0, 1.0]]), r"indices of rows must be from 0 to 4, and are \[2, 9\]"),
        (rows.apply_grad([2], [[1.0, 1.0], [1.0, 1.0]]), "1 indices have 2 values"),
    ):
        with pytest.raises(InvalidArgumentError, match=text):
            tf.Session(engine="numpy").run(op)
