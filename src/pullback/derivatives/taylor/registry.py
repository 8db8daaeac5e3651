"""Taylor rule registry (`RegisterJet`): which generator gives the Taylor coefficients of an operation's outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...core.graph import Operation

Rule = Callable[..., Iterator[Any]]
_rules: dict[str, Rule] = {}


class RegisterJet:
    """A decorator that registers a generator as the Taylor rule of op types.

    It is called as `rule(op, *xs)`, where `x[k]` is the Taylor coefficient k of an input along the curve (None: zeros),
    and yields coefficient 1 of the output, then 2, and so on (a tuple of them where there are several outputs). When it
    is asked for coefficient k, those of the inputs up to k are there. Without such a rule `jet` uses traits, and then
    the gradient.

    Raises:
        KeyError: the type has a rule.

    >>> import pullback as pb
    >>> @pb.RegisterJet("TwiceForShow")
    ... def twice(op, x):
    ...     k = 0
    ...     while True:
    ...         k += 1
    ...         yield None if x[k] is None else 2.0 * x[k]
    """

    def __init__(self, *op_types: str) -> None:
        self._op_types = op_types

    def __call__(self, rule: Rule) -> Rule:
        for op_type in self._op_types:
            if op_type in _rules:
                raise KeyError(f"Registering two jets with name '{op_type}'!")
            _rules[op_type] = rule
        return rule


def registered(op: Operation) -> Rule | None:
    """The rule of the type of `op`, or None."""
    return _rules.get(op.type)
