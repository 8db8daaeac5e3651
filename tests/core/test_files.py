"""Files that are replaced: whole or not at all, and nothing left of processes that were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pullback.core.errors import InvalidArgumentError
from pullback.core.files import replace_file

HANG = """
import sys, time
from pathlib import Path
from pullback.core.files import replace_file

def write(file):
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(600)

replace_file(Path(sys.argv[1]), write)
"""


def killed_while_writing(path: Path) -> None:
    """A process that is killed in the middle of a file."""
    process = subprocess.Popen([sys.executable, "-c", HANG, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(b"old")
    killed_while_writing(path)
    assert path.read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    replace_file(tmp_path / "other.npz", lambda file: file.write(b"new"))
    assert sorted(os.listdir(tmp_path)) == ["model.npz", "other.npz"]


def test_what_is_being_written_is_not_removed(tmp_path: Path) -> None:
    def write(file: object) -> None:
        replace_file(tmp_path / "inner", lambda inner: inner.write(b"inner"))

    replace_file(tmp_path / "outer", write)
    assert sorted(os.listdir(tmp_path)) == ["inner", "outer"]


@pytest.mark.parametrize("name", [".model.npz.elsewhere-999999-1.part", ".model.part", "model.npz.part", "notes.part"])
def test_files_of_others_stay(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    replace_file(tmp_path / "model.npz", lambda file: file.write(b"new"))
    assert sorted(os.listdir(tmp_path)) == sorted([name, "model.npz"])


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    replace_file(tmp_path / "link", lambda file: file.write(b"new"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_device_is_not_replaced() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        replace_file(Path(os.devnull), lambda file: file.write(b"new"))
    assert str(caught.value) == f"{os.devnull} is no file, and is not replaced by one; give another path"
