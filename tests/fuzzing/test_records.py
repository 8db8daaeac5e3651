"""Damaged files of records and damaged examples: what was written, or a documented error."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

import pullback.compat.v1 as tf
from pullback.core.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError
from pullback.records.files import RecordWriter, read_records
from pullback.records.messages import messages

from .protobuf import mutated

QUICK, LONG = 300, 10_000
RECORDS = [b"one", b"", bytes(range(200)), b"four" * 20]
FEATURES = {
    "floats": tf.FixedLenFeature([2], tf.float32),
    "numbers": tf.VarLenFeature(tf.int64),
    "texts": tf.FixedLenSequenceFeature([1], tf.string, allow_missing=True),
    "placed": tf.SparseFeature("numbers", "floats", tf.float32, 10),
}


def damaged(whole: bytes, random: Random) -> bytes:
    """A file cut short, with other bytes, or with a part twice."""
    data = bytearray(whole)
    kind = random.randrange(3)
    at = random.randrange(len(data))
    if kind == 0:
        return bytes(data[:at])
    if kind == 1:
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        return bytes(data)
    return bytes(data[:at] + data[random.randrange(at + 1) :])


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_damaged_files_give_records_that_were_written_or_are_refused(
    compression: str, count: int, tmp_path: Path
) -> None:
    path = tmp_path / "records"
    with RecordWriter(path, compression) as writer:
        for record in RECORDS:
            writer.write(record)
    whole = path.read_bytes()
    outcomes = set()
    for number in range(count):
        path.write_bytes(damaged(whole, Random(number)))
        try:
            for record in read_records(path, compression):
                assert record in RECORDS
            outcomes.add("read")
        except (DataLossError, ResourceExhaustedError) as error:
            outcomes.add(type(error).__name__)
    assert outcomes == {"read", "DataLossError"}


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
def test_damaged_examples_are_parsed_or_refused(count: int) -> None:
    kinds = messages()
    lists = {
        "floats": kinds.Feature(float_list=kinds.FloatList(value=[0.5, 1.5])),
        "numbers": kinds.Feature(int64_list=kinds.Int64List(value=[3, 4])),
        "texts": kinds.Feature(bytes_list=kinds.BytesList(value=[b"a", b"bc"])),
    }
    text = tf.placeholder(tf.string, [None])
    found = tf.parse_example(text, FEATURES)
    outcomes = set()
    with tf.Session(engine="numpy") as session:
        for number in range(count):
            random = Random(number)
            key = random.choice(list(lists))
            features = kinds.Features(feature={**lists, key: mutated(lists[key], random)})
            data = kinds.Example(features=features).SerializeToString(deterministic=True)
            data = data if random.random() < 0.5 else damaged(data, random)
            try:
                values = session.run(found, {text: np.array([data], object)})
                assert values["floats"].shape == (1, 2)
                outcomes.add("parsed")
            except InvalidArgumentError:
                outcomes.add("refused")
    assert outcomes == {"parsed", "refused"}
