"""Runs a test's program in several Python processes at once, each of two CPU devices, joined by `pullback launch`."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

HEAD = """
import sys
import jax
import numpy as np
import pullback as pb
pb.distributed.initialize()
count, index = pb.distributed.process_count(), pb.distributed.process_index()
"""
TIMEOUT = 1200
"""Seconds after which the processes have waited for each other for too long."""


def launched(
    count: int, parts: list[str], folder: Path, *options: str, arguments: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """What became of a program, with pullback as `pb`, NumPy as `np`, the `count` of processes and its own `index`."""
    file = folder / "program.py"
    file.write_text("".join([HEAD, *map(textwrap.dedent, parts)]))
    flags = "--xla_force_host_platform_device_count=2"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    where = ["-n", str(count), "--lost-timeout", "10", *options]
    command = [sys.executable, "-m", "pullback", "launch", *where, str(file), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT)


def run_in_processes(count: int, parts: list[str], folder: Path, *options: str) -> None:
    """Run the program of these parts in so many processes; all end well, however long a busy machine takes."""
    done = launched(count, parts, folder, "--lost-timeout", "600", *options)
    assert done.returncode == 0, done.stdout + done.stderr
