"""Checkpoint state: the file `checkpoint` of a folder, which says what checkpoints it has, as TensorFlow writes it.

It is a protocol message in text form, of two fields that are texts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import DataLossError
from ..core.files import replace_file
from .places import is_there, place_to_restore, prefix_of

_STATE_FILE = "checkpoint"
_LATEST, _ALL = "model_checkpoint_path", "all_model_checkpoint_paths"
_LINE = re.compile(rb"\s*(?:#.*|(?P<key>\w+)\s*:\s*(?:\"(?P<text>(?:[^\"\\]|\\.)*)\"|(?P<number>[-+.\w]+)))?\s*")
_ESCAPE = re.compile(rb"\\(?:(?P<octal>[0-7]{1,3})|[xX](?P<hex>[0-9a-fA-F]{1,2})|(?P<sign>.))")
_SIGNS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


@dataclass(frozen=True)
class CheckpointState:
    """Which checkpoints a folder has: the latest, and all, oldest first."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: tuple[str, ...]


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> str | None:
    """The path of the newest checkpoint that a saver has noted in the folder `checkpoint_dir`, or None.

    The saver may have been TensorFlow's.

    Raises:
        DataLossError: the note is torn.

    >>> import pullback as pb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pb.train.latest_checkpoint(folder) is None
    True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    return None if state is None else state.model_checkpoint_path


def get_checkpoint_state(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> CheckpointState | None:
    """What a saver, perhaps TensorFlow's, has noted in a folder of its checkpoints that are still there, or None.

    Raises:
        DataLossError: the note is torn.

    >>> import tempfile
    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0], name="v")
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pb.train.Saver().save(session, folder + "/model", global_step=7)
    ...     pb.train.get_checkpoint_state(folder).model_checkpoint_path == path
    True
    """
    note = Path(checkpoint_dir) / (latest_filename or _STATE_FILE)
    if not note.is_file():
        return None
    fields = list(_fields(note))
    paths = [prefix_of(note.parent / text) for key, text in fields if key == _ALL]
    present = tuple([path for path in paths if is_there(place_to_restore(path))])
    latest = [prefix_of(note.parent / text) for key, text in fields if key == _LATEST]
    if latest and is_there(place_to_restore(latest[-1])):
        return CheckpointState(latest[-1], present or (latest[-1],))
    return CheckpointState(present[-1], present) if present else None


def note_state(folder: Path, latest_filename: str | None, kept: Sequence[Path]) -> None:
    """Notes in a folder that it has the checkpoints `kept`, oldest first."""
    names = [prefix_of(os.path.relpath(path, folder)) for path in kept]
    lines = [(_LATEST, names[-1]), *[(_ALL, name) for name in names]]
    text = b"".join([b'%s: "%s"\n' % (key.encode(), _escaped(name)) for key, name in lines])
    replace_file(folder / (latest_filename or _STATE_FILE), lambda file: file.write(text))


def _fields(note: Path) -> Iterator[tuple[str, str]]:
    """The texts of a note, with their keys."""
    for number, line in enumerate(note.read_bytes().splitlines(), 1):
        match = _LINE.fullmatch(line)
        try:
            if match is None:
                raise ValueError
            if match["text"] is not None:
                yield match["key"].decode(), _ESCAPE.sub(_sign, match["text"]).decode()
        except ValueError:
            raise DataLossError(f"{note} is torn or was changed: line {number} is no field with a text") from None


def _sign(match: re.Match[bytes]) -> bytes:
    if match["octal"]:
        return bytes([int(match["octal"], 8) & 0xFF])
    return bytes([int(match["hex"], 16)]) if match["hex"] else _SIGNS.get(match["sign"], match["sign"])


def _escaped(name: str) -> bytes:
    """A text as protocol messages write it: what is not printable in ASCII, quotes and backslashes as numbers."""
    return b"".join([b"\\%03o" % c if not 32 <= c < 127 or c in b'"\\' else bytes([c]) for c in os.fsencode(name)])
