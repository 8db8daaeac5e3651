"""Unique names by TensorFlow's rule: `MatMul`, `MatMul_1`, ..., without regard to case, scopes counted too."""

from __future__ import annotations

import re
from typing import Any

_SCOPE = re.compile(r"^[A-Za-z0-9_.\\\-/]*$")
_ROOT_SCOPE = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*$")
_OPERATION = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\\-/>]*$")
_DIGITS = frozenset("0123456789")
_MOST_DIGITS = 19
valid_names: set[str] = set()
"""The names of operations that were found valid."""


class Names:
    """The names in use on one graph, with a journal by which a failed call can give its names back.

    For each name that was asked for, the number to try next. The numbers below are in use without an entry of their
    own: `add: 3` stands for `add`, `add_1` and `add_2`.
    """

    __slots__ = ("_journal", "_next")

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._journal: list[Any] | None = None
        """Each name whose number changed, and the number before, one after the other."""

    def claim(self, name: str) -> str:
        """`name`, or the first of `name_1`, `name_2`, ... that is free; in use from now on."""
        following = self._next
        key = name if name.islower() else name.lower()
        known = following.get(key)
        number, claimed = known, name
        if number is None:
            number = 1 if key[-1:] in _DIGITS and self._has_number(key) else 0
        if number:
            claimed = f"{name}_{number}"
            while (claimed if key is name else claimed.lower()) in following:
                number += 1
                claimed = f"{name}_{number}"
        if self._journal is not None:
            self._journal += (key, known)
        following[key] = number + 1
        return claimed

    def _has_number(self, key: str) -> bool:
        """Whether `key` is one of the numbered names that have no entry."""
        base, _, number = key.rpartition("_")
        if not number.isdecimal() or number[0] == "0" or len(number) > _MOST_DIGITS:
            return False
        return int(number) < self._next.get(base, 0)

    def peek(self, name: str) -> str:
        """The name that `claim` would return, without claiming it."""
        since = self.begin()
        claimed = self.claim(name)
        self.end(since, undo=True)
        return claimed

    def claim_exactly(self, name: str) -> None:
        """Put `name` in use as it is; it may have been put in use by the scope of that name."""
        key = name.lower()
        known = self._next.get(key)
        if self._journal is not None:
            self._journal += (key, known)
        self._next[key] = 1 if known is None else known

    def begin(self) -> int:
        """Write down what changes from now on; returns since when, for `end`.

        What is inside need not have come to its `end`, as where an interrupt has left it.
        """
        if self._journal is None:
            self._journal = []
            return -1
        return len(self._journal)

    def end(self, since: int, *, undo: bool) -> None:
        """Undo what has changed since then, or leave it."""
        journal = self._journal or []
        while undo and len(journal) > max(since, 0):
            known, key = journal.pop(), journal.pop()
            if known is None:
                self._next.pop(key, None)
            else:
                self._next[key] = known
        if since < 0:
            self._journal = None


def check_operation_name(name: str) -> None:
    """ValueError unless `name` can name an operation."""
    if not isinstance(name, str):
        raise TypeError(f"the name of an operation is a string, not {name!r}")
    if not _OPERATION.match(name):
        raise ValueError(f"'{name}' is not a valid node name: use letters, digits, '.', '_', '-', '/' and '>'")
    valid_names.add(name)


def check_scope_name(name: str, prefix: str) -> None:
    """ValueError unless `name` can name a scope inside `prefix`."""
    if prefix:
        if not _SCOPE.match(name):
            raise ValueError(f"'{name}' is not a valid scope name")
    elif not _ROOT_SCOPE.match(name):
        raise ValueError(
            f"'{name}' is not a valid root scope name. A root scope name has to match the following pattern: "
            f"{_ROOT_SCOPE.pattern}"
        )
