"""Sequence feature columns: numbers, lengths and variables of TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

C = tf.feature_column
PLACES = [[0, 0], [0, 1], [0, 3], [2, 0]]
DEEP = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 0, 0]]


def _words() -> Any:
    return tf.SparseTensor(PLACES, ["b", "a", "zz", "c"], [4, 5])


def _numbers() -> Any:
    return tf.SparseTensor(PLACES, np.array([1, 5, 9, 2]), [4, 5])


def _sets() -> Any:
    return tf.SparseTensor(DEEP, np.array([1, 5, 3, 2]), [4, 3, 2])


def _reals() -> Any:
    return tf.SparseTensor(PLACES, np.float32([1, 5, 9, 2]), [4, 6])


def _pairs() -> Any:
    return tf.SparseTensor(DEEP, np.float32([1, 5, 9, 2]), [4, 3, 2])


def _embedded(column: Any, combiner: str = "mean") -> Any:
    rows = tf.constant_initializer(np.arange(12.0).reshape(6, 2))
    return C.embedding_column(column, 2, initializer=rows, combiner=combiner)


def _identity(default: int | None = 0) -> Any:
    return C.sequence_categorical_column_with_identity("a", 6, default)


def _doubled(x: Any) -> Any:
    return x.with_values(2.0 * x.values)


CASES: list[tuple[Callable[[], Any], Callable[[], Any], list[list[Any]], list[int]]] = [
    (_numbers, lambda: _embedded(_identity()), [[[2, 3], [10, 11], 0, [0, 1], 0], [], [[4, 5]], []], [4, 0, 1, 0]),
    (
        _numbers,
        lambda: C.indicator_column(_identity()),
        [[[0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1], 0, [1, 0, 0, 0, 0, 0]], [], [[0, 0, 1, 0, 0, 0]], []],
        [4, 0, 1, 0],
    ),
    (_sets, lambda: _embedded(_identity(None)), [[[6, 7], [6, 7]], [], [[4, 5]], []], [2, 0, 1, 0]),
    (_sets, lambda: _embedded(_identity(None), "sum"), [[[12, 14], [6, 7]], [], [[4, 5]], []], [2, 0, 1, 0]),
    (
        _sets,
        lambda: C.indicator_column(_identity(None)),
        [[[0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0]], [], [[0, 0, 1, 0, 0, 0]], []],
        [2, 0, 1, 0],
    ),
    (
        _words,
        lambda: C.indicator_column(C.sequence_categorical_column_with_hash_bucket("a", 6)),
        [[[0, 0, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0], 0, [0, 0, 0, 0, 1, 0]], [], [[0, 0, 0, 0, 1, 0]], []],
        [4, 0, 1, 0],
    ),
    (
        _words,
        lambda: _embedded(C.sequence_categorical_column_with_vocabulary_list("a", list("abcdef"))),
        [[[2, 3], [0, 1], 0, 0], [], [[4, 5]], []],
        [4, 0, 1, 0],
    ),
    (
        _words,
        lambda: C.indicator_column(
            C.sequence_categorical_column_with_vocabulary_list("a", list("abc"), num_oov_buckets=2)
        ),
        [[[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], 0, [0, 0, 0, 1, 0]], [], [[0, 0, 1, 0, 0]], []],
        [4, 0, 1, 0],
    ),
    (_reals, lambda: C.sequence_numeric_column("a"), [[1, 5, 0, 9], [], [2], []], [4, 0, 1, 0]),
    (_reals, lambda: C.sequence_numeric_column("a", 2), [[[1, 5], [0, 9]], [], [[2, 0]], []], [2, 0, 1, 0]),
    (_pairs, lambda: C.sequence_numeric_column("a", [2]), [[[1, 5], [9, 0]], [], [[2, 0]], []], [2, 0, 1, 0]),
    (
        _reals,
        lambda: C.sequence_numeric_column("a", normalizer_fn=_doubled),
        [[2, 10, 0, 18], [], [4], []],
        [4, 0, 1, 0],
    ),
]


def _filled(rows: list[list[Any]], shape: tuple[int, ...]) -> Any:
    """Zeros where a row says nothing."""
    y = np.zeros(shape)
    for i, row in enumerate(rows):
        for j, step in enumerate(row):
            y[i, j] = step
    return y


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(("given", "column", "expected", "lengths"), CASES)
def test_steps_have_the_numbers_of_tensorflow(
    given: Any, column: Any, expected: Any, lengths: list[int], engine: str
) -> None:
    y, steps = tf.keras.experimental.SequenceFeatures([column()])({"a": given()})
    with tf.Session(engine=engine) as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        found, counted = session.run([y, steps])
    np.testing.assert_array_equal(found, _filled(expected, found.shape))
    assert counted.tolist() == lengths


def test_numbers_that_are_not_there_are_the_default() -> None:
    y, _ = tf.keras.experimental.SequenceFeatures(C.sequence_numeric_column("a", 2, -1.0))({"a": _reals()})
    found = tf.Session(engine="numpy").run(y)
    assert found[0].tolist() == [[1.0, 5.0], [-1.0, 9.0], [-1.0, -1.0]]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_columns_stand_side_by_side_and_are_trained(engine: str) -> None:
    price = tf.SparseTensor([[0, 0], [0, 3], [2, 0]], [1.0, 5.0, 9.0], [4, 5])
    columns = [C.sequence_numeric_column("price"), _embedded(_identity())]
    layer = tf.keras.experimental.SequenceFeatures(columns)
    y, steps = layer({"a": _numbers(), "price": price})
    (table,) = layer.trainable_variables
    assert table.op.name == "sequence_features/a_embedding/embedding_weights"
    (dy,) = tf.gradients(tf.reduce_sum(y * y), table)
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        found, slope = session.run([y, tf.convert_to_tensor(dy)])
    assert found[:, 0].tolist() == [[2.0, 3.0, 1.0], [0.0, 0.0, 0.0], [4.0, 5.0, 9.0], [0.0, 0.0, 0.0]]
    assert slope[:3].tolist() == [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]
    assert steps.dtype == tf.int64


def test_the_input_layer_of_contrib_makes_variables_in_its_scope() -> None:
    y, steps = tf.contrib.feature_column.sequence_input_layer({"a": _numbers()}, _embedded(_identity()))
    context = tf.contrib.feature_column.concatenate_context_input(tf.ones([4, 3]), y)
    assert tf.trainable_variables()[0].op.name == "sequence_input_layer/a_embedding/embedding_weights"
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        assert session.run(context)[0, 0].tolist() == [2.0, 3.0, 1.0, 1.0, 1.0]
        assert session.run(steps).tolist() == [4, 0, 1, 0]


def test_a_vocabulary_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("a\nb\nc\n")
    words = C.sequence_categorical_column_with_vocabulary_file("a", str(file))
    y, _ = tf.keras.experimental.SequenceFeatures(C.indicator_column(words))({"a": _words()})
    with tf.Session(engine="numpy") as session:
        session.run(tf.tables_initializer())
        assert session.run(y)[0, :2].tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]


def test_columns_of_other_lengths_are_an_error_of_the_run() -> None:
    columns = [C.sequence_numeric_column("a"), C.sequence_numeric_column("b")]
    b = tf.sparse_placeholder(tf.float32)
    y, _ = tf.keras.experimental.SequenceFeatures(columns)({"a": _reals(), "b": b})
    assert y.shape.as_list()[2] == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="sequences of different lengths"):
        tf.Session(engine="numpy").run(y, {b: tf.SparseTensorValue([[1, 0]], [1.0], [4, 6])})


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: tf.feature_column.input_layer({"a": _numbers()}, _embedded(_identity())),
            ValueError,
            "a_embedding is",
        ),
        (
            lambda: tf.feature_column.linear_model({"a": _numbers()}, [_identity()]),
            ValueError,
            "a is a column of a seq",
        ),
        (lambda: tf.keras.layers.DenseFeatures([C.indicator_column(_identity())]), ValueError, "a_indicator is a col"),
        (
            lambda: tf.keras.experimental.SequenceFeatures(C.numeric_column("a")),
            ValueError,
            "All feature_columns must be of type SequenceDenseColumn",
        ),
        (lambda: tf.keras.experimental.SequenceFeatures([_identity()]), ValueError, "All feature_columns must be of t"),
        (
            lambda: tf.keras.experimental.SequenceFeatures(C.sequence_numeric_column("a"))({"a": tf.ones([2, 3])}),
            ValueError,
            "Feature a of a sequence must be a SparseTensor",
        ),
        (lambda: C.sequence_numeric_column("a", 0), ValueError, "shape dimensions must be greater than 0"),
        (lambda: C.sequence_numeric_column("a", dtype=tf.string), ValueError, "dtype must be convertible to float"),
        (lambda: C.sequence_numeric_column("a", normalizer_fn=3), TypeError, "normalizer_fn must be a callable"),
        (
            lambda: tf.contrib.feature_column.concatenate_context_input(tf.ones([2]), tf.ones([2, 3, 4])),
            ValueError,
            "context_input must be float32 of rank 2",
        ),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value).startswith(text)


def test_columns_say_what_they_read_of_examples() -> None:
    spec = C.make_parse_example_spec([_embedded(_identity()), C.sequence_numeric_column("b")])
    assert spec == {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.float32)}
