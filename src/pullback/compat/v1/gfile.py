"""Files as TensorFlow 1 has them: `tf.gfile`, on Python's own functions.

>>> import os, tempfile
>>> import pullback.compat.v1 as tf
>>> gfile = tf.gfile
>>> with tempfile.TemporaryDirectory() as folder:
...     name, other = os.path.join(folder, "a"), os.path.join(folder, "b")
...     with gfile.GFile(name, "w") as file:
...         _ = file.write("text")
...     gfile.Copy(name, other)
...     gfile.Rename(other, os.path.join(folder, "c"))
...     with gfile.Open(name) as file, gfile.FastGFile(name) as same:
...         print(file.read(), same.read(), gfile.Stat(name).length, gfile.Exists(other))
...     gfile.MkDir(os.path.join(folder, "d"))
...     gfile.MakeDirs(os.path.join(folder, "d", "e"))
...     print(sorted(gfile.ListDirectory(folder)), gfile.IsDirectory(folder), len(gfile.Glob(folder + "/*")))
...     gfile.Remove(name)
...     gfile.DeleteRecursively(os.path.join(folder, "d"))
...     print([files for _, _, files in gfile.Walk(folder)])
text text 4 False
['a', 'c', 'd'] True 3
[['c']]
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import IO, Any, NamedTuple

from .errors import InvalidArgumentError
from .file_errors import file_errors

PathLike = str | os.PathLike[str]
_MODES = ("r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab", "rb+", "wb+", "ab+", "r+b", "w+b", "a+b")


class GFile:
    """A file, text in UTF-8 unless `mode` has a "b", which is opened when it is first read or written."""

    def __init__(self, name: PathLike, mode: str = "r") -> None:
        if mode not in _MODES:
            raise InvalidArgumentError(f"GFile: the mode is one of {', '.join(_MODES)}, not {mode!r}")
        self.name, self.mode = name, mode
        self._file: IO[Any] | None = None

    def size(self) -> int:
        """How many bytes the file has."""
        return Stat(self.name).length

    def close(self) -> None:
        """Write what is left, and close the file if it is open."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> IO[Any]:
        if self._file is None:
            with file_errors():
                encoding = None if "b" in self.mode else "utf-8"
                self._file = open(self.name, self.mode, encoding=encoding)  # noqa: SIM115 (`close` closes it)
        return self._file

    def __getattr__(self, name: str) -> Any:
        """All else is as Python's files have it: `read`, `readline`, `write`, `seek`, `tell`, `flush`, ..."""
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._opened(), name)
        return file_errors()(found) if callable(found) else found

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._opened())

    def __next__(self) -> Any:
        return next(self._opened())


Open = FastGFile = GFile


def Exists(filename: PathLike) -> bool:
    """Whether there is such a file or folder."""
    return os.path.exists(filename)


def IsDirectory(dirname: PathLike) -> bool:
    """Whether there is such a folder."""
    return os.path.isdir(dirname)


@file_errors()
def MkDir(dirname: PathLike) -> None:
    """Make a folder, whose parent must be there; one that is there stays."""
    if not os.path.isdir(dirname):
        os.mkdir(dirname)


@file_errors()
def MakeDirs(dirname: PathLike) -> None:
    """Make a folder, and those around it; one that is there stays."""
    os.makedirs(dirname, exist_ok=True)


@file_errors()
def ListDirectory(dirname: PathLike) -> list[str]:
    """The names in a folder, in order."""
    return sorted(os.listdir(dirname))


def Glob(filename: PathLike | Sequence[PathLike]) -> list[str]:
    """The paths that match a pattern, or one of several, in order."""
    patterns = [filename] if isinstance(filename, str | os.PathLike) else filename
    return sorted({path for pattern in patterns for path in glob(os.fspath(pattern))})


@file_errors()
def Remove(filename: PathLike) -> None:
    """Remove a file."""
    os.remove(filename)


@file_errors()
def DeleteRecursively(dirname: PathLike) -> None:
    """Remove a folder and all that is in it."""
    shutil.rmtree(dirname)


@file_errors()
def Copy(oldpath: PathLike, newpath: PathLike, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
        FileExistsError: there is a file at `newpath`, which `overwrite` does not allow to replace.
    """
    _check_free(newpath, overwrite)
    shutil.copyfile(oldpath, newpath)


@file_errors()
def Rename(oldname: PathLike, newname: PathLike, overwrite: bool = False) -> None:
    """Give a file another name.

    Raises:
        FileExistsError: there is a file of that name, which `overwrite` does not allow to replace.
    """
    _check_free(newname, overwrite)
    os.replace(oldname, newname)


class FileStatistics(NamedTuple):
    """What the system knows of a file: its bytes, when it was changed, in nanoseconds, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


@file_errors()
def Stat(filename: PathLike) -> FileStatistics:
    """What the system knows of a file."""
    found = os.stat(filename)
    return FileStatistics(found.st_size, found.st_mtime_ns, stat.S_ISDIR(found.st_mode))


def Walk(top: PathLike, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder below `top` with the names of the folders and files in it; the deepest first unless `in_order`."""
    return os.walk(os.fspath(top), topdown=in_order)


def _check_free(path: PathLike, overwrite: bool) -> None:
    if not overwrite and Path(path).exists():
        raise FileExistsError(f"{os.fspath(path)} is there; pass overwrite=True to replace it")
