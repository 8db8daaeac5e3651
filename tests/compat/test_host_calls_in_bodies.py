"""Iterators, queues and tables in branches: only those of the branch that is taken go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[pb.Graph]:
    with pb.Graph().as_default() as new:
        yield new


@pytest.fixture(params=["numpy", "xla"])
def session(request: pytest.FixtureRequest) -> tf.Session:
    return tf.Session(engine=request.param)


def batches(sign: float, size: int) -> Any:
    rows = sign * np.arange(6, dtype=np.float32)
    return tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(rows).batch(size))


def test_the_iterator_of_the_branch_that_is_taken_goes_on(session: tf.Session) -> None:
    training, testing = batches(1.0, 2), batches(-1.0, 4)
    is_training, w = tf.placeholder(tf.bool, []), tf.constant(3.0)
    x = tf.cond(is_training, lambda: training.get_next(), lambda: testing.get_next())
    y = tf.reduce_sum(w * x)
    found = [session.run([x, tf.gradients(y, w)[0]], {is_training: v}) for v in (True, False, True, False, True)]
    assert [x.tolist() for x, _ in found] == [[0, 1], [0, -1, -2, -3], [2, 3], [-4, -5], [4, 5]]
    assert [dw for _, dw in found] == [1, -6, 5, -9, 9]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(x, {is_training: True})


def test_what_a_branch_makes_of_a_batch_is_made_in_it(session: tf.Session) -> None:
    i = tf.placeholder(tf.int32, [])
    iterators = [batches(1.0, 3), batches(-1.0, 2)]
    y = tf.switch_case(
        i,
        [lambda: tf.reduce_sum(tf.reshape(iterators[0].get_next(), [-1, 3]), 0), lambda: tf.zeros([3])],
        default=lambda: tf.reduce_max(iterators[1].get_next()) * tf.ones([3]),
    )
    found = [session.run(y, {i: n}).tolist() for n in (0, 1, 7, 0, -1, 2)]
    assert found == [[0, 1, 2], [0, 0, 0], [0, 0, 0], [3, 4, 5], [-2, -2, -2], [-4, -4, -4]]


def test_branches_in_branches_are_taken_where_both_are(session: tf.Session) -> None:
    outer, inner = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    iterator, nothing = batches(1.0, 2), tf.constant([-1.0, -1.0])
    x = tf.cond(outer, lambda: tf.cond(inner, lambda: iterator.get_next(), lambda: nothing), lambda: nothing)
    found = [session.run(x, {outer: a, inner: b}).tolist() for a in (True, False) for b in (True, False)]
    assert found == [[0, 1], [-1, -1], [-1, -1], [-1, -1]]
    assert session.run(x, {outer: True, inner: True}).tolist() == [2, 3]


def test_a_queue_waits_only_where_its_branch_is_taken(session: tf.Session) -> None:
    queue, names = tf.FIFOQueue(9, tf.float32, [[]]), tf.FIFOQueue(9, tf.string, [[]])
    takes, value = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    name = tf.cond(takes, lambda: names.dequeue(), lambda: tf.constant("none"))
    put = tf.cond(takes, lambda: tf.group(queue.enqueue(value), names.enqueue("one")), lambda: tf.no_op())
    assert session.run(name, {takes: False}) == b"none"
    session.run(put, {takes: False, value: 1.0})
    session.run(put, {takes: True, value: 2.0})
    assert session.run([queue.size(), queue.dequeue(), names.size()]) == [1, 2.0, 1]
    assert session.run(name, {takes: True}) == b"one"


def test_a_loop_takes_elements_step_by_step(session: tf.Session) -> None:
    rows = tf.data.Dataset.from_tensor_slices(np.arange(1, 7, dtype=np.float32))
    iterator, queue = tf.data.make_one_shot_iterator(rows), tf.FIFOQueue(-1, tf.float32, [[]])
    w = tf.constant(2.0)

    def step(i: Any, total: Any) -> tuple[Any, Any]:
        x = w * iterator.get_next()
        with tf.control_dependencies([queue.enqueue(x)]):
            return i + 1, total + x

    _, total = tf.while_loop(lambda i, total: i < 3, step, [0, 0.0])
    found = [session.run([total, *tf.gradients(total, w)]) for _ in range(2)]
    assert found == [[12.0, 6.0], [30.0, 15.0]]
    _, taken = tf.while_loop(lambda i, _: i < 6, lambda i, x: (i + 1, x - queue.dequeue()), [0, 42.0])
    assert session.run([taken, queue.size()]) == [0.0, 6]
    assert session.run(queue.size()) == 0
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        session.run(total)


def test_maps_and_functions_look_into_mutable_tables(session: tf.Session) -> None:
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, -1.0)
    keys = tf.constant([1, 2, 3], tf.int64)
    session.run(table.insert(keys[:2], [10.0, 20.0]))
    mapped = tf.map_fn(lambda key: table.lookup(key), keys, dtype=tf.float32)
    called = tf.function(lambda key: table.lookup(key)).get_concrete_function(tf.TensorSpec([3], tf.int64))(keys)
    assert [x.tolist() for x in session.run([mapped, called])] == [[10.0, 20.0, -1.0]] * 2


def test_a_branch_puts_in_what_is_computed_in_it(session: tf.Session) -> None:
    queue, takes = tf.FIFOQueue(9, tf.float32, [[]]), tf.placeholder(tf.bool, [])
    put = tf.cond(takes, lambda: queue.enqueue(tf.random_uniform([], 1.0, 2.0)), lambda: tf.no_op())
    for v in (True, False, True):
        session.run(put, {takes: v})
    assert session.run(queue.size()) == 2
    assert 1.0 <= session.run(queue.dequeue()) < 2.0


def test_each_session_has_its_own() -> None:
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(9))
    total = tf.while_loop(
        lambda i, _: i < 2, lambda i, x: (i + 1, x + iterator.get_next()), [0, tf.constant(0, tf.int64)]
    )
    sessions = [tf.Session(engine=engine) for engine in ("numpy", "xla", "numpy")]
    assert [[int(s.run(total[1])) for s in sessions] for _ in range(2)] == [[1, 1, 1], [5, 5, 5]]
