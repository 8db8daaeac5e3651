"""Rewrite rules: equations between pieces of graph, each a Python function that yields one side, then the other.

What stands between the two yields is the condition: a function that returns there says that the equation does not hold
for these types and attributes. So a rule is read as it is proved, and needs no language of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import UnionType
from typing import Any, get_args

from ..core.function import Function, Parameter, add_parameter, trace
from ..core.graph import Graph, Tensor, get_default_graph
from ..core.primitive import Primitive, primitive_class
from ..core.shape import same_shape
from ..core.types import tensor_type
from ..primitives.creation.constant import Const, convert_to_tensor
from .pattern import Bindings, Constant, Node, Number, Part, Variable

LEVELS = ("exact", "safe", "fast")
"""What rules may change, from nothing to the rounding of every result."""
Equation = Callable[..., Generator[Any]]
_ANY = tensor_type("float32")
_MOST_KEPT = 1024
"""So many right sides of a rule are kept, each for some types and attributes."""


@dataclass(frozen=True, eq=False)
class Rule:
    """An equation that is used from left to right; made by `pb.rewrite`."""

    name: str
    level: str
    equation: Equation
    stabilises: bool = False
    """Whether it is used for what it makes more accurate, even where that takes more operations."""
    made: dict[Any, Function | None] = field(default_factory=dict, repr=False)
    """The right sides by the types and primitives that they are for; None where the equation does not hold."""

    @property
    def reason(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.equation) or "").partition("\n")[0]

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the equation by name."""
        return inspect.signature(self.equation).parameters

    def classes(self, name: str) -> tuple[type[Primitive], ...]:
        """The classes of operations that a parameter stands for; none where it stands for a tensor.

        An annotation names classes, in the function's module, or types of operations.
        """
        annotation = self.parameters[name].annotation
        if isinstance(annotation, str):
            known = getattr(self.equation, "__globals__", {})
            parts = [part.strip() for part in annotation.strip("'\"").split("|")]
            named = [known.get(part) or primitive_class(part) for part in parts]
        else:
            named = list(get_args(annotation)) if isinstance(annotation, UnionType) else [annotation]
        return tuple([cls for cls in named if isinstance(cls, type) and issubclass(cls, Primitive)])

    @cached_property
    def pattern(self) -> Node:
        """The left side."""
        return _Tracing(self).pattern()

    def right_side(self, found: Bindings) -> tuple[Function, list[Tensor]] | None:
        """What computes the right side, and the tensors that it is given; None where the equation does not hold."""
        arguments = {name: found[name] for name in self.parameters}
        tensors = [x for value in arguments.values() for x in _tensors(value)]
        key = tuple([_key(value) for value in arguments.values()])
        if key not in self.made:
            if len(self.made) == _MOST_KEPT:
                self.made.clear()
            self.made[key] = self._traced(arguments, tensors)
        function = self.made[key]
        return None if function is None else (function, tensors)

    def sides(self, arguments: Mapping[str, Any]) -> Generator[Any]:
        """The equation for these arguments, by name."""
        placed: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in self.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                placed.extend(arguments[name])
            elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                named[name] = arguments[name]
            else:
                placed.append(arguments[name])
        return self.equation(*placed, **named)

    def _traced(self, arguments: Mapping[str, Any], tensors: Sequence[Tensor]) -> Function | None:
        """The right side for these arguments."""

        def build(*xs: Tensor) -> list[Tensor]:
            inside = iter(xs)
            sides = self.sides({name: _replaced(value, inside) for name, value in arguments.items()})
            try:
                next(sides)
            except (TypeError, ValueError):  # Numbers in the pattern are none that these dtypes take.
                return []
            right = next(sides, None)
            sides.close()
            return [] if right is None else as_list(right)

        with Graph().as_default():
            function = trace(build, [Parameter(x.type) for x in tensors], self.name).function
        return function if function.results else None


def rewrite(level: str, *, stabilises: bool = False) -> Callable[[Equation], Rule]:
    """A decorator that makes a rule of a generator function, as `pb.rewrite` does, without trying it."""
    if level not in LEVELS:
        raise ValueError(f"rewrite: the level must be 'exact', 'safe' or 'fast', not {level!r}")

    def make(equation: Equation) -> Rule:
        return Rule(equation.__name__.replace("_", " "), level, equation, stabilises)

    return make


class _Tracing:
    """The left side of a rule as a pattern: traced once, with tensors of which nothing is known."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.parts: dict[Tensor, Part] = {}

    def pattern(self) -> Node:
        with Graph().as_default():
            function = trace(self._left, [], self.rule.name).function
        (root,) = {self.part(y): None for y in function.results}
        assert isinstance(root, Node), f"the rule '{self.rule.name}' begins with no operation"
        return root

    def part(self, x: Tensor) -> Part:
        """The part of the pattern that `x` is."""
        known = self.parts.get(x)
        if known is None:
            primitive = x.op.primitive
            if isinstance(primitive, Const):
                known = Number(primitive.value.item())
            else:
                known = Node((type(primitive),), primitive, None, tuple([self.part(y) for y in x.op.inputs]))
            self.parts[x] = known
        return known

    def _left(self) -> list[Tensor]:
        sides = self.rule.sides({name: self._argument(name, p) for name, p in self.rule.parameters.items()})
        left = as_list(next(sides))
        sides.close()
        return left

    def _argument(self, name: str, parameter: inspect.Parameter) -> Any:
        classes = self.rule.classes(name)
        if classes:
            return _AnyOperation(self, name, classes)
        many = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        x = self.stand_in(Variable(name, many))
        return [x] if many else x

    def stand_in(self, part: Part) -> Tensor:
        """A tensor for a part of the pattern, of no known shape."""
        x = add_parameter(get_default_graph(), _ANY, "any")
        self.parts[x] = part
        return x


class _AnyOperation:
    """A variable for primitives, while a pattern is traced: to call it is to apply any of its classes."""

    def __init__(self, tracing: _Tracing, name: str, classes: tuple[type[Primitive], ...]) -> None:
        self.tracing, self.name, self.classes = tracing, name, classes

    def __call__(self, *inputs: Any) -> Tensor:
        tracing = self.tracing
        if self.classes == (Const,):
            return tracing.stand_in(Constant(self.name))
        parts = [tracing.part(convert_to_tensor(x)) for x in inputs]
        return tracing.stand_in(Node(self.classes, None, self.name, tuple(parts)))


def as_list(side: Any) -> list[Tensor]:
    """A side of an equation as the list of its tensors."""
    return list(side) if isinstance(side, list | tuple) else [side]


def same_type(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors are known to have one type in every run."""
    return x.dtype == y.dtype and same_shape(x.shape, y.shape)


def _tensors(value: Any) -> Sequence[Tensor]:
    """The tensors that a variable stands for."""
    if isinstance(value, Tensor):
        return (value,)
    return value if isinstance(value, tuple) else ()


def _replaced(value: Any, inside: Iterator[Tensor]) -> Any:
    """What a variable stands for, with the next tensors `inside` in place of its own."""
    if isinstance(value, Tensor):
        return next(inside)
    return tuple([next(inside) for _ in value]) if isinstance(value, tuple) else value


def _key(value: Any) -> Any:
    """What is equal for arguments for which an equation is the same."""
    if isinstance(value, Const):
        return value.value.dtype, value.value.shape, value.value.tobytes()
    if isinstance(value, Primitive):
        return value, repr(value)
    return tuple([(x.dtype, x.shape.lengths) for x in _tensors(value)])
