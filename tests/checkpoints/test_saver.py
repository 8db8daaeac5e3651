"""Checkpoints: what is saved comes back, a bad file is refused whole, and training goes on bit by bit."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.checkpoints import files as checkpoint_files
from pullback.checkpoints.files import SavedArray, read_checkpoint, write_checkpoint
from pullback.core.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, NotFoundError

ENGINES = ["numpy", "xla"]


def refused(error: type[Exception], act: Callable[[], Any]) -> str:
    """The message of the exception of class `error` that `act` raises."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def started(engine: str = "numpy") -> pb.Session:
    """A session of the default graph whose variables have their initial values."""
    session = pb.Session(engine=engine)
    session.run(pb.global_variables_initializer())
    return session


def a_checkpoint(folder: Path) -> tuple[pb.train.Saver, pb.Variable, Path]:
    """A saver, its variable `w`, and a file that has [1, 2] for it."""
    w = pb.Variable([1.0, 2.0], name="w")
    saver = pb.train.Saver()
    return saver, w, Path(saver.save(started(), folder / "model") + ".npz")


@pytest.mark.parametrize("engine", ENGINES)
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
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
    ids=lambda value: f"{value.dtype.name}{list(value.shape)}",
)
def test_values_come_back_as_they_were(value: Any, engine: str, tmp_path: Path) -> None:
    v = pb.Variable(value, name="layer/v")
    saver, session = pb.train.Saver(), started(engine)
    before = session.read_variable(v.op)
    path = saver.save(session, tmp_path / "model")
    other = pb.Session(engine=engine)
    saver.restore(other, path)
    after = other.read_variable(v.op)
    assert (after.dtype, after.shape, after.tobytes()) == (before.dtype, before.shape, before.tobytes())


def test_what_one_engine_saved_the_other_restores(tmp_path: Path) -> None:
    w = pb.Variable([1.0, 2.0])
    saver = pb.train.Saver()
    path = saver.save(started("xla"), tmp_path / "model")
    session = pb.Session(engine="numpy")
    saver.restore(session, path)
    assert session.run(w).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_training_goes_on_from_a_checkpoint_bit_by_bit(engine: str, tmp_path: Path) -> None:
    def build() -> tuple[pb.Variable, pb.Operation, pb.train.Saver]:
        w = pb.get_variable("w", [20, 3])
        noisy = pb.nn.dropout(w.value(), 0.3) + pb.random.normal([20, 3])
        loss = pb.reduce_sum(pb.square(noisy)) + pb.reduce_sum(w.sparse_read([1, 5, 1]))
        count = pb.train.get_or_create_global_step()
        step = pb.train.AdamOptimizer(0.01).minimize(loss, global_step=count)
        return w, step, pb.train.Saver()

    w, step, saver = build()
    session = started(engine)
    for _ in range(3):
        session.run(step)
    path = saver.save(session, tmp_path / "model", global_step=pb.train.get_global_step())
    assert path == str(tmp_path / "model-3")
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model-3.meta", "model-3.npz"]
    for _ in range(3):
        session.run(step)
    with pb.Graph().as_default():
        again, more, other = build()
        resumed = pb.Session(engine=engine)
        other.restore(resumed, path)
        for _ in range(3):
            resumed.run(more)
        assert resumed.run(again).tobytes() == session.run(w).tobytes()
        assert resumed.run(pb.train.get_global_step()) == 6


def test_the_file_can_be_read_with_numpy(tmp_path: Path) -> None:
    _, _, path = a_checkpoint(tmp_path)
    assert np.load(path)["w"].tolist() == [1.0, 2.0]


def test_equal_contents_make_equal_files(tmp_path: Path) -> None:
    saver, _, path = a_checkpoint(tmp_path)
    other = saver.save(started(), tmp_path / "other") + ".npz"
    assert Path(other).read_bytes() == path.read_bytes()


# What is wrong with a file


def test_a_file_cut_off_anywhere_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    saver, w, path = a_checkpoint(tmp_path)
    whole = path.read_bytes()
    session = started()
    session.run(w.assign([7.0, 8.0]))
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        assert str(path) in refused(DataLossError, lambda: saver.restore(session, path))
    assert session.run(w).tolist() == [7.0, 8.0]


def test_a_flipped_byte_is_refused_or_changes_no_value(tmp_path: Path) -> None:
    saver, w, path = a_checkpoint(tmp_path)
    whole = path.read_bytes()
    session = pb.Session(engine="numpy")
    refusals = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            saver.restore(session, path)
        except (DataLossError, NotFoundError):
            refusals += 1
        else:
            assert session.run(w).tolist() == [1.0, 2.0]
    assert refusals > len(whole) / 2


def test_a_changed_value_is_refused(tmp_path: Path) -> None:
    saver, _, path = a_checkpoint(tmp_path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["w.npy"] = entries["w.npy"].replace(np.float32(2).tobytes(), np.float32(3).tobytes())
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    message = refused(DataLossError, lambda: saver.restore(started(), path))
    assert message == f"{path} is not a whole checkpoint: 'w' is not what was written"


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    saver, _, _ = a_checkpoint(tmp_path)
    text, foreign, later = tmp_path / "text.npz", tmp_path / "foreign.npz", tmp_path / "later.npz"
    text.write_text("no archive at all")
    np.savez(foreign, w=np.zeros(2))
    with zipfile.ZipFile(later, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": checkpoint_files.FORMAT, "version": 2, "arrays": {}}))
    session = started()
    message = refused(DataLossError, lambda: saver.restore(session, text))
    assert message == f"{text} is not a whole checkpoint: File is not a zip file"
    message = refused(DataLossError, lambda: saver.restore(session, foreign))
    assert message == f"{foreign} was not written by pullback: it has no manifest.json"
    message = refused(DataLossError, lambda: saver.restore(session, later))
    assert message == f"{later} has format version 2; this pullback reads version 1"


def a_file(folder: Path, manifest: Any, compression: int = zipfile.ZIP_STORED, **members: bytes) -> Path:
    """An archive with this manifest and other members."""
    path = folder / "made.npz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
        archive.writestr("manifest.json", manifest if isinstance(manifest, str) else json.dumps(manifest))
    return path


def manifest_of(**entry: Any) -> Any:
    arrays = {"w": {"kind": "variable", "dtype": "float32", "shape": [2], "sha256": "", **entry}}
    return {"format": checkpoint_files.FORMAT, "version": 1, "arrays": arrays}


BAD_MANIFESTS: list[tuple[Any, str]] = [
    ("[]", "manifest.json must be an object, not []"),
    ("3", "manifest.json must be an object, not 3"),
    ("{", "manifest.json is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ({"format": checkpoint_files.FORMAT, "version": 1}, "manifest.json has no 'arrays'"),
    ({**manifest_of(), "arrays": [1]}, "manifest.json: 'arrays' must be an object, not [1]"),
    ({**manifest_of(), "arrays": {"w": None}}, "'w' must be an object, not None"),
    (manifest_of(kind="secret"), "'w' is neither a variable nor a state, but 'secret'"),
    (manifest_of(shape="2"), "'w': 'shape' must be a list, not '2'"),
    (manifest_of(dtype=7), "'w': 'dtype' must be a string, not 7"),
]


@pytest.mark.parametrize(("manifest", "text"), BAD_MANIFESTS, ids=[text[:30] for _, text in BAD_MANIFESTS])
def test_a_manifest_of_another_form_is_refused(manifest: Any, text: str, tmp_path: Path) -> None:
    saver, _, _ = a_checkpoint(tmp_path)
    path = a_file(tmp_path, manifest)
    assert refused(DataLossError, lambda: saver.restore(started(), path)) == f"{path}: {text}"


def test_what_is_compressed_is_not_unpacked(tmp_path: Path) -> None:
    saver, _, _ = a_checkpoint(tmp_path)
    path = a_file(tmp_path, manifest_of(), zipfile.ZIP_DEFLATED, w=bytes(10**6))
    message = refused(DataLossError, lambda: saver.restore(started(), path))
    assert message == f"{path} was not written by pullback: its member 'manifest.json' is compressed"


def test_a_state_of_another_type_is_refused(tmp_path: Path) -> None:
    pb.random_normal([2], name="numbers")
    pb.Variable(1.0, name="w")
    saver, session = pb.train.Saver(), started()
    session.run("numbers:0")
    path = Path(saver.save(session, tmp_path / "model") + ".npz")
    arrays = checkpoint_files.read_checkpoint(path)
    assert arrays["numbers"].kind == "state"
    arrays["numbers"] = checkpoint_files.SavedArray("state", np.zeros(7))
    checkpoint_files.write_checkpoint(path, arrays)
    message = refused(InvalidArgumentError, lambda: saver.restore(session, path))
    assert message.startswith("restore: the state of 'numbers' is ")
    assert message.endswith(f", but {path} has float64[7] for it")


@pytest.mark.parametrize("text", ["[]", "{}", '{"all": 3}', '{"all": [null]}', "{", "[" * 100_000])
def test_a_note_of_another_form_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text(text)
    assert refused(DataLossError, lambda: pb.train.latest_checkpoint(tmp_path)).startswith(str(tmp_path / "checkpoint"))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    saver, _, _ = a_checkpoint(tmp_path)
    message = refused(NotFoundError, lambda: saver.restore(started(), tmp_path / "none"))
    assert message == f"there is no checkpoint at {tmp_path / 'none.npz'}"


def test_a_missing_variable_is_named_and_nothing_changes(tmp_path: Path) -> None:
    _, w, path = a_checkpoint(tmp_path)
    pb.Variable(0.0, name="b")
    session = started()
    session.run(w.assign([7.0, 8.0]))
    message = refused(NotFoundError, lambda: pb.train.Saver().restore(session, path))
    assert message == f"restore: {path} has no variable 'b' (float32[]); it has w"
    assert session.run(w).tolist() == [7.0, 8.0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros(3, "float32"), "float32[3]"),
        (np.zeros(2, "float64"), "float64[2]"),
        (np.zeros((2, 1), "float32"), "float32[2,1]"),
    ],
)
def test_a_variable_of_another_type_is_named_and_nothing_changes(value: Any, text: str, tmp_path: Path) -> None:
    _, _, path = a_checkpoint(tmp_path)
    with pb.Graph().as_default():
        first, w = pb.Variable(5.0, name="first"), pb.Variable(value, name="w")
        session = started()
        saver = pb.train.Saver([w])
        message = refused(InvalidArgumentError, lambda: saver.restore(session, path))
        assert message == f"restore: the variable 'w' is {text}, but {path} has float32[2] for it"
        assert session.run(first) == 5.0
        assert session.run(w).tolist() == value.tolist()


def test_reshape_lets_a_variable_have_another_shape(tmp_path: Path) -> None:
    _, _, path = a_checkpoint(tmp_path)
    with pb.Graph().as_default():
        w = pb.Variable([[0.0], [0.0]], name="w")
        session = started()
        pb.train.Saver(reshape=True).restore(session, path)
        assert session.run(w).tolist() == [[1.0], [2.0]]


# Writing


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saver, w, path = a_checkpoint(tmp_path)
    whole, names = path.read_bytes(), sorted(os.listdir(tmp_path))
    session = started()
    session.run(w.assign([7.0, 8.0]))

    def fail(number: int) -> None:
        raise OSError(f"no space left on device {number}")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        saver.save(session, path)
    assert path.read_bytes() == whole
    assert sorted(os.listdir(tmp_path)) == names


def test_a_variable_without_a_value_is_named_and_no_file_is_written(tmp_path: Path) -> None:
    pb.Variable(1.0, name="w")
    with pytest.raises(FailedPreconditionError, match="uninitialized value 'w'"):
        pb.train.Saver().save(pb.Session(engine="numpy"), tmp_path / "model")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("format", ["pullback", "tensorflow"])
def test_a_folder_is_made_in_one_that_is_there(format: Any, tmp_path: Path) -> None:
    v = pb.Variable(1.0)
    saver = pb.train.Saver([v])
    path = saver.save(started(), tmp_path / "new" / "model", format=format)
    with pb.Session(engine="numpy") as session:
        saver.restore(session, path)
        assert session.run(v) == 1.0


def test_a_folder_in_a_missing_one_is_named(tmp_path: Path) -> None:
    pb.Variable(1.0)
    path = tmp_path / "none" / "none" / "model"
    message = refused(ValueError, lambda: pb.train.Saver().save(started(), path))
    assert message == f"Parent directory of {path}.npz doesn't exist, can't save."


def test_only_the_newest_files_are_kept(tmp_path: Path) -> None:
    pb.Variable(1.0)
    saver, session = pb.train.Saver(max_to_keep=2), started()
    paths = [saver.save(session, tmp_path / "model", global_step=step) for step in range(4)]
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model-2.meta", "model-2.npz", "model-3.meta", "model-3.npz"]
    assert saver.last_checkpoints == paths[2:]
    assert pb.train.latest_checkpoint(tmp_path) == paths[3]
    assert pb.train.get_checkpoint_state(tmp_path).all_model_checkpoint_paths == tuple(paths[2:])


def test_the_latest_checkpoint_is_one_that_is_there(tmp_path: Path) -> None:
    pb.Variable(1.0)
    saver, session = pb.train.Saver(), started()
    paths = [saver.save(session, tmp_path / "model", global_step=step) for step in range(2)]
    os.unlink(paths[1] + ".npz")
    assert pb.train.latest_checkpoint(tmp_path) == paths[0]
    assert pb.train.latest_checkpoint(tmp_path / "none") is None


def test_a_folder_can_be_moved(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    a_checkpoint(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    assert pb.train.latest_checkpoint(tmp_path / "b") == str(tmp_path / "b" / "model")


def test_a_torn_note_is_named(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "mod')
    message = refused(DataLossError, lambda: pb.train.latest_checkpoint(tmp_path))
    assert message == f"{tmp_path / 'checkpoint'} is torn or was changed: line 1 is no field with a text"


@pytest.mark.parametrize("name", ["a" * 300, "a" * 5000, "a\\000b"])
def test_a_note_of_what_can_be_no_file_says_none(name: str, tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text(f'model_checkpoint_path: "{name}"')
    assert pb.train.latest_checkpoint(tmp_path) is None


def test_the_names_in_the_file_may_be_chosen(tmp_path: Path) -> None:
    w = pb.Variable([1.0, 2.0], name="w")
    saver = pb.train.Saver({"weights": w})
    path = saver.save(started(), tmp_path / "model") + ".npz"
    assert pb.train.list_variables(path) == [("weights", [2])]
    assert pb.train.load_variable(tmp_path, "weights").tolist() == [1.0, 2.0]
    session = pb.Session(engine="numpy")
    saver.restore(session, path)
    assert session.run(w).tolist() == [1.0, 2.0]


def test_a_variable_under_two_names_is_refused() -> None:
    w = pb.Variable(1.0)
    message = refused(ValueError, lambda: pb.train.Saver({"a": w, "b": w}))
    assert message == "Saver: one variable has two names, 'a' and 'b'; restored, it has one value"


def test_a_saver_without_variables_is_refused() -> None:
    assert refused(ValueError, pb.train.Saver) == "No variables to save"
    assert refused(TypeError, lambda: pb.train.Saver([1.0])) == "Saver: '1.0' is 1.0, which is no variable"


def test_a_saver_that_is_built_later_takes_the_variables_of_then(tmp_path: Path) -> None:
    saver = pb.train.Saver(defer_build=True)
    v, session = pb.Variable(2.0, name="v"), pb.Session(engine="numpy")
    session.run(v.initializer)
    with pytest.raises(RuntimeError, match=r"build\(\) should be called before save"):
        saver.save(session, tmp_path / "model")
    saver.build()
    path = saver.save(session, tmp_path / "model")
    assert pb.train.load_checkpoint(path).get_tensor("v") == 2.0
    with pytest.raises(ValueError, match="leave var_list out"):
        pb.train.Saver([v], defer_build=True)


def test_no_checkpoint_is_a_wrong_value(tmp_path: Path) -> None:
    v = pb.Variable(2.0)
    saver, session = pb.train.Saver([v]), pb.Session(engine="numpy")
    with pytest.raises(ValueError, match="there is no checkpoint at"):
        saver.restore(session, tmp_path / "none")
    with pytest.raises(ValueError, match="Can't load save_path when it is None"):
        saver.restore(session, pb.train.latest_checkpoint(tmp_path))  # type: ignore[arg-type]


def test_a_saver_can_go_on_with_the_checkpoints_of_another(tmp_path: Path) -> None:
    v, session = pb.Variable(2.0, name="v"), pb.Session(engine="numpy")
    session.run(v.initializer)
    first = pb.train.Saver()
    paths = [first.save(session, tmp_path / "model", global_step=i) for i in range(2)]
    second = pb.train.Saver(max_to_keep=2)
    second.recover_last_checkpoints([*paths, str(tmp_path / "gone")])
    assert second.last_checkpoints == paths
    second.save(session, tmp_path / "model", global_step=2)
    assert [pb.train.checkpoint_exists(path) for path in paths] == [False, True]


@pytest.mark.parametrize("format", ["pullback", "tensorflow"])
def test_texts_are_saved(format: Any, tmp_path: Path) -> None:
    texts = [[b"", b"a\x00", "ä".encode()], [b"long" * 100, b"\xff\xfe", b"b"]]
    v = pb.Variable(pb.constant(texts), name="v")
    session, saver = pb.Session(engine="numpy"), pb.train.Saver()
    session.run(v.initializer)
    path = saver.save(session, tmp_path / "model", format=format)
    session.run(v.assign(pb.constant([[b"x"] * 3] * 2)))
    saver.restore(session, path)
    assert session.run(v).tolist() == texts
    assert pb.train.load_checkpoint(path).get_tensor("v").tolist() == texts


def test_torn_texts_are_refused(tmp_path: Path) -> None:
    arrays = {"v": SavedArray("variable", np.array([b"one", b"three"], object))}
    write_checkpoint(tmp_path / "model.npz", arrays)
    with zipfile.ZipFile(tmp_path / "model.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    entry = manifest["arrays"]["v"]
    changes: list[dict[str, Any]] = [{"shape": [3]}, {"shape": [1]}, {"shape": [2**40]}, {"bytes": 9}, {"bytes": -1}]
    for change in changes:
        content = members["v.npy"][-(entry | change)["bytes"] :]
        changed = entry | change | {"sha256": hashlib.sha256(content).hexdigest()}
        with zipfile.ZipFile(tmp_path / "torn.npz", "w") as archive:
            archive.writestr("v.npy", members["v.npy"])
            archive.writestr("manifest.json", json.dumps(manifest | {"arrays": {"v": changed}}))
        with pytest.raises(pb.errors.DataLossError):
            read_checkpoint(tmp_path / "torn.npz")


@pytest.mark.parametrize(("kept", "expected"), [(None, 0), (0, 0), (3, 3)])
def test_a_saver_says_what_it_keeps(kept: int | None, expected: int, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    v, session = pb.Variable(2.0, name="v"), pb.Session(engine="numpy")
    session.run(v.initializer)
    first = pb.train.Saver(max_to_keep=kept, keep_checkpoint_every_n_hours=2.0)
    said = first.as_saver_def()
    assert first.saver_def == said
    assert (said.max_to_keep, said.keep_checkpoint_every_n_hours, said.restore_op_name) == (
        expected,
        2.0,
        "save/restore_all",
    )
    first.export_meta_graph(tmp_path / "graph.meta")
    with pb.Graph().as_default():
        imported = pb.train.import_meta_graph(tmp_path / "graph.meta")
        assert imported is not None
        others = [imported, pb.train.Saver.from_proto(said), pb.train.Saver(saver_def=said)]
        assert [other.to_proto() for other in others] == [said] * 3


def test_a_reader_shows_what_there_is(tmp_path: Path) -> None:
    v, session = pb.Variable([2.0], name="v"), pb.Session(engine="numpy")
    session.run(v.initializer)
    reader = pb.train.load_checkpoint(pb.train.Saver().save(session, tmp_path / "model"))
    assert reader.debug_string() == b"v float32[1]\n"
