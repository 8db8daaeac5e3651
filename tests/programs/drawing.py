"""Hypothesis strategies of random programs: steps are drawn one by one, each with what it gives at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from pullback.core.traits import COUNTS, ELEMENTWISE, SHAPES
from pullback.core.types import type_of_array

from .program import AbstractStep, Apply, Block, Branch, Call, Input, Map, Program, Scan, Value, While
from .samples import MOST_ELEMENTS, Sample, is_smooth, row_count, samples, type_names

LARGEST = 1e3
"""The largest number that a program which is to be differentiated computes."""
DEPTH = 3
REFUSALS = (ValueError, TypeError, NotImplementedError, IndexError, np.linalg.LinAlgError)
"""What an operation raises that is given what it cannot take."""


Draw = Callable[[int, int], int]
"""An integer between two, both included: how random choices are made."""


@st.composite
def programs(draw: Callable[[st.SearchStrategy[int]], int], dtype: str, wild: bool = False) -> Program:
    """Programs whose floats are of `dtype`; `wild` ones may compute NaN, infinities and extreme integers."""
    program = drawn(lambda a, b: draw(st.integers(a, b)), dtype, wild)
    if program is None:
        reject()
    return program


def drawn(draw: Draw, dtype: str, wild: bool = False) -> Program | None:
    """A program; None where nothing that was tried could be computed."""
    drawing = _Drawing(draw, dtype, wild)
    block = Block(())
    drawing.steps(block, [], draw(1, 7), DEPTH)
    read = {x for step in block.steps for x in step.reads()}
    made = [y for step in block.steps for y in step.outputs if y not in read]
    if not made:
        return None
    block.results = tuple(made[-4:])
    return Program(drawing.inputs, block).pruned()


@dataclass
class _Drawing:
    draw: Draw
    dtype: str
    wild: bool
    inputs: list[Input] = field(default_factory=list)

    def steps(self, block: Block, around: Sequence[Value], count: int, depth: int) -> None:
        """Add up to `count` steps to a block that reads what is `around` it."""
        for _ in range(count):
            given = [*[x.value for x in self.inputs if x.value not in around], *around, *block.parameters]
            values = [*given, *[y for step in block.steps for y in step.outputs]]
            nested = depth and values and self.chance(0.25)
            step = self.control_flow(values, depth - 1) if nested else self.operation(values)
            if step is not None:
                block.steps.append(step)

    def chance(self, p: float) -> bool:
        """True with probability p; False is the simpler one."""
        return self.draw(0, 99) >= 100 - 100 * p

    def one_of(self, elements: Sequence[Any]) -> Any:
        """One of them; the last is the simplest."""
        return elements[-1 - self.draw(0, len(elements) - 1)]

    def operation(self, values: Sequence[Value]) -> AbstractStep | None:
        """One operation of the case table, on values or on inputs like those that it has in a row."""
        type_name = self.one_of(type_names())
        row = self.draw(0, row_count(type_name) - 1)
        found = samples(self.dtype, type_name, row)
        if not found:
            return None
        sample = self.one_of(found)
        before = len(self.inputs)
        step = Apply(sample.primitive, sample.case, is_smooth(sample))
        step.inputs = tuple([self.argument(sample, i, values) for i in range(len(sample.arrays))])
        if self.finish(step):
            return step
        del self.inputs[before:]
        return None

    def argument(self, sample: Sample, i: int, values: Sequence[Value]) -> Value:
        """A value that may take the place of an input of a sample, or a new input of the program."""
        array, p = sample.arrays[i], sample.primitive
        must_be_known = i in p.shape_inputs
        fitting = [
            x
            for x in values
            if x.array.dtype == array.dtype
            and (x.array.ndim == array.ndim or ELEMENTWISE in p.traits)
            and (x.array.shape == array.shape or not sample.derived)
            and (x.known or not must_be_known)
        ]
        likely = 0.9 if array.dtype.kind in "fcb" else 0.3
        if fitting and self.chance(likely):
            return self.one_of(fitting)  # type: ignore[no-any-return]
        if must_be_known:
            return self.new_input(array, "constant")
        return self.new_input(self.other_numbers(array, sample.derived) if self.chance(0.3) else array)

    def new_input(self, array: Any, kind: str | None = None) -> Value:
        """A new input of the program with the numbers of `array`."""
        kind = kind or self.one_of(["constant", "variable", "placeholder", "placeholder", "placeholder"])
        shape = None if self.chance(0.05) else tuple([self.length(n) for n in array.shape])
        self.inputs.append(Input(kind, Value(array, known=kind == "constant"), shape))
        return self.inputs[-1].value

    def length(self, n: int) -> int | str | None:
        """A length as a number, one of two names, or nothing."""
        return self.one_of([None, f"m{n}", f"n{n}", n, n])  # type: ignore[no-any-return]

    def other_numbers(self, array: Any, same_shape: bool) -> Any:
        """Numbers of other places, and of other shapes of the same rank."""
        random = np.random.default_rng(self.draw(0, 1000))
        shape = array.shape if same_shape else [self.one_of([0, 3, 2, 1, n, n, n]) for n in array.shape]
        if self.wild and array.dtype.kind in "fciu" and self.chance(0.5):
            return random.choice(_extremes(array.dtype), shape)
        if array.dtype.kind not in "fc" or not array.size:
            return np.resize(array, shape).astype(array.dtype)
        return (np.resize(array, shape) * random.uniform(0.5, 1.5, shape)).astype(array.dtype)

    def finish(self, step: AbstractStep) -> bool:
        """Give a step the outputs that it computes; whether it can be computed, and its numbers may be used."""
        at = _Arrays()
        try:
            if isinstance(step, Apply):
                step.primitive.infer(*[type_of_array(x.array) for x in step.inputs])
            arrays = step.compute(at)
        except REFUSALS:
            return False
        if not arrays or not all(map(self.is_usable, [*arrays, *[x.array for x in step.inputs]])):
            return False
        known = isinstance(step, Apply) and _is_known(step)
        step.outputs = tuple([Value(np.asarray(y), known) for y in arrays])
        return True

    def is_usable(self, array: Any) -> bool:
        """Whether an array is small, and its numbers are such as may be computed with."""
        if np.size(array) > 2 * MOST_ELEMENTS or np.ndim(array) > 6:
            return False
        if self.wild or array.dtype.kind not in "fc":
            return True
        return bool(np.all(np.abs(array) < LARGEST))

    def control_flow(self, values: Sequence[Value], depth: int) -> AbstractStep | None:
        """A loop, branch, map, scan or call, with what is computed inside."""
        before = len(self.inputs)
        kinds = [self.scan, self.map, self.branch, self.loop, self.call]
        step = self.one_of(kinds)(values, depth)
        try:
            if step is not None and self.finish(step):
                return step  # type: ignore[no-any-return]
        except RuntimeError:
            pass
        del self.inputs[before:]
        return None

    def some(self, values: Sequence[Value], most: int = 2) -> tuple[Value, ...]:
        """Between one and `most` of them."""
        return tuple([self.one_of(values) for _ in range(self.draw(1, most))])

    def block(self, parameters: Sequence[Any], around: Sequence[Value], depth: int) -> Block:
        """A block with parameters like these arrays and a few steps."""
        block = Block(tuple([Value(np.asarray(x)) for x in parameters]))
        self.steps(block, around, self.draw(1, 3), depth)
        return block

    def made(self, block: Block) -> list[Value]:
        """What a block has, its last results last."""
        return [*block.parameters, *[y for step in block.steps for y in step.outputs]]

    def call(self, values: Sequence[Value], depth: int) -> AbstractStep:
        arguments = self.some(values)
        body = self.block([x.array for x in arguments], values, depth)
        body.results = self.some(self.made(body))
        return Call(self.one_of(["recompute_grad", "function"]), arguments, body)

    def loop(self, values: Sequence[Value], depth: int) -> AbstractStep:
        carried = self.some(values)
        count = self.new_input(np.asarray(self.draw(0, 3), np.int32))
        body = self.block([np.int32(0), *[x.array for x in carried]], values, depth)
        body.results = tuple([self.like(p, body) for p in body.parameters[1:]])
        return While(count, self.chance(0.3), carried, body)

    def like(self, parameter: Value, block: Block) -> Value:
        """What a block has of the type of a parameter: the parameter itself where there is nothing else."""
        alike = [y for y in self.made(block) if type_of_array(y.array) == type_of_array(parameter.array)]
        return self.one_of([parameter, *[y for y in alike if y is not parameter]])  # type: ignore[no-any-return]

    def branch(self, values: Sequence[Value], depth: int) -> AbstractStep | None:
        truths = [x for x in values if x.array.dtype == bool and not x.array.ndim]
        if truths and self.chance(0.5):
            predicate = self.one_of(truths)
        else:
            predicate = self.new_input(np.asarray(self.draw(0, 1) == 1))
        taken, other = self.block([], values, depth), self.block([], values, depth)
        pairs = [
            (a, b)
            for a in [*self.made(taken), *values]
            for b in [*self.made(other), *values]
            if a is not b and type_of_array(a.array) == type_of_array(b.array)
        ]
        if not pairs:
            return None
        chosen = [self.one_of(pairs[:40]) for _ in range(self.draw(1, 2))]
        taken.results, other.results = tuple([a for a, _ in chosen]), tuple([b for _, b in chosen])
        return Branch(predicate, taken, other)

    def rows(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """Values of one number of rows; a new input where no value has rows."""
        with_rows = [x for x in values if x.array.ndim]
        first = self.one_of(with_rows) if with_rows else self.new_input(np.linspace(0.2, 1.0, 6).reshape(3, 2))
        others = [x for x in with_rows if x.array.shape[0] == first.array.shape[0] and x is not first]
        return (first, self.one_of(others)) if others and self.chance(0.4) else (first,)

    def map(self, values: Sequence[Value], depth: int) -> AbstractStep:
        rows = self.rows(values)
        body = self.block([_row(x) for x in rows], values, depth)
        body.results = self.some(self.made(body))
        kinds = ["arrays", "vectorized_map", "map_fn"] if len(rows[0].array) else ["vectorized_map", "map_fn"]
        return Map(self.one_of(kinds), rows, body)

    def scan(self, values: Sequence[Value], depth: int) -> AbstractStep:
        start, rows = self.some(values), self.rows(values)
        body = self.block([*[x.array for x in start], *[_row(x) for x in rows]], values, depth)
        body.results = tuple([self.like(p, body) for p in body.parameters[: len(start)]])
        return Scan(self.chance(0.3), start, rows, body)


class _Arrays(dict[Value, Any]):
    """The array of each value as it was when it was drawn."""

    def __missing__(self, value: Value) -> Any:
        return value.array


def _row(x: Value) -> Any:
    return x.array[0] if len(x.array) else np.ones(x.array.shape[1:], x.array.dtype)


def _is_known(step: Apply) -> bool:
    """Whether compilers may be told what a step gives: it reads shapes, or what is known."""
    traits = step.primitive.traits
    return SHAPES in traits or COUNTS in traits or all(x.known for x in step.inputs)


def _extremes(dtype: Any) -> Any:
    if dtype.kind in "iu":
        return np.array([0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    return np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e30], dtype)
