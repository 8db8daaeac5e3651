"""Resident memory of this process, now and at its highest, in bytes."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_PROC = Path("/proc/self")


def resident_memory() -> int:
    """What is resident now; where the system does not tell, the most there has been."""
    return _status("VmRSS") or peak_memory()


def peak_memory() -> int:
    """The most that was resident since `reset_peak`, or since the start where that does nothing."""
    unit = 1 if sys.platform == "darwin" else 1024
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def reset_peak() -> None:
    """Forget the peak so far; only Linux can."""
    forget = _PROC / "clear_refs"
    if forget.exists():
        forget.write_text("5")


def _status(field: str) -> int | None:
    status = _PROC / "status"
    if not status.exists():
        return None
    for line in status.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None
