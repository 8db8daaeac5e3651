"""`tf.train.warm_start`: what variables begin with, by names, by other names, and by vocabularies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.fixture
def trained(tmp_path: Path) -> str:
    with tf.Graph().as_default(), tf.Session(engine="numpy") as session:
        tf.get_variable("table", initializer=tf.constant(TABLE, tf.float32))
        tf.get_variable("w", initializer=7.0)
        tf.get_variable("step", initializer=9.0, trainable=False)
        session.run(tf.global_variables_initializer())
        return str(tf.train.Saver().save(session, str(tmp_path / "model")))


def begun(*variables: Any) -> list[Any]:
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        return [np.asarray(x).tolist() for x in session.run(list(variables))]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (".*", [7.0, 0.0]),
        ("w", [7.0, 0.0]),
        (["w", "step"], [7.0, 9.0]),
        (["s"], [0.0, 9.0]),
        (None, [0.0, 0.0]),
    ],
)
def test_expressions_say_which_variables_begin_there(trained: str, chosen: Any, expected: list[float]) -> None:
    w, step = tf.get_variable("w", initializer=0.0), tf.get_variable("step", initializer=0.0, trainable=False)
    tf.train.warm_start(trained, chosen)
    assert begun(w, step) == expected


def test_variables_and_other_names(trained: str) -> None:
    v, w = tf.get_variable("v", initializer=0.0), tf.get_variable("w", initializer=0.0)
    tf.train.warm_start(trained, [v], var_name_to_prev_var_name={"v": "step"})
    assert begun(v, w) == [9.0, 0.0]


@pytest.mark.parametrize("axis", [0, 1])
def test_words_keep_their_rows(trained: str, tmp_path: Path, axis: int) -> None:
    (tmp_path / "old").write_text("a\nb\nc\n")
    (tmp_path / "new").write_text("c\nx\na\nnot_counted\n")
    old = np.full([4, 2], 8.0) if axis == 0 else np.full([3, 4], 8.0)
    if axis == 0:
        old[[0, 2]] = TABLE[[2, 0]]
    else:
        old[:, [2]] = TABLE[:, [0]]
    table = tf.get_variable("table", old.shape, initializer=tf.zeros_initializer())
    info = tf.train.VocabInfo(
        str(tmp_path / "new"), 3, 1, str(tmp_path / "old"), 3 - axis, tf.constant_initializer(8.0), axis
    )
    tf.train.warm_start(trained, None, {"table": info})
    assert begun(table) == [old.tolist()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3,), r"^`vars_to_warm_start must be a `list` or `str`\.  Given type is <class 'int'>$"),
        ((["w", 3],), r"^If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`\.  Given types"),
        (("w", None, {"zz": "w"}), r"^warm_start: nothing is said to begin with a checkpoint of zz; name them"),
        (("w", None, {"w": "zz"}), r"^Tensor zz is not found in .* checkpoint$"),
        (("w", None, {"w": "table"}), r"^Shape of variable w:0 "),
    ],
)
def test_what_cannot_begin_there_is_refused(trained: str, arguments: Any, message: str) -> None:
    tf.get_variable("w", initializer=0.0)
    with pytest.raises(ValueError, match=message):
        tf.train.warm_start(trained, *arguments)


def test_parts_of_variables_are_variables() -> None:
    whole = tf.constant(np.arange(10.0).reshape(5, 2), tf.float32)
    with tf.variable_scope("model"):
        rows = tf.create_partitioned_variables([5, 2], [2, 1], whole, name="rows")
        columns = tf.create_partitioned_variables([1, 3], [1, 3], tf.ones_initializer(), trainable=False)
    assert [v.name for v in rows] == ["model/rows/part_0:0", "model/rows/part_1:0"]
    assert [v.name for v in columns] == [f"model/PartitionedVariable/part_{i}:0" for i in range(3)]
    assert tf.trainable_variables() == rows
    found = tf.nn.embedding_lookup(rows, [0, 4], partition_strategy="div")
    assert begun(found, *rows) == [[[0.0, 1.0], [8.0, 9.0]], [[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9]]]
    with tf.variable_scope("model"):
        assert tf.create_partitioned_variables([5, 2], [2, 1], tf.zeros_initializer(), name="rows", reuse=True) == rows


@pytest.mark.parametrize(("shape", "slicing"), [([4], [2, 2]), ([4, 4], [2, 2]), ([4], [0]), ([4], [8])])
def test_slicings_that_do_not_fit_are_refused(shape: list[int], slicing: list[int]) -> None:
    with pytest.raises(ValueError, match=r"^create_partitioned_variables: "):
        tf.create_partitioned_variables(shape, slicing, tf.zeros_initializer())
