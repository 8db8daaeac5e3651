"""Ordered codes: the keys of parts of tensors in TensorFlow's checkpoints, whose bytes sort as what they say does."""

from __future__ import annotations

from collections.abc import Iterable

Extent = tuple[int, int]
"""Where a part begins along an axis, and its length; -1 for all of it."""


def key_of_part(name: str, extents: Iterable[Extent]) -> bytes:
    """The key of the part of the tensor `name` that has these extents.

    >>> key_of_part("w", [(0, -1), (4, 300)])
    b'\\x00w\\x00\\x01\\x01\\x02\\x80\\x7f\\x84\\xc1,'
    """
    extents = tuple(extents)
    numbers = b"".join([_signed(number) for extent in extents for number in extent])
    return _unsigned(0) + _text(name) + _unsigned(len(extents)) + numbers


def _text(text: str) -> bytes:
    return text.encode().replace(b"\0", b"\0\xff") + b"\0\1"


def _unsigned(number: int) -> bytes:
    """How many bytes, then the bytes, the first of them the highest."""
    length = (number.bit_length() + 7) // 8
    return bytes([length]) + number.to_bytes(length, "big")


def _signed(number: int) -> bytes:
    """Two's complement; as many of the first bits as there are bytes are flipped."""
    bits = (number if number >= 0 else ~number).bit_length()
    length = bits // 7 + 1
    flipped = (1 << length) - 1 << 7 * length
    return ((number & (1 << 8 * length) - 1) ^ flipped).to_bytes(length, "big")
