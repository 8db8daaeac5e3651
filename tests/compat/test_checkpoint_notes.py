"""Checkpoints in programs of TensorFlow 1: initial values from them, notes of folders, events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf


@pytest.fixture(params=["pullback", "tensorflow"])
def saved(request: Any, tmp_path: Path) -> str:
    """The path of a checkpoint of `old/a`, `old/in/b` and `step`, in both formats."""
    with tf.Graph().as_default(), tf.Session(engine="numpy") as session:
        for name, value in (("old/a", [1.0, 2.0]), ("old/in/b", [[3.0]])):
            tf.get_variable(name, initializer=np.array(value, np.float32))
        tf.get_variable("step", initializer=7)
        session.run(tf.global_variables_initializer())
        path: str = tf.train.Saver().save(session, str(tmp_path / "model"), format=request.param)
    return path


def variables() -> list[Any]:
    return [tf.get_variable("new/a", [2]), tf.get_variable("new/in/b", [1, 1]), tf.get_variable("step", [], tf.int32)]


def initialized(engine: str = "numpy") -> list[Any]:
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        return [np.asarray(x).tolist() for x in session.run(tf.global_variables())]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_variables_begin_with_what_a_checkpoint_has(engine: str, saved: str) -> None:
    a, *_ = variables()
    tf.train.init_from_checkpoint(saved, {"old/a": a, "old/in/b": "new/in/b", "step": "step"})
    assert initialized(engine) == [[1.0, 2.0], [[3.0]], 7]
    assert a.initial_value.shape == [2]


def test_a_scope_begins_with_a_scope(saved: str) -> None:
    variables()
    tf.train.init_from_checkpoint(saved, {"old/": "new/", "step": "step"})
    assert initialized() == [[1.0, 2.0], [[3.0]], 7]


def test_all_variables_begin_with_all_of_a_checkpoint(saved: str) -> None:
    tf.get_variable("old/a", [2])
    other = tf.get_variable("other", [2])
    tf.contrib.framework.init_from_checkpoint(saved, {"old/a": [other]})
    with tf.variable_scope("whole"):
        tf.get_variable("step", [], tf.int32)
    tf.train.init_from_checkpoint(saved, {"/": "whole/"})
    assert initialized()[1:] == [[1.0, 2.0], 7]


def test_what_does_not_fit_is_refused(saved: str) -> None:
    variables()
    for mapping, text in (
        ({"no": "step"}, "Tensor no is not found in "),
        ({"old/": "/"}, "Tensor old/new/a is not found in "),
        ({"old/a": "nowhere"}, "there is no variable 'nowhere'; a scope 'nowhere' is assigned from a scope 'name/'"),
        (
            {"step": "new/a"},
            "Shape of variable new/a:0 (float32 (2,)) doesn't match with shape of tensor step (int32 [])",
        ),
    ):
        with pytest.raises(ValueError) as caught:  # noqa: PT011, the text is compared
            tf.train.init_from_checkpoint(saved, mapping)
        assert text in str(caught.value)


def test_variables_are_assigned_from_a_checkpoint(saved: str) -> None:
    a, b, _ = variables()
    framework = tf.contrib.framework
    step, feeds = framework.assign_from_checkpoint(saved, {"old/a": a, "no": b}, ignore_missing_vars=True)
    with tf.Session(engine="numpy") as session:
        session.run(step, feeds)
        assert session.run(a).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match='Checkpoint is missing variable "no"'):
        framework.assign_from_checkpoint(saved, {"no": b})
    with pytest.raises(ValueError, match="Total size of new array must be unchanged for old/a"):
        framework.assign_from_checkpoint(saved, {"old/a": b})


def test_a_folder_notes_its_checkpoints(saved: str, tmp_path: Path) -> None:
    assert tf.train.latest_checkpoint(tmp_path) == saved
    (tmp_path / "checkpoint").unlink()
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None
    tf.train.update_checkpoint_state(str(tmp_path), Path(saved).name, [saved])
    assert tf.train.get_checkpoint_state(str(tmp_path)) == tf.train.generate_checkpoint_state_proto(tmp_path, saved)
    (seconds,) = tf.train.get_checkpoint_mtimes([saved, "/nowhere/x"])
    assert seconds > 1e9
    assert list(tf.train.checkpoints_iterator(tmp_path, timeout=0)) == [saved]
    assert tf.contrib.training.wait_for_new_checkpoint(tmp_path, saved, timeout=0) is None
    tf.train.remove_checkpoint(saved)
    assert not tf.train.checkpoint_exists(saved)
    asked: list[bool] = []

    def enough() -> bool:
        asked.append(True)
        return len(asked) > 1

    assert list(tf.train.checkpoints_iterator(tmp_path, timeout=0, timeout_fn=enough)) == []
    assert len(asked) == 2


def test_events_are_read_as_they_were_written(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer, tf.Session(engine="numpy") as session:
        writer.add_summary(session.run(tf.summary.scalar("loss", 2.5)), 3)
    (path,) = tmp_path.iterdir()
    *_, event = tf.train.summary_iterator(str(path))
    assert (event.step, event.summary.value[0].tag, event.summary.value[0].simple_value) == (3, "loss", 2.5)
