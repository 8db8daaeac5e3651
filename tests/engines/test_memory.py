"""Nothing of pullback's sets what belongs to the process: its allocator above all."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import ctypes
import sys
import numpy as np
import pullback as pb

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

{before}
with pb.Session(engine="xla") as session:
    session.run(pb.reduce_sum(pb.constant(np.ones(1000, np.float32)) * 2.0))
    array = np.ones(200 << 20, np.uint8)
    held = resident()
    del array
    print(held - resident() > 150 << 20)
"""


def freed(before: str) -> str:
    """What a process prints of a large array that it has dropped: whether the system has its memory back."""
    program = PROGRAM.format(before=before)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_session_leaves_malloc_alone_unless_it_is_asked() -> None:
    assert freed("") == "True"
    assert freed("assert pb.config.keep_freed_memory()") == "False"
