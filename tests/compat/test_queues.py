"""Queues of TensorFlow 1, and the threads that fill them."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf


def test_elements_come_in_their_order() -> None:
    queue = tf.FIFOQueue(10, [tf.float32, tf.int32], [[2], []])
    put = queue.enqueue(([1.0, 2.0], 3))
    many = queue.enqueue_many([[[3.0, 4.0], [5.0, 6.0]], [4, 5]])
    with tf.Session(engine="numpy") as sess:
        sess.run([put, many])
        x, i = sess.run(queue.dequeue())
        assert x.tolist() == [1.0, 2.0]
        assert i == 3
        assert [a.tolist() for a in sess.run(queue.dequeue_many(2))] == [[[3.0, 4.0], [5.0, 6.0]], [4, 5]]
        assert sess.run(queue.size()) == 0


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_is_put_in_is_computed(engine: str) -> None:
    x = tf.placeholder(tf.float32, [None])
    queue = tf.FIFOQueue(10, tf.float32)
    put, y = queue.enqueue(tf.reduce_sum(x * x)), queue.dequeue() + 1.0
    with tf.Session(engine=engine) as sess:
        sess.run(put, {x: [1.0, 2.0]})
        sess.run(put, {x: [3.0]})
        assert [sess.run(y), sess.run(y)] == [6.0, 10.0]


def test_parts_may_have_names() -> None:
    queue = tf.FIFOQueue(2, [tf.int32, tf.int32], [[], []], names=["a", "b"])
    with tf.Session(engine="numpy") as sess:
        sess.run(queue.enqueue({"b": 2, "a": 1}))
        assert sess.run(queue.dequeue()) == {"a": 1, "b": 2}


def test_a_closed_queue_has_an_end() -> None:
    queue = tf.FIFOQueue(5, tf.int32, [[]])
    put, some = queue.enqueue_many([[1, 2, 3]]), queue.dequeue_up_to(2)
    with tf.Session(engine="numpy") as sess:
        sess.run(put)
        sess.run(queue.close())
        assert sess.run(queue.is_closed())
        assert [sess.run(some).tolist(), sess.run(some).tolist()] == [[1, 2], [3]]
        text = "^dequeue: the queue is closed and has 0 elements, of 2 asked for"
        with pytest.raises(tf.errors.OutOfRangeError, match=text):
            sess.run(some)
        with pytest.raises(tf.errors.CancelledError, match=r"^enqueue: the queue is closed$"):
            sess.run(put)


def test_a_full_queue_waits_for_room() -> None:
    queue = tf.FIFOQueue(1, tf.int32, [[]])
    put, taken = queue.enqueue_many([[1, 2, 3]]), queue.dequeue()
    with tf.Session(engine="numpy") as sess:
        thread = threading.Thread(target=lambda: sess.run(put))
        thread.start()
        assert [sess.run(taken) for _ in range(3)] == [1, 2, 3]
        thread.join()


def test_a_padding_queue_fills_up_with_zeros() -> None:
    queue = tf.PaddingFIFOQueue(5, tf.int32, [[None]])
    x = tf.placeholder(tf.int32, [None])
    put, batch = queue.enqueue(x), queue.dequeue_many(2)
    with tf.Session(engine="numpy") as sess:
        sess.run(put, {x: [1]})
        sess.run(put, {x: [2, 3]})
        assert sess.run(batch).tolist() == [[1, 0], [2, 3]]


def test_a_random_queue_draws_its_elements() -> None:
    queue = tf.RandomShuffleQueue(50, 0, tf.int32, [[]], seed=3)
    with tf.Session(engine="numpy") as sess:
        sess.run(queue.enqueue_many([np.arange(50, dtype=np.int32)]))
        found = sess.run(queue.dequeue_many(50)).tolist()
    assert sorted(found) == list(range(50)) != found


def run_to_the_end(fetch: Any) -> list[Any]:
    """What an old tutorial's loop sees of `fetch`."""
    with tf.Session(engine="numpy") as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        found = []
        try:
            while not coord.should_stop():
                found.append(sess.run(fetch))
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coord.request_stop()
            coord.join(threads)
        return found


def test_slices_are_batched_by_threads() -> None:
    images, labels = np.arange(10.0).reshape(5, 2), np.arange(5)
    image, label = tf.train.slice_input_producer([images, labels], num_epochs=2, shuffle=False)
    batch = tf.train.batch([image, label], 2)
    assert batch[0].shape.as_list() == [2, 2]
    found = run_to_the_end(batch)
    assert [y.tolist() for _, y in found] == [[0, 1], [2, 3], [4, 0], [1, 2], [3, 4]]
    assert found[0][0].tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_the_last_batch_may_be_smaller() -> None:
    (x,) = tf.train.slice_input_producer([np.arange(5)], num_epochs=1, shuffle=False)
    batch = tf.train.batch({"x": x}, 3, allow_smaller_final_batch=True)
    assert [b["x"].tolist() for b in run_to_the_end(batch)] == [[0, 1, 2], [3, 4]]


def test_shuffled_batches_hold_every_slice_once_an_epoch() -> None:
    (x,) = tf.train.slice_input_producer([np.arange(12)], num_epochs=1, seed=1)
    found = run_to_the_end(tf.train.shuffle_batch([x], 4, capacity=20, min_after_dequeue=4, seed=2))
    assert sorted(n for batch in found for n in batch.tolist()) == list(range(12))


def test_batches_have_the_structure_of_what_is_batched_but_a_list_of_one_is_a_tensor() -> None:
    x = tf.constant(1.0)
    assert isinstance(tf.train.batch([x], 2), tf.Tensor)
    assert isinstance(tf.train.batch(x, 2), tf.Tensor)
    assert [type(y) for y in tf.train.batch((x, x), 2)] == [tf.Tensor] * 2
    assert list(tf.train.batch({"x": x}, 2)) == ["x"]


def test_several_sources_fill_one_queue() -> None:
    sources = [[tf.constant(i), tf.fill([2], i)] for i in range(3)]
    for i, x in (tf.train.batch_join(sources, 6), tf.train.shuffle_batch_join(sources, 6, 20, 6, seed=1)):
        with tf.Session(engine="numpy") as sess:
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coord)
            numbers, rows = sess.run([i, x])
            coord.request_stop()
            coord.join(threads)
        assert rows.tolist() == [[n, n] for n in numbers]
        assert set(numbers) <= {0, 1, 2}


@pytest.mark.parametrize("function", [tf.train.maybe_batch, tf.train.maybe_shuffle_batch])
def test_only_what_is_kept_is_batched(function: Any) -> None:
    (i,) = tf.train.slice_input_producer([np.arange(12)], num_epochs=1, shuffle=False)
    keep = tf.equal(i % 3, 0)
    shuffling = () if function is tf.train.maybe_batch else (2, 20, 0)
    kept = function({"i": i}, *shuffling, keep, *([2] if not shuffling else []))
    assert sorted(n for batch in run_to_the_end(kept["i"]) for n in batch.tolist()) == [0, 3, 6, 9]


def test_only_rows_that_are_kept_are_batched() -> None:
    rows = tf.train.maybe_batch(tf.constant([5, 6]), [True, False], 3, enqueue_many=True)
    with tf.Session(engine="numpy") as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        assert sess.run(rows).tolist() == [5, 5, 5]
        coord.request_stop()
        coord.join(threads)


def test_a_stop_lets_threads_go_that_wait_for_room() -> None:
    queue = tf.train.input_producer([1, 2], capacity=1)
    with tf.Session(engine="numpy") as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        sess.run(queue.dequeue())
        coord.request_stop()
        coord.join(threads)
        assert not any(thread.is_alive() for thread in threads)


def test_batches_are_read_by_a_training_step() -> None:
    data = np.linspace(-1.0, 1.0, 16, dtype=np.float32)
    x, y = tf.train.slice_input_producer([data, 2.0 * data], num_epochs=20, seed=0)
    x, y = tf.train.shuffle_batch([x, y], 4, 64, 8, num_threads=2, enqueue_many=False)
    w = tf.Variable(0.0)
    step = tf.train.GradientDescentOptimizer(0.3).minimize(tf.reduce_mean((w * x - y) ** 2))
    with tf.control_dependencies([step]):
        after = tf.identity(w.read_value())
    assert run_to_the_end(after)[-1] == pytest.approx(2.0, abs=1e-2)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_an_element_may_be_taken_for_what_waits_only(engine: str) -> None:
    queue = tf.FIFOQueue(4, tf.float32, [[2]])
    v = tf.Variable(0.0)
    with tf.control_dependencies([queue.dequeue()]):
        counted = v.assign_add(2.0)
        grouped = tf.group(tf.no_op())
    with tf.Session(engine=engine) as sess:
        sess.run(v.initializer)
        sess.run(queue.enqueue_many([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]))
        assert sess.run(counted) == 2.0
        sess.run(grouped)
        assert sess.run(queue.size()) == 1


def test_what_is_done_with_a_queue_is_named_after_it() -> None:
    queue = tf.FIFOQueue(3, tf.int32, [[]], name="numbers")
    assert tf.FIFOQueue(3, tf.int32, [[]], name="numbers").name == "numbers_1"
    done = [queue.enqueue(1), queue.enqueue_many([[1]]), queue.dequeue(), queue.dequeue_many(2), queue.size()]
    names = ["enqueue", "EnqueueMany", "Dequeue", "DequeueMany", "Size"]
    assert [getattr(x, "op", x).name for x in done] == [f"numbers_{name}" for name in names]
    assert queue.dequeue(name="mine").name == "mine:0"
    kinds = [
        tf.RandomShuffleQueue(3, 0, tf.int32, [[]]),
        tf.PriorityQueue(3, tf.int32, [[]]),
        tf.PaddingFIFOQueue(3, tf.int32, [[None]], name="padded"),
    ]
    assert [q.name for q in kinds] == ["random_shuffle_queue", "priority_queue", "padded"]
    assert tf.train.QueueRunner(queue, [done[0]]).name == "numbers"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: tf.FIFOQueue(3, tf.float32, name=None), "FIFOQueueV2"),
        (lambda: tf.PaddingFIFOQueue(3, tf.float32, [[None]], name=None), "PaddingFIFOQueueV2"),
        (lambda: tf.RandomShuffleQueue(3, 1, tf.float32, name=None), "RandomShuffleQueueV2"),
        (lambda: tf.PriorityQueue(3, tf.float32, [[]], name=None), "PriorityQueueV2"),
        (lambda: tf.SparseConditionalAccumulator(tf.float32, name=None), "SparseConditionalAccumulator"),
        (lambda: tf.contrib.lookup.MutableHashTable(tf.int64, tf.int64, -1, name=None), "MutableHashTable"),
    ],
)
def test_what_keeps_values_on_the_host_has_a_name_where_none_is_given(make: Callable[[], Any], name: str) -> None:
    with tf.Graph().as_default():
        assert make().name == name


def test_what_fills_queues_says_in_summaries_how_full_they_are() -> None:
    files = tf.train.string_input_producer(["a", "b"], capacity=4)
    tf.train.batch([files.dequeue()], 2, capacity=7)
    tf.train.shuffle_batch([tf.zeros([])], 2, 9, 3)
    tf.train.slice_input_producer([[1.0, 2.0]], shuffle=False)
    found = tf.get_collection(tf.GraphKeys.SUMMARIES)
    assert [summary.name for summary in found] == [
        *("input_producer/fraction_of_4_full:0", "batch/fraction_of_7_full:0"),
        *("shuffle_batch/fraction_over_3_of_9_full:0", "input_producer_1/fraction_of_32_full:0"),
    ]
    with tf.Session(engine="numpy") as sess:
        values = tf.Summary.FromString(sess.run(tf.summary.merge_all())).value
        assert [value.simple_value for value in values] == [0.0] * 4
        sess.run(files.enqueue_many([["c", "d", "e"]]))
        assert tf.Summary.FromString(found[0].eval()).value[0].simple_value == 0.75
