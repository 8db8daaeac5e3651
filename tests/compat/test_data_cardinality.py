"""`tf.data.experimental.cardinality`: how many elements datasets say that they have, as TensorFlow 2.21 counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

Dataset, experimental = tf.data.Dataset, tf.data.experimental
INFINITE, UNKNOWN = experimental.INFINITE_CARDINALITY, experimental.UNKNOWN_CARDINALITY


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda r: r, 7),
        (lambda r: Dataset.range(2, 9, 3), 3),
        (lambda r: Dataset.from_tensors(1), 1),
        (lambda r: Dataset.from_tensor_slices({"a": [1, 2]}), 2),
        (lambda r: Dataset.from_generator(lambda: iter([1]), tf.int64), UNKNOWN),
        (lambda r: r.batch(2), 4),
        (lambda r: r.batch(2, drop_remainder=True), 3),
        (lambda r: r.padded_batch(3, []), 3),
        (lambda r: r.take(3), 3),
        (lambda r: r.take(-1), 7),
        (lambda r: r.skip(3), 4),
        (lambda r: r.skip(9), 0),
        (lambda r: r.skip(-1), 0),
        (lambda r: r.repeat(2), 14),
        (lambda r: r.repeat(), INFINITE),
        (lambda r: r.take(0).repeat(), 0),
        (lambda r: r.repeat().take(4), 4),
        (lambda r: r.repeat().batch(4), INFINITE),
        (lambda r: r.concatenate(r), 14),
        (lambda r: r.concatenate(r.filter(lambda i: i > 1)), UNKNOWN),
        (lambda r: r.repeat().concatenate(r), INFINITE),
        (lambda r: Dataset.zip((r, r.repeat(), r.take(2))), 2),
        (lambda r: Dataset.zip((r.repeat(), r.repeat())), INFINITE),
        (lambda r: r.map(lambda i: i), UNKNOWN),
        (lambda r: r.apply(experimental.map_and_batch(lambda i: i, 3)), 3),
        (lambda r: r.filter(lambda i: i > 1), UNKNOWN),
        (lambda r: r.batch(2).unbatch(), UNKNOWN),
        (lambda r: r.shuffle(3).cache().prefetch(2).enumerate(), 7),
        (lambda r: r.shard(3, 1), 2),
        (lambda r: r.window(3), 3),
        (lambda r: r.window(3, 1, 2, True), 3),
        (lambda r: r.window(9, 1, 1, True), 0),
        (lambda r: r.apply(experimental.scan(tf.constant(0, tf.int64), lambda s, i: (s + i, s))), 7),
        (lambda r: r.apply(experimental.assert_cardinality(9)), 9),
    ],
)
def test_a_dataset_says_how_many_elements_it_has(made: Any, expected: int) -> None:
    dataset = made(Dataset.range(7))
    counts = [experimental.cardinality(dataset), dataset.cardinality()]
    assert tf.Session(engine="numpy").run(counts) == [expected, expected]


def test_tensors_decide_how_many_elements_there_are() -> None:
    rows, size = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [])
    count = experimental.cardinality(Dataset.from_tensor_slices(rows).batch(size))
    assert tf.Session(engine="numpy").run(count, {rows: np.zeros(5), size: 2}) == 3


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (3, None),
        (2, "2 elements but contained more"),
        (5, "5 elements but contained 3 elements"),
        (INFINITE, "an infinite number of elements"),
    ],
)
def test_elements_are_counted_where_it_is_asserted(expected: int, message: str | None) -> None:
    dataset = Dataset.range(3).apply(experimental.assert_cardinality(expected))
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session(engine="numpy") as session:
        assert [session.run(following) for _ in range(min(3, expected) if expected > 0 else 3)]
        error = tf.errors.OutOfRangeError if message is None else tf.errors.FailedPreconditionError
        with pytest.raises(error, match=message):
            session.run(following)
