"""Damaged checkpoints of TensorFlow's, of either version, and the notes beside them: arrays, or a documented error."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import pullback as pb

pytest.importorskip("tensorboard")
pytest.importorskip("google_crc32c")

from pullback.checkpoints.messages import messages
from pullback.checkpoints.sorted_table import read_table, write_table
from pullback.checkpoints.tensorflow_files import names_of_objects, read_tensorflow
from pullback.core.limits import limited
from tests.checkpoints.test_tensorflow import FOLDER

from .protobuf import mutated
from .wiring import harden

QUICK, LONG = 200, 10_000
BUNDLES = ("dtypes-7", "many-7", "parts-7", "sharded-7", "objects")
SLICES = ("old_dtypes-7", "old_parts-7")
NOTES = (b"\x00", b"\\", b'"', b"\xff", b"a" * 5000, b"/", b"..", b"\\400", b"\n", b": ", b"\\x")


@cache
def table(name: str) -> Mapping[bytes, bytes]:
    """The entries of a table."""
    with limited("the test") as reading:
        return read_table(FOLDER / name, reading)


def damaged_table(path: Path, entries: Mapping[bytes, bytes], kind_of: Callable[[bytes], Any], random: Random) -> None:
    """Put a table at `path` in which entries are others, and all checksums right; now and then, bytes are others."""
    changed = dict(entries)
    for _ in range(random.randint(1, 3)):
        key = random.choice(sorted(changed))
        message = kind_of(key).FromString(changed[key])
        if random.random() < 0.3 and message.ByteSize():
            harden(message, random)
            changed[key] = message.SerializePartialToString()
        elif random.random() < 0.8:
            changed[key] = mutated(message, random).SerializePartialToString()
        elif random.random() < 0.5:
            changed[random.choice([b"", b"\xff", b"x", key + b"\x00", *changed])] = changed.pop(key)
        else:
            changed[key] = changed[random.choice(sorted(changed))]
    with path.open("wb") as file:
        write_table(file, changed, random.choice([1, 100, 10_000]))
    if random.random() < 0.15:
        data = bytearray(path.read_bytes())
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        path.write_bytes(data)


def outcome_of_bundle(number: int, folder: Path) -> str:
    """What becomes of the damaged checkpoint of version 2 of that number: always the same."""
    random = Random(number)
    name = random.choice(BUNDLES)
    for path in FOLDER.glob(f"{name}.data*"):
        if not (folder / path.name).exists():
            shutil.copy(path, folder)
    kinds = messages()
    entries = table(f"{name}.index")
    damaged_table(
        folder / f"{name}.index", entries, lambda key: kinds.BundleEntry if key else kinds.BundleHeader, random
    )
    return outcome(folder / name)


def outcome_of_slices(number: int, folder: Path) -> str:
    """The same of version 1."""
    random = Random(number)
    name = random.choice(SLICES)
    damaged_table(folder / name, table(name), lambda key: messages().SavedTensorSlices, random)
    return outcome(folder / name)


def outcome(path: Path) -> str:
    """What becomes of a checkpoint: the name of the first documented error, or that there is none."""
    found = "read"
    try:
        saved = read_tensorflow(path)
        names_of_objects(path, saved)
    except pb.errors.PullbackError as error:
        return type(error).__name__
    for source in saved.values():
        try:
            source.source.whole()
        except pb.errors.PullbackError as error:
            str(error).encode()
            found = type(error).__name__
    return found


def outcome_of_note(number: int, folder: Path) -> str:
    """What becomes of the damaged note of the checkpoints of a folder."""
    random = Random(number)
    data = bytearray((FOLDER / "checkpoint").read_bytes())
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(data))
        data[at : at + random.randrange(3)] = random.choice([*NOTES, random.randbytes(2), data[: random.randrange(9)]])
    (folder / "checkpoint").write_bytes(data)
    try:
        pb.train.get_checkpoint_state(folder)
    except pb.errors.PullbackError as error:
        return type(error).__name__
    return "read"


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
@pytest.mark.parametrize("damage", [outcome_of_bundle, outcome_of_slices, outcome_of_note])
def test_damaged_checkpoints_of_tensorflow_are_refused_or_read(damage: Any, count: int, tmp_path: Path) -> None:
    with pb.config.Limits(seconds=60.0, bytes=2**26):
        outcomes = {damage(number, tmp_path) for number in range(count)}
    assert outcomes >= {"read", "DataLossError"}
