"""Monitored sessions, supervisors, hooks, coordinators and queue runners of `pullback.compat.v1.train`."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.compat import v1 as tf


def counter() -> tuple[Any, Any]:
    """The global step, and the operation that counts it up."""
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


class Recorder(tf.train.SessionRunHook):
    """A hook that notes what is called."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def begin(self) -> None:
        self.calls.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.calls.append("created")

    def before_run(self, run_context: Any) -> Any:
        self.calls.append(("before", run_context.original_args.fetches))
        return tf.train.SessionRunArgs({"step": tf.train.get_global_step()})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.calls.append(("after", int(run_values.results["step"])))

    def end(self, session: Any) -> None:
        self.calls.append("end")


def test_a_monitored_session_calls_its_hooks_in_order() -> None:
    _, count = counter()
    hook = Recorder()
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(count)
    assert hook.calls == ["begin", "created", ("before", count), ("after", 0), "end"]


def test_the_block_of_a_monitored_session_ends_where_data_ends() -> None:
    hook = Recorder()
    counter()
    with tf.train.MonitoredSession(hooks=[hook]):
        raise tf.errors.OutOfRangeError("no more")
    assert hook.calls[-1] == "end"


def test_another_exception_leaves_the_block_and_no_end_is_called() -> None:
    hook = Recorder()
    counter()
    with pytest.raises(ZeroDivisionError), tf.train.MonitoredSession(hooks=[hook]):
        raise ZeroDivisionError
    assert hook.calls[-1] == "created"


def test_a_hook_feeds_what_the_caller_does_not() -> None:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    z = x + y
    with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {y: 2.0})]) as session:
        assert session.run(z, {x: 1.0}) == 3.0
        with pytest.raises(
            RuntimeError, match=r"^MonitoredSession.run: .*'Placeholder_1:0' is fed twice, once by FeedFn"
        ):
            session.run(z, {x: 1.0, y: 1.0})


@pytest.mark.parametrize(("arguments", "steps"), [({"num_steps": 2}, 2), ({"last_step": 5}, 5)])
def test_stop_at_step_counts_from_now_or_from_the_beginning(arguments: dict[str, int], steps: int) -> None:
    _, count = counter()
    done = 0
    with tf.train.SingularMonitoredSession(hooks=[tf.train.StopAtStepHook(**arguments)]) as session:
        while not session.should_stop():
            session.run(count)
            done += 1
    assert done == steps


def test_a_nan_stops_the_training() -> None:
    loss = tf.log(tf.constant(-1.0))
    with (
        pytest.raises(tf.train.NanLossDuringTrainingError, match=r"^NaN loss during training.$"),
        tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss)]) as session,
    ):
        session.run(loss)


def test_final_operations_run_at_the_end() -> None:
    step, count = counter()
    final = tf.train.FinalOpsHook(step)
    with tf.train.MonitoredSession(hooks=[final]) as session:
        session.run(count)
    assert final.final_ops_values == 1


def test_values_are_logged_every_other_run(caplog: pytest.LogCaptureFixture) -> None:
    step, count = counter()
    hook = tf.train.LoggingTensorHook({"step": step}, every_n_iter=2, formatter=lambda found: f"at {found['step']}")
    with caplog.at_level("INFO", "tensorflow"), tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(3):
            session.run(count)
    assert caplog.messages == ["at 0", "at 2"]


def test_a_training_session_goes_on_from_the_checkpoint_that_it_saved(tmp_path: Path) -> None:
    step, count = counter()
    for first in (0, 3):
        with tf.train.MonitoredTrainingSession(checkpoint_dir=os.fspath(tmp_path), save_checkpoint_steps=2) as session:
            assert session.run(step) == first
            for _ in range(3):
                session.run(count)
    assert tf.train.latest_checkpoint(tmp_path).endswith("model.ckpt-6")


def test_no_checkpoints_where_none_are_wanted(tmp_path: Path) -> None:
    counter()
    tf.train.MonitoredTrainingSession(checkpoint_dir=os.fspath(tmp_path), save_checkpoint_secs=None).close()
    assert tf.train.latest_checkpoint(tmp_path) is None


def test_listeners_are_told_of_checkpoints_and_may_stop(tmp_path: Path) -> None:
    _, count = counter()
    steps = []

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> bool:
            steps.append(global_step_value)
            return global_step_value >= 2

    hook = tf.train.CheckpointSaverHook(tmp_path, save_steps=1, listeners=[Listener()])
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            session.run(count)
    assert steps == [0, 1, 2]


def test_a_scaffold_initialises_as_it_is_told() -> None:
    v = tf.Variable(1.0)
    x = tf.placeholder(tf.float32, [])
    more = tf.assign_add(v, 1.0)
    scaffold = tf.train.Scaffold(tf.assign(v, x), {x: 5.0}, lambda scaffold, session: session.run(more))
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)) as session:
        assert session.run(v) == 6.0


def test_a_step_function_runs_with_and_without_hooks() -> None:
    _, count = counter()
    hook = Recorder()
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run_step_fn(lambda context: (context.session.run(count), context.run_with_hooks(count))) == (
            1,
            2,
        )
    assert [call for call in hook.calls if call[0] == "after"] == [("after", 1)]


def test_a_supervisor_restores_what_it_saved(tmp_path: Path) -> None:
    v = tf.Variable(1.0, name="v")
    change = tf.assign(v, 7.0)
    for expected in (1.0, 7.0):
        supervisor = tf.train.Supervisor(logdir=os.fspath(tmp_path), save_model_secs=0, summary_op=None)
        with supervisor.managed_session() as session:
            assert session.run(v) == expected
            session.run(change)
            supervisor.saver.save(session, supervisor.save_path)


@pytest.mark.parametrize(
    "begin",
    [
        tf.train.MonitoredTrainingSession,
        tf.train.SingularMonitoredSession,
        lambda: tf.train.Supervisor(logdir=None).managed_session(),
    ],
)
def test_a_graph_takes_no_operations_when_its_session_has_begun(begin: Any) -> None:
    v = tf.get_variable("v", initializer=1.0)
    change = v.assign_add(1.0)
    tf.summary.scalar("v", v)
    words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [3]), -1).lookup(tf.constant("a"))
    for _ in range(2):
        with begin() as session:
            assert tf.get_default_graph().finalized
            assert [session.run(change), session.run(words)] == [2.0, 3]
            with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
                tf.constant(1.0)


def test_a_supervisor_raises_what_its_block_raised() -> None:
    with pytest.raises(ZeroDivisionError), tf.train.Supervisor().managed_session():
        raise ZeroDivisionError


def test_a_coordinator_stops_all_threads_and_raises_the_first_error() -> None:
    coord = tf.train.Coordinator()

    def wait() -> None:
        coord.wait_for_stop()

    def fail() -> None:
        coord.request_stop(ValueError("first"))
        coord.request_stop(ValueError("second"))

    threads = [threading.Thread(target=wait), threading.Thread(target=fail)]
    for thread in threads:
        thread.start()
    with pytest.raises(ValueError, match=r"^first$"):
        coord.join(threads)
    assert coord.should_stop()
    assert coord.joined


def test_the_end_of_data_is_no_error() -> None:
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError("no more"))
    coord.join([])


def test_a_thread_that_does_not_stop_is_named() -> None:
    coord, go_on = tf.train.Coordinator(), threading.Event()
    thread = threading.Thread(target=go_on.wait, name="stubborn")
    thread.start()
    coord.request_stop()
    with pytest.raises(RuntimeError) as raised:
        coord.join([thread], stop_grace_period_secs=0)
    go_on.set()
    assert str(raised.value) == (
        "Coordinator.join: 0 seconds after the stop these threads run on: stubborn; let them look at should_stop()"
    )


def test_queue_runners_run_until_the_end_of_data() -> None:
    v = tf.Variable(0)
    count = tf.assign_add(v, 1)
    with tf.Session() as session:
        session.run(v.initializer)
        coord = tf.train.Coordinator()

        class Ending:
            graph = session.graph

            def run(self, op: Any) -> None:
                if session.run(op) == 3:
                    raise tf.errors.OutOfRangeError("no more")

        tf.train.add_queue_runner(tf.train.QueueRunner(None, [count]))
        threads = tf.train.start_queue_runners(Ending(), coord)
        for thread in threads:
            thread.join()
        assert (len(threads), coord.should_stop(), session.run(v)) == (1, False, 3)


def test_messages_of_a_program_are_written_as_summaries(tmp_path: Path) -> None:
    summary = tf.Summary()
    summary.value.add(tag="reward", simple_value=2.5)
    with_value = tf.Summary(value=[tf.Summary.Value(tag="reward", simple_value=3.5)])
    writer = tf.summary.FileWriterCache.get(os.fspath(tmp_path))
    for step, message in enumerate([summary, with_value]):
        writer.add_summary(message, step)
    tf.summary.FileWriterCache.clear()
    writer.close()
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(os.fspath(tmp_path))
    events.Reload()
    np.testing.assert_array_equal([(e.step, e.value) for e in events.Scalars("reward")], [(0, 2.5), (1, 3.5)])


def test_files_of_messages_are_found_where_tensorflow_has_them() -> None:
    pb.compat.install()
    from tensorflow.core.framework import summary_pb2  # type: ignore[import-not-found]

    pb.compat.uninstall()
    assert summary_pb2.Summary is tf.Summary


def test_a_cluster_knows_its_tasks() -> None:
    cluster = tf.train.ClusterSpec({"worker": {1: "b:1"}, "ps": ["c:1", "d:1"]})
    assert cluster.as_dict() == {"worker": {1: "b:1"}, "ps": ["c:1", "d:1"]}
    assert tf.train.ClusterSpec(cluster) == cluster
    assert (cluster.task_indices("worker"), cluster.job_tasks("ps")) == ([1], ["c:1", "d:1"])
    with pytest.raises(ValueError, match=r"^ClusterSpec: there is no job 'chief'; there are ps, worker$"):
        cluster.num_tasks("chief")
    with pytest.raises(ValueError, match=r"^ClusterSpec: job 'worker' has no task 0$"):
        cluster.task_address("worker", 0)


def test_variables_of_a_replica_are_in_this_process() -> None:
    with tf.device(tf.train.replica_device_setter(1)):
        v = tf.Variable(2.0)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(v * 2.0) == 4.0


def test_notes_of_a_relative_folder_name_what_lies_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    v = tf.Variable(1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        Path("train").mkdir()
        tf.train.Saver().save(session, "train/model-2", write_state=False)
    note = tf.train.generate_checkpoint_state_proto("train", "train/model-2", ["/absolute/model-0", "train/model-1"])
    assert note.all_model_checkpoint_paths == ("/absolute/model-0", "model-1", "model-2")
    tf.train.update_checkpoint_state("train", "train/model-2")
    assert tf.train.latest_checkpoint("train") == "train/model-2"


def test_the_global_step_is_a_variable_of_the_open_scope() -> None:
    with tf.name_scope("names"), tf.variable_scope("train"):
        step = tf.train.get_or_create_global_step()
    assert step.op.name == "train/global_step"
    assert tf.train.get_or_create_global_step() is step


def _trained(folder: Path, **options: Any) -> set[str]:
    grow = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    hook = tf.train.CheckpointSaverHook(folder, save_steps=1, **options)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(grow)
    return {path.name for path in folder.iterdir() if not path.name.startswith("model.ckpt")}


def test_a_hook_that_saves_writes_the_graph(tmp_path: Path) -> None:
    assert _trained(tmp_path / "with") == {"checkpoint", "graph.pbtxt"}
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(pb.graphdef.load(tmp_path / "with" / "graph.pbtxt").as_graph_def(), name="")
        assert graph.get_operation_by_name("global_step").type.startswith("Var")
    with tf.Graph().as_default():
        assert _trained(tmp_path / "without", save_graph_def=False) == {"checkpoint"}


def test_a_supervisor_writes_the_graph(tmp_path: Path) -> None:
    tf.train.get_or_create_global_step()
    with tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0).managed_session():
        pass
    assert (tmp_path / "graph.pbtxt").read_text().startswith("node {")


def test_a_graph_that_tensorflow_has_nothing_for_is_not_written(tmp_path: Path) -> None:
    class Twice(pb.Primitive):
        def infer(self, x: pb.TensorType) -> tuple[pb.TensorType, ...]:
            return (x,)

        def kernel(self, xp: Any, x: Any) -> Any:
            return x + x

    Twice()(tf.constant(1.0))
    with pytest.warns(UserWarning, match="the graph is not written to"):
        assert _trained(tmp_path) == {"checkpoint"}


def test_a_training_runs_until_a_hook_stops_it(tmp_path: Path) -> None:
    _, count = counter()
    hooks = [tf.train.StopAtStepHook(last_step=3)]
    assert tf.contrib.training.train(count, os.fspath(tmp_path), hooks=hooks) == 3
    assert tf.train.latest_checkpoint(tmp_path).endswith("model.ckpt-3")
    with pytest.raises(ValueError, match="logdir cannot be None when save_summaries_steps is not None"):
        tf.contrib.training.train(count, None, hooks=hooks)


@pytest.mark.parametrize("fails", [False, True])
def test_a_graph_takes_operations_again_when_the_session_is_closed(fails: bool) -> None:
    _, more = counter()
    with suppress(ValueError), tf.train.MonitoredSession() as session:
        with tf.train.SingularMonitoredSession() as inner:
            inner.run(more)
        assert session.graph.finalized
        session.run(more)
        if fails:
            raise ValueError
    assert tf.constant(1.0).graph is session.graph
    session.graph.finalize()
    tf.train.MonitoredSession().close()
    assert session.graph.finalized
