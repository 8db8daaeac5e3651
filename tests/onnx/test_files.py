"""Where a model is written to: links, what is no file, and what is left where that fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import pullback as pb
import pullback.onnx
from pullback.onnx import files


def exported(path: Path) -> None:
    """A small model in a file."""
    x = pb.placeholder(pb.float32, [2], name="x")
    pb.onnx.export({"y": x * 2.0}, {"x": x}, path)


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    link = tmp_path / "model.onnx"
    link.symlink_to(folder / "v1.onnx")
    exported(link)
    assert link.is_symlink()
    onnx.checker.check_model(folder / "v1.onnx")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.onnx", "models"]


@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "link to a device"])
def test_what_is_no_file_is_not_replaced(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "there"
    if kind == "device":
        path = Path(os.devnull)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(os.devnull)
    before = os.stat(path).st_mode
    with pytest.raises(pb.errors.InvalidArgumentError, match="is no file, and is not replaced by one; give another pa"):
        exported(path)
    assert os.stat(path).st_mode == before
    assert not [p for p in tmp_path.iterdir() if p != path]


def test_files_are_on_the_disk_before_they_take_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (events.append("fsync"), fsync(handle))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (events.append("replace"), replace(a, b))[1])
    exported(tmp_path / "model.onnx")
    assert events == ["fsync", "replace", "fsync"]


def with_weights(path: Path, value: float, accept: Any = None) -> None:
    """A model whose weights are in a file beside it."""
    x = pb.placeholder(pb.float32, [512])
    pb.onnx.export({"y": x * np.full(512, value, np.float32)}, {"x": x}, path, accept=accept)


def weights(path: Path) -> float:
    (tensor,) = onnx.load(path).graph.initializer
    return float(onnx.numpy_helper.to_array(tensor)[0])


def test_a_model_and_its_data_are_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LARGEST_MODEL", 0)
    path = tmp_path / "model.onnx"
    with_weights(path, 4.0)
    replace = os.replace

    def replaced(source: Path, target: Path) -> None:
        assert weights(path) == 4.0
        replace(source, target)

    monkeypatch.setattr(os, "replace", replaced)
    with_weights(path, 2.0)
    assert weights(path) == 2.0
    assert len(list(tmp_path.iterdir())) == 2


def test_what_is_not_accepted_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LARGEST_MODEL", 0)
    path = tmp_path / "model.onnx"
    with_weights(path, 4.0)
    before = {p: p.read_bytes() for p in tmp_path.iterdir()}

    def refuse(written: Path) -> None:
        assert weights(written) == 2.0
        raise ValueError("not this one")

    with pytest.raises(ValueError, match="not this one"):
        with_weights(path, 2.0, refuse)
    assert {p: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("suffix", [".onnx", ".onnxtxt", ".json", ".onnxjson", ".textproto"])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"<ir_version: 8>", b"[" * 100_000, b"graph { node" * 9])
def test_a_file_that_is_no_model_is_said_to_be_none(suffix: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_bytes(content)
    with pytest.raises((pb.errors.DataLossError, pb.errors.ResourceExhaustedError), match=r"^onnx\.load: "):
        pb.onnx.load(path)


def test_data_that_a_model_shares_with_the_one_before_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LARGEST_MODEL", 0)
    path = tmp_path / "model.onnx"
    with_weights(path, 3.0)
    graph = pb.onnx.load(path)
    for _ in range(2):
        pb.onnx.export(dict(zip(graph.output_names, graph.outputs, strict=True)), None, path)
        assert weights(path) == 3.0
