"""Record files (TFRecord): byte strings one behind the other, each with its length and checksums.

A record is its length in eight bytes, the masked CRC-32C of these, the data, and the masked CRC-32C of the data. The
whole file may be compressed, as zlib or gzip do it.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any

from ..checkpoints.crc32c import crc32c, masked
from ..core.errors import DataLossError, InvalidArgumentError, MissingFileError
from ..core.limits import Reading

PathLike = str | bytes | os.PathLike[str]
WINDOWS = {"": 0, "ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}
"""The names of the compressions, and the window and format that zlib has for each."""
FRAME = 16
"""The bytes of a record beside its data."""
_PIECE = 1 << 16


def open_to_read(path: PathLike, compression: str = "") -> IO[bytes]:
    """The bytes of a file, unpacked.

    Raises:
        NotFoundError: there is no such file. DataLossError, when it is read: it is not compressed like that.
        ValueError: no compression has that name.
    """
    window = window_of(compression)
    try:
        file = open(path, "rb")  # noqa: SIM115, handed on
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise MissingFileError(f"there is no file {os.fsdecode(path)}") from error
    return io.BufferedReader(_Inflated(file, window, os.fsdecode(path))) if window else file


def window_of(compression: str) -> int:
    """What zlib is told for a compression; ValueError where there is none of that name."""
    if compression not in WINDOWS:
        raise ValueError(f"compression must be '', 'ZLIB' or 'GZIP', not {compression!r}")
    return WINDOWS[compression]


def read_records(path: PathLike, compression: str = "") -> Iterator[bytes]:
    """The records of a file, in their order.

    Raises:
        NotFoundError: there is no such file. DataLossError: it is torn or was changed, or is none of records.
        ResourceExhaustedError: a record is larger than `pb.config.Limits` allows.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     writer = RecordWriter(file.name)
    ...     writer.write(b"one")
    ...     writer.close()
    ...     list(read_records(file.name))
    [b'one']
    """
    reading = Reading("reading records")
    place = 0
    with open_to_read(path, compression) as file:
        while header := file.read(12):
            where = f"{os.fsdecode(path)}: the record at byte {place}"
            length = int.from_bytes(_checked(header, 8, where)[:8], "little")
            reading.takes_bytes(length)
            yield _checked(file.read(length + 4), length, where)
            place += length + FRAME


def read_lines(path: PathLike, compression: str = "") -> Iterator[bytes]:
    """The lines of a file, without their ends.

    Raises:
        NotFoundError, DataLossError: see `open_to_read`. ResourceExhaustedError: a line is too long.
    """
    reading = Reading("reading lines")
    with open_to_read(path, compression) as file:
        while line := file.readline(reading.limits.bytes + 1):
            reading.takes_bytes(len(line))
            yield line.removesuffix(b"\n").removesuffix(b"\r")


def read_pieces(
    path: PathLike, length: int, header: int = 0, footer: int = 0, hop: int | None = None, compression: str = ""
) -> Iterator[bytes]:
    """Pieces of `length` bytes, one each `hop` bytes, of what stands between the header and the footer of a file.

    Raises:
        NotFoundError, DataLossError, ResourceExhaustedError: see `read_whole`.
        InvalidArgumentError: without a `hop` of another length, the file does not consist of whole pieces.
    """
    data = read_whole(path, compression)
    body = data[header : max(header, len(data) - footer)]
    if hop in (None, length) and len(body) % length:
        raise InvalidArgumentError(
            f"{os.fsdecode(path)}: {len(body)} bytes stand between header and footer, not pieces of {length}"
        )
    for start in range(0, len(body) - length + 1, hop or length):
        yield body[start : start + length]


def read_whole(path: PathLike, compression: str = "") -> bytes:
    """All bytes of a file.

    Raises:
        NotFoundError, DataLossError: see `open_to_read`. ResourceExhaustedError: there are too many.
    """
    reading = Reading("reading a file")
    with open_to_read(path, compression) as file:
        data = file.read(reading.limits.bytes + 1)
    reading.takes_bytes(len(data))
    return data


def _checked(data: bytes, length: int, where: str) -> bytes:
    """The first `length` bytes of `data`, whose checksum stands behind them."""
    if len(data) < length + 4:
        raise DataLossError(f"{where} is torn: the file ends in it")
    found = data[:length]
    if struct.pack("<I", masked(crc32c(found))) != data[length:]:
        raise DataLossError(f"{where} was changed, or this is no file of records: its checksum is that of other bytes")
    return found


class RecordWriter:
    """Writes records into a new file at `path`, one after the other; `level` is how well zlib is to compress."""

    def __init__(self, path: PathLike, compression: str = "", level: int | None = None) -> None:
        window = window_of(compression)
        self._file = open(path, "wb")  # noqa: SIM115, closed by `close`
        self._packer = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, window) if window else None

    def write(self, record: bytes) -> None:
        """Write one record more."""
        length = struct.pack("<Q", len(record))
        data = length + _sum(length) + record + _sum(record)
        self._file.write(self._packer.compress(data) if self._packer else data)

    def flush(self) -> None:
        """Hand what is written to the system."""
        if self._packer:
            self._file.write(self._packer.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Finish the file; a second time does nothing."""
        if not self._file.closed:
            self._file.write(self._packer.flush() if self._packer else b"")
            self._file.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _sum(data: bytes) -> bytes:
    return struct.pack("<I", masked(crc32c(data)))


class _Inflated(io.RawIOBase):
    """What a compressed file unpacks to, piece by piece."""

    def __init__(self, file: IO[bytes], window: int, name: str) -> None:
        self._file, self._window, self._name = file, window, name
        self._unpacker = zlib.decompressobj(window)
        self._packed = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._unpacker.eof:
                self._packed = self._unpacker.unused_data or self._file.read(_PIECE)
                if not self._packed:
                    return 0
                self._unpacker = zlib.decompressobj(self._window)
            self._packed = self._packed or self._file.read(_PIECE)
            data = self._unpacked(len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)

    def _unpacked(self, most: int) -> bytes:
        try:
            if not self._packed:
                raise zlib.error("it ends too early")
            data = self._unpacker.decompress(self._packed, most)
        except zlib.error as error:
            raise DataLossError(f"{self._name} is torn, or is not compressed like that: {error}") from None
        self._packed = self._unpacker.unconsumed_tail
        return data

    def close(self) -> None:
        self._file.close()
        super().close()
