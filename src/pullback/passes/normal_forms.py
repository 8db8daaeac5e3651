"""Normal forms of patterns: left sides of rules as other rules leave them, so that they are found in rewritten graphs.

A graph in which `x * x` has become `square(x)` has no `x * x` that the rule of a user could find. Its left side is
rewritten in the same way, once with all of it and once with all but its last operation, which rules of users see first.
That is done for matrices. What Python functions make of a tensor of unknown rank is often not what they make of one
of which it is known (`pb.matmul(x, y)`, `pb.transpose(x)`, `x[..., 0]`), so that there is a form for each rank as well.
Where a form is found, it is made sure of that it is what the left side becomes for the types and attributes found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.function import Function, Parameter, trace
from ..core.graph import Graph, Tensor
from ..core.types import tensor_type
from ..primitives.creation.constant import constant
from .optimizing import MERGED, NUMBERED, Optimizing
from .pattern import Bindings, Constant, Node, Number, Part, Values, Variable, structure
from .rule import MATRICES, LeftSide, Rule, as_list, key_of, replaced, tensors_of
from .ruleset import RuleIndex
from .view import View, view_of

_RANKS = [tensor_type("float64", [None] * rank) for rank in (2, 1, 3, 0, 4)]


def forms_by_rank(rule: Rule) -> list[NormalForm]:
    """The left side of `rule` for tensors of each rank, where it is another one than for those of unknown rank."""
    patterns = {structure(rule.pattern): rule.pattern}
    for like in _RANKS:
        try:
            left = LeftSide(rule, like)
            pattern = left.part(left.root, View((), []))
        except (TypeError, ValueError):  # A left side that is none of tensors of this rank.
            continue
        if isinstance(pattern, Node):
            patterns.setdefault(structure(pattern), pattern)
    return [NormalForm(rule, pattern, RuleIndex(rule.level, [])) for pattern in list(patterns.values())[1:]]


def normal_forms(rule: Rule, others: RuleIndex) -> list[NormalForm]:
    """What `others` make of the left side of `rule`; nothing where they leave it as it is."""
    try:
        left = LeftSide(rule, MATRICES)
        last = left.applied[left.root][2] if left.root in left.applied else left.root.op.inputs
        patterns = [_rewritten(left, others, results) for results in (last, [left.root])]
    except (TypeError, ValueError):  # A left side that is not one of matrices of floats.
        return []
    names = _variables(rule.pattern)
    found = [pattern for pattern in patterns if isinstance(pattern, Node) and _variables(pattern) == names]
    return [NormalForm(rule, pattern, others) for pattern in found]


def _rewritten(left: LeftSide, others: RuleIndex, results: Sequence[Tensor]) -> Part | None:
    """The left side with `results` as `others` leave them; None where they change nothing."""
    optimizing = Optimizing(others)
    view = view_of([*results, *[x for _, _, xs in left.applied.values() for x in xs]], [], left.given)
    view = optimizing.view(view)
    if all(rewrite.rule in (MERGED, NUMBERED) for rewrite in optimizing.rewrites):
        return None
    return left.part(left.root, view)


def _variables(part: Part) -> set[str | None]:
    match part:
        case Variable(name) | Constant(name):
            return {name}
        case Node(name=name, inputs=inputs):
            return {name}.union(*map(_variables, inputs))
    return {None}


@dataclass(frozen=True, eq=False)
class NormalForm:
    """A rule that is found by what `others` make of its left side."""

    rule: Rule
    pattern: Node
    others: RuleIndex
    tried: dict[Any, bool] = field(default_factory=dict, repr=False)
    """Whether it is what the left side becomes, by the types and primitives for which that was asked."""

    @property
    def name(self) -> str:
        """The name of the rule."""
        return self.rule.name

    @property
    def stabilises(self) -> bool:
        """Whether the rule is there for accuracy."""
        return self.rule.stabilises

    def right_side(self, found: Bindings) -> tuple[Function, list[Tensor]] | None:
        """That of the rule; None where the equation does not hold, or this is not its left side."""
        arguments = {name: found[name] for name in self.rule.parameters}
        key = key_of(arguments)
        if key not in self.tried:
            self.tried[key] = self._is_equal(arguments, found)
        return self.rule.right_side(found) if self.tried[key] else None

    def _is_equal(self, arguments: Mapping[str, Any], found: Bindings) -> bool:
        """Whether `others` make one tensor of the left side for these arguments and of what was found.

        And not of the right one, which would be found in its own place again.
        """

        def build(*xs: Tensor) -> list[Tensor]:
            inside = replaced(arguments, xs)
            sides = self.rule.sides(inside)
            left, right = as_list(next(sides)), next(sides, None)
            sides.close()
            return [*left, _made(self.pattern, found, inside), *([] if right is None else as_list(right))]

        tensors = [x for value in arguments.values() for x in tensors_of(value)]
        try:
            with Graph().as_default():
                function = trace(build, [Parameter(x.type) for x in tensors], self.name).function
        except (TypeError, ValueError):  # The left side is none for these types.
            return False
        view = Optimizing(self.others).view(view_of(function.results, [], frozenset(function.parameters)))
        left, made, *right = map(view.stand_in, function.results)
        return left is made and made not in right


def _made(pattern: Node, found: Bindings, inside: Mapping[str, Any]) -> Tensor:
    """What was found as operations of the arguments `inside`."""

    def made(part: Part) -> Sequence[Tensor]:
        match part:
            case Variable(name, many):
                return inside[name] if many else [inside[name]]
            case Constant(name):
                return [inside[name]()]
            case Number(value) | Values(value):
                return [constant(value, found[part].dtype)]
        return [found[part].primitive(*[x for inner in part.inputs for x in made(inner)])]

    (y,) = made(pattern)
    return y
