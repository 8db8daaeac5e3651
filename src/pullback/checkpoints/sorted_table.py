"""Sorted string tables (LevelDB): files of keys and values by key, the indices of TensorFlow's checkpoints.

Blocks of entries, a block that says where they are, and a footer that says where that is. A key is written without what
it has in common with the one before it; each block has a checksum. After LevelDB, `doc/table_format.md`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from ..core.errors import DataLossError
from ..core.limits import Reading
from .crc32c import crc32c, masked
from .snappy import uncompressed
from .varints import take_varint, varint

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_TRAILER = 5
_BLOCK_SIZE = 1 << 18
_RESTART_INTERVAL = 16
_PLAIN, _SNAPPY = 0, 1


class Handle(NamedTuple):
    """Where a block is in its file."""

    offset: int
    size: int

    def written(self) -> bytes:
        """The handle as a table holds it."""
        return varint(self.offset) + varint(self.size)


def is_table(path: Path) -> bool:
    """Whether a file ends as a sorted table does."""
    if not path.is_file() or path.stat().st_size < _FOOTER:
        return False
    with open(path, "rb") as file:
        file.seek(-8, 2)
        return file.read() == struct.pack("<Q", _MAGIC)


def read_table(path: Path, reading: Reading) -> dict[bytes, bytes]:
    """All entries of the table at `path`.

    Raises:
        DataLossError: it is torn or was changed, or is no table.
        ResourceExhaustedError: it is beyond a limit of `reading`.
    """
    data = path.read_bytes()
    if not is_table(path):
        raise DataLossError(f"{path} is not a whole table of TensorFlow's: its last bytes are not those of one")
    try:
        return dict(_entries_of_table(path, data, reading))
    except (IndexError, ValueError, struct.error) as error:
        if isinstance(error, DataLossError):
            raise
        raise DataLossError(f"{path} is not a whole table: {error}") from None


def write_table(file: IO[bytes], entries: Mapping[bytes, bytes], block_size: int = _BLOCK_SIZE) -> None:
    """Writes a table of `entries`, in blocks of about `block_size` bytes."""
    index: dict[bytes, bytes] = {}
    block: dict[bytes, bytes] = {}
    size = 0
    for key in sorted(entries):
        block[key] = entries[key]
        size += len(key) + len(entries[key])
        if size >= block_size:
            index[key] = _write_block(file, block).written()
            block, size = {}, 0
    if block:
        index[max(block)] = _write_block(file, block).written()
    handles = _write_block(file, {}).written() + _write_block(file, index).written()
    file.write(handles.ljust(_FOOTER - 8, b"\0") + struct.pack("<Q", _MAGIC))


def _entries_of_table(path: Path, data: bytes, reading: Reading) -> Iterator[tuple[bytes, bytes]]:
    footer = data[-_FOOTER:]
    _, at = _taken_handle(footer, 0)
    handle, _ = _taken_handle(footer, at)
    end = 0
    for _, value in _entries(_block(path, data, handle, reading), reading):
        handle, _ = _taken_handle(value, 0)
        if handle.offset < end:
            raise DataLossError(f"{path} is not a whole table: its blocks lie one upon the other")
        end = handle.offset + handle.size
        yield from _entries(_block(path, data, handle, reading), reading)


def _block(path: Path, data: bytes, handle: Handle, reading: Reading) -> bytes:
    """The content of a block, checked."""
    end = handle.offset + handle.size
    if end + _TRAILER > len(data) - _FOOTER:
        raise DataLossError(f"{path} is not a whole table: it ends before the block at byte {handle.offset}")
    checked = data[handle.offset : end + 1]
    (checksum,) = struct.unpack_from("<I", data, end + 1)
    if masked(crc32c(checked)) != checksum:
        raise DataLossError(f"{path} was changed: the block at byte {handle.offset} has another checksum")
    if data[end] == _PLAIN:
        return checked[:-1]
    if data[end] == _SNAPPY:
        return uncompressed(checked[:-1], reading)
    raise DataLossError(f"{path}: the block at byte {handle.offset} is compressed in an unknown way, {data[end]}")


def _entries(block: bytes, reading: Reading) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a block, whose end lists the places where a key is whole."""
    (restarts,) = struct.unpack_from("<I", block, len(block) - 4)
    end = len(block) - 4 * (restarts + 1)
    at, length, key = 0, 0, b""
    while at < end:
        shared, at = take_varint(block, at)
        own, at = take_varint(block, at)
        size, at = take_varint(block, at)
        if shared > len(key) or at + own + size > end:
            raise ValueError(f"an entry at byte {at} of a block does not fit")
        key = key[:shared] + block[at : at + own]
        at += own + size
        length += len(key)
        reading.takes_nodes()
        reading.takes_bytes(length)
        yield key, block[at - size : at]


def _write_block(file: IO[bytes], entries: Mapping[bytes, bytes]) -> Handle:
    written = bytearray()
    restarts = []
    before = b""
    for i, (key, value) in enumerate(entries.items()):
        if i % _RESTART_INTERVAL == 0:
            restarts.append(len(written))
            before = b""
        shared = _shared(before, key)
        written += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    restarts = restarts or [0]
    written += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
    handle = Handle(file.tell(), len(written))
    written.append(_PLAIN)
    file.write(written + struct.pack("<I", masked(crc32c(bytes(written)))))
    return handle


def _shared(a: bytes, b: bytes) -> int:
    """How many bytes `a` and `b` begin with in common."""
    return next((i for i, (p, q) in enumerate(zip(a, b, strict=False)) if p != q), min(len(a), len(b)))


def _taken_handle(data: bytes, at: int) -> tuple[Handle, int]:
    offset, at = take_varint(data, at)
    size, at = take_varint(data, at)
    return Handle(offset, size), at
