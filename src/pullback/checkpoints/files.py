"""Checkpoint file format: arrays by name in an uncompressed npz archive; a manifest tells a torn file.

The archive can be read with `numpy.load`. `manifest.json` has the format's name and version and, for each array, its
kind, dtype, shape and SHA-256. A file is written beside its place and moved there whole: a crash leaves the old one.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import threading
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from ..core.dtypes import as_dtype
from ..core.errors import DataLossError, NotFoundError
from ..core.types import type_of_array
from ..version import __version__

FORMAT = "pullback checkpoint"
VERSION = 1
_MANIFEST = "manifest.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_TORN = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError)

Kind = Literal["variable", "state"]


@dataclass(frozen=True)
class SavedArray:
    """One array of a checkpoint: the value of a variable, or the state of an operation that keeps its own."""

    kind: Kind
    value: np.ndarray[Any, Any]


def write_checkpoint(path: Path, arrays: Mapping[str, SavedArray]) -> None:
    """Puts a checkpoint of `arrays` at `path`, whole or not at all."""
    replace_file(path, lambda file: _write_archive(file, arrays))


def read_checkpoint(path: Path) -> dict[str, SavedArray]:
    """The arrays of the checkpoint at `path`, all of them checked.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: it is torn, was changed, or is no checkpoint of pullback.
    """
    if not path.is_file():
        raise NotFoundError(f"there is no checkpoint at {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _entries(path, archive)
            return {name: _read_array(path, archive, name, entry) for name, entry in entries.items()}
    except DataLossError:
        raise
    except (*_TORN, MemoryError) as error:
        raise DataLossError(f"{path} is not a whole checkpoint: {error}") from error


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Puts what `write` writes at `path`: into a file beside it, to the disk, then in one step in its place."""
    beside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        with open(beside, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Let the folder's new entry reach the disk, where the system can open folders."""
    if os.name != "posix":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _write_archive(file: IO[bytes], arrays: Mapping[str, SavedArray]) -> None:
    entries = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, saved in arrays.items():
            value = np.ascontiguousarray(saved.value).reshape(saved.value.shape)
            stored = _as_stored(value)
            with archive.open(zipfile.ZipInfo(f"{name}.npy", _EPOCH), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, stored, allow_pickle=False)
            entries[name] = {
                "kind": saved.kind,
                "dtype": value.dtype.name,
                "shape": list(value.shape),
                "sha256": _digest(stored),
            }
        manifest = {"format": FORMAT, "version": VERSION, "writer": f"pullback {__version__}", "arrays": entries}
        archive.writestr(zipfile.ZipInfo(_MANIFEST, _EPOCH), json.dumps(manifest, indent=1))


def _entries(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    """What the manifest says of each array."""
    if _MANIFEST not in archive.namelist():
        raise DataLossError(f"{path} was not written by pullback: it has no {_MANIFEST}")
    manifest = json.loads(archive.read(_MANIFEST))
    if manifest["format"] != FORMAT:
        raise DataLossError(f"{path} was not written by pullback: its format is {manifest['format']!r}")
    if manifest["version"] != VERSION:
        raise DataLossError(f"{path} has format version {manifest['version']}; this pullback reads version {VERSION}")
    entries: dict[str, Any] = manifest["arrays"]
    return entries


def _read_array(path: Path, archive: zipfile.ZipFile, name: str, entry: Mapping[str, Any]) -> SavedArray:
    stored = np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
    if _digest(stored) != entry["sha256"]:
        raise DataLossError(f"{path} is not a whole checkpoint: '{name}' is not what was written")
    dtype: Any = as_dtype(entry["dtype"])
    value: np.ndarray[Any, Any] = stored.view(dtype)
    if list(value.shape) != entry["shape"]:
        raise DataLossError(f"{path}: '{name}' is {type_of_array(value)}, but should have the shape {entry['shape']}")
    return SavedArray(entry["kind"], value)


def _as_stored(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array in a dtype of NumPy's own: bfloat16 as its bits."""
    return value if value.dtype.isbuiltin == 1 else value.view(np.dtype(f"u{value.dtype.itemsize}"))


def _digest(stored: np.ndarray[Any, Any]) -> str:
    return hashlib.sha256(stored.reshape(-1).view(np.uint8).data).hexdigest()
