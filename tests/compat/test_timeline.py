"""Traces of runs: `run_metadata`, Chrome traces of it, event files that hold it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.compat.v1.timeline import Timeline


def traced(y: Any, feeds: Any = None, engine: str = "numpy", level: int = tf.RunOptions.FULL_TRACE) -> Any:
    metadata = tf.RunMetadata()
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        session.run(y, feeds, options=tf.RunOptions(trace_level=level), run_metadata=metadata)
    return metadata


def events(metadata: Any, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format(**options))[
        "traceEvents"
    ]
    return found


def test_each_operation_that_ran_is_an_event_and_each_tensor_between_two_an_arrow() -> None:
    v = tf.Variable(2.0, name="v", use_resource=True)
    y = tf.exp(v * 3.0, name="y")
    tf.sin(v, name="not_run")
    found = events(traced(y))
    assert {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "/device:CPU:0 Compute"}} in found
    ran = {event["args"]["name"]: event for event in found if event["ph"] == "X"}
    assert ran["y"]["args"] == {"name": "y", "op": "Exp", "input0": "mul"}
    assert "not_run" not in ran
    assert all(event["dur"] > 0 for event in ran.values())
    assert [event["ts"] for event in ran.values()] == sorted(event["ts"] for event in ran.values())
    arrows = [event for event in found if event.get("cat") == "DataFlow" and event["name"] == "mul"]
    assert [event["ph"] for event in arrows] == ["s", "t"]
    assert arrows[1]["ts"] == ran["y"]["ts"]
    assert not [e for e in events(traced(y), show_dataflow=False) if e.get("cat") == "DataFlow"]


def test_steps_of_loops_are_events_and_values_are_the_same() -> None:
    y = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    found = events(traced(y))
    assert [e["name"] for e in found if e["ph"] == "X"].count("AddV2") == 3


def test_a_program_of_another_engine_is_one_event() -> None:
    pytest.importorskip("jax")
    assert [e["name"] for e in events(traced(tf.constant(1.0) + 1.0, engine="xla")) if e["ph"] == "X"] == ["Program"]


def test_a_run_is_traced_only_where_it_is_asked() -> None:
    y = tf.constant(1.0) + 1.0
    assert traced(y, level=tf.RunOptions.NO_TRACE).step_stats is None
    with tf.Session(engine="numpy") as session:
        metadata = tf.RunMetadata()
        session.run(y, run_metadata=metadata)
        assert metadata.step_stats is None
        with pytest.raises(ValueError, match=r"^Timeline: the run was not traced; run with options=RunOptions"):
            Timeline(metadata.step_stats).generate_chrome_trace_format()


def test_runs_of_other_threads_and_of_other_sessions_are_not_in_the_trace_of_a_run() -> None:
    def run_meanwhile(x: Any) -> Any:
        other = threading.Thread(target=lambda: found.append(session.run(waited)))
        other.start()
        other.join()
        tf.Session(engine="numpy").run(elsewhere)
        return x

    found: list[Any] = []
    waited, elsewhere = tf.cos(tf.constant(0.0)), tf.sinh(tf.constant(0.0))
    y = tf.exp(tf.py_func(run_meanwhile, [tf.constant(1.0)], tf.float32, stateful=True))
    metadata = tf.RunMetadata()
    with tf.Session(engine="numpy") as session:
        session.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    assert found == [1.0]
    assert {e["name"] for e in events(metadata) if e["ph"] == "X"} & {"Cos", "Sinh", "Exp"} == {"Exp"}


def test_a_run_that_fails_is_traced_up_to_there_and_the_next_one_is_not() -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.reshape(tf.exp(x), [2])
    options, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
    with tf.Session(engine="numpy") as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y, {x: [1.0, 2.0, 3.0]}, options, metadata)
        session.run(y, {x: [1.0, 2.0]})
    assert [e["name"] for e in events(metadata) if e["ph"] == "X"] == ["Exp"]


def test_event_files_hold_traces_by_tag(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    metadata = traced(tf.exp(tf.placeholder_with_default(1.0, []), name="y"))
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_run_metadata(metadata, "step1", global_step=1)
        with pytest.raises(ValueError, match=r"^The provided tag was already used for this event type: 'step1'$"):
            writer.add_run_metadata(metadata, "step1")
    (file,) = tmp_path.iterdir()
    (tagged,) = [
        e.tagged_run_metadata for e in tf.train.summary_iterator(str(file)) if e.HasField("tagged_run_metadata")
    ]
    assert tagged.tag == "step1"
    (device,) = RunMetadata.FromString(tagged.run_metadata).step_stats.dev_stats
    assert "y = Exp(PlaceholderWithDefault)" in [node.timeline_label for node in device.node_stats]


def test_a_hook_writes_traces_of_some_steps(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    change = step.assign_add(1)
    hooks = [tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path / "traces")), tf.train.StopAtStepHook(7)]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        while not session.should_stop():
            session.run(change)
    files = sorted((tmp_path / "traces").iterdir())
    assert [file.name for file in files] == ["timeline-2.json", "timeline-4.json", "timeline-6.json"]
    assert all(json.loads(file.read_text())["traceEvents"] for file in files)


def test_programs_import_the_timeline_where_it_was() -> None:
    pb.compat.install()
    try:
        from tensorflow.python.client import timeline

        assert timeline.Timeline is Timeline
    finally:
        pb.compat.uninstall()
