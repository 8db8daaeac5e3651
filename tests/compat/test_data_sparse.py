"""Sparse tensors as elements of datasets: arrays are those of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

Dataset = tf.data.Dataset
ROWS = tf.SparseTensorValue([[0, 0], [1, 2]], np.array([1.0, 2.0], "f"), [3, 4])


def first(i: Any) -> Any:
    """The numbers 1 to i, of four."""
    return tf.SparseTensor(tf.stack([tf.range(i)], 1), tf.cast(tf.range(i), tf.float32) + 1.0, [4])


def named(i: Any) -> Any:
    return {"s": first(i), "i": i}


def elements(dataset: Any, engine: str = "numpy") -> list[Any]:
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session(engine=engine) as session:
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def lists(x: Any) -> list[Any]:
    return [part.tolist() for part in x]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_functions_make_sparse_elements_and_take_them(engine: str) -> None:
    dataset = Dataset.range(3).map(first)
    assert [lists(x) for x in elements(dataset, engine)] == [
        [[], [], [4]],
        [[[0]], [1.0], [4]],
        [[[0], [1]], [1.0, 2.0], [4]],
    ]
    dense = dataset.map(tf.sparse_tensor_to_dense)
    assert [x.tolist() for x in elements(dense)] == [[0, 0, 0, 0], [1, 0, 0, 0], [1, 2, 0, 0]]
    many = Dataset.range(4).map(named).filter(lambda x: tf.size(x["s"].values) > 1)
    assert [x["i"] for x in elements(many)] == [2, 3]


def test_batches_have_an_axis_in_front() -> None:
    batches = Dataset.range(4).map(named).batch(3)
    found = elements(batches)
    assert lists(found[0]["s"]) == [[[1, 0], [2, 0], [2, 1]], [1.0, 1.0, 2.0], [3, 4]]
    assert lists(found[1]["s"]) == [[[0, 0], [0, 1], [0, 2]], [1.0, 2.0, 3.0], [1, 4]]
    sums = batches.map(lambda x: tf.sparse_reduce_sum(x["s"], 1))
    assert [x.tolist() for x in elements(sums)] == [[0.0, 1.0, 3.0], [6.0]]
    uneven = Dataset.range(1, 4).map(lambda i: tf.SparseTensor([[0]], [1.0], tf.stack([i]))).batch(3)
    assert lists(elements(uneven)[0]) == [[[0, 0], [1, 0], [2, 0]], [1.0, 1.0, 1.0], [3, 3]]
    with pytest.raises(TypeError, match=r"^Dataset\.padded_batch: sparse tensors cannot be filled up; use batch, or"):
        Dataset.range(3).map(first).padded_batch(2, [None])


@pytest.mark.parametrize("is_tensor", [False, True])
def test_rows_are_sparse(is_tensor: bool) -> None:
    given = tf.SparseTensor.from_value(ROWS) if is_tensor else ROWS
    rows = [[[[0]], [1.0], [4]], [[[2]], [2.0], [4]], [[], [], [4]]]
    assert [lists(x) for x in elements(Dataset.from_tensor_slices(given))] == rows
    pairs = elements(Dataset.from_tensor_slices((given, [7, 8, 9])))
    assert [(lists(s), n) for s, n in pairs] == list(zip(rows, [7, 8, 9], strict=True))
    assert lists(elements(Dataset.from_tensors(given))[0]) == [[[0, 0], [1, 2]], [1.0, 2.0], [3, 4]]
    again = Dataset.from_tensor_slices(given).batch(2).unbatch()
    assert [lists(x) for x in elements(again)] == rows


def test_other_transformations_hand_them_on() -> None:
    dataset = Dataset.range(4).map(first)
    assert len(elements(dataset.repeat(2).shuffle(10, 1).prefetch(1).skip(1).take(6))) == 6
    pairs = elements(Dataset.zip((dataset, Dataset.range(4))).enumerate())
    assert [(i, len(s.values), n) for i, (s, n) in pairs] == [(i, i, i) for i in range(4)]
    joined = elements(dataset.concatenate(dataset).cache())
    assert [len(x.values) for x in joined] == [0, 1, 2, 3] * 2
    flat = Dataset.range(2, 4).flat_map(lambda i: Dataset.from_tensors(first(i)))
    assert [len(x.values) for x in elements(flat)] == [2, 3]


def test_iterators_of_a_structure_know_classes() -> None:
    dataset = Dataset.range(4).map(named).batch(2)
    types, shapes, classes = dataset.output_types, dataset.output_shapes, dataset.output_classes
    assert (types, classes) == ({"s": tf.float32, "i": tf.int64}, {"s": tf.SparseTensor, "i": tf.Tensor})
    assert {key: shape.as_list() for key, shape in shapes.items()} == {"s": [None, None], "i": [None]}
    iterator = tf.data.Iterator.from_structure(types, shapes, output_classes=classes)
    initializer, following = iterator.make_initializer(dataset), iterator.get_next()
    feedable = tf.data.Iterator.from_string_handle(tf.placeholder(tf.string, []), types, shapes, classes).get_next()
    assert all(isinstance(x["s"], tf.SparseTensor) for x in (following, feedable))
    with tf.Session(engine="numpy") as session:
        session.run(initializer)
        assert lists(session.run(following)["s"]) == [[[1, 0]], [1.0], [2, 4]]


def test_examples_are_parsed_inside_a_dataset() -> None:
    def example(*words: bytes) -> bytes:
        feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=words))
        text: bytes = tf.train.Example(features=tf.train.Features(feature={"w": feature})).SerializeToString()
        return text

    dataset = Dataset.from_tensor_slices([example(b"a", b"b"), example(b"c")])
    parsed = dataset.map(lambda text: tf.parse_single_example(text, {"w": tf.VarLenFeature(tf.string)})).batch(2)
    features = parsed.make_one_shot_iterator().get_next()
    columns = tf.feature_column
    word = columns.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
    y = columns.input_layer(features, columns.indicator_column(word))
    with tf.Session(engine="numpy") as session:
        session.run(tf.tables_initializer())
        assert session.run(y).tolist() == [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
