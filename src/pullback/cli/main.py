"""`pullback`: reads the command line and hands over to the command, which is imported only then."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from ..version import __version__
from .failure import CommandError

DESCRIPTION = "Symbolic derivatives of dataflow graphs: the derivative of a graph is another graph."
DEMO = (
    "Trains a convolutional classifier on scikit-learn's handwritten digits and writes a report of it: training curve, "
    "picture of the graph and its gradient, the graph as text, a checkpoint."
)
OPS = "Counts the differentiable capabilities of TensorFlow that pullback has, by family."
INTERRUPTED = 130
STEPS = {"xla": 2000, "numpy": 800}
"""Steps that are enough for each engine: NumPy's are slower."""
DEFAULTS = {"batch": 64, "out": "pullback-demo", "seed": 0}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command of `argv` (the process's arguments where None); the exit code."""
    parser = _parser()
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return 0
    try:
        code: int = importlib.import_module(f".{args.command}", __package__).run(args)
    except CommandError as error:
        print(error, file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Who read our lines is gone: nobody is left to tell, and Python would complain while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pullback", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"pullback {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    demo = commands.add_parser("demo", help="train on real digits and write a report", description=DEMO)
    demo.add_argument("--engine", choices=["xla", "numpy"], help="what computes (default: xla where jax is installed)")
    length = demo.add_mutually_exclusive_group()
    steps = f"training steps in all (default: {STEPS['xla']}; {STEPS['numpy']} on numpy)"
    length.add_argument("--steps", type=_count, metavar="N", help=steps)
    length.add_argument("--seconds", type=_duration, metavar="T", help="train for T seconds instead")
    demo.add_argument("--batch", type=_count, metavar="N", help="images a step (default: %(default)s)")
    demo.add_argument("--out", metavar="FOLDER", help="where the files go (default: %(default)s)")
    demo.add_argument("--resume", action="store_true", help="go on from the checkpoint in that folder")
    demo.add_argument("--seed", type=_seed, metavar="N", help="of weights and batches (default: %(default)s)")
    demo.add_argument("--quiet", action="store_true", help="print nothing but errors")
    demo.set_defaults(**DEFAULTS)
    ops = commands.add_parser("ops", help="count the operations that are there", description=OPS)
    ops.add_argument("--missing", action="store_true", help="name those that are not")
    return parser


def _count(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, not {text!r}")
    return number


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"a whole number from 0 to 2147483647, not {text!r}")
    return int(text)


def _duration(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"a number of seconds above 0, not {text!r}")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
