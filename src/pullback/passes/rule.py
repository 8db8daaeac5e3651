"""Rewrite rules: equations between pieces of graph, each a Python function that yields one side, then the other.

What stands between the two yields is the condition: a function that returns there says that the equation does not hold
for these types and attributes. So a rule is read as it is proved, and needs no language of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import UnionType
from typing import Any, Protocol, get_args

import numpy as np

from ..core.function import Function, Parameter, add_parameter, trace
from ..core.graph import Graph, Tensor, get_default_graph
from ..core.primitive import Primitive, primitive_class
from ..core.shape import same_shape
from ..core.types import TensorType, tensor_type
from ..primitives.creation.constant import Const, convert_to_tensor
from .pattern import Bindings, Constant, Node, Number, Part, Values, Variable, variables_of
from .view import View

LEVELS = ("exact", "safe", "fast")
"""What rules may change, from nothing to the rounding of every result."""
Equation = Callable[..., Generator[Any]]
MATRICES = tensor_type("float64", [4, 4])
"""The types for which a left side is traced that none of which nothing is known can be traced for."""
_ANY = tensor_type("float64")
_OF_TENSORS = ("Tensor", "TensorLike", "Any")
"""What annotates parameters that are tensors, where the module does not know these names."""
_MOST_KEPT = 1024
"""So many right sides of a rule are kept, each for some types and attributes."""


class Rewriting(Protocol):
    """What a sweep asks of a rule."""

    @property
    def name(self) -> str: ...

    @property
    def stabilises(self) -> bool: ...

    @property
    def pattern(self) -> Node: ...

    def right_side(self, found: Bindings) -> tuple[Function, list[Tensor]] | None: ...


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
            for part, cls in zip(parts, named, strict=True):
                if cls is None and part.isidentifier() and part not in _OF_TENSORS:
                    raise ValueError(f"rewrite: the rule '{self.name}': {name}: {part!r} is no type of operation")
        else:
            named = list(get_args(annotation)) if isinstance(annotation, UnionType) else [annotation]
        return tuple([cls for cls in named if isinstance(cls, type) and issubclass(cls, Primitive)])

    @cached_property
    def pattern(self) -> Node:
        """The left side, of any types; that of matrices where it is none of any."""
        try:
            left = LeftSide(self, _ANY)
        except (TypeError, ValueError):
            left = LeftSide(self, MATRICES)
        root = left.part(left.root, View((), []))
        if not isinstance(root, Node):
            raise ValueError(f"rewrite: the rule '{self.name}' has no operation on the left")
        unread = [name for name in self.parameters if name not in variables_of(root)]
        if unread:
            raise ValueError(f"rewrite: the rule '{self.name}' does not read {', '.join(unread)} on the left")
        return root

    def right_side(self, found: Bindings) -> tuple[Function, list[Tensor]] | None:
        """What computes the right side, and the tensors that it is given; None where the equation does not hold."""
        arguments = {name: found[name] for name in self.parameters}
        tensors = [x for value in arguments.values() for x in tensors_of(value)]
        key = key_of(arguments)
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
            sides = self.sides(replaced(arguments, xs))
            try:
                next(sides)
            except (TypeError, ValueError):  # Numbers in the pattern are none that these dtypes take.
                return []
            try:
                right = next(sides, None)
                return [] if right is None else as_list(right)
            except (TypeError, ValueError) as error:
                types = ", ".join([str(x.type) for x in tensors])
                raise ValueError(
                    f"rewrite: the rule '{self.name}' has no right side for {types}: {error}. Return between its "
                    "yields where it does not hold"
                ) from error
            finally:
                sides.close()

        with Graph().as_default():
            function = trace(build, [Parameter(x.type) for x in tensors], self.name).function
        return function if function.results else None


def rewrite(level: str, *, stabilises: bool = False) -> Callable[[Equation], Rule]:
    """A decorator that makes a rule of a generator function, as `pb.rewrite` does, without trying it."""
    if level not in LEVELS:
        raise ValueError(f"rewrite: the level must be 'exact', 'safe' or 'fast', not {level!r}")

    def make(equation: Equation) -> Rule:
        if not inspect.isgeneratorfunction(equation):
            raise TypeError(
                f"rewrite: {equation!r} is no generator function; write one that yields what is computed, and then "
                "what to compute instead"
            )
        return Rule(equation.__name__.replace("_", " "), level, equation, stabilises)

    return make


class LeftSide:
    """The left side of a rule, traced once, with a tensor for each variable and for what a variable is applied to."""

    def __init__(self, rule: Rule, like: TensorType) -> None:
        self.rule, self.like = rule, like
        self.variables: dict[Tensor, Variable | Constant] = {}
        self.applied: dict[Tensor, tuple[str, tuple[type[Primitive], ...], Sequence[Tensor]]] = {}
        with Graph().as_default():
            (self.root,) = set(trace(self._traced, [], rule.name).function.results)

    @property
    def given(self) -> set[Tensor]:
        """The tensors of which nothing but the type is known."""
        return {*self.variables, *self.applied}

    def part(self, x: Tensor, view: View) -> Part:
        """The part of the pattern that `x` is, as `view` leaves what is before it."""
        made: dict[Tensor, Part] = {}

        def part(x: Tensor) -> Part:
            x = view.stand_in(x)
            if x not in made:
                made[x] = self.variables.get(x) or new(x)
            return made[x]

        def new(x: Tensor) -> Part:
            if x in self.applied:
                name, classes, inputs = self.applied[x]
                return Node(classes, None, name, tuple(map(part, inputs)))
            primitive = x.op.primitive
            value = primitive.value if isinstance(primitive, Const) else view.known.get(x)
            if value is not None:
                return Number(value.item()) if np.size(value) == 1 else Values(np.asarray(value))
            return Node((type(primitive),), primitive, None, tuple(map(part, view.inputs(x.op))))

        return part(x)

    def stand_in(self) -> Tensor:
        """A tensor of which nothing but the type is known."""
        return add_parameter(get_default_graph(), self.like, "any")

    def _traced(self) -> list[Tensor]:
        rule = self.rule
        sides = rule.sides({name: self._argument(name, p) for name, p in rule.parameters.items()})
        left = as_list(next(sides))
        sides.close()
        return left

    def _argument(self, name: str, parameter: inspect.Parameter) -> Any:
        classes = self.rule.classes(name)
        if classes:
            return _AnyOperation(self, name, classes)
        many = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        x = self.stand_in()
        self.variables[x] = Variable(name, many)
        return [x] if many else x


class _AnyOperation:
    """A variable for primitives, while a left side is traced: to call it is to apply any of its classes."""

    def __init__(self, left: LeftSide, name: str, classes: tuple[type[Primitive], ...]) -> None:
        self.left, self.name, self.classes = left, name, classes

    def __call__(self, *inputs: Any) -> Tensor:
        left = self.left
        y = left.stand_in()
        if self.classes == (Const,):
            left.variables[y] = Constant(self.name)
        else:
            left.applied[y] = (self.name, self.classes, [convert_to_tensor(x) for x in inputs])
        return y


def as_list(side: Any) -> list[Tensor]:
    """A side of an equation as the list of its tensors."""
    return [convert_to_tensor(x) for x in (side if isinstance(side, list | tuple) else [side])]


def same_type(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors are known to have one type in every run."""
    return x.dtype == y.dtype and same_shape(x.shape, y.shape)


def tensors_of(value: Any) -> Sequence[Tensor]:
    """The tensors that a variable stands for."""
    if isinstance(value, Tensor):
        return (value,)
    return value if isinstance(value, tuple) else ()


def replaced(arguments: Mapping[str, Any], tensors: Iterable[Tensor]) -> dict[str, Any]:
    """`arguments` with others in place of their tensors, in order."""
    inside = iter(tensors)
    return {name: _replaced(value, inside) for name, value in arguments.items()}


def key_of(arguments: Mapping[str, Any]) -> Any:
    """What is equal for arguments for which an equation is the same."""
    return tuple([_key(value) for value in arguments.values()])


def _replaced(value: Any, inside: Iterator[Tensor]) -> Any:
    """What a variable stands for, with the next tensors `inside` in place of its own."""
    if isinstance(value, Tensor):
        return next(inside)
    return tuple([next(inside) for _ in value]) if isinstance(value, tuple) else value


def _key(value: Any) -> Any:
    if isinstance(value, Const):
        return value.value.dtype, value.value.shape, value.value.tobytes()
    if isinstance(value, Primitive):
        return value, repr(value)
    return tuple([(x.dtype, x.shape.lengths) for x in tensors_of(value)])
