"""Options of differentiation: what a caller of `gradients` chooses, for functions inside functions too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from ..core.memory import Memory
from ..core.operation import Operation

Rule = Callable[..., Any]
Rules = Mapping[str, Rule | None]
"""For an operation's name or type the rule to use in place of its own; None: not differentiable."""


class Around(NamedTuple):
    """What reaches a function that is differentiated: zeros that hide something in cotangents, poles in arguments."""

    zeros: bool = False
    poles: bool = False


Aggregation = Callable[[Sequence[Any], Operation], Any]
"""The sum, or what stands for it, of the terms of the cotangent of an operation's output."""
_NO_RULES: Rules = {}
_rules: ContextVar[Rules] = ContextVar("rules", default=_NO_RULES)
_memory: ContextVar[Memory | None] = ContextVar("memory", default=None)
_aggregation: ContextVar[Aggregation | None] = ContextVar("aggregation", default=None)
_around: ContextVar[Around] = ContextVar("around", default=Around())  # noqa: B039 (it is never changed)


def chosen_rules() -> Rules:
    """The rules in force."""
    return _rules.get()


def chosen_memory() -> Memory | None:
    """The memory policy in force, if there is one."""
    return _memory.get()


def choices_key() -> tuple[Any, ...]:
    """A value that is equal where the choices in force are."""
    return frozenset(_rules.get().items()), _memory.get(), _around.get(), _aggregation.get()


def chosen_aggregation() -> Aggregation | None:
    """The function that adds up the terms of a cotangent, if one is chosen."""
    return _aggregation.get()


def what_is_around() -> Around:
    """What reaches the function that is being differentiated."""
    return _around.get()


@contextmanager
def surrounded(around: Around) -> Iterator[None]:
    """A block in which functions are differentiated for arguments and cotangents of which `around` is known."""
    token = _around.set(around)
    try:
        yield
    finally:
        _around.reset(token)


@contextmanager
def choosing(rules: Rules | None, memory: Memory | None, aggregation: Aggregation | None = None) -> Iterator[None]:
    """A block with other choices; None leaves one as it is. Rules add to those around."""
    tokens: list[tuple[ContextVar[Any], Any]] = []
    if rules is not None:
        tokens.append((_rules, _rules.set({**_rules.get(), **rules})))
    if memory is not None:
        tokens.append((_memory, _memory.set(memory)))
    if aggregation is not None:
        tokens.append((_aggregation, _aggregation.set(aggregation)))
    try:
        yield
    finally:
        for variable, token in reversed(tokens):
            variable.reset(token)


@contextmanager
def memory_policy(policy: Memory | None) -> Iterator[None]:
    """Inside the block, derivatives of loops keep what `policy` says; None: what they keep where no policy says.

    >>> import pullback as pb
    >>> x = pb.constant(0.5)
    >>> y = pb.while_loop(lambda i, y: i < 100, lambda i, y: [i + 1, pb.cos(y * x)], [0, x])[1]
    >>> with pb.memory_policy(pb.Memory(every=10)):
    ...     dx, = pb.gradients(y, x)
    >>> print(f"{pb.Session().run(dx):.4f}")
    -0.3218
    """
    token = _memory.set(policy)
    try:
        yield
    finally:
        _memory.reset(token)
