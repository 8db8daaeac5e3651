"""Python functions as attributes of an operation. A saved graph only names them."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

from .errors import FailedPreconditionError

_numbers = itertools.count()
_known: weakref.WeakValueDictionary[int, PythonFunction] = weakref.WeakValueDictionary()


class PythonFunction:
    """A Python function, compared by identity; `number` names it within the process."""

    __slots__ = ("__weakref__", "call", "name", "number")

    def __init__(self, call: Callable[..., Any], name: str = "") -> None:
        self.call = call
        self.name = name or str(getattr(call, "__name__", type(call).__name__))
        self.number = next(_numbers)
        _known[self.number] = self

    def __str__(self) -> str:
        return self.name


def python_function(name: str, number: int) -> PythonFunction:
    """The function of that name and number, or one that says that it is not here."""
    known = _known.get(number)
    if known is not None and known.name == name:
        return known

    def missing(*_: Any) -> Any:
        raise FailedPreconditionError(
            f"the Python function '{name}' is not part of the saved graph; only the process that made it can run it"
        )

    return PythonFunction(missing, name)
