"""Files of `tf.gfile`: when they are opened, what they know, and errors of TensorFlow's classes and Python's."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pullback.compat.v1 as tf

G: Any = tf.gfile
E: Any = tf.errors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("q")
    (tmp_path / "f").write_text("a\nb\n")
    return tmp_path


@pytest.mark.parametrize(
    ("act", "error", "of_python"),
    [
        (lambda d: G.DeleteRecursively(d / "no"), "NotFoundError", FileNotFoundError),
        (lambda d: G.GFile(d / "no").read(), "NotFoundError", FileNotFoundError),
        (lambda d: list(G.GFile(d / "no")), "NotFoundError", FileNotFoundError),
        (lambda d: G.ListDirectory(d / "no"), "NotFoundError", FileNotFoundError),
        (lambda d: G.Remove(d / "no"), "NotFoundError", FileNotFoundError),
        (lambda d: G.Stat(d / "no"), "NotFoundError", FileNotFoundError),
        (lambda d: G.Copy(d / "no", d / "m"), "NotFoundError", FileNotFoundError),
        (lambda d: G.Rename(d / "no", d / "m"), "NotFoundError", FileNotFoundError),
        (lambda d: G.MkDir(d / "no" / "a"), "NotFoundError", FileNotFoundError),
        (lambda d: G.Copy(d / "f", d / "full" / "x"), "AlreadyExistsError", FileExistsError),
        (lambda d: G.Rename(d / "f", d / "full" / "x"), "AlreadyExistsError", FileExistsError),
        (lambda d: G.Open(d).read(), "FailedPreconditionError", OSError),
        (lambda d: G.GFile(d / "f").write("x"), "PermissionDeniedError", PermissionError),
        (lambda d: G.GFile(d / "new", "w").read(), "PermissionDeniedError", PermissionError),
        (lambda d: G.GFile(d / "f", "z"), "InvalidArgumentError", ValueError),
    ],
)
def test_errors_are_of_both_classes(
    act: Callable[[Path], Any], error: str, of_python: type[Exception], folder: Path
) -> None:
    for kind in (getattr(E, error), of_python):
        with pytest.raises(kind):
            act(folder)


def test_a_file_is_opened_when_it_is_read(folder: Path) -> None:
    file = G.GFile(folder / "later")
    (folder / "later").write_text("now")
    assert (file.size(), file.read(), file.mode, file.name) == (3, "now", "r", folder / "later")
    G.MkDir(folder / "full")
    assert G.Exists(folder / "full" / "x")


def test_a_file_is_read_and_written_as_pythons(folder: Path) -> None:
    with G.GFile(folder / "f", "a") as file:
        file.write("c")
    with G.FastGFile(folder / "f") as file:
        assert [next(file), *file] == ["a\n", "b\n", "c"]
        file.seek(2)
        assert (file.tell(), file.readline(), file.readlines()) == (2, "b\n", ["c"])
    with G.Open(folder / "p", "wb") as file:
        pickle.dump([1], file)
    assert pickle.load(G.GFile(folder / "p", "rb")) == [1]


def test_files_are_named_by_the_parameters_of_tensorflow_2(folder: Path) -> None:
    files, name = tf.io.gfile, str(folder / "first")
    Path(name).write_text("text")
    files.copy(src=name, dst=name + "2")
    files.rename(src=name, dst=name + "3", overwrite=True)
    assert not files.exists(path=name)
    assert files.stat(path=name + "2").length == 4
    assert files.glob(pattern=name + "*") == [name + "2", name + "3"]
    assert next(iter(files.walk(str(folder), topdown=True)))[0] == str(folder)
