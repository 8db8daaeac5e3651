"""Sharded checkpoint format: a folder of Zarr arrays, of which each process writes the shards that it has.

TensorStore writes and reads the arrays; what a process reads are the parts that it needs. `manifest.json` names the
arrays and the folder in which they are. It is written last, and replaced in one step: until then the checkpoint of
before counts, or none.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.dtypes import as_dtype
from ..core.errors import DataLossError, NoCheckpointError
from ..core.files import replace_file
from ..core.limits import limited
from ..core.schema import expect, field, parsed, shown
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..engines.shards import Index, Shards, Source
from ..version import __version__
from .files import Kind, as_kind

FORMAT = "pullback sharded checkpoint"
VERSION = 1
MANIFEST = "manifest.json"
_LARGEST_CHUNK = 2**26
"""Bytes of a file; a shard that has more is in several."""


class SavedSource(NamedTuple):
    """One array of a checkpoint, not read yet: the value of a variable, or the state that an operation keeps."""

    kind: Kind
    source: Source


def write_folder(
    path: Path, arrays: Mapping[str, tuple[Kind, Shards]], leads: bool, meet: Callable[[str], None]
) -> None:
    """Puts a checkpoint at `path`, whole or not at all; all processes call this, each with its parts of all arrays.

    `leads` is true for one of them, and `meet` returns when all have called it with the same words.
    """
    before = _folder_of(path) if (path / MANIFEST).is_file() else None
    number = 0 if before is None else int(before.name) + 1
    if leads:
        path.mkdir(exist_ok=True)
        _remove_all_but(before, path)
    meet(f"begins {path.name}/{number}")
    writes = []
    for i, (_, shards) in enumerate(arrays.values()):
        store = _created(path / str(number) / str(i), shards)
        writes += [store[index].write(np.asarray(part)) for index, part in shards.parts]
    for write in writes:
        write.result()
    meet(f"has written {path.name}/{number}")
    if leads:
        replace_file(path / MANIFEST, lambda file: file.write(_manifest(number, arrays).encode()))
        _remove_all_but(path / str(number), path)


def read_folder(path: Path) -> dict[str, SavedSource]:
    """The arrays of the checkpoint at `path`, of which nothing is read yet.

    Raises:
        NotFoundError: there is none.
        DataLossError: it is no checkpoint of pullback; a part of it that is torn or was changed, when it is read.
        ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.
    """
    if not (path / MANIFEST).is_file():
        raise NoCheckpointError(f"there is no checkpoint at {path}")
    with limited("restore") as reading:
        folder, where = _folder_of(path), f"{path / MANIFEST}"
        entries = field(_manifest_of(path), "arrays", dict, where)
        reading.takes_nodes(len(entries))
        return {
            name: _saved(folder / str(i), f"{path}: '{name}'", entry) for i, (name, entry) in enumerate(entries.items())
        }


def remove_folder(path: Path) -> None:
    """Delete the checkpoint at `path`, whose manifest goes first: what is left of it is none."""
    (path / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def tensorstore_module() -> Any:
    """The library that reads and writes arrays; ImportError where it is not installed."""
    try:
        import tensorstore
    except ModuleNotFoundError as error:
        raise ImportError(
            f"Saver: sharded=True needs tensorstore ({error}): pip install 'pullback[sharded]'"
        ) from error
    return tensorstore


def _remove_all_but(kept: Path | None, path: Path) -> None:
    """Remove what saves have left that did not come to their end, or were replaced."""
    for entry in path.iterdir():
        if entry.name.isdecimal() and entry != kept:
            shutil.rmtree(entry)


def _manifest(number: int, arrays: Mapping[str, tuple[Kind, Shards]]) -> str:
    entries = {
        name: {"kind": kind, "dtype": shards.type.dtype.name, "shape": list(shards.type.shape.known)}
        for name, (kind, shards) in arrays.items()
    }
    manifest = {"format": FORMAT, "version": VERSION, "writer": f"pullback {__version__}"}
    return json.dumps({**manifest, "folder": number, "arrays": entries}, indent=1)


def _manifest_of(path: Path) -> dict[str, Any]:
    where = path / MANIFEST
    manifest = expect(parsed(where.read_bytes(), str(where)), dict, str(where))
    if manifest.get("format") != FORMAT:
        raise DataLossError(f"{path} was not written by pullback: its format is {shown(manifest.get('format'))}")
    if manifest.get("version") != VERSION:
        version = shown(manifest.get("version"))
        raise DataLossError(f"{path} has format version {version}; this pullback reads version {VERSION}")
    return manifest


def _folder_of(path: Path) -> Path:
    """Where the arrays are that the manifest names."""
    return path / str(field(_manifest_of(path), "folder", int, str(path / MANIFEST)))


def _saved(folder: Path, where: str, entry: Any) -> SavedSource:
    entry = expect(entry, dict, where)
    kind = as_kind(field(entry, "kind", str, where), where)
    shape = [expect(n, int, f"{where}: a length") for n in field(entry, "shape", list, where)]
    if min(shape, default=0) < 0:
        raise DataLossError(f"{where}: there is no array of shape {shown(shape)}")
    try:
        kept = TensorType(as_dtype(field(entry, "dtype", str, where)), TensorShape(shape))
    except TypeError as error:
        raise DataLossError(f"{where}: {error}") from error
    return SavedSource(kind, Source(kept, partial(_part, folder, where, kept)))


def _part(folder: Path, where: str, kept: TensorType, index: Index) -> np.ndarray[Any, Any]:
    """A part of a saved array; DataLossError where its chunks are not what was written."""
    lengths = [len(range(*at.indices(n))) for at, n in zip(index, kept.shape.known, strict=True)]
    asked = math.prod(lengths) * kept.dtype.itemsize
    if asked > _LARGEST_CHUNK and asked > _bytes_in(folder):
        raise DataLossError(f"{where} is not what was written: its files have less than the {asked:,} bytes of {kept}")
    try:
        read: np.ndarray[Any, Any] = _opened(folder, kept)[index].read().result()
    except ValueError as error:
        said = str(error).partition(" [tensorstore_spec")[0]
        raise DataLossError(f"{where} is not what was written: {said}") from error
    return read


def _bytes_in(folder: Path) -> int:
    """What the chunks of an array have."""
    return sum([file.stat().st_size for file in folder.rglob("*") if file.is_file()])


def _chunk(shards: Shards) -> list[int]:
    """The lengths of what is in one file: a shard, or where that is large a part of it along its first axis."""
    if not shards.block:
        return []
    rows, *rest = shards.block
    row = math.prod(rest) * shards.type.dtype.itemsize
    fitting = (n for n in range(rows, 0, -1) if rows % n == 0 and n * row <= _LARGEST_CHUNK)
    return [max(n, 1) for n in (next(fitting, 1), *rest)]


def _created(folder: Path, shards: Shards) -> Any:
    """The array in `folder`, by whichever process comes first."""
    grid = {"name": "regular", "configuration": {"chunk_shape": _chunk(shards)}}
    return _opened(folder, shards.type, create=True, chunk_grid=grid)


def _opened(folder: Path, kept: TensorType, create: bool = False, **layout: Any) -> Any:
    """The array in `folder`, which must be of that type, uncompressed, with a checksum for each chunk."""
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    metadata = {"shape": list(kept.shape.known), "data_type": kept.dtype.name, "codecs": codecs, **layout}
    spec = {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": os.path.join(os.path.abspath(folder), "")},
        "metadata": metadata,
        "store_data_equal_to_fill_value": True,
        "fill_missing_data_reads": False,
    }
    return tensorstore_module().open(spec, open=True, create=create).result()
