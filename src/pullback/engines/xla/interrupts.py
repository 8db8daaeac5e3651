"""Signal safety: what must be done to its end, once begun, is done in a thread that is never interrupted.

Python raises KeyboardInterrupt, and whatever else handlers of signals raise, in the main thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread


def to_its_end(act: Callable[[], None]) -> None:
    """Call `act` in a thread of its own, for whose end an interrupt of this one waits.

    Raises:
        BaseException: what `act` raises.
    """
    errors: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run)
    try:
        thread.start()
        thread.join()
    finally:
        thread.join()
    if errors:
        raise errors[0]
