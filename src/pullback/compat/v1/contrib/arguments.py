"""Argument scopes: defaults for the arguments of functions, inside a block (`arg_scope`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, TypeVar

from ....core.opened import in_force, opened

F = TypeVar("F", bound=Callable[..., Any])
Scope = Mapping[str, Mapping[str, Any]]
_NONE: Scope = MappingProxyType({})
_KIND = "arg_scope"


def add_arg_scope(func: F) -> F:
    """A decorator for functions whose arguments an `arg_scope` may give."""
    key = f"{func.__module__}.{func.__qualname__}"

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**current_arg_scope().get(key, {}), **kwargs})

    call.__dict__["_arg_scope"] = key
    return call  # type: ignore[return-value]


@contextmanager
def arg_scope(list_ops_or_scope: Sequence[Callable[..., Any]] | Scope, **kwargs: Any) -> Iterator[Scope]:
    """Functions of a list have the defaults `kwargs` inside the block; or those that another scope gave them.

    Raises:
        ValueError: a function was not decorated by `add_arg_scope`.
    """
    if isinstance(list_ops_or_scope, Mapping):
        scope = list_ops_or_scope
    else:
        around = current_arg_scope()
        keys = [_key(func) for func in list_ops_or_scope]
        scope = {**around, **{key: {**around.get(key, {}), **kwargs} for key in keys}}
    with opened(_KIND, scope):
        yield scope


def current_arg_scope() -> Scope:
    """The defaults in force."""
    scope: Scope = in_force(_KIND, _NONE)
    return scope


def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Whether a function was decorated by `add_arg_scope`."""
    return hasattr(func, "_arg_scope")


def _key(func: Callable[..., Any]) -> str:
    if not has_arg_scope(func):
        raise ValueError(f"arg_scope: {func!r} takes no defaults; decorate it with add_arg_scope")
    key: str = func.__dict__["_arg_scope"]
    return key
