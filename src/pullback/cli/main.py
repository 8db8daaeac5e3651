"""Argument parser of `pullback`: reads the command line and hands over to the command, imported only then."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from ..core.sites import pass_over
from ..core.text import printable
from ..version import __version__
from .failure import CommandError

DESCRIPTION = "Symbolic derivatives of dataflow graphs: the derivative of a graph is another graph."
DEMO = (
    "Trains a convolutional classifier on scikit-learn's handwritten digits and writes a report of it: training curve, "
    "picture of the graph and its gradient, the graph as text, a checkpoint."
)
OPS = "Counts the differentiable capabilities of TensorFlow that pullback has, by family."
GRAD = (
    "Writes an ONNX model with its derivative: the gradient of an output by the inputs, or of any values by others, "
    "in standard operators that onnxruntime runs."
)
OPTIMIZE = (
    "Writes an ONNX model that computes the same by fewer and more accurate operations, and says what was rewritten. "
    "Levels: 'exact' changes no bit, 'safe' loses no accuracy, 'fast' rearranges sums and products."
)
SHOW = "Prints the operations of a model, one a line, or draws them; forward and backward are told apart and linked."
DOCTOR = (
    "Says which engines and devices there are, in which versions, what is set, and how fast they multiply and copy."
)
LEVELS = ("exact", "safe", "fast")
FORMATS = "an .onnx, a .pb (GraphDef), an .mlir (text of StableHLO) or a .stablehlo (what jax.export loads)"
RUN = "Runs a program that imports TensorFlow without TensorFlow: its names are pullback's, those of TensorFlow 1."
MIGRATE = (
    "Prints, file by file, the names of TensorFlow that Python programs use and that are not there, with what to use "
    "instead. It reads the programs, and runs none of them."
)
LAUNCH = (
    "Runs a Python program in several processes; pb.distributed.initialize() in it joins them. "
    "One that fails or is killed ends the others."
)
INTERRUPTED = 130
LIMITS = ("nodes", "depth", "bytes", "seconds")
STEPS = {"xla": 2000, "numpy": 800}
"""Steps that are enough for each engine: NumPy's are slower."""
DEFAULTS = {"batch": 64, "out": "pullback-demo", "seed": 0}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command of `argv` (the process's arguments where None); the exit code."""
    parser = _parser()
    args = parser.parse_args(argv)
    if argv is None:
        pass_over(sys._getframe(1).f_code.co_filename)
        if args.command != "run":
            _end_in_order()
            _print_anything()
    if args.command is None:
        parser.print_help()
        return 0
    try:
        code: int = importlib.import_module(f".{args.command}", __package__).run(args)
    except CommandError as error:
        print(printable(str(error)), file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Who read our lines is gone: nobody is left to tell, and Python would complain while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _print_anything() -> None:
    """Print what a terminal has no characters for by their numbers."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _end_in_order() -> None:
    """End on SIGTERM and SIGHUP as on an exception, so that no half-written file stays; for our own process only.

    A program that is run has its own way to end, and threads of its own that would go on.
    """

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)


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
    doctor = commands.add_parser("doctor", help="what is installed and how fast it is", description=DOCTOR)
    doctor.add_argument("--quick", action="store_true", help="measure nothing")
    run = commands.add_parser("run", help="run a TensorFlow program without TensorFlow", description=RUN)
    run.add_argument("--engine", choices=["xla", "numpy", "onnxruntime"], help="of sessions that name none")
    run.add_argument("--v2-names", action="store_true", help="the names of TensorFlow 2 in `tensorflow` itself")
    run.add_argument("program", metavar="PROGRAM", help="a file of Python")
    run.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="the arguments of the program")
    migrate = commands.add_parser("migrate", help="which names of TensorFlow are not there", description=MIGRATE)
    migrate.add_argument("--v2-names", action="store_true", help="the names of TensorFlow 2 in `tensorflow` itself")
    migrate.add_argument("path", metavar="PATH", help="a file of Python, or a folder of them")
    launch = commands.add_parser("launch", help="run a program in several processes", description=LAUNCH)
    launch.add_argument("-n", "--processes", type=_count, required=True, metavar="N", help="how many processes")
    restarts = "begin again so often when a process is lost (default: %(default)s)"
    launch.add_argument("--restarts", type=_count, default=0, metavar="N", help=restarts)
    launch.add_argument("--hosts", type=_count, default=1, metavar="N", help="on how many hosts this is run")
    launch.add_argument("--host", type=int, metavar="I", help="which of them this is, from 0")
    coordinator = "a port of host 0 that all can reach, for jax's coordination service; restarts take those behind it"
    launch.add_argument("--coordinator", type=_address, metavar="HOST:PORT", help=coordinator)
    lost = "after so many seconds of silence a process is lost to those on other hosts (default: 30)"
    launch.add_argument("--lost-timeout", type=_count, metavar="SECONDS", help=lost)
    launch.add_argument("program", metavar="PROGRAM", help="a Python file")
    launch.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its own arguments")
    show = commands.add_parser("show", help="print or draw a model", description=SHOW)
    show.add_argument(
        "file", metavar="FILE", help="an .onnx model, a .pb or SavedModel, or a .json file of Graph.to_dict"
    )
    show.add_argument("--svg", metavar="FILE", help="write a picture instead")
    show.add_argument("--html", metavar="FILE", help="write a page with a search instead")
    show.add_argument("--depth", type=_count, metavar="N", help="gather name scopes in boxes, down to N names")
    show.add_argument("--grad", action="store_true", help="with the gradient of the only output by the inputs")
    optimize = commands.add_parser("optimize", help="an ONNX model of fewer operations", description=OPTIMIZE)
    _add_optimize(optimize)
    grad = commands.add_parser("grad", help="an ONNX model with its derivative", description=GRAD)
    _add_grad(grad)
    limit = f"for a file that you trust: another limit of {', '.join(LIMITS)}, as nodes=10000000"
    for command in (show, optimize, grad):
        command.add_argument("--limit", type=_limit, action="append", metavar="NAME=NUMBER", help=limit)
    return parser


def _add_optimize(optimize: argparse.ArgumentParser) -> None:
    optimize.add_argument("model", metavar="MODEL", help="an .onnx file, TensorFlow's frozen .pb, or a SavedModel")
    out = f"where it goes, {FORMATS} (default: MODEL with _optimized)"
    optimize.add_argument("-o", "--out", metavar="FILE", help=out)
    optimize.add_argument("--level", choices=LEVELS, default="safe", help="what may change (default: %(default)s)")
    optimize.add_argument("--html", metavar="FILE", help="write a page of what was rewritten as well")
    optimize.add_argument("--opset", type=_count, metavar="N", help="operator set to write (default: the model's)")
    optimize.add_argument("--check", action="store_true", help="run it on onnxruntime, compare with the model on NumPy")


def _add_grad(grad: argparse.ArgumentParser) -> None:
    grad.add_argument("model", metavar="MODEL", help="an .onnx file, TensorFlow's frozen .pb, or a SavedModel")
    name: dict[str, Any] = {"action": "append", "metavar": "NAME"}
    grad.add_argument("--of", **name, help="a value to differentiate (default: the only output of floats)")
    grad.add_argument("--wrt", **name, help="a value to differentiate by (default: the inputs of floats)")
    grad.add_argument("-o", "--out", metavar="FILE", help=f"where it goes, {FORMATS} (default: MODEL with _grad)")
    kind = grad.add_mutually_exclusive_group()
    kind.add_argument("--vjp", action="store_true", help="for cotangents that are inputs seeds/NAME")
    kind.add_argument("--jvp", action="store_true", help="forward derivatives, for inputs tangents/NAME")
    kind.add_argument("--hvp", action="store_true", help="the Hessian times inputs vectors/NAME")
    kind.add_argument("--hessian", action="store_true", help="the Hessian")
    kind.add_argument("--train", choices=["sgd", "adam"], help="a whole training step; --of is the loss")
    losses = ["cross-entropy", "mean-squared-error"]
    grad.add_argument("--loss", choices=losses, help="with --train: of --of, to an input targets")
    grad.add_argument("--learning-rate", type=float, metavar="R", help="with --train (default: 0.01; adam: 0.001)")
    grad.add_argument("--stop", **name, help="a value to hold constant")
    rule = "for a node or an operator KEY another rule: identity, zero, guided, or module:function"
    grad.add_argument("--rule", type=_pair, action="append", metavar="KEY=RULE", help=rule)
    unconnected = "for a value without a gradient: nothing, or zeros (default: none)"
    grad.add_argument("--unconnected", choices=["none", "zero"], default="none", help=unconnected)
    grad.add_argument("--sparse", action="store_true", help="row indices and values where only some rows are not zero")
    lean = "before and after: exact, safe (where no level is given) or fast"
    grad.add_argument("--optimize", nargs="?", const="safe", choices=LEVELS, metavar="LEVEL", help=lean)
    grad.add_argument(
        "--memory", metavar="BYTES", help="compute again, or in parts of the batch, to need so much: 200MB"
    )
    size = "with --memory: a length that only a run knows, as batch=32"
    grad.add_argument("--size", type=_size, action="append", metavar="NAME=NUMBER", help=size)
    grad.add_argument("--opset", type=_count, metavar="N", help="operator set to write (default: 18, or the model's)")
    grad.add_argument("--dtype", choices=["float16", "float32", "float64"], help="compute all floats in this dtype")
    grad.add_argument("--check", action="store_true", help="run it on onnxruntime, compare with NumPy and differences")
    feed = "with --check: a shape such as 1,3,224,224, or a file FILE.npy (default: random, of lengths that work)"
    grad.add_argument("--feed", type=_feed, action="append", metavar="NAME=WHAT", help=feed)
    grad.add_argument("--only-grad", action="store_true", help="leave out the model's own outputs")
    grad.add_argument("--quiet", action="store_true", help="print nothing but errors, and what --check finds")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.rpartition("=")
    if not equals or not key or not value:
        raise argparse.ArgumentTypeError(f"KEY=RULE, not {text!r}")
    return key, value


def _feed(text: str) -> tuple[str, str]:
    name, equals, what = text.rpartition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"NAME=SHAPE or NAME=FILE.npy, not {text!r}")
    return name, what


def _size(text: str) -> tuple[str, int]:
    name, equals, number = text.rpartition("=")
    if not equals or not name or not number.isdecimal():
        raise argparse.ArgumentTypeError(f"NAME=NUMBER, not {text!r}")
    return name, int(number)


def _limit(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    if name not in LIMITS or not number.isdecimal():
        raise argparse.ArgumentTypeError(f"NAME=NUMBER with a name of {', '.join(LIMITS)}, not {text!r}")
    return name, int(number)


def _count(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, not {text!r}")
    return number


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise argparse.ArgumentTypeError(f"a host and a port, such as host0:1234, not {text!r}")
    return text


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
