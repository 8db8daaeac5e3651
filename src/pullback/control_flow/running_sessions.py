"""Sessions that are running, for Python functions in a graph that keep something for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

from ..core.errors import FailedPreconditionError, OutOfRangeError
from ..core.graph import Graph

_here: ContextVar[Any] = ContextVar("session", default=None)
"""The session of the run of this thread."""
_running: WeakKeyDictionary[Graph, list[Any]] = WeakKeyDictionary()
"""Of each graph with such functions the sessions that run it, the one that began last at the end.

A compiled program may call Python in a thread of its own, which knows no session.
"""


def asks_for_session(graph: Graph) -> bool:
    """Whether a function in `graph`, in its loops or functions, asks for the session of the run."""
    return graph in _running


def in_run(call: Callable[..., Any], graph: Graph) -> Callable[..., Any]:
    """The function of arrays that gives `call(session, *arrays)`, for the session that runs `graph`."""
    _running.setdefault(graph, [])

    def called(*arrays: Any) -> Any:
        own = _here.get()
        sessions = [own] if own is not None and own.graph is graph else _running[graph]
        if not sessions:
            raise FailedPreconditionError(f"'{getattr(call, '__qualname__', call)}' is called by Session.run only")
        try:
            return call(sessions[-1], *arrays)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None

    return called


@contextmanager
def running(session: Any) -> Iterator[None]:
    """A block in which `session` runs its graph."""
    token = _here.set(session)
    sessions = _running.get(session.graph, [])
    sessions.append(session)
    try:
        yield
    finally:
        sessions.remove(session)
        _here.reset(token)
