"""Damaged texts that a run decodes: images, messages of tensors, examples, tables, compressed bytes, and events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.core.errors import PullbackError
from pullback.records.files import RecordWriter

from .test_records import damaged

QUICK, LONG = 100, 10_000
PARTS = (b"\xff" * 4, b"\x00" * 4, b"\x7f\xff\xff\xff", b"\x80\x80\x80\x80\x08", b"-", b"9" * 400, b'"', b",", b"=")


def images(kind: str) -> list[bytes]:
    """Images of some modes in a format."""
    image = pytest.importorskip("PIL.Image")
    from io import BytesIO

    modes = {"PNG": ("L", "RGB", "RGBA", "P", "I;16", "1"), "JPEG": ("L", "RGB"), "GIF": ("P",), "BMP": ("RGB",)}
    found = []
    for mode in modes[kind]:
        file = BytesIO()
        image.new(mode, (7, 5)).save(file, kind)
        found.append(file.getvalue())
    return found


@cache
def decoders() -> Mapping[str, tuple[list[bytes], Callable[[Any], Any]]]:
    """For each decoder texts that it takes, and what it makes of a tensor of one."""
    session = tf.Session(engine="numpy")
    numbers = [session.run(tf.io.serialize_tensor(tf.constant(x))) for x in ([[1.5, 2.0]], [[True]], [b"a", b"bc"])]
    sparse = session.run(tf.io.serialize_sparse(tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])))
    flat = b"\n".join(sparse.tolist())
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))
    steps = tf.train.FeatureLists(feature_list={"n": tf.train.FeatureList(feature=[feature, feature])})
    example = tf.train.SequenceExample(feature_lists=steps).SerializeToString()
    packed = session.run(tf.io.encode_base64(tf.constant(b"hello")))
    table = [tf.constant([1.0]), tf.constant([2], tf.int64), tf.constant([b""])]
    import gzip
    import zlib

    return {
        "png": ([*images("PNG"), *images("GIF")], tf.image.decode_png),
        "jpeg": (images("JPEG"), lambda text: tf.image.decode_jpeg(text, 3)),
        "gif": (images("GIF"), tf.image.decode_gif),
        "bmp": (images("BMP"), tf.image.decode_bmp),
        "image": ([*images("PNG"), *images("GIF"), *images("BMP")], tf.image.decode_image),
        "tensor": (numbers, lambda text: tf.io.parse_tensor(text, tf.float32)),
        "texts": (numbers[2:], lambda text: tf.io.parse_tensor(text, tf.string)),
        "sparse": ([flat], lambda text: tf.io.deserialize_many_sparse(_lines(text, 3), tf.float32).values),
        "sequence": (
            [example],
            lambda text: tf.parse_single_sequence_example(
                text, sequence_features={"n": tf.FixedLenSequenceFeature([2], tf.int64)}
            )[1]["n"],
        ),
        "raw": ([b"12345678"], lambda text: tf.decode_raw(text, tf.float32)),
        "csv": ([b'1.5,2,"a"', b"3,4,b"], lambda text: tf.decode_csv(text, table)[0]),
        "base64": ([packed], tf.io.decode_base64),
        "zlib": ([zlib.compress(b"a" * 50)], lambda text: tf.io.decode_compressed(text, "ZLIB")),
        "gzip": ([gzip.compress(b"a" * 50)], lambda text: tf.io.decode_compressed(text, "GZIP")),
        "number": ([b"1.5", b"-2e3"], tf.string_to_number),
    }


def _lines(text: Any, count: int) -> Any:
    parts = tf.string_split([text], "\n").values
    return tf.reshape(parts, [-1, count])


@cache
def runner(name: str) -> Callable[[bytes], Any]:
    """What decodes a text."""
    with tf.Graph().as_default() as graph:
        text = tf.placeholder(tf.string, [])
        decoded = decoders()[name][1](text)
    session = tf.Session(graph=graph, engine="numpy")
    return lambda data: session.run(decoded, {text: data})


def mutant(number: int, wholes: list[bytes]) -> bytes:
    """The damaged text of that number: always the same."""
    random = Random(number)
    data = random.choice(wholes)
    if random.random() < 0.5:
        return damaged(data, random)
    at = random.randrange(len(data))
    part = random.choice(PARTS)
    return data[:at] + part + data[at + random.choice([0, len(part)]) :]


def outcome(name: str, data: bytes) -> str:
    """What becomes of a text: the name of the documented error, or that there is none."""
    try:
        runner(name)(data)
    except PullbackError as error:
        str(error).encode()
        return type(error).__name__
    return "decoded"


def outcome_of_events(number: int, folder: Path) -> str:
    """What becomes of a damaged file of events, whose checksums are right."""
    pytest.importorskip("tensorboard")
    summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=1.5)])
    event = tf.Event(wall_time=1.0, step=7, summary=summary).SerializeToString()
    with RecordWriter(folder / "events", "") as writer:
        writer.write(mutant(number, [event]))
    try:
        list(tf.train.summary_iterator(folder / "events"))
    except PullbackError as error:
        return type(error).__name__
    return "read"


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", decoders())
def test_damaged_texts_are_refused_or_decoded(name: str, count: int) -> None:
    with pb.config.Limits(bytes=2**26), np.errstate(all="ignore"):
        outcomes = {outcome(name, mutant(number, decoders()[name][0])) for number in range(count)}
    assert outcomes - {"decoded"} or name in ("number",)


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
def test_damaged_events_are_refused_or_read(count: int, tmp_path: Path) -> None:
    assert {outcome_of_events(number, tmp_path) for number in range(count)} == {"read", "DataLossError"}
