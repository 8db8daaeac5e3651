"""Default session: the innermost one of a thread, by which `eval` and `run` of tensors and operations go."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from . import messages

if TYPE_CHECKING:
    from .session import Session


class _Sessions(threading.local):
    def __init__(self) -> None:
        self.stack: list[Session] = []
        self.interactive: list[Session] = []


sessions = _Sessions()
"""The sessions of this thread: those of `with` blocks, and interactive ones."""


def get_default_session() -> Session | None:
    """The innermost session of this thread's `with` blocks, or None.

    >>> import pullback as pb
    >>> pb.get_default_session() is None
    True
    """
    return sessions.stack[-1] if sessions.stack else None


def evaluate(fetch: Any, feed_dict: Any, session: Session | None, method: str) -> Any:
    """The value of `fetch`, by `session` or the default one, for the method of that name."""
    chosen = session or get_default_session()
    if chosen is None:
        raise ValueError(
            f"{method} of {messages.element_text(fetch)}: there is no default session. "
            f"Use `with session.as_default():`, or pass {method}(session=...)"
        )
    return chosen.run(fetch, feed_dict)
