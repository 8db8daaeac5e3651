"""Graphs beside checkpoints: a program that has the files goes on without the code that made the graph."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from pullback.graphdef import saving


def a_model(value: float = 3.0) -> tuple[pb.Session, pb.Operation]:
    """A session whose variable `x` has this value, and a step that descends from its square `y`."""
    x = pb.Variable(value, name="x")
    y = pb.square(x, name="y")
    pb.add_to_collection("results", y)
    step = pb.train.AdamOptimizer(0.1).minimize(y)
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    return session, step


def test_a_checkpoint_and_its_graph_go_on_elsewhere_and_are_saved_again(tmp_path: Path) -> None:
    session, step = a_model()
    session.run(step)
    path = pb.train.Saver().save(session, tmp_path / "model", global_step=1)
    expected = session.run("y:0")
    for _ in range(2):
        with pb.Graph().as_default():
            saver, session = pb.train.import_meta_graph(path + ".meta"), pb.Session(engine="numpy")
            saver.restore(session, path)
            assert session.run(pb.get_collection("results")) == [expected]
            path = saver.save(session, tmp_path / "again")


def test_the_graph_has_a_saver_of_the_saved_variables_under_their_names(tmp_path: Path) -> None:
    a, b = pb.Variable(1.0, name="a"), pb.Variable(2.0, name="b")
    pb.add(a, b, name="sum")
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    session.run(a.assign(5.0))
    session.run(b.assign(7.0))
    path = pb.train.Saver({"first": a}).save(session, tmp_path / "model")
    with pb.Graph().as_default():
        saver, session = pb.train.import_meta_graph(path + ".meta"), pb.Session(engine="numpy")
        session.run(pb.global_variables_initializer())
        saver.restore(session, path)
        assert session.run("sum:0") == 5.0 + 2.0


def test_the_graph_goes_where_the_suffix_says_or_nowhere(tmp_path: Path) -> None:
    session, _ = a_model()
    saver = pb.train.Saver(max_to_keep=1)
    saver.save(session, tmp_path / "model", 1, write_meta_graph=False)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model-1.npz"]
    for step in (2, 3):
        saver.save(session, tmp_path / "model", step, meta_graph_suffix="graph")
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model-3.graph", "model-3.npz"]


def test_a_graph_that_did_not_grow_is_described_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ = a_model()
    saver, described = pb.train.Saver(), []
    with_saver = saving.with_saver
    monkeypatch.setattr(saving, "with_saver", lambda *args: described.append(1) or with_saver(*args))
    for step in range(3):
        saver.save(session, tmp_path / "model", step)
    assert len(described) == 1
    pb.constant(1.0)
    saver.save(session, tmp_path / "model", 3)
    assert len(described) == 2


def test_a_graph_that_tensorflow_cannot_have_is_not_written(tmp_path: Path) -> None:
    session, _ = a_model()
    pb.py_function(np.sin, [pb.constant(1.0)], pb.float32, name="call")
    with pytest.warns(UserWarning, match="Saver.save: the graph is not written to .*model.meta: ") as caught:
        pb.train.Saver().save(session, tmp_path / "model")
    assert caught[0].filename == __file__
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model.npz"]


def test_without_tensorflows_messages_the_variables_are_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ = a_model()

    def missing() -> None:
        raise ImportError("no messages")

    monkeypatch.setattr(saving, "messages", missing)
    pb.train.Saver().save(session, tmp_path / "model")
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model.npz"]
