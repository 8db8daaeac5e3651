"""`tf.contrib.summary`: summaries that are written when they run."""

from __future__ import annotations

from pathlib import Path

import pytest

import pullback.compat.v1 as tf

summary = tf.contrib.summary


def written(folder: Path) -> list[tuple[str, int]]:
    found = [event for path in folder.iterdir() for event in tf.train.summary_iterator(str(path))]
    return [(value.tag, event.step) for event in found for value in event.summary.value]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_summaries_are_written_in_the_steps_that_are_recorded(engine: str, tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    writer = summary.create_file_writer(str(tmp_path), flush_millis=1000)
    with writer.as_default():
        with summary.record_summaries_every_n_global_steps(2):
            summary.scalar("loss", tf.cast(step, tf.float32), family="train")
        with summary.always_record_summaries():
            summary.histogram("w", [1.0, 2.0], step=7)
            assert summary.should_record_summaries()
        with summary.never_record_summaries():
            summary.image("no", tf.zeros([1, 2, 2, 1]))
    summary.scalar("nowhere", 1.0)
    with tf.Session(engine=engine) as session:
        session.run([tf.global_variables_initializer(), summary.summary_writer_initializer_op()])
        for _ in range(4):
            session.run(summary.all_summary_ops())
            session.run(tf.assign_add(step, 1))
        session.run(summary.flush(writer))
        session.run(writer.close())
    found = written(tmp_path)
    assert [x for x in found if x[0] == "train/loss"] == [("train/loss", 0), ("train/loss", 2)]
    assert found.count(("w", 7)) == 4
    assert len(found) == 6


def test_a_writer_of_no_folder_is_none() -> None:
    assert summary.create_file_writer(None) is None
