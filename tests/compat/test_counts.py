"""`tf.math.bincount` and `tf.sparse.bincount`: of dense, sparse and ragged integers."""

from __future__ import annotations

from typing import Any

import pytest

import pullback.compat.v1 as tf

INDICES = [[0, 0], [0, 1], [1, 0], [1, 2]]


def sparse_numbers() -> Any:
    return tf.SparseTensor(INDICES, tf.constant([1, 1, 3, 0], tf.int64), [2, 3])


def sparse_weights() -> Any:
    return tf.SparseTensor(INDICES, tf.constant([1.0, 2.0, 3.0, 4.0]), [2, 3])


def ragged_numbers() -> Any:
    return tf.ragged.constant([[1, 1], [3], []], dtype=tf.int64)


def dense() -> Any:
    return tf.constant([[1, 1, 0], [2, 0, 0]])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("made", "indices", "values", "dtype", "shape"),
    [
        (lambda: tf.sparse.bincount(tf.constant([1, 1, 3, 0])), [[0], [1], [3]], [1, 2, 1], "int32", [4]),
        (lambda: tf.sparse.bincount(dense()), [[0], [1], [2]], [3, 2, 1], "int32", [3]),
        (lambda: tf.sparse.bincount(dense(), axis=-1), [[0, 0], [0, 1], [1, 0], [1, 2]], [1, 2, 2, 1], "int32", [2, 3]),
        (
            lambda: tf.sparse.bincount(dense(), tf.constant([[1.0, 2, 3], [4, 5, 6]]), axis=-1),
            [[0, 0], [0, 1], [1, 0], [1, 2]],
            [3, 3, 11, 4],
            "float32",
            [2, 3],
        ),
        (lambda: tf.sparse.bincount(sparse_numbers()), [[0], [1], [3]], [1, 2, 1], "int64", [4]),
        (lambda: tf.sparse.bincount(sparse_numbers(), axis=-1), [[0, 1], [1, 0], [1, 3]], [2, 1, 1], "int64", [2, 4]),
        (
            lambda: tf.sparse.bincount(sparse_numbers(), sparse_weights(), axis=-1),
            [[0, 1], [1, 0], [1, 3]],
            [3, 4, 3],
            "float32",
            [2, 4],
        ),
        (
            lambda: tf.sparse.bincount(sparse_numbers(), axis=-1, binary_output=True, minlength=6),
            [[0, 1], [1, 0], [1, 3]],
            [1, 1, 1],
            "int64",
            [2, 6],
        ),
        (lambda: tf.sparse.bincount(sparse_numbers(), maxlength=2), [[0], [1]], [1, 2], "int64", [2]),
        (lambda: tf.sparse.bincount(ragged_numbers(), axis=-1), [[0, 1], [1, 3]], [2, 1], "int64", [3, 4]),
        (lambda: tf.sparse.bincount(tf.zeros([0], tf.int32)), [], [], "int32", [0]),
    ],
)
def test_counts_are_sparse(made: Any, indices: Any, values: Any, dtype: str, shape: Any, engine: str) -> None:
    found = tf.Session(engine=engine).run(made())
    assert [x.tolist() for x in found] == [indices, values, shape]
    assert found.values.dtype == dtype


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.math.bincount(sparse_numbers()), [1, 2, 0, 1]),
        (lambda: tf.bincount(sparse_numbers(), sparse_weights()), [4, 3, 0, 3]),
        (lambda: tf.math.bincount(ragged_numbers(), minlength=5), [0, 2, 0, 1, 0]),
        (lambda: tf.math.bincount(sparse_numbers(), axis=-1), [[0, 2, 0, 0], [1, 0, 0, 1]]),
        (
            lambda: tf.math.bincount(ragged_numbers(), axis=-1, binary_output=True, maxlength=2),
            [[0, 1], [0, 0], [0, 0]],
        ),
    ],
)
def test_counts_of_sparse_and_ragged_tensors(made: Any, expected: Any) -> None:
    assert tf.Session(engine="numpy").run(made()).tolist() == expected


def test_weights_of_sparse_counts_have_derivatives() -> None:
    weights = tf.constant([1.0, 2.0, 3.0])
    counts = tf.sparse.bincount(tf.constant([2, 0, 2]), weights)
    (found,) = tf.gradients(tf.square(counts.values), weights)
    assert tf.Session(engine="numpy").run(found).tolist() == [8.0, 4.0, 8.0]


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^sparse\.bincount: axis must be 0 or -1, not 1$"):
        tf.sparse.bincount(dense(), axis=1)
    with pytest.raises(ValueError, match=r"^sparse\.bincount: binary_output takes no weights$"):
        tf.sparse.bincount(dense(), dense(), binary_output=True)
    with pytest.raises(
        ValueError, match=r"^sparse\.bincount: rows are counted of a vector or a matrix, not of int32\["
    ):
        tf.sparse.bincount(tf.zeros([1, 1, 1], tf.int32), axis=-1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Session(engine="numpy").run(tf.sparse.bincount(tf.placeholder_with_default([-1], [1])))
