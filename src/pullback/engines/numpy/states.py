"""Undo log of the NumPy engine: the values of variables, which a run that fails or is interrupted leaves as they were.

What is changed is noted before it is: the array that was a variable's value, or the rows of it that are overwritten in
place. The end of a run forgets the notes, by one call that no signal can cut in two; a failure puts them back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.graph import Operation
from ...primitives.base.state import AbstractUpdates, ScatterKind
from .variables import BY_COPY, IN_PLACE

Array = np.ndarray[Any, Any]


class _Rows(NamedTuple):
    """Rows of an array as they were."""

    array: Array
    indices: Any
    values: Array


class States:
    """The values of variables, and of operations that own state, under their handle operations."""

    def __init__(self) -> None:
        self._values: dict[Operation, Array] = {}
        self._log: dict[Any, Any] = {}
        """In the order of the changes: under a handle the value before, or None; under a number rows before."""
        self._running = False

    def get(self, key: Operation) -> Array | None:
        """The value under `key`, or None."""
        return self._values.get(key)

    def __getitem__(self, key: Operation) -> Array:
        return self._values[key]

    def __contains__(self, key: Operation) -> bool:
        return key in self._values

    def __setitem__(self, key: Operation, value: Array) -> None:
        if self._running and key not in self._log:
            self._log[key] = self._values.get(key)
        self._values[key] = value

    def update(self, pairs: Iterable[tuple[Operation, Any]]) -> None:
        """Set several."""
        for key, value in pairs:
            self[key] = value

    def pop(self, key: Operation, default: None) -> Array | None:
        """Let go of the value under `key`, and return it; between runs."""
        return self._values.pop(key, default)

    def clear(self) -> None:
        """Let go of all values."""
        self._values.clear()

    def changes(self, key: Operation, exclusive: bool) -> AbstractUpdates:
        """How to change the value of `key`; `exclusive` says that nobody else has its memory."""
        if not exclusive:
            return BY_COPY
        return IN_PLACE if not self._running or key in self._log else _NotedRows(self._log)

    def transaction(self, run: Callable[[Sequence[Any]], list[Any]]) -> Callable[[Sequence[Any]], list[Any]]:
        """`run`, all of whose changes count, or none; within another one it is a part of that."""

        def whole(feeds: Sequence[Any]) -> list[Any]:
            if self._running:
                return run(feeds)
            self._running = True
            try:
                self._undo()
                results = run(feeds)
                self._log.clear()
                return results
            except BaseException:
                self._undo()
                raise
            finally:
                self._running = False

        return whole

    def _undo(self) -> None:
        """Put back what was noted; again from the start where that itself was interrupted."""
        for key, before in reversed(self._log.items()):
            if isinstance(before, _Rows):
                before.array[before.indices] = before.values
            elif before is None:
                self._values.pop(key, None)
            else:
                self._values[key] = before
        self._log.clear()


class _NotedRows(AbstractUpdates):
    """Rows are changed in place and noted before; other changes make a new array."""

    def __init__(self, log: dict[Any, Any]) -> None:
        self.log = log

    def add(self, state: Any, value: Any) -> Any:
        """`state + value`."""
        return BY_COPY.add(state, value)

    def subtract(self, state: Any, value: Any) -> Any:
        """`state - value`."""
        return BY_COPY.subtract(state, value)

    def scatter(self, kind: ScatterKind, state: Any, indices: Any, updates: Any) -> Any:
        """`state` with its rows `indices` changed by `updates`."""
        return IN_PLACE.scatter(kind, state, indices, updates, self._note)

    def _note(self, state: Array, indices: Any) -> None:
        self.log[len(self.log)] = _Rows(state, indices, np.array(state[indices]))
