"""Interactive sessions: default sessions for notebooks."""

from __future__ import annotations

from typing import Any

from ..core.graph import Graph
from .default_session import sessions
from .session import Session


def InteractiveSession(target: str = "", graph: Graph | None = None, config: object = None, **options: Any) -> Session:
    """A session that is the default one of this thread, with its graph, until it is closed; for notebooks.

    Takes what `Session` takes.

    >>> import pullback as pb
    >>> session = pb.InteractiveSession()
    >>> pb.add(1.0, 2.0).eval()
    np.float32(3.0)
    >>> session.close()
    >>> pb.get_default_session() is None
    True
    """
    session = Session(target, graph, config, **options)
    session.__enter__()
    sessions.interactive.append(session)
    return session
