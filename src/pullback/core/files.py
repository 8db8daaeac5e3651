"""Atomic replacement of files: what is written appears whole, or not at all, even after a crash.

It is written beside its place, to the disk, and then takes its name in one step. What a process leaves that was killed
in between is removed by the next one that writes into the folder.
"""

from __future__ import annotations

import os
import platform
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from .errors import InvalidArgumentError

_LEFT = re.compile(r"\..+\.(?P<machine>[^.]*)-(?P<process>\d+)-\d+\.part")


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Puts what `write` writes at `path`, or, where that is a link, at what it names.

    Raises:
        InvalidArgumentError: there is something at `path` that is no file, such as a device.
    """
    path = place_of(path)
    written = written_beside(path, write)
    try:
        os.replace(written, path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    keep_names(path.parent)


def place_of(path: Path) -> Path:
    """What `path` names, links followed; InvalidArgumentError where that is there and no file."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        raise InvalidArgumentError(f"{path} is no file, and is not replaced by one; give another path")
    return place


def written_beside(path: Path, write: Callable[[IO[bytes]], object]) -> Path:
    """A file beside `path` that has what `write` writes and is on the disk; none is left where that fails."""
    remove_left(path.parent)
    beside = path.with_name(f".{path.name}.{_machine()}-{os.getpid()}-{threading.get_ident()}.part")
    try:
        with open(beside, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return beside


def keep_names(folder: Path) -> None:
    """Wait until the names of the files of a folder are on the disk, where the system can say so."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_left(folder: Path) -> None:
    """Remove from a folder what processes of this machine have left beside its place and are not there to finish."""
    for entry in os.scandir(folder):
        match = _LEFT.fullmatch(entry.name)
        if match and match["machine"] == _machine() and not _runs(int(match["process"])):
            Path(entry.path).unlink(missing_ok=True)


def _machine() -> str:
    return platform.node().replace(".", "-")


def _runs(process: int) -> bool:
    """Whether there is such a process; asked of the system with a signal that is none."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
