"""Collections of a graph: named lists of values, such as its trainable variables."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Any


class Collections:
    """Named lists of values, which several threads may add to.

    Those of a body are those of the graph around it, and beside them what is of the body itself.
    """

    def __init__(self, around: Collections | None = None) -> None:
        self.collections: dict[str, list[Any]] = {}
        self._around = around
        self._lock = threading.RLock()

    def add_to_collection(self, name: str, value: object) -> None:
        """Append `value` to the collection `name`."""
        if self._around is not None and getattr(value, "graph", None) is not self:
            self._around.add_to_collection(name, value)
            return
        with self._lock:
            self.collections.setdefault(name, []).append(value)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """The values of the collection `name`, in order; with `scope`, those whose names it matches at the start."""
        outer = [] if self._around is None else self._around.get_collection(name)
        values = [*outer, *self.collections.get(name, ())]
        if scope is None:
            return values
        pattern = re.compile(scope)
        return [value for value in values if pattern.match(getattr(value, "name", ""))]

    def add_to_collections(self, names: str | Iterable[str], value: object) -> None:
        """Append `value` to each of the collections `names`, once where a name comes twice."""
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: str) -> list[Any]:
        """The collection `name` itself: what is appended to the list is in the collection."""
        if self._around is not None:
            return self._around.get_collection_ref(name)
        with self._lock:
            return self.collections.setdefault(name, [])

    def get_all_collection_keys(self) -> list[str]:
        """The names of the collections."""
        outer = [] if self._around is None else self._around.get_all_collection_keys()
        return list(dict.fromkeys([*outer, *[name for name in self.collections if isinstance(name, str)]]))

    def clear_collection(self, name: str) -> None:
        """Empty the collection `name`."""
        if self._around is not None:
            self._around.clear_collection(name)
        with self._lock:
            self.collections.pop(name, None)
