"""Loops of small steps are one function each, and the environment is what it was."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("jax")

PROGRAM = """
import os, re, pullback as pb
{before}
flags = os.environ.get("XLA_FLAGS")
x, w = pb.placeholder(pb.float32, [1, 64]), pb.placeholder(pb.float32, [64, 64])
y = pb.while_loop(lambda y: pb.reduce_max(y) < 100.0, lambda y: pb.matmul(y, w) * pb.reduce_max(w), [x])
session = pb.Session(engine="xla")
assert os.environ.get("XLA_FLAGS") == flags, "XLA_FLAGS is another"
import jax, numpy as np
y = session.run(y, {{x: np.ones([1, 64]), w: np.eye(64) * 2}})
loop = lambda y, w: jax.lax.while_loop(lambda y: y.max() < 100, lambda y: y @ w * w.max(), y)
compiled = jax.jit(loop).lower(np.ones([1, 64], "f"), np.eye(64, dtype="f")).compile()
print(y[0][0, 0], "small_call" in compiled.as_text())
"""
GIVEN = {
    "nothing": ("", True),
    "other flags": ("os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'", True),
    "words that are none": ("os.environ['XLA_FLAGS'] = '--xla_cpu_multi_thread_eigen=false a=1'", True),
    "such options": ("os.environ['XLA_FLAGS'] = '--xla_backend_extra_options=xla_cpu_nothing=1'", False),
    "devices that run": ("import jax; jax.devices()", False),
}


@pytest.mark.parametrize("given", GIVEN)
def test_small_loops_are_joined_unless_others_chose_before(given: str) -> None:
    before, joins = GIVEN[given]
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(before=before)], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["256.0", str(joins)]


def test_threads_that_start_first_sessions_leave_the_environment_as_it_was() -> None:
    program = """
import os, threading, pullback as pb
from pullback.engines.xla import small_loops
go = threading.Barrier(8)
def start():
    go.wait()
    pb.Session(engine="xla").close()
threads = [threading.Thread(target=start) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("XLA_FLAGS" in os.environ)
"""
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (run.returncode, run.stdout, "Error" in run.stderr) == (0, "False\n", False), run.stderr
