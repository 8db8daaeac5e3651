"""Snappy decompression: after Google's `format_description.txt`; for blocks of indices, which are small."""

from __future__ import annotations

from ..core.limits import Reading
from .varints import take_varint


def uncompressed(data: bytes, reading: Reading) -> bytes:
    """What `data` was before it was compressed.

    Raises:
        ValueError: it is no compressed data. IndexError: it ends too early.
        ResourceExhaustedError: it says that it is longer than a limit of `reading`.
    """
    length, at = take_varint(data, 0)
    reading.takes_bytes(length)
    made = bytearray()
    while at < len(data):
        at = (_append_copy if data[at] & 3 else _append_literal)(made, data, at)
        if len(made) > length:
            break
    if len(made) != length:
        raise ValueError(f"compressed data give {len(made)} bytes, and say {length}")
    return bytes(made)


def _append_literal(made: bytearray, data: bytes, at: int) -> int:
    """Appends bytes that stand in `data`; where they end."""
    size, at = data[at] >> 2, at + 1
    if size >= 60:
        count = size - 59
        size, at = int.from_bytes(data[at : at + count], "little"), at + count
    end = at + size + 1
    if end > len(data):
        raise ValueError("compressed data end in the middle of a text")
    made += data[at:end]
    return end


def _append_copy(made: bytearray, data: bytes, at: int) -> int:
    """Appends bytes that stand earlier in what was made, perhaps among themselves; where the tag ends."""
    tag, at = data[at], at + 1
    kind = tag & 3
    if kind == 1:
        size, distance, at = (tag >> 2 & 7) + 4, tag >> 5 << 8 | data[at], at + 1
    else:
        count = 2 if kind == 2 else 4
        size, distance, at = (tag >> 2) + 1, int.from_bytes(data[at : at + count], "little"), at + count
    if not 0 < distance <= len(made):
        raise ValueError("compressed data copy from before their beginning")
    begin = len(made) - distance
    repeated = bytes(made[begin : begin + min(size, distance)])
    made += (repeated * (size // len(repeated) + 1))[:size]
    return at
