"""Values and shapes that may differ from run to run: they follow from floats that are fed, or from numbers drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from ..control_flow.loop import Loop
from ..core.dtypes import TRAINABLE
from ..core.function import AbstractFunctional, Function, Parameter
from ..core.graph import Operation, Tensor
from ..core.lengths import Length
from ..core.needs import needed
from ..core.traits import CONSTANT, GIVEN
from ..primitives.base.state import AbstractStateful

Fact = tuple[Tensor, bool]
"""The value of a tensor, or, where the second is true, its shape only."""


class Differing:
    """What follows from floats that are fed or held by variables, from numbers drawn, and from the facts `free`."""

    def __init__(self, free: Iterable[Fact] = ()) -> None:
        self._free = frozenset(free)
        self._known: dict[Fact, bool] = {}

    def value(self, x: Tensor) -> bool:
        """Whether the value of `x` may differ."""
        return self._differs((x, False))

    def shape(self, x: Tensor) -> bool:
        """Whether the shape of `x` may."""
        return not x.shape.is_fully_defined() and self._differs((x, True))

    def _differs(self, fact: Fact) -> bool:
        if fact not in self._known:
            self._known[fact] = any(self._is_free(other) for other in needed([fact], self._behind))
        return self._known[fact]

    def _is_free(self, fact: Fact) -> bool:
        x, of_shape = fact
        primitive = x.op.primitive
        if fact in self._free or of_shape or isinstance(primitive, Parameter):
            return fact in self._free
        if isinstance(primitive, AbstractStateful) and primitive.owns_state:
            return True
        return GIVEN in primitive.traits and CONSTANT not in primitive.traits and x.dtype in TRAINABLE

    def _behind(self, fact: Fact) -> Iterable[Fact]:
        """The values and shapes that decide one."""
        x, of_shape = fact
        op, inputs, traits = x.op, x.op.inputs, x.op.primitive.traits
        if fact in self._free or GIVEN in traits or (of_shape and x.shape.is_fully_defined()):
            return []
        if of_shape and _has_lengths(x) and _symbols(x) <= frozenset().union(*map(_symbols, inputs)):
            return [(y, True) for y in inputs]
        if isinstance(op.primitive, Loop):
            return self._behind_loop(op, op.primitive, fact)
        if isinstance(op.primitive, AbstractFunctional):
            return self._behind_call(op, op.primitive, fact)
        if not of_shape:
            shaping = {i for t in traits if t.name == "reads shape" for i in t.inputs}
            return [(y, i in shaping or not op.primitive.reads_values) for i, y in enumerate(inputs)]
        numbers = op.primitive.shape_inputs
        deciding = [y for i, y in enumerate(inputs) if y.dtype not in TRAINABLE or i in numbers]
        return [*[(y, True) for y in inputs], *[(y, False) for y in deciding]]

    def _behind_call(self, op: Operation, primitive: AbstractFunctional, fact: Fact) -> list[Fact]:
        """Of an output of a call or a branch: what its functions read, and what chooses between them."""
        number = op.outputs.index(fact[0])
        found = [(x, False) for x in op.inputs[: primitive.lead]]
        for function, args in zip(primitive.functions, primitive.arguments(op.inputs), strict=True):
            found += self._outside(function, args, needed([(function.results[number], fact[1])], self._behind))
        return found

    def _behind_loop(self, op: Operation, loop: Loop, fact: Fact) -> list[Fact]:
        """Of an output of a loop: what any of its steps reads, and what decides how many there are."""
        c, number, places = loop.carried, op.outputs.index(fact[0]), loop.places
        wanted = [(y, False) for y in (loop.condition.results if loop.condition else ())]
        if number in (*places.stacked, *places.kept):
            wanted.append((loop.body.results[places.result_of(number)], fact[1]))
        elif number:
            first = places.final if number in places.final else places.history
            wanted.append((loop.body.parameters[number - first[0]], fact[1]))
        before = dict(zip(loop.body.parameters[:c], loop.body.results, strict=False))
        if loop.condition:
            before |= zip(loop.condition.parameters, loop.arguments((None, *loop.body.parameters))[1], strict=True)
        behind = needed(wanted, partial(self._in_steps, before))
        return [(op.inputs[0], False), *self._outside(loop.body, op.inputs[1:], behind)]

    def _in_steps(self, before: dict[Tensor, Tensor], fact: Fact) -> Iterable[Fact]:
        """What is carried follows from the step before."""
        return [(before[fact[0]], fact[1])] if fact[0] in before else self._behind(fact)

    def _outside(self, function: Function, args: Sequence[Tensor], behind: Iterable[Fact]) -> list[Fact]:
        """Of the facts in `function` those that decide: the ones of its arguments, and what is free by itself."""
        given = dict(zip(function.parameters, args, strict=False))
        facts = [(given.get(x, x), of_shape) for x, of_shape in behind]
        return [fact for fact, (x, _) in zip(facts, behind, strict=True) if x in given or self._is_free(fact)]


def _has_lengths(x: Tensor) -> bool:
    """Whether each length of `x` is a number, or has a name or symbol, that others can be told to equal."""
    return x.shape.lengths is not None and None not in x.shape.lengths


def _symbols(x: Tensor) -> frozenset[Length]:
    """The symbols in the shape of `x`."""
    return frozenset().union(*[n.symbols for n in x.shape.lengths or () if isinstance(n, Length)])
