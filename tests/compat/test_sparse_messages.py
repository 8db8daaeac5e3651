"""Sparse tensors as messages, and in queues of batches: bytes and parts are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import pytest

import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError

PLACES, SHAPE = [[0, 0], [1, 2]], [2, 3]


def run(x: Any, engine: str = "numpy") -> Any:
    return tf.Session(engine=engine).run(x)


def lists(x: Any) -> list[Any]:
    return [part.tolist() for part in x]


def test_messages_have_the_bytes_of_tensorflow() -> None:
    x = tf.SparseTensor([[0, 1]], [1.5], [2, 3])
    texts = tf.serialize_sparse(x)
    assert (texts.shape.as_list(), run(texts).tolist()) == (
        [3],
        [
            b'\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x10' + b"\x00" * 8 + b"\x01" + b"\x00" * 7,
            b'\x08\x01\x12\x04\x12\x02\x08\x01"\x04\x00\x00\xc0?',
            b'\x08\t\x12\x04\x12\x02\x08\x02"\x10\x02' + b"\x00" * 7 + b"\x03" + b"\x00" * 7,
        ],
    )
    rows = run(tf.io.serialize_many_sparse(x))
    assert rows.shape == (2, 3)
    assert rows[0, 1] == b'\x08\x01\x12\x04\x12\x02\x08\x01"\x04\x00\x00\xc0?'


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("values", [[1.5, 2.5], ["a", "bc"]])
def test_messages_are_read_again(values: Any, engine: str) -> None:
    x = tf.SparseTensor(PLACES, tf.constant(values), SHAPE)
    read = run(x.values).tolist()
    rows = tf.deserialize_many_sparse(tf.serialize_many_sparse(x), x.dtype, rank=1)
    twice = tf.deserialize_many_sparse(tf.stack([tf.serialize_sparse(x)] * 2), x.dtype)
    assert rows.shape.as_list() == [None, None]
    assert lists(run(rows, engine)) == [PLACES, read, SHAPE]
    places = [[0, 0, 0], [0, 1, 2], [1, 0, 0], [1, 1, 2]]
    assert lists(run(twice, engine)) == [places, read * 2, [2, 2, 3]]


def test_what_is_no_message_is_refused() -> None:
    x = tf.SparseTensor(PLACES, [1.5, 2.5], SHAPE)
    with pytest.raises(InvalidArgumentError, match="Could not parse `serialized` as TensorProto: b'a'"):
        run(tf.deserialize_many_sparse([["a", "b", "c"]], tf.float32).values)
    with pytest.raises(
        InvalidArgumentError, match=r"Type mismatch between parsed tensor \(float32\) and dtype \(int32"
    ):
        run(tf.deserialize_many_sparse(tf.serialize_many_sparse(x), tf.int32).values)
    with pytest.raises(TypeError, match=r"^serialize_sparse: takes a SparseTensor, not "):
        tf.serialize_sparse(tf.ones([2]))
    with pytest.raises(NotImplementedError, match=r"^serialize_sparse: out_type must be tf\.string, not "):
        tf.serialize_sparse(x, out_type=tf.float32)


def batches(make: Any) -> Any:
    """What a queue gives for the numbers 0 to 3, and sparse tensors of as many values."""
    i = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    values = tf.cast(tf.range(i), tf.float32) + 1.0
    found = make(i, tf.SparseTensor(tf.stack([tf.range(i)], 1), values, [4]))
    with tf.Session(engine="numpy") as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        result = session.run(found)
        coordinator.request_stop()
        coordinator.join(threads)
    return result


def test_queues_of_batches_take_sparse_tensors() -> None:
    numbers, sparse = batches(lambda i, s: tf.train.batch([i, s], 3))
    assert numbers.tolist() == [0, 1, 2]
    assert lists(sparse) == [[[1, 0], [2, 0], [2, 1]], [1.0, 1.0, 2.0], [3, 4]]
    named = batches(lambda i, s: tf.train.shuffle_batch({"s": s, "i": i}, 4, 10, 0, seed=1))
    counts = [int((named["s"].indices[:, 0] == row).sum()) for row in range(4)]
    assert counts == named["i"].tolist()
    alone = batches(lambda i, s: tf.train.batch([s], 2))
    assert lists(alone) == [[[1, 0]], [1.0], [2, 4]]
    rows = tf.SparseTensor(PLACES, [1.0, 2.0], SHAPE)
    many = batches(lambda i, s: tf.train.batch([rows, [7, 8]], 2, enqueue_many=True))
    assert (lists(many[0]), many[1].tolist()) == ([PLACES, [1.0, 2.0], SHAPE], [7, 8])
