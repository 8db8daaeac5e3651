"""malloc settings: freed memory stays in the process, so that a compiled step does not fetch fresh pages each time.

XLA takes one temporary buffer for each call. The C library asks the system for a large one anew each time and gives it
back, and the first touch of each page costs about as much as the arithmetic on it: a transformer block took 40 ms a
step without and 28 ms with these settings on two cores (docs/notes/0003-memory-of-compiled-steps.md).
"""

from __future__ import annotations

import ctypes
import sys

_ARENA_MAX, _MMAP_MAX, _TOP_PAD, _TRIM_THRESHOLD = -8, -4, -2, -1
_SETTINGS = ((_ARENA_MAX, 1), (_MMAP_MAX, 0), (_TRIM_THRESHOLD, 1 << 30), (_TOP_PAD, 64 << 20))


def keep_freed_memory() -> bool:
    """Whether the C library was told to keep freed memory: on Linux with glibc; False elsewhere, where nothing is done.

    For the whole process, from then on: it keeps its highest use of memory until it ends, other libraries' too, and all
    its threads allocate from one arena. So nothing does this unless it is asked to. Compiled steps with temporary
    buffers beyond 32 MB get faster by it on few cores; on many cores it makes XLA compile slower.
    To be called before jax is imported, that is before the first session.

    >>> import pullback as pb
    >>> kept = pb.config.keep_freed_memory()  # doctest: +SKIP
    """
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    try:
        mallopt, version = library.mallopt, library.gnu_get_libc_version
    except AttributeError:
        return False
    del version
    return all(mallopt(parameter, value) == 1 for parameter, value in _SETTINGS)
