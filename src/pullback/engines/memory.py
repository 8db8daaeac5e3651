"""Memory allocator settings: freed memory stays in the process, so that a step fetches no fresh pages each time.

XLA takes one temporary buffer for each call. The C library asks the system for a large one anew each time and gives it
back, and the first touch of each page costs about as much as the arithmetic on it: a transformer block took 40 ms a
step without and 28 ms with these settings (docs/notes/0003-memory-of-compiled-steps.md).
"""

from __future__ import annotations

import ctypes
import os
import sys

SWITCH = "PULLBACK_KEEP_MEMORY"

_ARENA_MAX, _MMAP_MAX, _TOP_PAD, _TRIM_THRESHOLD = -8, -4, -2, -1
_SETTINGS = ((_ARENA_MAX, 1), (_MMAP_MAX, 0), (_TRIM_THRESHOLD, 1 << 30), (_TOP_PAD, 64 << 20))


def keep_memory() -> bool:
    """Whether the C library was told to keep freed memory: on Linux with glibc, unless `PULLBACK_KEEP_MEMORY=0`.

    For the whole process, from then on. To be called before jax makes its threads. Settings that the user gave to the
    C library by environment variables (`MALLOC_ARENA_MAX` and others) are left alone.
    """
    if os.environ.get(SWITCH, "1") == "0" or not sys.platform.startswith("linux"):
        return False
    if any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ):
        return False
    library = ctypes.CDLL(None)
    try:
        mallopt, version = library.mallopt, library.gnu_get_libc_version
    except AttributeError:
        return False
    del version
    return all(mallopt(parameter, value) == 1 for parameter, value in _SETTINGS)
