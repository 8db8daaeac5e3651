"""The collection `SAVERS`: who looks for a saver there, who puts one there, and how it is written and read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.compat import v1 as tf

SAVERS = tf.GraphKeys.SAVERS


def savers(count: int) -> list[Any]:
    """That many savers of a variable, in the collection."""
    tf.Variable([1.0, 2.0], name="v")
    tf.train.get_or_create_global_step()
    made = [tf.train.Saver() for _ in range(count)]
    for saver in made:
        tf.add_to_collection(SAVERS, saver)
    return made


def scaffold(folder: Path) -> Any:
    del folder
    return tf.train.Scaffold().finalize().saver


def supervisor(folder: Path) -> Any:
    del folder
    return tf.train.Supervisor(logdir=None).saver


def monitored_session(folder: Path) -> Any:
    hook = tf.train.CheckpointSaverHook(str(folder), save_steps=1)
    with tf.train.MonitoredSession(hooks=[hook]):
        pass
    return tf.get_collection(SAVERS)[0]


@pytest.mark.parametrize("ask", [scaffold, supervisor, monitored_session])
def test_the_saver_of_the_collection_is_taken_or_a_new_one_put_there(ask: Any, tmp_path: Path) -> None:
    with pb.Graph().as_default():
        (given,) = savers(1)
        assert ask(tmp_path) is given
        assert tf.get_collection(SAVERS) == [given]
    with pb.Graph().as_default():
        savers(0)
        made = ask(tmp_path)
        assert tf.get_collection(SAVERS) == [made]


@pytest.mark.parametrize("ask", [scaffold, monitored_session])
def test_several_savers_are_an_error(ask: Any, tmp_path: Path) -> None:
    savers(2)
    with pytest.raises(RuntimeError) as caught:
        ask(tmp_path)
    assert str(caught.value) == (
        "More than one item in collection savers. Please indicate which one to use by passing it to the constructor."
    )


def test_a_supervisor_takes_the_first_of_several_and_makes_none_without_variables() -> None:
    first, _ = savers(2)
    assert supervisor(Path()) is first
    with pb.Graph().as_default():
        assert (supervisor(Path()), tf.get_collection(SAVERS)) == (None, [])


def test_a_hook_without_a_saver_is_an_error(tmp_path: Path) -> None:
    savers(0)
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1)
    hook.begin()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(RuntimeError) as caught:
            hook.after_create_session(session, None)
    assert str(caught.value) == (
        "No items in collection savers. Please add a saver to the collection or provide a saver or scaffold."
    )


def test_a_saver_that_is_given_stays_out_of_the_collection() -> None:
    savers(0)
    mine = tf.train.Saver()
    assert tf.train.Scaffold(saver=mine).finalize().saver is mine
    assert tf.train.Scaffold().saver is None
    assert tf.get_collection(SAVERS) == []


def test_savers_are_written_and_read_with_the_graph(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver({"another": pb.global_variables()[0]}, max_to_keep=3)
    tf.add_to_collection(SAVERS, saver)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"))
    with pb.Graph().as_default():
        returned = tf.train.import_meta_graph(path + ".meta")
        (found,) = tf.get_collection(SAVERS)
        assert found is not returned
        assert found.as_saver_def().max_to_keep == 3
        with tf.Session() as session:
            found.restore(session, path)
            np.testing.assert_array_equal(session.run("v:0"), [1.0, 2.0])
