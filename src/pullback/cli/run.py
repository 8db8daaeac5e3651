"""`pullback run`: runs a TensorFlow program without TensorFlow."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from ..compat import install, numpy_names
from ..engines.default_engine import use_engine
from .failure import CommandError


def run(args: argparse.Namespace) -> int:
    """Runs the program as Python would, with its folder first on the path; 0 if it ends by itself.

    NumPy has the names again that programs of that time use: `np.float`, `np.int` and their like.
    """
    program = Path(args.program)
    if not program.is_file():
        raise CommandError(f"pullback run: there is no file {args.program}")
    install(v2_names=args.v2_names)
    numpy_names.restore()
    use_engine(args.engine)
    sys.argv = [args.program, *args.arguments]
    sys.path.insert(0, str(program.parent))
    runpy.run_path(args.program, run_name="__main__")
    return 0
