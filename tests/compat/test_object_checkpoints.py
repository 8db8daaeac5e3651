"""`tf.train.Checkpoint`, its manager, session managers and servers of one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf


class Model:
    def __init__(self) -> None:
        self.layers = [{"kernel": tf.Variable([1.0, 2.0])}, {"kernel": tf.Variable([3.0])}]
        self.owner = self
        self._hidden = tf.Variable(0.0)


@pytest.fixture
def session() -> Any:
    with pb.Session(engine="numpy") as session:
        yield session


def test_variables_have_the_names_of_the_attributes_that_lead_to_them() -> None:
    found = tf.train.Checkpoint(model=Model()).variables()
    assert [name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE") for name in found] == [
        "model/layers/0/kernel",
        "model/layers/1/kernel",
        "save_counter",
    ]


def test_slots_of_optimizers_are_saved_too(tmp_path: Path, session: Any) -> None:
    model, optimizer = Model(), tf.train.MomentumOptimizer(0.5, 0.9)
    v = model.layers[0]["kernel"]
    step = optimizer.minimize(tf.reduce_sum(v * v), var_list=[v])
    session.run(tf.global_variables_initializer())
    session.run(step)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    path = checkpoint.save(str(tmp_path / "at"))
    before = session.run([v, optimizer.get_slot(v, "momentum")])
    session.run(step)
    checkpoint.restore(path).assert_consumed().run_restore_ops()
    after = session.run([v, optimizer.get_slot(v, "momentum")])
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)
    assert (Path(path).name[:4], session.run(checkpoint.save_counter)) == ("at-1", 1)


def test_what_a_file_lacks_is_initialised_or_said(tmp_path: Path, session: Any) -> None:
    v, more = tf.Variable(1.0), tf.Variable(7.0)
    session.run(v.initializer)
    path = tf.train.Checkpoint(v=v).save(str(tmp_path / "at"))
    status = tf.train.Checkpoint(v=v, more=[more]).restore(path)
    with pytest.raises(AssertionError, match=r"^Checkpoint\.restore: the file has no values for more/0$"):
        status.assert_consumed()
    status.initialize_or_restore(session)
    assert session.run([v, more]) == [1.0, 7.0]
    tf.train.Checkpoint(x=more).restore(None).initialize_or_restore()
    with pytest.raises(AssertionError, match=r"has none of the variables$"):
        tf.train.Checkpoint(x=more).restore(None).assert_nontrivial_match()


def test_a_manager_keeps_the_newest(tmp_path: Path, session: Any) -> None:
    v, called = tf.Variable(1.0), []
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=v), str(tmp_path), 2, init_fn=lambda: called.append(session.run(v.initializer))
    )
    assert (manager.restore_or_initialize(), len(called)) == (None, 1)
    for _ in range(3):
        manager.save()
        session.run(v.assign_add(1.0))
    assert [Path(p).name.split(".")[0] for p in manager.checkpoints] == ["ckpt-2", "ckpt-3"]
    assert manager.restore_or_initialize() == manager.latest_checkpoint
    assert session.run(v) == 3.0


def test_without_a_session_it_is_said() -> None:
    with pytest.raises(ValueError, match=r"^Checkpoint: there is no default session; pass session="):
        tf.train.Checkpoint(v=tf.Variable(1.0)).save("x")


def test_a_managed_session_is_restored_or_initialised(tmp_path: Path) -> None:
    v = tf.Variable(1.0)
    saver, manager = tf.train.Saver(), tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    with pytest.raises(RuntimeError, match=r"^prepare_session: there is no checkpoint, no init_op and no init_fn"):
        manager.prepare_session("")
    with pytest.raises(RuntimeError, match=r"^SessionManager: the session is not ready: no value for Variable$"):
        manager.wait_for_session("")
    first = manager.prepare_session("", v.initializer, saver, str(tmp_path))
    first.run(v.assign(5.0))
    saver.save(first, str(tmp_path / "at"))
    assert manager.prepare_session("", v.initializer, saver, str(tmp_path)).run(v) == 5.0


def test_a_server_of_one_task_is_this_process() -> None:
    server = tf.train.Server({"worker": ["localhost:2222"]}, job_name="worker", task_index=0)
    assert tf.Session(server.target).run(tf.constant(2.0)) == 2.0
    with pytest.raises(NotImplementedError, match=r"^train\.Server\.join: a server that only waits for others"):
        server.join()
    with pytest.raises(NotImplementedError, match=r"run the program on all of them with `pullback"):
        tf.train.Server(tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1"]}), "ps", 0)


def test_recurrent_cells_are_saved(tmp_path: Path) -> None:
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(1), 0.5)])
    cell(tf.ones([1, 1]), cell.zero_state(1, tf.float32))
    checkpoint = tf.train.Checkpoint(cell=cell)
    names = [name.partition("/.A")[0] for name in checkpoint.variables()]
    parts = ["gates.Skernel", "gates.Sbias", "candidate.Skernel", "candidate.Sbias"]
    assert names == [*[f"cell/cell-0/cell/{part}" for part in parts], "save_counter"]
    (kernel, *_) = cell.variables
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(kernel.assign([[2.0, 3.0], [4.0, 5.0]]))
        path = checkpoint.save(str(tmp_path / "model"))
        session.run(kernel.assign(tf.zeros([2, 2])))
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        assert session.run(kernel).tolist() == [[2.0, 3.0], [4.0, 5.0]]
