"""Variable-length integers (LEB128): seven bits a byte, the lowest first."""

from __future__ import annotations

_LONGEST = 10


def varint(number: int) -> bytes:
    """
    >>> varint(300)
    b'\\xac\\x02'
    """
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def take_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at byte `at`, and where it ends; IndexError where the bytes end before it does.

    >>> take_varint(b"\\xac\\x02", 0)
    (300, 2)
    """
    number = 0
    for i in range(_LONGEST):
        byte = data[at + i]
        number |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return number, at + i + 1
    raise ValueError(f"a number at byte {at} has more than {_LONGEST} bytes")
