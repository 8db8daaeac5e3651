"""`pullback run`: runs a TensorFlow program without TensorFlow."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from pathlib import Path

from ..compat import install, numpy_names
from ..engines.default_engine import use_engine
from ..engines.memory import keep_freed_memory
from .failure import CommandError

_FEW_CORES = 4


def run(args: argparse.Namespace) -> int:
    """Runs the program as Python would, with its folder first on the path; 0 if it ends by itself.

    NumPy has the names again that programs of that time use: `np.float`, `np.int` and their like. The process is the
    program's alone: on few cores it keeps freed memory, which halves the time of steps with large temporary buffers.
    """
    program = Path(args.program)
    if not program.is_file():
        raise CommandError(f"pullback run: there is no file {args.program}")
    install(v2_names=args.v2_names)
    numpy_names.restore()
    use_engine(args.engine)
    if (os.cpu_count() or 1) <= _FEW_CORES:
        keep_freed_memory()
    sys.argv = [args.program, *args.arguments]
    sys.path.insert(0, str(program.parent))
    runpy.run_path(args.program, run_name="__main__")
    return 0
