"""Optimisation to a fixed point: folding, merging, rewriting and pruning, until no rule finds anything."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.function import Function
from ..core.graph import Graph, Operation
from .fold import folded
from .merge import merged
from .numbering import numbered
from .rebuilding import copied
from .ruleset import FAST, RuleIndex, Rules
from .simplify import Rewrite, simplified
from .view import View, view_of

_MOST_ROUNDS = 8
MERGED, FOLDED, NUMBERED = "equal operations", "known values", "equal sums and products"
"""What the passes that are no rules are called where rewrites are listed."""


class Optimizing:
    """One optimisation: the rules that it goes by, what it has rewritten, and what has become of functions."""

    def __init__(self, rules: Rules | RuleIndex) -> None:
        self.rules = rules
        self.rewrites: list[Rewrite] = []
        self._functions: dict[Function, Function] = {}

    def view(self, view: View) -> View:
        """`view` as rules, folding, merging and pruning leave it."""
        graph = Graph(name="optimized")
        if self.rules.level == FAST:
            view = self._numbered(self._merged(self._folded(view)))
        for _ in range(_MOST_ROUNDS):
            before = view
            view = self._merged(self._folded(view))
            view, rewrites = simplified(view, self.rules.of, graph, self.function)
            self.rewrites += rewrites
            if view is before or not rewrites:
                break
        return view

    def function(self, function: Function) -> Function:
        """`function` optimised; itself where nothing changes."""
        made = self._functions.get(function)
        if made is None:
            view = view_of(function.results, function.effects, frozenset(function.parameters))
            lean = self.view(view)
            made = function if _is_as_before(lean, view) else copied(lean, function)
            self._functions[function] = made
        return made

    def _folded(self, view: View) -> View:
        made = folded(view)
        new = [x.op for x in made.known if x not in view.known]
        self.rewrites += [Rewrite(FOLDED, (op,), ()) for op in dict.fromkeys(new)]
        return made

    def _merged(self, view: View) -> View:
        return self._noted(MERGED, view, merged(view))

    def _numbered(self, view: View) -> View:
        return self._noted(NUMBERED, view, numbered(view))

    def _noted(self, name: str, view: View, made: View) -> View:
        """`made`, after what became one on the way from `view` to it was listed."""
        new = {x.op: y.op for x, y in made.same.items() if x not in view.same and x not in view.known}
        self.rewrites += [Rewrite(name, (op,), (first,)) for op, first in new.items()]
        return made


def _is_as_before(lean: View, view: View) -> bool:
    return not lean.same and len(lean.known) == len(view.known) and _same(lean.operations, view.operations)


def _same(a: Sequence[Operation], b: Sequence[Operation]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
