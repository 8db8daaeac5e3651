"""Threads on which compiled programs compute."""

from __future__ import annotations

import os


def threads() -> int:
    """The threads on which XLA computes in this process."""
    given = os.environ.get("PJRT_NPROC") or os.environ.get("NPROC") or ""
    if given.isdecimal():
        return max(int(given), 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
