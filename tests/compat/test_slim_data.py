"""Data of slim: decoders of examples, datasets of files, providers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

slim = tf.contrib.slim
decoder = slim.tfexample_decoder
PIXELS = np.arange(12, dtype=np.uint8).reshape(2, 2, 3) * 20


def example(label: int) -> bytes:
    """An image in a file, a label, two boxes, a matrix with its shape."""
    with tf.Graph().as_default(), tf.Session(engine="numpy") as session:
        png = session.run(tf.image.encode_png(PIXELS))
    floats = {name: [0.1 * i, 0.5 + 0.1 * i] for i, name in enumerate(["ymin", "xmin", "ymax", "xmax"])}
    features = {
        "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[png])),
        "image/format": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"png"])),
        "raw": tf.train.Feature(bytes_list=tf.train.BytesList(value=[PIXELS.tobytes()])),
        "raw/format": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"raw"])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        "word": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"b"])),
        "shape": tf.train.Feature(int64_list=tf.train.Int64List(value=[2, 2])),
        "matrix": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0, 3.0, 4.0])),
        **{f"box/{k}": tf.train.Feature(float_list=tf.train.FloatList(value=v)) for k, v in floats.items()},
    }
    text: bytes = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    return text


FEATURES = {
    "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
    "image/format": tf.FixedLenFeature((), tf.string, default_value="png"),
    "raw": tf.FixedLenFeature((), tf.string),
    "raw/format": tf.FixedLenFeature((), tf.string),
    "label": tf.FixedLenFeature([1], tf.int64),
    "word": tf.FixedLenFeature((), tf.string),
    "shape": tf.FixedLenFeature([2], tf.int64),
    "matrix": tf.VarLenFeature(tf.float32),
    **{f"box/{side}": tf.VarLenFeature(tf.float32) for side in ("ymin", "xmin", "ymax", "xmax")},
}


def decoded(handler: Any) -> Any:
    made = decoder.TFExampleDecoder(FEATURES, {"item": handler, "label": decoder.Tensor("label", shape=[])})
    assert made.list_items() == ["item", "label"]
    with tf.Session(engine="numpy") as session:
        item, label = made.decode(example(7), ["item", "label"])
        session.run(tf.tables_initializer())
        found, number = session.run([item, label])
    assert number == 7
    return found.tolist()


HANDLERS = {
    "image": (lambda: decoder.Image(), PIXELS.tolist()),
    "grey": (lambda: decoder.Image(channels=0, dtype=tf.float32), PIXELS.astype(float).tolist()),
    "raw": (lambda: decoder.Image("raw", "raw/format", [4, 3]), PIXELS.reshape(4, 3).tolist()),
    "tensor": (lambda: decoder.Tensor("matrix"), [1.0, 2.0, 3.0, 4.0]),
    "shaped": (lambda: decoder.Tensor("matrix", shape=[4, 1]), [[1.0], [2.0], [3.0], [4.0]]),
    "shaped_by_features": (lambda: decoder.Tensor("matrix", shape_keys="shape"), [[1.0, 2.0], [3.0, 4.0]]),
    "callback": (lambda: decoder.ItemHandlerCallback("shape", lambda found: found["shape"] * 2), [4, 4]),
    "backup": (lambda: decoder.BackupHandler(decoder.Tensor("shape"), decoder.Tensor("label")), [2, 2]),
}


@pytest.mark.parametrize("name", HANDLERS)
def test_an_item_is_made_of_features(name: str) -> None:
    make, expected = HANDLERS[name]
    assert decoded(make()) == expected


def test_boxes_have_four_sides() -> None:
    found = decoded(decoder.BoundingBox(prefix="box/"))
    np.testing.assert_allclose(found, [[0.0, 0.1, 0.2, 0.3], [0.5, 0.6, 0.7, 0.8]], rtol=1e-6)
    with pytest.raises(ValueError, match="BoundingBox expects 4 keys but got 1"):
        decoder.BoundingBox(["ymin"])


def test_a_word_is_looked_up() -> None:
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    assert decoded(decoder.LookupTensor("word", table)) == 1


def test_sequences_have_items_too() -> None:
    step = tf.train.Feature(int64_list=tf.train.Int64List(value=[5]))
    lists = tf.train.FeatureLists(feature_list={"w": tf.train.FeatureList(feature=[step, step])})
    text = tf.train.SequenceExample(feature_lists=lists).SerializeToString()
    features = {"w": tf.FixedLenSequenceFeature([], tf.int64)}
    made = decoder.TFSequenceExampleDecoder({}, features, {"words": decoder.Tensor("w")})
    assert tf.Session(engine="numpy").run(made.decode(text, made.list_items()))[0].tolist() == [5, 5]
    with pytest.raises(ValueError, match="not allowed to share keys: w"):
        decoder.TFSequenceExampleDecoder(features, features, {})


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_provider_reads_all_examples(shuffle: bool, tmp_path: Path) -> None:
    for part in range(2):
        with tf.python_io.TFRecordWriter(tmp_path / f"part-{part}") as writer:
            writer.write(example(2 * part))
            writer.write(example(2 * part + 1))
    made = decoder.TFExampleDecoder(FEATURES, {"image": decoder.Image(), "label": decoder.Tensor("label", shape=[])})
    dataset = slim.dataset.Dataset(
        str(tmp_path / "part-*"), tf.TFRecordReader, made, 4, {"label": "which"}, num_classes=4
    )
    provider = slim.dataset_data_provider.DatasetDataProvider(
        dataset, num_readers=2, shuffle=shuffle, num_epochs=1, common_queue_capacity=8, common_queue_min=1
    )
    image, label = provider.get(["image", "label"])
    assert (provider.list_items(), provider.num_samples(), dataset.num_classes) == (
        ["image", "label", "record_key"],
        4,
        4,
    )
    assert image.shape.as_list() == [None, None, 3]
    with tf.Session(engine="numpy") as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [int(session.run(label)) for _ in range(4)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(label)
        coordinator.request_stop()
        coordinator.join(threads)
    assert sorted(found) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="Item no is not in image, label, record_key"):
        provider.get(["no"])
    with pytest.raises(ValueError, match="No data files found in /nowhere/x"):
        slim.parallel_reader.get_data_files("/nowhere/x")


def test_a_single_pass_reads_once(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("one\ntwo\n")
    _, value = slim.parallel_reader.single_pass_read(str(tmp_path / "x"), tf.TextLineReader, {"skip_header_lines": 1})
    with tf.Session(engine="numpy") as session:
        threads = tf.train.start_queue_runners(session)
        assert session.run(value) == b"two"
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(value)
        assert threads


@pytest.mark.parametrize("dynamic_pad", [False, True])
def test_a_prefetch_queue_is_filled_by_threads(dynamic_pad: bool) -> None:
    step = tf.Variable(0.0)
    x = tf.ones([2]) * step.assign_add(1.0)
    queue = slim.prefetch_queue.prefetch_queue({"y": x + 1.0, "x": x}, capacity=2, dynamic_pad=dynamic_pad)
    listed = slim.prefetch_queue.prefetch_queue([tf.zeros([3]), tf.ones([])], num_threads=2)
    taken, pair = queue.dequeue(), listed.dequeue()
    assert (sorted(taken), taken["x"].shape.as_list()) == (["x", "y"], [2])
    assert [z.shape.as_list() for z in pair] == [[3], []]
    assert tf.get_collection(tf.GraphKeys.SUMMARIES)[0].name[:-2] == "prefetch_queue/fraction_of_2_full"
    with tf.Session(engine="numpy") as session:
        session.run(step.initializer)
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for i in range(1, 5):
            got = session.run(taken)
            assert (got["x"].tolist(), got["y"].tolist()) == ([i, i], [i + 1, i + 1])
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5)
