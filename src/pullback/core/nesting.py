"""Nesting of graphs deeper than Python's limit of nested calls, and how it is said."""

from __future__ import annotations

import sys

from .errors import NestingError


def explained_depth(error: RecursionError, where: str) -> RecursionError:
    """The error to raise in place of `error`, which was met `where`, if it comes from Python's limit."""
    if not str(error).startswith("maximum recursion depth exceeded"):
        return error
    return NestingError(
        f"Python's limit of {sys.getrecursionlimit()} nested calls was reached {where}. Use a loop where branches or "
        f"calls lie deep in each other, or allow more: sys.setrecursionlimit({10 * sys.getrecursionlimit()})."
    )
