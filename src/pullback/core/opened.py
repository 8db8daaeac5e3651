"""Scopes of programs beyond those of a graph: what each kind of block has in force in a thread, as one value.

A function that TensorFlow calls later than we do, outside all blocks, is called in a block that puts them aside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_opened: ContextVar[Mapping[str, Any]] = ContextVar("opened", default=_NOTHING)


def in_force(kind: str, otherwise: Any) -> Any:
    """What the innermost block of that kind says; `otherwise` outside of all."""
    return _opened.get().get(kind, otherwise)


@contextmanager
def opened(kind: str, value: Any) -> Iterator[None]:
    """A block of that kind, in which `value` is in force."""
    token = _opened.set({**_opened.get(), kind: value})
    try:
        yield
    finally:
        _opened.reset(token)


@contextmanager
def outside_all() -> Iterator[None]:
    """A block in which none of those around is in force."""
    token = _opened.set(_NOTHING)
    try:
        yield
    finally:
        _opened.reset(token)
