"""Backward reachability: what some things need, and what that needs in turn, be they operations, tensors or steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def needed(targets: Iterable[T], before: Callable[[T], Iterable[T]]) -> set[T]:
    """`targets`, and all that is reached from them by `before`, which says what a thing needs at once.

    >>> sorted(needed([6], lambda n: [d for d in range(1, n) if n % d == 0]))
    [1, 2, 3, 6]
    """
    found = set(targets)
    pending = list(found)
    while pending:
        for x in before(pending.pop()):
            if x not in found:
                found.add(x)
                pending.append(x)
    return found
