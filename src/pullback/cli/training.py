"""Training loop of the demo: steps, tests on held-out digits, checkpoints."""

from __future__ import annotations

import argparse
import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import numpy as np

import pullback as pb

from .data import Array, Digits, training_batch
from .failure import USAGE, CommandError
from .history import History, load_history
from .main import STEPS
from .model import Model, build_model

LEARNING_RATE = 3e-3
STEPS_BETWEEN_TESTS = 50
SECONDS_BETWEEN_CHECKPOINTS = 5.0


@dataclass
class Training:
    """One training run: what it works with, and how far it is."""

    model: Model
    session: pb.Session
    digits: Digits
    args: argparse.Namespace
    folder: Path
    history: History = field(default_factory=History)
    step: int = 0
    goal: int = 0
    """The step to reach, unless a time was given."""
    probabilities: Array = field(default_factory=lambda: np.zeros((0, 10)))
    """Of the held-out digits, at the last test."""
    compiling: float = 0.0
    """Seconds until the first step was made."""
    elapsed: float = 0.0
    """Seconds since then."""
    done: int = 0
    """Steps since then."""
    stopped: bool = False

    @property
    def accuracy(self) -> float:
        """The share of the held-out digits read right at the last test."""
        return float(np.mean(self.probabilities.argmax(axis=1) == self.digits.test_labels))

    @property
    def rate(self) -> float:
        """Steps per second."""
        return self.done / self.elapsed if self.elapsed else 0.0

    @property
    def share(self) -> float:
        """How much of the way is gone: 1 at the end and not before."""
        if self.args.seconds:
            return min(1.0, self.elapsed / float(self.args.seconds))
        return self.step / self.goal

    @property
    def checkpoint(self) -> Path:
        """The file that --resume reads."""
        return self.folder / "checkpoint.npz"


def prepare(args: argparse.Namespace, digits: Digits) -> Training:
    """A training run before its first step, with fresh variables or those of the checkpoint.

    Raises:
        CommandError: the engine is not installed, there is no sound checkpoint, the folder cannot be written to.
    """
    model = build_model(args.seed)
    try:
        session = pb.Session(graph=model.graph, engine=args.engine)
    except ImportError as error:
        raise CommandError(f"pullback demo: {error}", USAGE) from None
    goal = args.steps or STEPS[session.engine]
    training = Training(model, session, digits, args, Path(args.out), goal=goal)
    session.run(model.initialize)
    if args.resume:
        _restore(training)
    try:
        training.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"cannot write to {training.folder}: {error.strerror}") from None
    return training


def _restore(training: Training) -> None:
    path = training.checkpoint
    if not path.exists():
        raise CommandError(f"there is no checkpoint to resume from: {path} is missing; train first, without --resume")
    try:
        training.model.saver.restore(training.session, path)
    except (pb.errors.PullbackError, OSError) as error:
        raise CommandError(
            f"cannot resume: {error}\n"
            "Nothing was changed. Put a sound checkpoint in its place, or train anew, without --resume, to replace it."
        ) from None
    training.step = int(training.session.run(training.model.step))
    training.history = load_history(training.folder / "history.json", training.step)
    if training.step >= training.goal:
        training.goal += training.step


def train(training: Training) -> Iterator[float]:
    """Makes the steps; after each, the loss on its batch."""
    model, args = training.model, training.args
    make_step = training.session.make_callable(
        [model.train, model.loss], [model.images, model.labels, model.learning_rate]
    )
    start = saved = time.monotonic()
    _test(training)
    first = training.step
    while not training.stopped and (training.share < 1.0 or training.step == first):
        images, labels = training_batch(training.digits, args.batch, args.seed, training.step)
        rate = LEARNING_RATE * 0.5 * (1.0 + math.cos(math.pi * training.share)) + 1e-5
        _, loss = make_step(images, labels, np.float32(rate))
        now = time.monotonic()
        training.step += 1
        if training.step == first + 1:
            training.compiling, start = now - start, now
        training.elapsed, training.done = now - start, training.step - first - 1
        training.history.add_loss(training.step, float(loss))
        if training.step % STEPS_BETWEEN_TESTS == 0 or training.share >= 1.0:
            _test(training)
        if now - saved > SECONDS_BETWEEN_CHECKPOINTS:
            save(training)
            saved = now
        yield float(loss)


def _test(training: Training) -> None:
    """Reads the held-out digits."""
    model = training.model
    feeds = {model.images: training.digits.test_images}
    training.probabilities = training.session.run(model.probabilities, feeds)
    training.history.add_accuracy(training.step, training.accuracy)


def save(training: Training) -> None:
    """Writes the checkpoint, and the history that goes with it."""
    training.model.saver.save(training.session, training.checkpoint, write_meta_graph=False, write_state=False)
    training.history.save(training.folder / "history.json")


@contextmanager
def stop_on_interrupt(training: Training) -> Iterator[None]:
    """Ctrl-C ends the training after the step it is in; a second one ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        training.stopped = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
