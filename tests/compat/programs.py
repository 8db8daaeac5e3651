"""Runs programs that import TensorFlow in a process that has none."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path


def run_program(folder: Path, program: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    """What `program` prints, run by `pullback run` with `options` before the file and `arguments` behind it."""
    file = folder / "program.py"
    file.write_text(textwrap.dedent(program))
    command = [sys.executable, "-m", "pullback", "run", *options, str(file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
