"""Summaries of TensorFlow 1: messages that runs give, sets of summaries, evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf


def tags(message: bytes) -> list[str]:
    return [value.tag for value in tf.Summary.FromString(message).value]


def test_runs_give_messages_that_programs_add_to(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [None])
    tf.summary.scalar("loss", tf.reduce_sum(x))
    tf.summary.histogram("x", x)
    merged = tf.summary.merge_all()
    with tf.Session(engine="numpy") as session:
        text, y = session.run([merged, x * 2.0], {x: [1.0, 2.0]})
        assert merged.eval({x: [1.0, 2.0]}) == text
    np.testing.assert_array_equal(y, [2.0, 4.0])
    summary = tf.Summary()
    summary.ParseFromString(text)
    assert next((v.tag, v.simple_value) for v in summary.value) == ("loss", 3.0)
    summary.value.add(tag="precision", simple_value=0.5)
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(text, 1)
        writer.add_summary(summary, 2)
    (path,) = tmp_path.iterdir()
    found = [(event.step, v.tag) for event in tf.train.summary_iterator(str(path)) for v in event.summary.value]
    assert found == [(1, "loss"), (1, "x"), (2, "loss"), (2, "x"), (2, "precision")]


MADE: dict[str, Any] = {
    "scalar": lambda: tf.summary.scalar("a", 1.0),
    "histogram": lambda: tf.summary.histogram("a", [1.0]),
    "image": lambda: tf.summary.image("a", tf.zeros([1, 2, 2, 1]), max_outputs=1),
    "audio": lambda: tf.summary.audio("a", tf.zeros([1, 8]), 8.0, max_outputs=1),
    "text": lambda: tf.summary.text("a", "b"),
    "tensor_summary": lambda: tf.summary.tensor_summary("a", [1.0]),
    "merge": lambda: tf.summary.merge([tf.summary.scalar("a", 1.0)]),
}


@pytest.mark.parametrize("kind", MADE)
def test_all_kinds_give_messages(kind: str) -> None:
    tag = {"image": "a/image", "audio": "a/audio"}.get(kind, "a")
    assert tags(tf.Session(engine="numpy").run(MADE[kind]())) == [tag]


def test_summaries_are_gathered_in_sets() -> None:
    first = tf.summary.scalar("first", 1.0)
    found = set(tf.get_collection(tf.GraphKeys.SUMMARIES))
    found |= {first, tf.summary.scalar("second", 2.0)}
    assert sorted(tags(tf.Session(engine="numpy").run(tf.summary.merge(list(found))))) == ["first", "second"]


def test_nothing_to_merge_is_none() -> None:
    assert tf.summary.merge_all() is None


def test_summaries_of_pullback_give_dictionaries_by_tag() -> None:
    loss = pb.summary.scalar("loss", 2.0)
    with pb.Session(engine="numpy"):
        assert {tag.name: float(value) for tag, value in loss.eval().items()} == {"loss": 2.0}


def test_evaluation_needs_a_session() -> None:
    with pytest.raises(ValueError, match=r"there is no default session. Use `with session.as_default\(\):`"):
        tf.summary.scalar("loss", 2.0).eval()


def test_a_summary_stands_for_a_text() -> None:
    step = tf.Variable(0)
    loss = tf.summary.scalar("loss", 2.0)
    merged = tf.summary.merge([loss, tf.summary.histogram("x", [1.0])])
    assert (merged.dtype, merged.shape.as_list(), merged.graph, isinstance(merged.op, tf.Operation)) == (
        *(tf.string, [], tf.get_default_graph(), True),
    )
    with tf.control_dependencies([merged]):
        after = step.assign_add(1)
    chosen = tf.cond(step > 0, lambda: merged, lambda: tf.constant(""))
    with tf.Session(engine="numpy") as session:
        session.run(step.initializer)
        assert session.run([after, tf.group(loss)]) == [1, None]
        texts = session.run([merged, chosen, tf.identity(merged), *tf.tuple([merged])])
        assert texts == [texts[0]] * 4
        assert (tags(texts[0]), tags(session.run(tf.get_collection(tf.GraphKeys.SUMMARIES)[0]))) == (
            ["loss", "x"],
            ["loss"],
        )


def test_slices_are_summed_up_as_what_they_stand_for() -> None:
    table = tf.Variable(tf.zeros([4, 2]), name="table")
    (slices,) = tf.gradients(tf.gather(table, [1, 1, 3]), table)
    merged = tf.summary.merge(
        [tf.summary.histogram("slope", slices), tf.summary.scalar("no", tf.nn.zero_fraction(slices))]
    )
    with tf.Session(engine="numpy") as session:
        histogram, zeros = tf.Summary.FromString(session.run(merged)).value
    assert (histogram.histo.num, histogram.histo.sum, histogram.histo.max, zeros.simple_value) == (8.0, 6.0, 2.0, 0.5)
