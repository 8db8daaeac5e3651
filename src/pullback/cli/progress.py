"""Progress of training: a bar where a terminal and rich are at hand, plain lines otherwise."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from importlib.util import find_spec
from types import TracebackType
from typing import Any, TextIO

SECONDS_BETWEEN_LINES = 2.0


class AbstractProgress(ABC):
    """Shows `share` (from 0 to 1) of the way gone, at which step, and how well; used as a context manager."""

    def __enter__(self) -> AbstractProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def show(self, share: float, step: int, loss: float, accuracy: float | None, rate: float) -> None:
        """The state after a step; `accuracy` on held-out digits where it is known, `rate` in steps per second."""

    @abstractmethod
    def close(self) -> None:
        """The end, reached or not."""


def progress(quiet: bool, stream: TextIO | None = None) -> AbstractProgress:
    """What suits `stream` (standard output where None)."""
    stream = stream or sys.stdout
    if quiet:
        return Silence()
    if stream.isatty() and find_spec("rich"):
        return Bar(stream)
    return Lines(stream)


class Silence(AbstractProgress):
    """Shows nothing."""

    def show(self, share: float, step: int, loss: float, accuracy: float | None, rate: float) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Lines(AbstractProgress):
    """A line every two seconds, and one for the last state."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last = ""
        self._printed = ""
        self._due = time.monotonic()

    def show(self, share: float, step: int, loss: float, accuracy: float | None, rate: float) -> None:
        """Print the line if it is time for one."""
        self._last = f"{share:4.0%}  step {step:5d}  {state_text(loss, accuracy, rate)}"
        if time.monotonic() >= self._due:
            self._print()

    def close(self) -> None:
        """Print the last line, unless that was done."""
        if self._last != self._printed:
            self._print()

    def _print(self) -> None:
        print(self._last, file=self._stream, flush=True)
        self._printed = self._last
        self._due = time.monotonic() + SECONDS_BETWEEN_LINES


class Bar(AbstractProgress):
    """A bar of rich's that fills."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns: list[Any] = [
            TextColumn("training"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("step {task.fields[step]}"),
            TextColumn("[bold]{task.fields[state]}"),
            TimeRemainingColumn(),
        ]
        self._progress = Progress(*columns, console=Console(file=stream))
        self._task = self._progress.add_task("training", total=1.0, step=0, state="compiling")
        self._progress.start()

    def show(self, share: float, step: int, loss: float, accuracy: float | None, rate: float) -> None:
        """Move the bar."""
        self._progress.update(self._task, completed=share, step=step, state=state_text(loss, accuracy, rate))

    def close(self) -> None:
        """Leave the bar as it is."""
        self._progress.stop()


def state_text(loss: float, accuracy: float | None, rate: float) -> str:
    """As `loss 0.0312  accuracy 98.61 %  81 steps/s`."""
    shown = "" if accuracy is None else f"  accuracy {accuracy:6.2%}"
    return f"loss {loss:.4f}{shown}  {rate:.0f} steps/s"
