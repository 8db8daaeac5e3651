"""Nothing of pullback's sets what belongs to the process: its allocator above all."""

from __future__ import annotations

import os
import platform
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


STEPS = """
import resource
import numpy as np
import pullback as pb

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

x = y = pb.placeholder(pb.float32, [4096, 8])
weights = [pb.ones(shape) for shape in [(8, 1024), (1024, 8)] * 2]
for w in weights:
    y = pb.tanh(y @ w)
step, rows = pb.gradients(y, weights), np.ones((4096, 8), np.float32)
session = pb.Session(engine="xla")
needed = session.compiled_memory(step, {x: rows})["temporary"]
for _ in range(4):
    session.run(step, {x: rows})
touched = [1.0]
while min(touched) >= 0.5 and len(touched) < 200:
    before = faults()
    session.run(step, {x: rows})
    touched.append((faults() - before) / (needed / resource.getpagesize()))
print(needed >> 20, min(touched))
"""


@pytest.mark.skipif("glibc" not in platform.libc_ver(), reason="other C libraries keep memory, or not, by other rules")
def test_temporary_memory_is_not_asked_of_the_system_in_each_step() -> None:
    """Else 1.0 of its pages are touched anew in each; how many are in most depends on which threads give it back."""
    uncached = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    done = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=True, env=uncached)
    megabytes, touched = map(float, done.stdout.split())
    assert megabytes > 40
    assert touched < 0.8
