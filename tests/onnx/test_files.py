"""Where a model is written to: links, what is no file, and what is left where that fails."""

from __future__ import annotations

import os
from pathlib import Path

import onnx
import pytest

import pullback as pb
import pullback.onnx


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
