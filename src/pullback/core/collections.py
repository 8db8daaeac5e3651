"""Collections of a graph: named lists of values, such as its trainable variables."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Any


class Collections:
    """Named lists of values, which several threads may add to."""

    def __init__(self) -> None:
        self.collections: dict[str, list[Any]] = {}
        self._lock = threading.RLock()

    def add_to_collection(self, name: str, value: object) -> None:
        """Append `value` to the collection `name`."""
        with self._lock:
            self.collections.setdefault(name, []).append(value)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """The values of the collection `name`, in order; with `scope`, those whose names it matches at the start."""
        values = list(self.collections.get(name, ()))
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
        with self._lock:
            return self.collections.setdefault(name, [])

    def get_all_collection_keys(self) -> list[str]:
        """The names of the collections."""
        return [name for name in self.collections if isinstance(name, str)]

    def clear_collection(self, name: str) -> None:
        """Empty the collection `name`."""
        with self._lock:
            self.collections.pop(name, None)
