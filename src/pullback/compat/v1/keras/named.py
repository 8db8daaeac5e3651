"""Activations, initializers and regularizers that layers of Keras take by name: "relu", "he_normal", "l2"."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any


def getter(module: ModuleType | Any, what: str, made: bool) -> Callable[[Any], Any]:
    """A function from a name to what `module` has under it, called if it is to be `made`; all else stays as it is.

    Raises:
        ValueError: from that function, if there is nothing of the name.
    """

    def get(identifier: Any) -> Any:
        if not isinstance(identifier, str):
            return identifier
        found = getattr(module, identifier, None)
        if found is None:
            raise ValueError(f"keras: there is no {what} '{identifier}'")
        return found() if made else found

    return get
