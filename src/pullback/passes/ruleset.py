"""Rule sets: the rules that a rewriting uses, found by the operations that they begin with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..core.primitive import Primitive
from .pattern import Kinds, may_match
from .rule import LEVELS, Rule

EXACT, SAFE, FAST = LEVELS


class Rules:
    """The library's rewrite rules up to a level, and more: what `pb.optimize` goes by.

    Args:
        level: "exact": results stay the same to the last bit. "safe": they are at least as accurate; what loses digits
            or overflows is computed otherwise. "fast": their rounding may change as well, as sums and products are
            arranged anew.
        more: rules of your own, made by `pb.rewrite`. They come first.

    Raises:
        ValueError: another level. TypeError: what is no rule.

    >>> import pullback as pb
    >>> pb.Rules("exact")
    Rules('exact')
    """

    def __init__(self, level: str = SAFE, *more: Rule) -> None:
        if level not in LEVELS:
            raise ValueError(f"Rules: the level must be 'exact', 'safe' or 'fast', not {level!r}")
        for rule in more:
            if not isinstance(rule, Rule):
                raise TypeError(f"Rules: {rule!r} is no rule; make one with @pb.rewrite")
        self.level, self.more = level, more
        allowed = LEVELS[: LEVELS.index(level) + 1]
        self._rules = (*more, *[rule for rule in library() if rule.level in allowed])
        self._found: dict[Any, Sequence[Rule]] = {}

    def of(self, cls: type[Primitive], kinds: Kinds) -> Sequence[Rule]:
        """The rules to try on operations of a class whose inputs are of these kinds, in order."""
        found = self._found.get((cls, kinds))
        if found is None:
            found = self._found[cls, kinds] = [r for r in self._rules if may_match(r.pattern, cls, kinds)]
        return found

    def __repr__(self) -> str:
        return f"Rules({', '.join([repr(self.level), *[rule.name for rule in self.more]])})"


@cache
def library() -> tuple[Rule, ...]:
    """The rules that pullback has, those that stabilise first."""
    from .rules import algebra, contraction, moving, stable

    modules = (stable, moving, algebra, contraction)
    return tuple([rule for module in modules for rule in vars(module).values() if isinstance(rule, Rule)])


@cache
def rules_of(level: str) -> Rules:
    """The library's rules up to a level, made once."""
    return Rules(level)


def as_rules(rules: Rules | str) -> Rules:
    """The rules that `optimize=` means."""
    return rules if isinstance(rules, Rules) else rules_of(rules)
