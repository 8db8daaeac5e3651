"""Rule sets: the rules that a rewriting uses, found by the operations that they begin with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

from ..core.primitive import Primitive
from .pattern import Kinds, may_match
from .rule import LEVELS, Rewriting, Rule

EXACT, SAFE, FAST = LEVELS


class RuleIndex:
    """Rules of a level, found by the operations that they begin with."""

    def __init__(self, level: str, rules: Sequence[Rewriting]) -> None:
        self.level, self._rules = level, rules
        self._found: dict[Any, Sequence[Rewriting]] = {}

    def of(self, cls: type[Primitive], kinds: Kinds) -> Sequence[Rewriting]:
        """The rules to try on operations of a class whose inputs are of these kinds, in order."""
        found = self._found.get((cls, kinds))
        if found is None:
            found = self._found[cls, kinds] = [r for r in self._rules if may_match(r.pattern, cls, kinds)]
        return found


class Rules:
    """The library's rewrite rules up to a level, and more: what `pb.optimize` goes by.

    Args:
        level: "exact": results stay the same to the last bit. "safe": they are at least as accurate; what loses digits
            or overflows is computed otherwise. "fast": their rounding may change as well, as sums and products are
            arranged anew.
        more: rules of your own, made by `pb.rewrite`. They come first, and find what the others make of their left
            sides as well: one of `x * x` finds `square(x)`.

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

    def of(self, cls: type[Primitive], kinds: Kinds) -> Sequence[Rewriting]:
        """The rules to try on operations of a class whose inputs are of these kinds, in order."""
        return self._tried.of(cls, kinds)

    @cached_property
    def _tried(self) -> RuleIndex:
        """The rules as they are, then those of users in the forms that the others leave of their left sides."""
        if not self.more:
            return _index(self.level, ())
        from .normal_forms import forms_by_rank, normal_forms

        forms: list[Rewriting] = []
        for rule in self.more:
            others = _index(self.level, [other for other in self.more if other is not rule])
            forms += [rule, *forms_by_rank(rule), *normal_forms(rule, others)]
        return _index(self.level, forms)

    def __repr__(self) -> str:
        return f"Rules({', '.join([repr(self.level), *[rule.name for rule in self.more]])})"


@cache
def library() -> tuple[Rule, ...]:
    """The rules that pullback has, those that stabilise first."""
    from .rules import algebra, contraction, moving, stable

    modules = (stable, moving, algebra, contraction)
    return tuple([rule for module in modules for rule in vars(module).values() if isinstance(rule, Rule)])


def _index(level: str, more: Sequence[Rewriting]) -> RuleIndex:
    """The rules of `more`, and then the library's up to a level."""
    allowed = LEVELS[: LEVELS.index(level) + 1]
    return RuleIndex(level, (*more, *[rule for rule in library() if rule.level in allowed]))


@cache
def rules_of(level: str) -> Rules:
    """The library's rules up to a level, made once."""
    return Rules(level)


def as_rules(rules: Rules | str) -> Rules:
    """The rules that `optimize=` means."""
    return rules if isinstance(rules, Rules) else rules_of(rules)
