"""CRC-32C (Castagnoli) checksums of TensorFlow's files, masked as LevelDB masks them."""

from __future__ import annotations

from typing import Any

import numpy as np

_MASK = 0xA282EAD8
_WORD = 0xFFFFFFFF


def crc32c(data: bytes | np.ndarray[Any, Any], crc: int = 0) -> int:
    """The checksum of what has the checksum `crc` and, behind it, `data`.

    Raises:
        ImportError: the package google-crc32c is not installed.

    >>> hex(crc32c(b"56789", crc32c(b"1234")))
    '0xe3069283'
    """
    try:
        from google_crc32c import extend
    except ModuleNotFoundError as error:
        raise ImportError(
            f"TensorFlow's files need google-crc32c ({error}): pip install 'pullback[tensorflow]'"
        ) from error
    if isinstance(data, np.ndarray):
        data = data.view()
        data.flags.writeable = False
    return int(extend(crc, data))


def masked(crc: int) -> int:
    """The checksum as files hold it: one of data that have checksums in them is not likely to be among those."""
    return ((crc >> 15 | crc << 17) + _MASK) & _WORD
