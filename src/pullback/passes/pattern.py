"""Term patterns: pieces of graph with variables for tensors and for primitives, matched against operations.

Matching is by structure: the classes of primitives, their attributes where the pattern says them, which operation reads
which, and numbers by their values, of any dtype and shape. A variable that stands twice is the same tensor twice.
Operands of what commutes are tried in both orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..core.dtypes import FLOATING, DType, TokenType
from ..core.graph import Operation, Tensor
from ..core.primitive import Primitive
from ..core.traits import COMMUTES
from ..primitives.creation.constant import Const

Bindings = Mapping[Any, Any]
"""What a match has found: for the names of variables tensors and primitives, nodes operations, numbers tensors."""


class Facts(Protocol):
    """What a pattern asks of the graph that it is matched against."""

    def producer(self, x: Tensor) -> Operation | None:
        """The operation that computes `x`; None where a pattern must not look behind it."""

    def inputs(self, op: Operation) -> Sequence[Tensor]:
        """What an operation reads."""

    def number(self, x: Tensor) -> Any:
        """The number that all elements of `x` are; None where they are not, or that is not known."""

    def constant(self, x: Tensor) -> Primitive | None:
        """The constant that `x` is, where it is known."""


@dataclass(frozen=True)
class Variable:
    """Any tensor; with `many`, all inputs of an operation."""

    name: str
    many: bool = False


@dataclass(frozen=True, eq=False)
class Number:
    """A tensor of which all elements are one number; it stands for the tensor that was found."""

    value: Any


@dataclass(frozen=True, eq=False)
class Values:
    """A constant of several elements that are not equal; it stands for the tensor that was found."""

    value: Any


@dataclass(frozen=True)
class Constant:
    """A tensor whose value is known; the variable stands for the primitive that gives it."""

    name: str


@dataclass(frozen=True, eq=False)
class Node:
    """An operation of one of `classes`."""

    classes: tuple[type[Primitive], ...]
    primitive: Primitive | None
    """What the operation's must be equal to; None: any of the classes."""
    name: str | None
    """The variable that stands for the primitive, or None."""
    inputs: tuple[Part, ...]

    @property
    def commutes(self) -> bool:
        """Whether the inputs may stand in the other order."""
        return len(self.inputs) == 2 and all(COMMUTES in cls.traits for cls in self.classes)


Part = Variable | Number | Values | Constant | Node


def variables_of(part: Part) -> set[str]:
    """The names of all variables of a pattern."""
    if isinstance(part, Variable | Constant):
        return {part.name}
    if isinstance(part, Number | Values):
        return set()
    return {name for each in part.inputs for name in variables_of(each)} | ({part.name} if part.name else set())


def structure(part: Part) -> Any:
    """What is equal for patterns that find the same."""
    match part:
        case Node(classes=classes, primitive=primitive, name=name, inputs=inputs):
            return classes, primitive, name, tuple(map(structure, inputs))
        case Number(value):
            return value
        case Values(value):
            return value.tobytes(), value.shape
    return part


Kinds = tuple[type[Primitive] | None, ...]
"""For each input of an operation the class behind it: `Const` where its value is known, None where nobody may look."""


def may_match(node: Node, cls: type[Primitive], kinds: Kinds) -> bool:
    """Whether an operation of class `cls` whose inputs are of these kinds may be an instance of a pattern."""
    if cls not in node.classes:
        return False
    parts = node.inputs
    if len(parts) == 1 and isinstance(parts[0], Variable) and parts[0].many:
        return True
    orders = [kinds, kinds[::-1]] if node.commutes else [kinds]
    return len(parts) == len(kinds) and any(all(map(_may_be, parts, order)) for order in orders)


def _may_be(part: Part, kind: type[Primitive] | None) -> bool:
    match part:
        case Variable():
            return True
        case Node(classes=classes):
            return kind in classes
    return kind is Const


def matches(node: Node, op: Operation, facts: Facts) -> Iterator[Bindings]:
    """All ways in which `op` and what it reads are an instance of the pattern `node`."""
    return _operation(node, op, {}, facts)


def _operation(node: Node, op: Operation, found: Bindings, facts: Facts) -> Iterator[Bindings]:
    primitive = op.primitive
    if type(primitive) not in node.classes or (node.primitive is not None and node.primitive != primitive):
        return
    if found.get(node, op) is not op or found.get(node.name, primitive) != primitive:
        return
    found = {**found, node: op}
    if node.name is not None:
        found[node.name] = primitive
    inputs, parts = facts.inputs(op), node.inputs
    if len(parts) == 1 and isinstance(parts[0], Variable) and parts[0].many:
        yield from _bound(parts[0].name, tuple(inputs), found)
    elif len(inputs) == len(parts):
        yield from _inputs(parts, inputs, found, facts)
        if node.commutes and inputs[0] is not inputs[1]:
            yield from _inputs(parts, inputs[::-1], found, facts)


def _inputs(parts: Sequence[Part], xs: Sequence[Tensor], found: Bindings, facts: Facts) -> Iterator[Bindings]:
    if not parts:
        yield found
        return
    for first in _tensor(parts[0], xs[0], found, facts):
        yield from _inputs(parts[1:], xs[1:], first, facts)


def _tensor(part: Part, x: Tensor, found: Bindings, facts: Facts) -> Iterator[Bindings]:
    match part:
        case Variable(name):
            yield from _bound(name, x, found)
        case Number(value):
            number = facts.number(x)
            if number is not None and _is_rounded(value, number, x.dtype):
                yield {**found, part: x}
        case Values(value):
            constant = facts.constant(x)
            if isinstance(constant, Const) and _is_rounded(value, constant.value, x.dtype):
                yield {**found, part: x}
        case Constant(name):
            constant = facts.constant(x)
            if constant is not None:
                yield from _bound(name, constant, found)
        case Node():
            op = facts.producer(x)
            if op is not None and len(op.outputs) == 1:
                yield from _operation(part, op, found, facts)


def _is_rounded(value: Any, number: Any, dtype: DType) -> bool:
    """Whether a number, or an array, of a pattern is what was found, as its dtype has it."""
    if np.array_equal(value, number):
        return True
    if (
        isinstance(dtype, TokenType)
        or dtype not in FLOATING
        or np.iscomplexobj(value)
        or not np.all(np.isfinite(number))
    ):
        return False
    with np.errstate(over="ignore"):
        return np.array_equal(np.asarray(value).astype(dtype), number)


def _bound(name: str, value: Any, found: Bindings) -> Iterator[Bindings]:
    known = found.get(name, value)
    if known is value or known == value:
        yield {**found, name: value}
