"""The machine that the numbers are of, in one line."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe_machine() -> str:
    """Processor, number of cores, system, and how busy it is."""
    busy = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, {busy}"


def last_core() -> int | None:
    """The core that the workers are bound to, which is rarely the busiest; None where the system cannot bind them."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _processor() -> str:
    cpus = Path("/proc/cpuinfo")
    if cpus.exists():
        for line in cpus.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
