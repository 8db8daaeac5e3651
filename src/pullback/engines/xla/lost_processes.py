"""Failure detection among processes: whoever waits for one that is lost gets an error, or is ended.

jax's coordination service hears of each process every few seconds. A thread asks it which are there; a wait looks at
what that has found. What waits inside jax or a compiled program cannot be interrupted: such a process is ended.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import allocate_lock, start_new_thread
from collections.abc import Collection, Sequence
from typing import Any

import jax

from .. import messages
from .interrupts import Flag
from .jax_internals import coordination

_FIRST_LOOK, _LAST_LOOK = 5e-5, 5e-3
"""Seconds between two looks at whether a value is there: few at first, for short steps."""
_BETWEEN_QUESTIONS = 1.0
_FOR_EVER_MS = 10**9


class Watch:
    """Asks again and again which processes are there, until one is lost or all leave."""

    def __init__(self, seconds: int) -> None:
        count, self.index, self.alive_among, self.barrier = coordination()
        self.everyone = list(range(count))
        self.seconds = seconds
        self.lost: list[int] = []
        """The processes that are not there any more; none that left in order, as all do that together."""
        self.is_told, self.ends = Flag(), Flag()
        start_new_thread(self._ask, ())

    def _ask(self) -> None:
        while not self.ends.wait(_BETWEEN_QUESTIONS):
            alive = self._alive()
            if len(alive) < len(self.everyone) and not self.ends.is_set:
                self.lost = [i for i in self.everyone if i not in alive]
                break
        if self.lost and not self.is_told.wait(self.seconds) and not self.ends.is_set:
            print(f"pullback: {self.error()}", file=sys.stderr, flush=True)
            os._exit(1)

    def _alive(self) -> Collection[int]:
        """The processes that are there; returns when all of those have asked."""
        try:
            found: Collection[int] = self.alive_among(self.everyone)
            return found
        except jax.errors.JaxRuntimeError:
            return self.everyone[1:]  # The service itself is in process 0.

    def error(self) -> Exception:
        """What a process is told that waits for one that is lost."""
        return messages.silent_processes(self.lost, len(self.everyone), self.seconds)

    def check(self) -> None:
        """Raise where a process is lost.

        Raises:
            UnavailableError: which one, and what to do.
        """
        if self.lost:
            self.is_told.set()
            raise self.error()

    def leave(self) -> None:
        """Return when all processes leave. Where one is lost, this ends at once: jax would wait for what it owes."""
        try:
            if not self.lost:
                self.barrier("pullback leaves", timeout_in_ms=_FOR_EVER_MS)
                self.ends.set()
                while self.index == 0 and len(self._alive()) > 1:
                    continue  # The service goes last.
                return
        except jax.errors.JaxRuntimeError:  # One is lost: there is nobody to wait for.
            pass
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


_watches: list[Watch] = []
"""The one of this process, where it is one of several."""


def watch(seconds: int) -> None:
    """Look after the other processes from now on; one is lost that is not heard of for so many seconds."""
    _watches.append(Watch(seconds))


def leave() -> None:
    """Return when all processes leave in order, or one is lost."""
    while _watches:
        _watches.pop().leave()


def is_told() -> None:
    """Note that this process knows of a lost one, by an error: it is not ended."""
    for each in _watches:
        each.is_told.set()


def wait_until_ready(arrays: Sequence[Any]) -> None:
    """Return when `arrays` of all processes are computed.

    Raises:
        UnavailableError: a process is lost.
    """
    pause = _FIRST_LOOK
    for array in arrays:
        while not array.is_ready():
            for each in _watches:
                each.check()
            time.sleep(pause)
            pause = min(pause * 1.2, _LAST_LOOK)
    jax.block_until_ready(arrays)  # type: ignore[no-untyped-call]


def while_watching(act: Any, *args: Any) -> Any:
    """What `act` gives, which waits for other processes in a thread of its own; an interrupt leaves it to that.

    Raises:
        UnavailableError: a process is lost.
    """
    results: list[Any] = []
    errors: list[BaseException] = []
    running = allocate_lock()
    running.acquire()

    def run() -> None:
        try:
            results.append(act(*args))
        except BaseException as error:
            errors.append(error)
        finally:
            running.release()

    start_new_thread(run, ())
    while not running.acquire(timeout=_LAST_LOOK):
        for each in _watches:
            each.check()
    if errors:
        raise errors[0]
    return results[0]
