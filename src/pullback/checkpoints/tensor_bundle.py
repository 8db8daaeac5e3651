"""Tensor bundles: TensorFlow's checkpoints of version 2, and the variables of its SavedModels.

`<prefix>.index` is a sorted table: for the key "" a header, for each name where its bytes are and their checksum;
`<prefix>.data-00000-of-00002` and the like have the bytes. After TensorFlow, `core/util/tensor_bundle`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..core.data_types import NUMBERS
from ..core.dtypes import string
from ..core.errors import DataLossError, NoCheckpointError, NotFoundError, UnimplementedError
from ..core.files import replace_file
from ..core.limits import Reading, limited
from ..core.types import TensorType
from .crc32c import crc32c, masked
from .messages import messages, parsed
from .ordered_code import key_of_part
from .parts import check_readable, count_of, extents_of, extents_within, joined, type_of_entry
from .sorted_table import read_table, write_table
from .varints import take_varint, varint

Array = np.ndarray[Any, Any]
_WORD = 1 << 32


@dataclass(frozen=True)
class TensorBundle:
    """What the index of a bundle says."""

    prefix: Path
    shards: int
    entries: Mapping[bytes, Any]
    types: Mapping[str, TensorType] = field(default_factory=dict)

    def read(self, name: str) -> Array:
        """The array `name`, whose bytes are checked."""
        with limited("load_checkpoint") as reading:
            tensor, entry = self.types[name], self.entries[name.encode()]
            check_readable(self.prefix, name, tensor)
            if not entry.slices:
                return self._read_entry(name, tensor, entry)
            return self._joined(name, tensor, entry, reading)

    def _joined(self, name: str, tensor: TensorType, entry: Any, reading: Reading) -> Array:
        parts = []
        for extents in map(extents_of, entry.slices):
            reading.takes_nodes()
            part = self.entries.get(key_of_part(name, extents))
            if part is None:
                raise DataLossError(f"{self.prefix}.index is damaged: '{name}' lacks its part {list(extents)}")
            indices = extents_within(self.prefix, name, extents, tensor)
            its_type = type_of_entry(self.prefix, name, part.dtype, part.shape)
            if its_type.dtype != tensor.dtype:
                raise DataLossError(f"{self.prefix}.index is damaged: a part of '{name}', {tensor}, is {its_type}")
            parts.append((indices, self._read_entry(name, its_type, part)))
        return joined(self.prefix, name, tensor, parts, reading)

    def _read_entry(self, name: str, tensor: TensorType, entry: Any) -> Array:
        path = self._shard(name, entry)
        dtype: Any = tensor.dtype
        if dtype != string and entry.size != count_of(tensor) * dtype.itemsize:
            raise DataLossError(f"{self.prefix}.index is damaged: '{name}', {tensor}, has {entry.size} bytes")
        data = np.fromfile(path, np.uint8, entry.size, offset=entry.offset)
        if dtype == string:
            return _texts(path, name, tensor, data.tobytes(), entry.crc32c)
        if masked(crc32c(data)) != entry.crc32c:
            raise _changed(path, name)
        array: Array = data.view(dtype).reshape(tensor.shape.known)
        return array

    def _shard(self, name: str, entry: Any) -> Path:
        """The file that has the bytes of an entry."""
        path = shard_path(self.prefix, entry.shard_id, self.shards)
        if not 0 <= entry.shard_id < self.shards or entry.offset < 0 or entry.size < 0:
            raise DataLossError(f"{self.prefix}.index is damaged: the place of '{name}' is nowhere")
        if not path.is_file():
            raise NotFoundError(f"{self.prefix}.index has '{name}' in {path}, which is not there")
        if path.stat().st_size < entry.offset + entry.size:
            raise DataLossError(f"{path} is not a whole checkpoint: it ends before '{name}' does")
        return path


def is_bundle(prefix: Path) -> bool:
    """Whether there is an index of that prefix."""
    return index_path(prefix).is_file()


def open_bundle(prefix: Path) -> TensorBundle:
    """The bundle of that prefix, of which only the index has been read.

    Raises:
        NotFoundError: there is none. DataLossError: the index is torn or was changed.
        ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.
    """
    known, path = messages(), index_path(prefix)
    if not path.is_file():
        raise NoCheckpointError(f"there is no checkpoint at {prefix}: no {path.name}")
    with limited("load_checkpoint") as reading:
        table = read_table(path, reading)
        header = parsed(path, "header", known.BundleHeader, table.pop(b"", b""))
        if header.endianness or header.version.min_consumer > 1:
            raise UnimplementedError(
                f"{path} is not read: its byte order is {header.endianness}, its version {header.version.producer}"
            )
        entries = {key: parsed(path, str(key), known.BundleEntry, value) for key, value in table.items()}
        types = {}
        for key, entry in entries.items():
            if not key.startswith(b"\0"):
                name = _name(path, key)
                types[name] = type_of_entry(path, name, entry.dtype, entry.shape)
        return TensorBundle(prefix, header.num_shards, entries, types)


def read_bundle(prefix: Path) -> dict[str, Array]:
    """All arrays of a bundle by name, such as the variables of a SavedModel, whose prefix is `variables/variables`.

    Raises:
        NotFoundError, DataLossError, ResourceExhaustedError: see `open_bundle`.
        UnimplementedError: it has something that is no array.
    """
    bundle = open_bundle(prefix)
    return {name: bundle.read(name) for name in bundle.types}


def write_bundle(prefix: Path, arrays: Mapping[str, Array]) -> None:
    """Writes a bundle of one shard; each of its two files appears whole or not at all, the index last."""
    named = {name.encode(): np.asarray(array) for name, array in arrays.items()}
    table = {b"": _header()}
    replace_file(shard_path(prefix, 0, 1), lambda file: table.update(_write_shard(file, named)))
    replace_file(index_path(prefix), lambda file: write_table(file, table))


def bundle_files(prefix: Path) -> list[Path]:
    """The files of a bundle that are there, the index first."""
    parts = prefix.parent.glob(f"{_literal(prefix.name)}.data-?????-of-?????")
    return [path for path in (index_path(prefix), *sorted(parts)) if path.is_file()]


def index_path(prefix: Path) -> Path:
    """The place of the index."""
    return prefix.with_name(f"{prefix.name}.index")


def shard_path(prefix: Path, number: int, count: int) -> Path:
    """The place of one of the files that have the bytes."""
    return prefix.with_name(f"{prefix.name}.data-{number:05d}-of-{count:05d}")


def _literal(name: str) -> str:
    """A pattern of `glob` for this name alone."""
    return "".join([f"[{c}]" if c in "*?[" else c for c in name])


def _header() -> bytes:
    header = messages().BundleHeader(num_shards=1)
    header.version.producer = 1
    written: bytes = header.SerializeToString()
    return written


def _write_shard(file: IO[bytes], arrays: Mapping[bytes, Array]) -> dict[bytes, bytes]:
    """Writes the elements of all arrays one behind the other; the entries of the index."""
    entries = {}
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        entry = messages().BundleEntry(dtype=NUMBERS[array.dtype])
        entry.shape.SetInParent()
        for length in arrays[name].shape:
            entry.shape.dim.add().size = length
        if file.tell():
            entry.offset = file.tell()
        written, crc = _written_texts(array) if array.dtype == string else (array.reshape(-1).view(np.uint8), None)
        entry.size, entry.crc32c = len(written), masked(crc32c(written) if crc is None else crc)
        file.write(written.data if isinstance(written, np.ndarray) else written)
        entries[name] = entry.SerializeToString()
    return entries


def _written_texts(array: Array) -> tuple[bytes, int]:
    """Texts as bundles hold them: lengths, their checksum, the texts; and the checksum of all, lengths as words."""
    texts = array.reshape(-1).tolist()
    lengths = b"".join([varint(len(text)) for text in texts])
    crc = crc32c(_words([len(text) for text in texts]))
    checksum = struct.pack("<I", masked(crc))
    content = b"".join(texts)
    return lengths + checksum + content, crc32c(content, crc32c(checksum, crc))


def _texts(path: Path, name: str, tensor: TensorType, data: bytes, checksum: int) -> Array:
    """The texts of an entry, checked."""
    lengths, at = [], 0
    try:
        if count_of(tensor) > len(data):
            raise IndexError
        for _ in range(count_of(tensor)):
            length, at = take_varint(data, at)
            lengths.append(length)
    except (IndexError, ValueError):
        raise DataLossError(
            f"{path} is not a whole checkpoint: the lengths of the texts of '{name}' are torn"
        ) from None
    crc = crc32c(_words(lengths))
    content = at + 4
    if data[at:content] != struct.pack("<I", masked(crc)) or content + sum(lengths) != len(data):
        raise _changed(path, name)
    if masked(crc32c(data[content:], crc32c(data[at:content], crc))) != checksum:
        raise _changed(path, name)
    texts = np.empty(len(lengths), string)
    for i, length in enumerate(lengths):
        texts[i] = data[content : content + length]
        content += length
    return texts.reshape(tensor.shape.known)


def _words(lengths: list[int]) -> bytes:
    return b"".join([struct.pack("<I" if n < _WORD else "<Q", n) for n in lengths])


def _name(path: Path, key: bytes) -> str:
    try:
        return key.decode()
    except UnicodeDecodeError:
        raise DataLossError(f"{path} is damaged: {key!r} is no name") from None


def _changed(path: Path, name: str) -> DataLossError:
    return DataLossError(f"{path} was changed: '{name}' has another checksum")
