"""Unique names by TensorFlow's rule: `MatMul`, `MatMul_1`, ..., unique without regard to case, scopes counted too."""

from __future__ import annotations

import re

_SCOPE = re.compile(r"^[A-Za-z0-9_.\\\-/]*$")
_ROOT_SCOPE = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*$")
_OPERATION = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\\-/>]*$")
_valid_names: set[str] = set()


class Names:
    """The names in use on one graph, with a journal by which a failed call can give its names back."""

    __slots__ = ("_journal", "_used")

    def __init__(self) -> None:
        self._used: dict[str, int] = {}
        self._journal: list[tuple[str, int | None]] | None = None

    def claim(self, name: str) -> str:
        """`name`, or the first of `name_1`, `name_2`, ... that is free; in use from now on."""
        used = self._used
        key = name if name.islower() else name.lower()
        count = used.get(key)
        if self._journal is not None:
            self._journal.append((key, count))
        if count is None:
            used[key] = 1
            return name
        while True:
            candidate = f"{name}_{count}"
            count += 1
            candidate_key = candidate if key is name else candidate.lower()
            if candidate_key not in used:
                break
        used[key] = count
        if self._journal is not None:
            self._journal.append((candidate_key, None))
        used[candidate_key] = 1
        return candidate

    def peek(self, name: str) -> str:
        """The name that `claim` would return, without claiming it."""
        count = self._used.get(name.lower())
        candidate = name
        while count is not None and candidate.lower() in self._used:
            candidate = f"{name}_{count}"
            count += 1
        return candidate

    def claim_exactly(self, name: str) -> None:
        """Put `name` in use as it is; it may have been put in use by the scope of that name."""
        key = name.lower()
        count = self._used.get(key)
        if self._journal is not None:
            self._journal.append((key, count))
        self._used[key] = 1 if count is None else count

    def begin(self) -> list[tuple[str, int | None]] | None:
        """Start a journal; returns the one before, for `end`."""
        outer, self._journal = self._journal, []
        return outer

    def end(self, outer: list[tuple[str, int | None]] | None, *, undo: bool) -> None:
        """Close the journal, undoing what it holds or leaving it to the one before."""
        journal = self._journal or []
        self._journal = outer
        if undo:
            for key, count in reversed(journal):
                if count is None:
                    del self._used[key]
                else:
                    self._used[key] = count
        elif outer is not None:
            outer.extend(journal)


def check_operation_name(name: str) -> None:
    """ValueError unless `name` can name an operation."""
    if name in _valid_names:
        return
    if not isinstance(name, str):
        raise TypeError(f"the name of an operation is a string, not {name!r}")
    if not _OPERATION.match(name):
        raise ValueError(f"'{name}' is not a valid node name: use letters, digits, '.', '_', '-', '/' and '>'")
    _valid_names.add(name)


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
