"""Thread coordination of TensorFlow 1: threads that stop together, and hand on what went wrong in one of them.

>>> import pullback.compat.v1 as tf
>>> coord, counted = tf.train.Coordinator(), []
>>> def count():
...     counted.append(1)
...     if len(counted) == 3:
...         coord.request_stop()
>>> thread = tf.train.LooperThread.loop(coord, None, count)
>>> coord.join([thread])
>>> len(counted)
3
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pullback as pb

from ..errors import CancelledError

_CLEAN = (pb.errors.OutOfRangeError, CancelledError)


class Coordinator:
    """Tells threads to stop, waits for them, and raises what the first of them that failed has raised.

    Exceptions of the types `clean_stop_exception_types`, by default those of a queue at its end, only stop the threads.

    >>> import threading
    >>> import pullback as pb
    >>> coord = pb.compat.v1.train.Coordinator()
    >>> def work():
    ...     with coord.stop_on_exception():
    ...         raise ZeroDivisionError("no")
    >>> threads = [threading.Thread(target=work)]
    >>> threads[0].start()
    >>> coord.join(threads)
    Traceback (most recent call last):
    ZeroDivisionError: no
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None) -> None:
        self._clean = _CLEAN if clean_stop_exception_types is None else tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._raised: BaseException | None = None
        self._registered: set[threading.Thread] = set()
        self._closings: list[Callable[[], object]] = []
        self.joined = False

    def should_stop(self) -> bool:
        """Whether a stop was asked for."""
        return self._stopping.is_set()

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop; `ex` is an exception, or what `sys.exc_info` gives, that `join` raises."""
        raised = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
            if raised is not None and self._raised is None and not isinstance(raised, self._clean):
                self._raised = raised
            self._stopping.set()
            closings, self._closings = self._closings, []
        for close in closings:
            close()

    def call_at_stop(self, close: Callable[[], object]) -> None:
        """Call `close` when a stop is asked for: it lets threads go that wait for something else."""
        with self._lock:
            if not self._stopping.is_set():
                self._closings.append(close)
                return
        close()

    def clear_stop(self) -> None:
        """Begin anew: nobody has asked for a stop."""
        with self._lock:
            self._raised, self.joined = None, False
            self._stopping.clear()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A block, exceptions of which go to `request_stop`."""
        try:
            yield
        except BaseException as error:
            self.request_stop(error)

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Whether a stop was asked for, after at most `timeout` seconds."""
        return self._stopping.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Let `join` wait for `thread` too."""
        with self._lock:
            self._registered.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait for threads to end, and `stop_grace_period_secs` at most after a stop was asked for.

        Raises:
            RuntimeError: threads live on, unless `ignore_live_threads`. What a thread has handed to `request_stop`.
        """
        waited = self._registered | set(threads or ())
        while any(thread.is_alive() for thread in waited) and not self.wait_for_stop(0.05):
            pass
        until = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            thread.join(max(0.0, until - time.monotonic()))
        self.joined, self._registered = True, set()
        self.raise_requested_exception()
        alive = sorted(thread.name for thread in waited if thread.is_alive())
        if alive and not ignore_live_threads:
            raise RuntimeError(
                f"Coordinator.join: {stop_grace_period_secs} seconds after the stop these threads run on: "
                f"{', '.join(alive)}; let them look at should_stop()"
            )

    def raise_requested_exception(self) -> None:
        """Raise what was handed to `request_stop`, if anything was."""
        raised = self._raised
        if raised is not None:
            raise raised


class LooperThread(threading.Thread):
    """A thread that calls `target` every `timer_interval_secs`, without a pause where that is None, till the stop."""

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self._coord, self._interval, self._call = coord, timer_interval_secs, (target, args, dict(kwargs or {}))
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Start such a thread."""
        thread = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        thread.start()
        return thread

    def run(self) -> None:
        """What the thread does."""
        with self._coord.stop_on_exception():
            self.start_loop()
            while not self._coord.should_stop():
                self.run_loop()
                if self._interval and self._coord.wait_for_stop(self._interval):
                    break
            self.stop_loop()

    def start_loop(self) -> None:
        """Called before the first round."""

    def run_loop(self) -> None:
        """One round."""
        target, args, kwargs = self._call
        if target is not None:
            target(*args, **kwargs)

    def stop_loop(self) -> None:
        """Called after the last round."""
