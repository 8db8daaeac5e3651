"""Headroom: a program is given the memory of variables only while there is enough for what it computes beside them.

XLA on processors allocates after it has taken the donated arguments over: where that fails they are gone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import messages

_LITTLE = 1 << 16
"""Bytes that are not looked for before each run."""


def headroom_of(compiled: Any) -> int:
    """The bytes that a compiled program needs beside its arguments; 0 where that is little."""
    analysis = compiled.memory_analysis()
    needed = analysis.temp_size_in_bytes + analysis.output_size_in_bytes - analysis.alias_size_in_bytes
    return int(needed) if needed > _LITTLE else 0


def make_sure_of(nbytes: int) -> None:
    """ResourceExhaustedError where so much memory cannot be had; none of it is touched."""
    try:
        np.empty(nbytes, np.uint8)
    except MemoryError:
        raise messages.no_room_for_program(f"Out of memory allocating {nbytes} bytes.") from None
