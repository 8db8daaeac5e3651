"""Signal safety: what must be done to its end, once begun, is done in a thread that is never interrupted.

Python raises KeyboardInterrupt, and whatever else handlers of signals raise, in the main thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread


def to_its_end(act: Callable[[], None]) -> None:
    """Call `act` in a thread of its own, for whose end an interrupt of this one waits, once it has begun.

    Raises:
        BaseException: what `act` raises.
    """
    errors: list[BaseException] = []
    # Who has the claim decides whether `act` is called: its thread, or an interrupt before that has begun.
    claim, done = Lock(), Event()

    def run() -> None:
        if not claim.acquire(blocking=False):
            return
        try:
            act()
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    try:
        Thread(target=run).start()
        done.wait()
    except BaseException:
        if not claim.acquire(blocking=False):
            done.wait()
        raise
    if errors:
        raise errors[0]
