"""What a caller of `gradients` chooses for all that it differentiates, functions inside functions included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..core.memory import KEEP_CARRIED, Memory

Rule = Callable[..., Any]
Rules = Mapping[str, Rule | None]
"""For an operation's name or type the rule to use in place of its own; None: not differentiable."""

_NO_RULES: Rules = {}
_rules: ContextVar[Rules] = ContextVar("rules", default=_NO_RULES)
_memory: ContextVar[Memory] = ContextVar("memory", default=KEEP_CARRIED)


def chosen_rules() -> Rules:
    """The rules in force."""
    return _rules.get()


def chosen_memory() -> Memory:
    """The memory policy in force."""
    return _memory.get()


def choices_key() -> tuple[Any, ...]:
    """A value that is equal where the choices in force are."""
    return frozenset(_rules.get().items()), _memory.get()


@contextmanager
def choosing(rules: Rules | None, memory: Memory | None) -> Iterator[None]:
    """A block with other choices; None leaves one as it is. Rules add to those around."""
    tokens: list[tuple[ContextVar[Any], Any]] = []
    if rules is not None:
        tokens.append((_rules, _rules.set({**_rules.get(), **rules})))
    if memory is not None:
        tokens.append((_memory, _memory.set(memory)))
    try:
        yield
    finally:
        for variable, token in reversed(tokens):
            variable.reset(token)
