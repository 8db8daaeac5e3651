"""Graphs as TensorBoard reads them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader, RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef

import pullback as pb
from pullback.interop.tensorboard import FileWriter, graph_def


def read_back(folder: Path) -> GraphDef:
    """The graph in the one event file of a folder."""
    (path,) = folder.iterdir()
    graphs = [event.graph_def for event in EventFileLoader(str(path)).Load() if event.HasField("graph_def")]
    return GraphDef.FromString(graphs[0])


def test_forward_and_backward_operations_are_written_with_names_types_and_shapes(tmp_path: Path) -> None:
    x = pb.placeholder(pb.float32, [None, 3], name="x")
    pb.gradients(pb.tanh(x, name="y"), x)
    FileWriter(tmp_path, x.graph).close()
    nodes = {node.name: node for node in read_back(tmp_path).node}
    assert list(nodes) == [op.name for op in x.graph.operations]
    back = nodes["gradients/y_grad/TanhGrad"]
    assert list(back.input) == ["y", "gradients/grad_ys_0"]
    assert [d.size for d in back.attr["_output_shapes"].list.shape[0].dim] == [-1, 3]


def test_outputs_after_the_first_and_control_inputs_are_named() -> None:
    first, second = pb.split(pb.ones([2], name="x"), 2, name="halves")
    before = pb.no_op(name="before")
    with pb.control_dependencies([before]):
        pb.identity(second, name="later")
    node = graph_def(first.graph).node[-1]
    assert list(node.input) == ["halves:1", "^before"]


def test_bodies_of_loops_are_functions() -> None:
    x = pb.constant(2.0)
    pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), (0, x))
    names = [function.signature.name for function in graph_def(x.graph).library.function]
    assert len(names) == 2
    body = graph_def(x.graph).library.function[0]
    assert {node.op for node in body.node_def} >= {"Mul"}


def test_unknown_ranks_and_every_dtype_are_written() -> None:
    for dtype in (pb.bfloat16, pb.complex64, pb.uint8, pb.bool):
        pb.placeholder(dtype, None)
    assert all(
        node.attr["_output_shapes"].list.shape[0].unknown_rank for node in graph_def(pb.get_default_graph()).node
    )


def summaries(folder: Path) -> dict[tuple[str, int], Any]:
    """The values in the one event file of a folder, by tag and step."""
    (path,) = folder.iterdir()
    # The loader turns values into their newer form; the records are as they were written.
    events = [Event.FromString(record) for record in RawEventFileLoader(str(path)).Load()]
    return {(value.tag, event.step): value for event in events for value in event.summary.value}


def test_what_is_summarized_is_fetched_and_written(tmp_path: Path) -> None:
    x = pb.placeholder(pb.float32, [None])
    with pb.name_scope("train"):
        pb.summary.scalar("loss", pb.reduce_sum(x))
        pb.summary.scalar("loss", pb.reduce_max(x))
    pb.summary.histogram("x's", x, family="inputs")
    merged = pb.summary.merge_all()
    writer = FileWriter(tmp_path)
    session = pb.Session(engine="numpy")
    for step in range(2):
        found, y = session.run([merged, 2.0 * x], {x: [1.0, 2.0, step]})
        writer.add_summary(found, step)
    writer.close()
    values = summaries(tmp_path)
    assert sorted({tag for tag, _ in values}) == ["inputs/inputs/x_s", "train/loss", "train/loss_1"]
    assert [values["train/loss", step].simple_value for step in range(2)] == [3.0, 4.0]
    histo = values["inputs/inputs/x_s", 1].histo
    assert (histo.min, histo.max, histo.num, histo.sum, sum(histo.bucket)) == (1.0, 2.0, 3.0, 4.0, 3.0)
    assert y.tolist() == [2.0, 4.0, 2.0]


def test_summaries_are_merged_by_collection_and_by_scope() -> None:
    with pb.name_scope("train"):
        first = pb.summary.scalar("loss", 1.0)
    pb.summary.scalar("other", 1.0)
    own = pb.summary.scalar("own", 1.0, collections=["mine"])
    assert pb.summary.merge_all(scope="train") == first
    assert pb.summary.merge_all("mine") == own
    assert pb.summary.merge_all("none") is None
    assert [tag.name for tag in pb.summary.merge([own, first])] == ["own", "train/loss"]


def test_summaries_have_names() -> None:
    with pb.name_scope("train"):
        loss = pb.summary.scalar("loss", 1.0)
    assert [loss.name, pb.summary.merge([loss]).name, pb.summary.merge_all().name] == [
        *("train/loss:0", "Merge/MergeSummary:0", "Merge_1/MergeSummary:0")
    ]


def test_images_are_scaled_and_can_be_read(tmp_path: Path) -> None:
    plt = pytest.importorskip("matplotlib.image")
    x = np.array([[[[0.0], [2.0]]], [[[-1.0], [1.0]]], [[[0.0], [0.0]]]])
    writer = FileWriter(tmp_path)
    writer.add_summary(pb.Session(engine="numpy").run(pb.summary.image("digit", pb.constant(x), max_outputs=2)))
    writer.close()
    values = summaries(tmp_path)
    pictures = [plt.imread(io.BytesIO(values[f"digit/image/{i}", 0].image.encoded_image_string)) for i in range(2)]
    assert [(255 * picture).round().ravel().tolist() for picture in pictures] == [[0.0, 255.0], [0.0, 254.0]]
    assert len(values) == 2


def test_only_what_a_session_returned_is_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"^FileWriter.add_summary: the summary is a float; give what session.run gave"):
        FileWriter(tmp_path).add_summary(1.0)  # type: ignore[arg-type]


def test_sounds_texts_and_arrays_are_written(tmp_path: Path) -> None:
    wave = pytest.importorskip("wave")
    sound = np.sin(np.arange(80.0) / 3)[None, :, None].repeat(2, 2).astype(np.float32)
    merged = pb.summary.merge(
        [
            pb.summary.audio("beep", sound, 8000, max_outputs=1),
            pb.summary.text("note", "*new*"),
            pb.summary.text("table", [["a", "b"]]),
            pb.summary.tensor_summary("weights", pb.constant([[1.5, 2.0]])),
        ]
    )
    with FileWriter(tmp_path) as writer:
        assert writer.get_logdir() == str(tmp_path)
        writer.add_summary(pb.Session(engine="numpy").run(merged), 3)
    values = {tag: value for (tag, _), value in summaries(tmp_path).items()}
    audio = values["beep/audio"].audio
    assert (audio.sample_rate, audio.length_frames, audio.num_channels) == (8000.0, 80, 2)
    with wave.open(io.BytesIO(audio.encoded_audio_string)) as file:
        frames = np.frombuffer(file.readframes(80), "<i2").reshape(80, 2) / 32767
    np.testing.assert_allclose(frames, sound[0], atol=1e-4)
    note, table, weights = [values[name].tensor for name in ("note", "table", "weights")]
    assert list(note.string_val) == [b"*new*"]
    assert [dim.size for dim in table.tensor_shape.dim] == [1, 2]
    assert values["table"].metadata.plugin_data.plugin_name == "text"
    assert np.frombuffer(weights.tensor_content, np.float32).tolist() == [1.5, 2.0]


def test_messages_are_written_as_they_are(tmp_path: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import SessionLog
    from tensorboard.compat.proto.summary_pb2 import Summary

    message = Summary(value=[Summary.Value(tag="loss", simple_value=2.0)])
    with FileWriter(tmp_path) as writer:
        writer.add_summary(message.SerializeToString(), 1)
        writer.add_event(Event(step=2, summary=message))
        writer.add_session_log(SessionLog(status=SessionLog.START), 3)
        writer.reopen()
    assert sorted(summaries(tmp_path)) == [("loss", 1), ("loss", 2)]
