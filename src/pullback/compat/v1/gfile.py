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

PathLike = str | os.PathLike[str]


def GFile(name: PathLike, mode: str = "r") -> IO[Any]:
    """An open file, text in UTF-8 unless `mode` has a "b"."""
    return open(name, mode, encoding=None if "b" in mode else "utf-8")


Open = FastGFile = GFile


def Exists(filename: PathLike) -> bool:
    """Whether there is such a file or folder."""
    return os.path.exists(filename)


def IsDirectory(dirname: PathLike) -> bool:
    """Whether there is such a folder."""
    return os.path.isdir(dirname)


def MkDir(dirname: PathLike) -> None:
    """Make a folder, whose parent must be there."""
    os.mkdir(dirname)


def MakeDirs(dirname: PathLike) -> None:
    """Make a folder, and those around it; one that is there stays."""
    os.makedirs(dirname, exist_ok=True)


def ListDirectory(dirname: PathLike) -> list[str]:
    """The names in a folder, in order."""
    return sorted(os.listdir(dirname))


def Glob(filename: PathLike | Sequence[PathLike]) -> list[str]:
    """The paths that match a pattern, or one of several, in order."""
    patterns = [filename] if isinstance(filename, str | os.PathLike) else filename
    return sorted({path for pattern in patterns for path in glob(os.fspath(pattern))})


def Remove(filename: PathLike) -> None:
    """Remove a file."""
    os.remove(filename)


def DeleteRecursively(dirname: PathLike) -> None:
    """Remove a folder and all that is in it."""
    shutil.rmtree(dirname)


def Copy(oldpath: PathLike, newpath: PathLike, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
        FileExistsError: there is a file at `newpath`, which `overwrite` does not allow to replace.
    """
    _check_free(newpath, overwrite)
    shutil.copyfile(oldpath, newpath)


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
