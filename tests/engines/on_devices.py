"""Runs a test's program in a Python process that has several CPU devices."""

from __future__ import annotations

import os
import tempfile
import textwrap
from multiprocessing import get_context
from pathlib import Path

_FORKS = get_context("forkserver")
# Importing jax takes ten times as long as a program here: it is imported once, by a process that only forks.
_FORKS.set_forkserver_preload(["jax.numpy", "pullback.engines.xla.engine"])


def run_on_devices(count: int, program: str) -> None:
    """Run `program`, with NumPy as `np` and pullback as `pb`, where jax has `count` devices."""
    head = "import jax\nimport numpy as np\nimport pullback as pb\n"
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        process = _FORKS.Process(target=_run, args=(count, head + textwrap.dedent(program), output))
        process.start()
        process.join()
        assert process.exitcode == 0, output.read_text()


def _run(count: int, program: str, output: Path) -> None:
    """In the new process: `program` as a script, and what it prints to a file."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT)
    os.dup2(file, 1)
    os.dup2(file, 2)
    import jax

    # The platform was read when jax was imported, the flags are when it first looks for devices.
    jax.config.update("jax_platforms", "cpu")
    os.environ |= {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={count}"}
    exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
