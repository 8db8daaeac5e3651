"""Function factories: functions made from a table have names and docstrings of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def named(name: str, doc: str, function: F) -> F:
    """`function`, just made, with this name, in stack traces too, and this docstring."""
    made: Any = function
    made.__name__ = made.__qualname__ = name
    made.__code__ = made.__code__.replace(co_name=name, co_qualname=name)
    made.__doc__ = doc
    return function
