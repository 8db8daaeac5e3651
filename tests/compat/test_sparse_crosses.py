"""Feature crosses of `tf.sparse`: numbers and texts are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import pytest

import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError

SPARSE = [[0, 0], [0, 1]], ["x", "y"], [2, 3]


def run(x: Any, feeds: Any = None, engine: str = "numpy") -> Any:
    return tf.Session(engine=engine).run(x, feeds)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_combinations_of_texts_and_integers(engine: str) -> None:
    inputs = [tf.constant([["a", "b"], ["c", "d"]]), tf.constant([[1], [2]])]
    texts, numbers = tf.sparse.cross(inputs), tf.sparse.cross_hashed(inputs)
    found, hashes, buckets = run([texts, numbers, tf.sparse.cross_hashed(inputs, 100, 3).values], engine=engine)
    assert found.values.tolist() == [b"a_X_1", b"b_X_1", b"c_X_2", b"d_X_2"]
    assert found.indices.tolist() == hashes.indices.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert found.dense_shape.tolist() == [2, 2]
    assert hashes.values.tolist() == [
        2928842892298887678,
        5354134812324246176,
        8046540229177717716,
        4378917100114174116,
    ]
    assert buckets.tolist() == [69, 90, 83, 55]
    assert texts.shape.as_list() == [None, None]


def test_sparse_inputs_come_first_and_rows_without_elements_have_no_combinations() -> None:
    inputs = [tf.constant([["a"], ["c"]]), tf.SparseTensor(*SPARSE)]
    found, numbers = run([tf.sparse.cross(inputs), tf.sparse.cross_hashed(inputs, 100, hash_key=3).values])
    assert (found.values.tolist(), found.dense_shape.tolist()) == ([b"x_X_a", b"y_X_a"], [2, 2])
    assert numbers.tolist() == [79, 8]
    nothing = tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.constant([], tf.string), [1, 2])
    assert run(tf.sparse.cross([tf.constant([["a"]]), nothing])).dense_shape.tolist() == [1, 0]


def test_numbers_may_be_negative_and_are_cast() -> None:
    x = tf.constant([[5, -3], [2, 7]])
    assert run(tf.sparse.cross([x], separator="-")).values.tolist() == [b"5", b"-3", b"2", b"7"]
    assert run(tf.sparse.cross_hashed([tf.cast(x, tf.float32)])).values.tolist() == [
        2865384663748552660,
        2705231284862781983,
        5167850198417433268,
        7129489355927154095,
    ]
    whole = tf.SparseTensor([[0, 0]], tf.constant([3]), [1, 1])
    assert run(tf.sparse.cross([whole, tf.ragged.constant([["a"]])], separator="-")).values.tolist() == [b"3-a"]


def test_what_cannot_be_crossed_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^sparse\.cross_hashed: num_buckets must not be negative, and is -1$"):
        tf.sparse.cross_hashed([tf.constant([["a"]])], -1)
    with pytest.raises(ValueError, match=r"^sparse\.cross: inputs must have the shape \[rows, any\], and not \(1,\)"):
        tf.sparse.cross([tf.constant(["a"])])
    with pytest.raises(ValueError, match=r"^sparse\.cross: the list of inputs is empty$"):
        tf.sparse.cross([])
    x = tf.placeholder(tf.string)
    y = tf.sparse.cross([x, tf.constant([["a"]])])
    with pytest.raises(InvalidArgumentError, match=r"sparse\.cross: the numbers of rows differ: \[2, 1\]"):
        run(y, {x: [["a"], ["b"]]})
    with pytest.raises(InvalidArgumentError, match=r"dense inputs must be matrices, and one has the shape \(1,\)"):
        run(y, {x: ["a"]})
