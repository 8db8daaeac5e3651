"""Datasets of tables and of examples in files: batches are TensorFlow 2.21's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError

E = tf.data.experimental
TABLE = 'a,b,c\n1,2.5,x\n2,,y\n3,4.5,"z,w"\n'


@pytest.fixture
def table(tmp_path: Path) -> str:
    (tmp_path / "a.csv").write_text(TABLE)
    return str(tmp_path / "a.csv")


def elements(dataset: Any, count: int = 9) -> list[Any]:
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found: list[Any] = []
    with tf.Session(engine="numpy") as session:
        try:
            while len(found) < count:
                found.append(session.run(following))
        except tf.errors.OutOfRangeError:
            return found
    return found


def lists(x: Any) -> Any:
    if isinstance(x, dict):
        return {key: lists(value) for key, value in x.items()}
    return tuple(map(lists, x)) if isinstance(x, tuple) else x.tolist()


def test_rows_are_tuples(table: str) -> None:
    rows = elements(E.CsvDataset(table, [[0], [9.0], ["q"]], header=True))
    assert rows == [(1, 2.5, b"x"), (2, 9.0, b"y"), (3, 4.5, b"z,w")]
    some = E.CsvDataset([table, table], [tf.int32, tf.string], header=True, select_cols=[0, 2])
    assert elements(some) == [(1, b"x"), (2, b"y"), (3, b"z,w")] * 2
    with pytest.raises(InvalidArgumentError, match="Field 1 is required but missing"):
        elements(tf.contrib.data.CsvDataset(table, [tf.int32, tf.float32, tf.string], header=True))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"label_name": "c"},
            [({"a": [1, 2], "b": [2.5, 0.0]}, [b"x", b"y"]), ({"a": [3], "b": [4.5]}, [b"z,w"])],
        ),
        (
            {"select_columns": ["a", "c"], "column_defaults": [tf.int64, tf.string]},
            [{"a": [1, 2], "c": [b"x", b"y"]}, {"a": [3], "c": [b"z,w"]}],
        ),
        (
            {"column_names": ["p", "q", "r"], "select_columns": [0], "num_epochs": 2},
            [{"p": [1, 2]}, {"p": [3, 1]}, {"p": [2, 3]}],
        ),
    ],
)
def test_columns_come_in_batches_by_name(options: Any, expected: Any, table: str) -> None:
    batches = E.make_csv_dataset(table, 2, shuffle=False, **{"num_epochs": 1, **options})
    assert [lists(x) for x in elements(batches)] == expected


def test_columns_have_the_dtype_of_their_fields(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1;2000000000000;0.5;a\n2;3;;b\n")
    names = ["i", "l", "f", "s"]
    path = str(tmp_path / "*.csv")
    batches = E.make_csv_dataset(path, 3, names, field_delim=";", header=False, shuffle=True, shuffle_seed=1)
    (batch,) = elements(batches, 1)
    assert [batch[name].dtype for name in names] == [np.int32, np.int64, np.float32, object]
    assert len(batch["i"]) == 3
    assert tf.data.get_output_shapes(batches)["i"].as_list() == [3]


def test_columns_feed_feature_columns(table: str) -> None:
    columns = tf.feature_column
    features, _ = E.make_csv_dataset(table, 3, label_name="c", shuffle=False).make_one_shot_iterator().get_next()
    y = columns.input_layer(features, [columns.numeric_column("b"), columns.numeric_column("a")])
    assert tf.Session(engine="numpy").run(y).tolist() == [[1.0, 2.5], [2.0, 0.0], [3.0, 4.5]]


def test_examples_come_in_batches(tmp_path: Path) -> None:
    path = str(tmp_path / "x.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(3):
            number = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            words = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"] * i))
            features = tf.train.Features(feature={"n": number, "words": words})
            writer.write(tf.train.Example(features=features).SerializeToString())
    wanted = {"n": tf.FixedLenFeature([], tf.int64), "words": tf.FixedLenSequenceFeature([], tf.string, True)}
    batches = E.make_batched_features_dataset(path, 2, wanted, label_key="n", num_epochs=1, shuffle=False)
    (first, labels), (second, last) = elements(batches)
    assert (labels.tolist(), last.tolist()) == ([0, 1], [2])
    assert (first["words"].tolist(), second["words"].tolist()) == ([[b""], [b"w"]], [[b"w", b"w"]])
    batches = E.make_batched_features_dataset(path, 3, {"words": tf.VarLenFeature(tf.string)}, num_epochs=1)
    (batch,) = elements(batches)
    assert batch["words"].dense_shape.tolist() == [3, 2]
    with pytest.raises(ValueError, match=r"^`label_key` \(q\) must be one of `features`: \['n', 'words'\]$"):
        E.make_batched_features_dataset(path, 2, wanted, label_key="q")


def test_what_cannot_be_is_refused(table: str) -> None:
    for text, options in (
        (r"`label_name` provided must be one of the columns: \['a', 'b', 'c'\]\. Received: zz", {"label_name": "zz"}),
        ("select_columns has 'q', which is none of", {"select_columns": ["q"]}),
        ("the files have no header; give column_names=", {"header": False}),
    ):
        with pytest.raises(ValueError, match=text):
            E.make_csv_dataset(table, 2, **options)
    with pytest.raises(ValueError, match=r"^make_csv_dataset: no files match /nowhere/x$"):
        E.make_csv_dataset("/nowhere/x", 2)


def test_columns_may_be_left_out(table: str) -> None:
    rows = elements(E.CsvDataset(table, [tf.int32, "none"], header=True, exclude_cols=[1]))
    assert [tuple(row) for row in rows] == [(1, b"x"), (2, b"y"), (3, b"z,w")]
    with pytest.raises(ValueError, match="select_cols and exclude_cols are both given"):
        E.CsvDataset(table, [tf.int32], select_cols=[0], exclude_cols=[1, 2])
