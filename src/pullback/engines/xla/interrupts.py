"""Signal safety: what must be done to its end, once begun, is done in a thread that is never interrupted.

Python raises KeyboardInterrupt, and whatever else handlers of signals raise, in the main thread only. There it may come
within `Thread.start` and `Event.wait` too, which are written in Python and then keep a lock for ever. Here are the
locks and threads below them, each of whose calls is done or not.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress

_PAUSE = 0.01
"""The seconds after which an interrupted thread looks again whether the other has ended."""


def to_its_end(act: Callable[[], None]) -> None:
    """Call `act` in a thread of its own, for whose end an interrupt of this one waits, once it has begun.

    Raises:
        BaseException: what `act` raises.
    """
    errors: list[BaseException] = []
    ended: list[bool] = []
    # Who has the claim decides whether `act` is called: its thread, or an interrupt before that has begun.
    claim, running = allocate_lock(), allocate_lock()
    running.acquire()

    def run() -> None:
        if not claim.acquire(blocking=False):
            return
        try:
            act()
        except BaseException as error:
            errors.append(error)
        finally:
            ended.append(True)
            running.release()

    try:
        start_new_thread(run, ())
        running.acquire()
    except BaseException:
        if not claim.acquire(blocking=False):
            while not ended:
                running.acquire(timeout=_PAUSE)
        raise
    if errors:
        raise errors[0]


class Flag:
    """What one thread waits for, and others set: by calls that an interrupt does not leave half done."""

    def __init__(self) -> None:
        self.is_set = False
        self._lock = allocate_lock()
        self._lock.acquire()

    def set(self) -> None:
        """Let the thread that waits go on."""
        self.is_set = True
        with suppress(RuntimeError):  # It was set before.
            self._lock.release()

    def wait(self, seconds: float) -> bool:
        """Whether it is set within so many seconds."""
        return self.is_set or self._lock.acquire(timeout=seconds)
