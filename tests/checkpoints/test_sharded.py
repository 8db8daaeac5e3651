"""Sharded checkpoints: parts of variables in a folder, which is whole or is none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.checkpoints import sharded
from pullback.core.errors import DataLossError, NotFoundError, ResourceExhaustedError
from pullback.core.types import TensorType
from pullback.engines.shards import Shards, one_shard

from ..engines.on_devices import run_on_devices
from ..fuzzing.decoded_json import mutated
from .test_saver import refused, started

pytest.importorskip("tensorstore")


def a_folder(folder: Path, **options: Any) -> tuple[pb.train.Saver, pb.Variable, Path]:
    """A saver, its variable `w`, and a folder that has [1, 2] for it."""
    w = pb.Variable([1.0, 2.0], name="w")
    saver = pb.train.Saver(sharded=True, **options)
    return saver, w, Path(saver.save(started(), folder / "model") + ".zarr")


def meets(what: str) -> None:
    """One process has met all others."""


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    "value",
    [
        np.float32(1.5),
        np.zeros((0, 3), "float64"),
        np.arange(6).reshape(2, 3),
        np.array([True, False]),
        np.array([1 + 2j], "complex64"),
        np.array([[np.nan, -0.0, np.inf]], "float16"),
        np.array([1.5, -2.25]).astype(pb.bfloat16),
    ],
    ids=lambda value: f"{value.dtype.name}{list(value.shape)}",
)
def test_values_come_back_as_they_were(value: Any, engine: str, tmp_path: Path) -> None:
    v = pb.Variable(value, name="layer/v")
    saver, session = pb.train.Saver(sharded=True), started(engine)
    before = session.read_variable(v.op)
    path = saver.save(session, tmp_path / "model")
    assert path == str(tmp_path / "model")
    assert (tmp_path / "model.zarr").is_dir()
    other = pb.Session(engine=engine)
    saver.restore(other, path)
    after = other.read_variable(v.op)
    assert (after.dtype, after.shape, after.tobytes()) == (before.dtype, before.shape, before.tobytes())


def test_random_numbers_go_on_where_they_were(tmp_path: Path) -> None:
    drawn = pb.random_normal([3], name="numbers")
    pb.Variable(1.0, name="w")
    saver, session = pb.train.Saver(sharded=True), started()
    session.run(drawn)
    path = saver.save(session, tmp_path / "model")
    again = started()
    saver.restore(again, path)
    assert again.run(drawn).tolist() == session.run(drawn).tolist()


def test_a_saver_of_files_restores_a_folder_and_finds_it_without_its_suffix(tmp_path: Path) -> None:
    _, w, _ = a_folder(tmp_path)
    session = started()
    session.run(w.assign([7.0, 8.0]))
    pb.train.Saver().restore(session, tmp_path / "model")
    assert session.run(w).tolist() == [1.0, 2.0]


def test_what_is_there_is_said_of_folders_as_of_files(tmp_path: Path) -> None:
    _, _, path = a_folder(tmp_path)
    assert pb.train.latest_checkpoint(tmp_path) == str(path.with_suffix(""))
    assert pb.train.checkpoint_exists(tmp_path / "model")
    assert pb.train.list_variables(tmp_path) == pb.train.list_variables(path) == [("w", [2])]
    assert pb.train.load_variable(path, "w").tolist() == [1.0, 2.0]


def test_only_the_newest_folders_are_kept(tmp_path: Path) -> None:
    pb.Variable(1.0)
    saver, session = pb.train.Saver(sharded=True, max_to_keep=2), started()
    for step in range(4):
        saver.save(session, tmp_path / "model", global_step=step, write_meta_graph=False)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model-2.zarr", "model-3.zarr"]


def test_reshape_reads_parts_of_another_shape(tmp_path: Path) -> None:
    _, _, path = a_folder(tmp_path)
    with pb.Graph().as_default():
        w = pb.Variable([[0.0], [0.0]], name="w")
        session = started()
        pb.train.Saver(reshape=True).restore(session, path)
        assert session.run(w).tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("meeting", ["begins", "has written", "saved"])
def test_a_save_that_ends_anywhere_leaves_the_last_one_whole_and_the_next_one_cleans_up(
    meeting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saver, w, path = a_folder(tmp_path)
    session = started()
    session.run(w.assign([7.0, 8.0]))

    def killed(what: str) -> None:
        if what.startswith(meeting):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(session, "meet", killed)
        with pytest.raises(KeyboardInterrupt):
            saver.save(session, path)
    saver.restore(session, path)
    assert session.run(w).tolist() == ([7.0, 8.0] if meeting == "saved" else [1.0, 2.0])
    session.run(w.assign([9.0, 9.0]))
    saver.save(session, path)
    assert len(os.listdir(path)) == 2
    saver.restore(session, path)
    assert session.run(w).tolist() == [9.0, 9.0]


def test_a_first_save_that_does_not_come_to_its_end_is_none(tmp_path: Path) -> None:
    path = tmp_path / "model.zarr"

    def killed(what: str) -> None:
        if what.startswith("has written"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sharded.write_folder(path, {"w": ("variable", one_shard(np.ones(2)))}, True, killed)
    assert not pb.train.checkpoint_exists(path)
    pb.Variable([1.0, 2.0], name="w")
    message = refused(NotFoundError, lambda: pb.train.Saver().restore(started(), path))
    assert message == f"there is no checkpoint at {path}"


def test_shards_are_files_and_large_ones_are_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded, "_LARGEST_CHUNK", 48)
    value = np.arange(64.0).reshape(16, 4)
    halves: Any = [((slice(i, i + 8), slice(None)), value[i : i + 8]) for i in (0, 8)]
    shards = Shards(TensorType(np.dtype("float64"), pb.TensorShape([16, 4])), (8, 4), halves)
    sharded.write_folder(tmp_path / "m.zarr", {"w": ("variable", shards)}, True, meets)
    files = [file for file in (tmp_path / "m.zarr/0/0/c").rglob("*") if file.is_file()]
    assert len(files) == 16
    assert sharded.read_folder(tmp_path / "m.zarr")["w"].source.whole().tolist() == value.tolist()


# What is wrong with a folder


def test_a_changed_or_missing_chunk_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    saver, w, path = a_folder(tmp_path)
    session = started()
    session.run(w.assign([7.0, 8.0]))
    chunk = path / "0/0/c/0"
    data = chunk.read_bytes()
    chunk.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    message = refused(DataLossError, lambda: saver.restore(session, path))
    assert message.startswith(f"{path}: 'w' is not what was written: DATA_LOSS: Error reading local file")
    chunk.unlink()
    message = refused(DataLossError, lambda: saver.restore(session, path))
    assert message.startswith(f"{path}: 'w' is not what was written: NOT_FOUND: chunk {{0}} stored at local file")
    assert session.run(w).tolist() == [7.0, 8.0]


def test_an_array_that_is_said_to_be_larger_than_its_files_is_not_read(tmp_path: Path) -> None:
    _, _, path = a_folder(tmp_path)
    for file, old, new in (
        (path / sharded.MANIFEST, '"shape": [\n    2\n   ]', f'"shape": [{2**50}]'),
        (path / "0/0/zarr.json", '"shape":[2]', f'"shape":[{2**50}]'),
    ):
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
    message = refused(DataLossError, lambda: pb.train.load_variable(path, "w"))
    wanted = f"its files have less than the {2**52:,} bytes of float32[{2**50}]"
    assert message == f"{path}: 'w' is not what was written: {wanted}"


@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        ("[]", "/manifest.json must be an object, not []"),
        ("{}", " was not written by pullback: its format is None"),
        ({"version": 7}, " has format version 7; this pullback reads version 1"),
        ({"folder": "../x"}, "/manifest.json: 'folder' must be an integer, not '../x'"),
        ({"arrays": {"w": {"kind": "secret"}}}, ": 'w' is neither a variable nor a state, but 'secret'"),
        (
            {"arrays": {"w": {"kind": "variable", "dtype": "float32", "shape": [-1]}}},
            ": 'w': there is no array of shape [-1]",
        ),
    ],
    ids=str,
)
def test_a_manifest_of_another_form_is_refused(manifest: Any, text: str, tmp_path: Path) -> None:
    saver, _, path = a_folder(tmp_path)
    file = path / sharded.MANIFEST
    file.write_text(manifest if isinstance(manifest, str) else json.dumps(json.loads(file.read_text()) | manifest))
    assert refused(DataLossError, lambda: saver.restore(started(), path)) == f"{path}{text}"


def test_damaged_folders_are_refused_or_read_as_they_were(tmp_path: Path) -> None:
    path, random = tmp_path / "m.zarr", Random(0)
    arrays: Any = {"w": ("variable", one_shard(np.arange(6.0).reshape(2, 3))), "n": ("state", one_shard(np.ones(2)))}
    wanted = {shards.parts[0][1].tobytes() for _, shards in arrays.values()}
    sharded.write_folder(path, arrays, True, meets)
    files = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    outcomes = set()
    for _ in range(200):
        file = random.choice(list(files))
        data = bytearray(files[file])
        data[random.randrange(len(data))] = random.randrange(256)
        if file.suffix == ".json" and random.random() < 0.8:
            data = bytearray(json.dumps(mutated(json.loads(files[file]), random)).encode())
        file.write_bytes(data)
        try:
            read = [saved.source.whole() for saved in sharded.read_folder(path).values()]
            assert all(value.tobytes() in wanted for value in read)
            outcomes.add("read")
        except (DataLossError, ResourceExhaustedError) as error:
            outcomes.add(type(error).__name__)
        file.write_bytes(files[file])
    assert outcomes >= {"read", "DataLossError"}


# Meshes


def test_no_process_reads_or_writes_more_than_its_shards(tmp_path: Path) -> None:
    run_on_devices(
        8,
        f"""
        from pullback.engines.shards import Source
        from pullback.engines.xla.engine import XlaEngine
        table = np.arange(64.0 * 8).reshape(64, 8)
        v = pb.Variable(pb.sharding(table, ["data", None]), name="table")
        step = pb.train.AdagradOptimizer(0.1).minimize(pb.reduce_sum(pb.square(pb.gather(v, [3, 60]))))
        saver = pb.train.Saver(sharded=True)
        XlaEngine.read_state = None  # Nobody asks for all of a variable.
        Source.whole = None
        session = pb.Session(mesh={{"data": 8}})
        session.run(pb.global_variables_initializer())
        session.run(step)
        parts = session.shards_of(v.op).parts
        assert [np.asarray(part).nbytes for _, part in parts] == [table.nbytes // 8] * 8
        path = saver.save(session, {str(tmp_path / "model")!r})
        changed = session.run(v)
        for devices in (8, 2):
            other = pb.Session(mesh={{"data": devices}})
            saver.restore(other, path)
            for variable in pb.global_variables():
                value = other._engine.values[variable.op]
                assert value.sharding.shard_shape(value.shape)[0] == 64 // devices, variable
            assert (other.run(v) == changed).all()
            other.run(step)
        """,
    )


def test_a_file_is_restored_as_initializers_spread_it(tmp_path: Path) -> None:
    run_on_devices(
        4,
        f"""
        v = pb.Variable(pb.sharding(np.arange(8.0), ["data"]), name="v")
        double = pb.Variable(v.initialized_value() * 2.0, name="double")
        saver, session = pb.train.Saver(), pb.Session(mesh={{"data": 4}})
        session.run([v.initializer])
        session.run([double.initializer])
        path = saver.save(session, {str(tmp_path / "model")!r})
        other = pb.Session(mesh={{"data": 4}})
        saver.restore(other, path)
        assert other._engine.values[v.op].sharding.shard_shape((8,)) == (2,)
        assert other.run(double).tolist() == [2.0 * i for i in range(8)]
        """,
    )
