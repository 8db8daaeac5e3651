"""Checkpoint file format: arrays by name in an uncompressed npz archive; a manifest tells a torn file.

The archive can be read with `numpy.load`. `manifest.json` has the format's name and version and, for each array, its
kind, dtype, shape and SHA-256. Texts are the bytes of all, behind the lengths of each. A file is written beside its
place and moved there whole: a crash leaves the old one.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Literal, get_args

import numpy as np

from ..core.dtypes import as_dtype, string
from ..core.errors import DataLossError, NoCheckpointError, PullbackError
from ..core.files import replace_file
from ..core.limits import limited
from ..core.schema import expect, field, parsed, shown
from ..version import __version__

FORMAT = "pullback checkpoint"
VERSION = 1
_MANIFEST = "manifest.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_TORN = (zipfile.BadZipFile, struct.error, OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError)
"""What zipfile and NumPy say of a file that is no archive, or holds no arrays."""

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
        ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.
    """
    if not path.is_file():
        raise NoCheckpointError(f"there is no checkpoint at {path}")
    try:
        with limited("restore") as reading, zipfile.ZipFile(path) as archive:
            entries = _entries(path, archive)
            reading.takes_nodes(len(entries))
            return {name: _read_array(path, archive, name, entry) for name, entry in entries.items()}
    except PullbackError:
        raise
    except _TORN as error:
        raise DataLossError(f"{path} is not a whole checkpoint: {error}") from error


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
                "dtype": "string" if value.dtype == string else value.dtype.name,
                "shape": list(value.shape),
                "sha256": _digest(stored),
            }
            if value.dtype == string:
                entries[name]["bytes"] = stored.size
        manifest = {"format": FORMAT, "version": VERSION, "writer": f"pullback {__version__}", "arrays": entries}
        archive.writestr(zipfile.ZipInfo(_MANIFEST, _EPOCH), json.dumps(manifest, indent=1))


def _entries(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    """What the manifest says of each array."""
    if _MANIFEST not in archive.namelist():
        raise DataLossError(f"{path} was not written by pullback: it has no {_MANIFEST}")
    where = f"{path}: {_MANIFEST}"
    manifest = expect(parsed(_bytes(path, archive, _MANIFEST), where), dict, where)
    if manifest.get("format") != FORMAT:
        raise DataLossError(f"{path} was not written by pullback: its format is {shown(manifest.get('format'))}")
    if manifest.get("version") != VERSION:
        version = shown(manifest.get("version"))
        raise DataLossError(f"{path} has format version {version}; this pullback reads version {VERSION}")
    return field(manifest, "arrays", dict, where)


def _read_array(path: Path, archive: zipfile.ZipFile, name: str, entry: Any) -> SavedArray:
    where = f"{path}: '{name}'"
    entry = expect(entry, dict, where)
    kind, shape = as_kind(field(entry, "kind", str, where), where), field(entry, "shape", list, where)
    dtype: Any = as_dtype(field(entry, "dtype", str, where))
    count = math.prod([expect(n, int, f"{where}: a length") for n in shape])
    size = field(entry, "bytes", int, where) if dtype == string else count * dtype.itemsize
    # The manifest says all that the header of the member does.
    member = _bytes(path, archive, f"{name}.npy")
    elements = member[len(member) - size :]
    if len(elements) != size or hashlib.sha256(elements).hexdigest() != field(entry, "sha256", str, where):
        raise DataLossError(f"{path} is not a whole checkpoint: '{name}' is not what was written")
    if dtype == string:
        return SavedArray(kind, _texts(elements, count, where).reshape(shape))
    return SavedArray(kind, np.frombuffer(bytearray(elements), dtype).reshape(shape))


def _texts(data: bytes, count: int, where: str) -> np.ndarray[Any, Any]:
    """The texts whose lengths, 8 bytes each, stand before them."""
    if len(data) < 8 * count:
        raise DataLossError(f"{where} has no lengths of {count} texts")
    ends = 8 * count + np.cumsum(np.frombuffer(data, "<u8", count), dtype=np.uint64)
    places = [8 * count, *ends.tolist()]
    if places[-1] != len(data) or any(a > b for a, b in pairwise(places)):
        raise DataLossError(f"{where} has {len(data)} bytes, which are not those of {count} texts")
    texts = np.empty(count, string)
    texts[:] = [data[a:b] for a, b in pairwise(places)]
    return texts


def as_kind(text: str, where: str) -> Kind:
    """The kind of that name; DataLossError where there is none."""
    if text not in get_args(Kind):
        raise DataLossError(f"{where} is neither a variable nor a state, but {shown(text)}")
    return "variable" if text == "variable" else "state"


def _bytes(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """The content of a member; DataLossError where it is compressed: no checkpoint is, and it could fill the memory."""
    member = archive.getinfo(name)
    if member.compress_type != zipfile.ZIP_STORED or member.file_size > member.compress_size:
        raise DataLossError(f"{path} was not written by pullback: its member '{name}' is compressed")
    return archive.read(member)


def _as_stored(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array in a dtype of NumPy's own: bfloat16 as its bits, texts as their lengths and bytes."""
    if value.dtype == string:
        texts = [text.encode() if isinstance(text, str) else bytes(text) for text in value.reshape(-1)]
        lengths = np.array([len(text) for text in texts], "<u8").tobytes()
        return np.frombuffer(lengths + b"".join(texts), np.uint8)
    return value if value.dtype.isbuiltin == 1 else value.view(np.dtype(f"u{value.dtype.itemsize}"))


def _digest(stored: np.ndarray[Any, Any]) -> str:
    return hashlib.sha256(stored.reshape(-1).view(np.uint8).data).hexdigest()
