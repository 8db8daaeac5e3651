"""Deadlines of runs: a time limit, which the steps of loops look at."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from ..core.errors import DeadlineExceededError


class Deadline(NamedTuple):
    """When a run must have ended, and how long it was given."""

    at: float
    milliseconds: int

    def check(self) -> None:
        """DeadlineExceededError where the time is over."""
        if time.monotonic() > self.at:
            raise DeadlineExceededError(
                f"the run took longer than {self.milliseconds} ms, the timeout_in_ms of its RunOptions; give it "
                "more, or look whether the loop comes to an end"
            )


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def current_deadline() -> Deadline | None:
    """When the run of this thread must have ended; None for one that may take all time."""
    return _deadline.get()


@contextmanager
def time_limit(milliseconds: int) -> Iterator[None]:
    """A block whose runs may take so long."""
    token = _deadline.set(Deadline(time.monotonic() + milliseconds / 1000, milliseconds))
    try:
        yield
    finally:
        _deadline.reset(token)
