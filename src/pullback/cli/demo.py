"""`pullback demo`: trains a convolutional classifier on real digits and writes a report of it."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import pullback as pb
from pullback.core.needs import needed

from .curve import DARK, LIGHT, curve_png, require_matplotlib
from .data import load_digits
from .main import DEFAULTS, INTERRUPTED
from .model import Model
from .progress import progress
from .report import Mistake, Report, report_html
from .training import Training, prepare, save, stop_on_interrupt, train

MISTAKES_SHOWN = 18


def run(args: argparse.Namespace) -> int:
    """The command; its exit code."""
    require_matplotlib()
    training = prepare(args, load_digits())
    if not args.quiet:
        print(_opening_words(training), flush=True)
    with stop_on_interrupt(training), progress(args.quiet) as shown:
        for loss in train(training):
            shown.show(training.share, training.step, loss, training.accuracy, training.rate)
    save(training)
    if training.stopped:
        print(
            f"interrupted after step {training.step}: {training.checkpoint} is kept; "
            f"go on with {_command(args)} --resume",
            file=sys.stderr,
        )
        return INTERRUPTED
    _write(training)
    if not args.quiet:
        print(_closing_words(training))
    return 0


def _write(training: Training) -> None:
    """The files, but for the checkpoint."""
    model, folder = training.model, training.folder
    light, dark = (curve_png(training.history, colours) for colours in (LIGHT, DARK))
    shown = [model.loss, *model.gradients]
    picture = pb.draw(shown, depth=1)
    report = Report(
        accuracy=training.accuracy,
        held_out=len(training.digits.test_labels),
        tiles=_tiles(training),
        facts=_facts(training),
        light_curve=light,
        dark_curve=dark,
        picture=picture.svg,
        text=str(model.graph),
        mistakes=_mistakes(training),
    )
    (folder / "curve.png").write_bytes(light)
    picture.save(folder / "graph.svg")
    (folder / "graph.txt").write_text(report.text + "\n", encoding="utf-8")
    (folder / "report.html").write_text(report_html(report), encoding="utf-8")


def _tiles(training: Training) -> list[tuple[str, str]]:
    forward, backward, rest = operation_counts(training.model)
    return [
        (f"{training.step:,}", "steps of Adam"),
        (f"{training.rate:,.0f}", "steps a second"),
        (f"{training.compiling:.1f} s", _until_first(training)),
        (f"{training.model.parameters:,}", "parameters"),
        (f"{forward}", "operations forward"),
        (f"{backward}", "operations backward"),
        (f"{rest}", "for variables and Adam"),
    ]


def _until_first(training: Training) -> str:
    """What the time until the first step was made went into."""
    return "to compile" if training.session.engine == "xla" else "to prepare"


def operation_counts(model: Model) -> tuple[int, int, int]:
    """How many operations compute the loss, how many its gradients, and how many there are besides."""
    backward = [op for op in model.graph.operations if op.name.startswith("gradients/")]
    forward = needed([model.loss.op], lambda op: [x.op for x in op.inputs])
    return len(forward), len(backward), len(model.graph.operations) - len(forward) - len(backward)


def _facts(training: Training) -> list[tuple[str, str]]:
    args, engine = training.args, training.session.engine
    libraries = ["numpy", "jax", "jaxlib"] if engine == "xla" else ["numpy"]
    return [
        ("command", " ".join([_command(args), *(["--resume"] if args.resume else [])])),
        ("data", f"scikit-learn's digits: {len(training.digits.train_labels)} to train on, shifted by at most a pixel"),
        ("engine", f"{engine} ({', '.join(f'{name} {version(name)}' for name in libraries)})"),
        ("pullback", pb.__version__),
        ("batch, seed", f"{args.batch}, {args.seed}"),
        ("this training", f"{training.elapsed:.1f} s, compilation left out"),
    ]


def _mistakes(training: Training) -> list[Mistake]:
    """The held-out digits read wrong, the surest first."""
    predicted = training.probabilities.argmax(axis=1)
    sure = training.probabilities.max(axis=1)
    wrong = np.flatnonzero(predicted != training.digits.test_labels)
    return [
        Mistake(training.digits.test_images[i], int(training.digits.test_labels[i]), int(predicted[i]), float(sure[i]))
        for i in wrong[np.argsort(-sure[wrong])][:MISTAKES_SHOWN]
    ]


def _command(args: argparse.Namespace) -> str:
    """The command line that does the same, --resume left out."""
    given = {"engine": args.engine, "steps": args.steps, "seconds": args.seconds}
    given |= {name: getattr(args, name) for name, default in DEFAULTS.items() if getattr(args, name) != default}
    options = [f" --{name} {shlex.quote(f'{value}')}" for name, value in given.items() if value is not None]
    return f"{_program()} demo" + "".join(options)


def _program() -> str:
    """How to call the program again: by its path where it is not among the commands, as in `.venv/bin/pullback`."""
    called = sys.argv[0]
    if Path(called).name != "pullback" or shutil.which("pullback"):
        return "pullback"
    return shlex.quote(called)


def _opening_words(training: Training) -> str:
    digits, before = training.digits, f", resumed after step {training.step}" if training.step else ""
    return (
        f"{training.model.parameters:,} parameters, {len(digits.train_labels)} digits to train on, "
        f"{len(digits.test_labels)} held out, engine {training.session.engine}{before}"
    )


def _other_engine(engine: str) -> tuple[str, str]:
    """What to try next, besides `engine`, and why."""
    if engine == "xla":
        return f"{_program()} demo --engine numpy", "the same, computed by NumPy alone"
    if find_spec("jax") is None:
        return 'pip install "pullback[xla]"', "the engine that compiles, and trains faster"
    return f"{_program()} demo --engine xla", "the same, compiled"


def _closing_words(training: Training) -> str:
    folder = training.folder
    commands = [
        (f"{_command(training.args)} --resume", "go on from the checkpoint"),
        _other_engine(training.session.engine),
        (f"{_program()} demo --help", "more to choose"),
    ]
    files = [
        ("report.html", "everything on one page: open this one"),
        ("curve.png", "loss and accuracy against steps"),
        ("graph.svg", "the forward graph and its gradient"),
        ("graph.txt", "the graph in its text form"),
        (training.checkpoint.name, "variables and optimizer, to resume from"),
    ]
    seconds = f"{training.compiling:.1f} s {_until_first(training)}, {training.elapsed:.1f} s of training"
    return "\n".join(
        [
            f"{training.accuracy:.2%} of {len(training.digits.test_labels)} held-out digits read right after "
            f"{training.step} steps ({seconds})",
            "",
            "wrote",
            *_table([(str(folder / name), what) for name, what in files]),
            "",
            "try next",
            *_table(commands),
        ]
    )


def _table(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(first) for first, _ in rows)
    return [f"  {first:<{width}}  {second}" for first, second in rows]
