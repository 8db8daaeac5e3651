"""Runs a test's program in a Python process that has several CPU devices."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def run_on_devices(count: int, program: str) -> None:
    """Run `program`, with NumPy as `np` and pullback as `pb`, where jax has `count` devices."""
    head = "import jax\nimport numpy as np\nimport pullback as pb\n"
    flags = f"--xla_force_host_platform_device_count={count}"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(program)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
