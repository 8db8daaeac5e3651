"""Prefetching: batches are copied to the device ahead of the step that reads them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

AHEAD = 2
"""How many batches are on the way while one is used."""

Batch = TypeVar("Batch")
Placed = TypeVar("Placed")


def prefetched(
    batches: Iterable[Batch], place: Callable[[Batch], Placed], wait_for: Callable[[Placed], None]
) -> Iterator[Placed]:
    """What `place` gives for each of `batches`, which is called `AHEAD` batches early.

    The next batch is not asked for before the last one is in its place: it may be written over that. Where asking or
    placing fails, those before it come first.
    """
    ahead: deque[Placed] = deque()
    try:
        for batch in batches:
            last = place(batch)
            ahead.append(last)
            if len(ahead) > AHEAD:
                yield ahead.popleft()
            wait_for(last)
    except Exception:
        yield from ahead
        raise
    yield from ahead
