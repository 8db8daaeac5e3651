"""Damaged checkpoints: what is read of one is what was saved, or a documented error."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pullback.checkpoints.files import SavedArray, read_checkpoint, write_checkpoint
from pullback.core.errors import DataLossError, ResourceExhaustedError

from .decoded_json import mutated

QUICK, LONG = 300, 10_000
ARRAYS = {
    "w": SavedArray("variable", np.arange(6, dtype=np.float32).reshape(2, 3)),
    "layer/b": SavedArray("variable", np.array([1.5, -2.25], ml_dtypes.bfloat16)),
    "numbers": SavedArray("state", np.array([7, 8], np.uint64)),
    "none": SavedArray("variable", np.zeros((0, 2), np.complex64)),
}


@cache
def saved(folder: Path) -> bytes:
    """A whole checkpoint."""
    write_checkpoint(folder / "whole.npz", ARRAYS)
    return (folder / "whole.npz").read_bytes()


def mutant(number: int, whole: bytes) -> bytes:
    """The damaged checkpoint of that number: always the same."""
    random = Random(number)
    kind = random.randrange(4)
    if kind == 0:
        return whole[: random.randrange(len(whole))]
    if kind == 1:
        data = bytearray(whole)
        for _ in range(random.randint(1, 8)):
            data[random.randrange(len(data))] = random.randrange(256)
        return bytes(data)
    return _packed_again(whole, random, manifest=kind == 2)


def _packed_again(whole: bytes, random: Random, manifest: bool) -> bytes:
    """A valid archive with another manifest, or a member of which some bytes are others."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if manifest:
        members["manifest.json"] = json.dumps(mutated(json.loads(members["manifest.json"]), random)).encode()
    else:
        name = random.choice(list(members))
        data = bytearray(members[name])
        at = random.randrange(len(data))
        data[at : at + random.randrange(3)] = random.randbytes(random.randrange(3))
        members[name] = bytes(data)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


def outcome(data: bytes, path: Path) -> str:
    """What becomes of a checkpoint: the name of the documented error, or that what is read is what was saved."""
    path.write_bytes(data)
    try:
        found = read_checkpoint(path)
    except (DataLossError, ResourceExhaustedError) as error:
        str(error).encode()
        return type(error).__name__
    wanted = {saved.value.tobytes() for saved in ARRAYS.values()}
    assert all(array.value.tobytes() in wanted for array in found.values())
    return "read"


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
def test_damaged_checkpoints_are_refused_or_read_as_they_were(count: int, tmp_path: Path) -> None:
    whole: Any = saved(tmp_path)
    outcomes = {outcome(mutant(number, whole), tmp_path / "damaged.npz") for number in range(count)}
    assert outcomes >= {"read", "DataLossError"}
