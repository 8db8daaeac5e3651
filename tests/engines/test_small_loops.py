"""Loops of small steps are one function each where that is asked for; nothing else touches the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import pytest

pytest.importorskip("jax")

LOOP = """
import jax, numpy as np
loop = lambda y, w: jax.lax.while_loop(lambda y: y.max() < 100, lambda y: y @ w * w.max(), y)
compiled = jax.jit(loop).lower(np.ones([1, 64], "f"), np.eye(64, dtype="f")).compile()
print("small_call" in compiled.as_text())
"""
PROGRAM = """
import os, numpy as np, pullback as pb
{before}
flags = os.environ.get("XLA_FLAGS")
x, w = pb.placeholder(pb.float32, [1, 64]), pb.placeholder(pb.float32, [64, 64])
y = pb.while_loop(lambda y: pb.reduce_max(y) < 100.0, lambda y: pb.matmul(y, w) * pb.reduce_max(w), [x])
y = pb.Session(engine="xla").run(y, {{x: np.ones([1, 64]), w: np.eye(64) * 2}})
assert os.environ.get("XLA_FLAGS") == flags, "XLA_FLAGS is another"
print(y[0][0, 0])
"""
GIVEN = {
    "nothing": ("", None),
    "asked for": ("assert pb.config.join_small_loops()", True),
    "asked for twice": ("assert pb.config.join_small_loops() and pb.config.join_small_loops()", True),
    "beside other flags": (
        "os.environ['XLA_FLAGS'] = '--xla_cpu_multi_thread_eigen=false a=1'; assert pb.config.join_small_loops()",
        True,
    ),
    "where such options are": (
        "os.environ['XLA_FLAGS'] = '--xla_backend_extra_options=xla_cpu_nothing=1'; "
        "assert not pb.config.join_small_loops()",
        None,
    ),
}
"""What comes before the first session, and whether loops are joined then; None: as jax does it without us."""


def output(program: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@cache
def is_default() -> bool:
    """Whether jax joins small loops by itself: it does since 0.12."""
    return output(LOOP) == ["True"]


@pytest.mark.parametrize("given", GIVEN)
def test_small_loops_are_joined_where_that_is_asked_for(given: str) -> None:
    before, joins = GIVEN[given]
    expected = is_default() if joins is None else joins
    assert output(PROGRAM.format(before=before) + LOOP) == ["256.0", str(expected)]
