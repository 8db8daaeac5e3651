"""Python functions as attributes of an operation. A saved graph only names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import FailedPreconditionError


class PythonFunction:
    """A Python function, compared by identity."""

    __slots__ = ("call", "name")

    def __init__(self, call: Callable[..., Any], name: str = "") -> None:
        self.call = call
        self.name = name or str(getattr(call, "__name__", type(call).__name__))

    def __str__(self) -> str:
        return self.name


def missing_function(name: str) -> PythonFunction:
    """What stands for the function of that name where nobody has handed it in."""

    def missing(*_: Any) -> Any:
        raise FailedPreconditionError(
            f"the Python function '{name}' is not part of the saved graph; if the graph may call it, hand it in: "
            f"Graph.from_dict(data, python_functions={{'{name}': ...}})"
        )

    return PythonFunction(missing, name)
