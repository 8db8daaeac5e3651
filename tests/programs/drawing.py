"""Hypothesis strategies of random programs: steps are drawn one by one, each with what it gives at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from pullback.core.dtypes import COMPLEX, INEXACT, as_dtype
from pullback.core.traits import COUNTS, ELEMENTWISE, SHAPES
from pullback.core.types import type_of_array
from pullback.primitives.casting.cast import Cast

from ..cases.case import Case
from .program import AbstractStep, Apply, Block, Branch, Call, Input, Map, Program, Scan, Value, While
from .samples import Sample, is_smooth, row_count, samples, type_names

LARGEST = 1e3
"""The largest number that a program which is to be differentiated computes."""
MOST_ELEMENTS = 600
MOST_AXES = 8
DEPTH = 3
REFUSALS = (ValueError, TypeError, NotImplementedError, IndexError, OverflowError, np.linalg.LinAlgError)
"""What an operation raises that is given what it cannot take."""


Draw = Callable[[int, int], int]
"""An integer between two, both included: how random choices are made."""


@dataclass(frozen=True)
class Kind:
    """What programs are made of: floats of one dtype, or `mixed` ones; `wild` ones compute NaN and infinities too."""

    dtype: str
    mixed: bool = False
    wild: bool = False


OTHER_DTYPES = {
    "float64": ("float32", "float16", "bfloat16"),
    "float32": ("float64", "float16", "bfloat16"),
    "complex128": ("complex64",),
    "int32": ("int64", "int16", "int8", "uint8", "uint32"),
    "int64": ("int32", "int16", "int8", "uint8", "uint64"),
}
"""What an operation may be given in place of a dtype, if it takes it."""
OWN_DTYPES = ("FFTND", "RFFTND", "IRFFTND", "Dct")
"""The operations of which the functions in front of them see to it that they are given no other dtypes."""
CAST = Case("a cast between two operations", lambda x: x)


@st.composite
def programs(draw: Callable[[st.SearchStrategy[int]], int], kind: Kind) -> Program:
    """Programs of a kind."""
    program = drawn(lambda a, b: draw(st.integers(a, b)), kind)
    if program is None:
        reject()
    return program


def drawn(draw: Draw, kind: Kind) -> Program | None:
    """A program; None where nothing that was tried could be computed."""
    drawing = _Drawing(draw, kind)
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
    kind: Kind
    inputs: list[Input] = field(default_factory=list)

    def steps(self, block: Block, around: Sequence[Value], count: int, depth: int) -> None:
        """Add up to `count` steps to a block that reads what is `around` it."""
        for _ in range(count):
            given = [*[x.value for x in self.inputs if x.value not in around], *around, *block.parameters]
            values = [*given, *[y for step in block.steps for y in step.outputs]]
            nested = depth and values and self.chance(0.25)
            if nested:
                step = self.control_flow(values, depth - 1)
                block.steps += [] if step is None else [step]
            else:
                block.steps += self.operation(values)

    def chance(self, p: float) -> bool:
        """True with probability p; False is the simpler one."""
        return self.draw(0, 99) >= 100 - 100 * p

    def one_of(self, elements: Sequence[Any]) -> Any:
        """One of them; the last is the simplest."""
        return elements[-1 - self.draw(0, len(elements) - 1)]

    def operation(self, values: Sequence[Value]) -> list[AbstractStep]:
        """One operation of the case table, on values or on inputs like those that it has in a row, behind casts."""
        type_name = self.one_of(type_names())
        row = self.draw(0, row_count(type_name) - 1)
        found = samples(self.kind.dtype, type_name, row)
        if not found:
            return []
        sample = self.of_other_dtypes(self.one_of(found))
        before = len(self.inputs)
        step, casts = Apply(sample.primitive, sample.case, is_smooth(sample)), list[Apply]()
        step.inputs = tuple([self.argument(sample, i, values, casts) for i in range(len(sample.arrays))])
        if self.finish(step):
            return [*casts, step]
        del self.inputs[before:]
        return []

    def of_other_dtypes(self, sample: Sample) -> Sample:
        """The sample with other dtypes, where there are several; whether it takes them is seen when it is computed."""
        if not self.kind.mixed or sample.derived or sample.primitive.type in OWN_DTYPES or self.chance(0.4):
            return sample
        others = {name: self.one_of((*names, name)) for name, names in OTHER_DTYPES.items()}
        with np.errstate(all="ignore"):
            arrays = [x.astype(as_dtype(others.get(x.dtype.name, x.dtype.name))) for x in sample.arrays]
        return replace(sample, arrays=tuple(arrays))

    def argument(self, sample: Sample, i: int, values: Sequence[Value], casts: list[Apply]) -> Value:
        """A value that may take the place of an input of a sample, cast or as it is, or a new input of the program."""
        array, p = sample.arrays[i], sample.primitive
        must_be_known = i in p.shape_inputs
        fitting = [
            x
            for x in values
            if (x.array.dtype == array.dtype or self.may_cast(x, array))
            and (x.array.ndim == array.ndim or ELEMENTWISE in p.traits)
            and (x.array.shape == array.shape or not sample.derived)
            and (x.known or not must_be_known)
        ]
        likely = 0.9 if array.dtype.kind in "fcb" else 0.3
        if fitting and self.chance(likely):
            return self.cast(self.one_of(fitting), array, casts)
        if must_be_known:
            return self.new_input(array, "constant")
        if sample.derived or not self.chance(0.3):
            return self.new_input(array)
        more_axes = ELEMENTWISE in p.traits and self.chance(0.3)
        return self.new_input(self.other_numbers(array, (2, 1, 1)[: self.draw(1, 3)] if more_axes else ()))

    def may_cast(self, x: Value, like: Any) -> bool:
        """Whether a value is of other floats, or of real numbers for complex ones."""
        return (
            self.kind.mixed
            and x.array.dtype in INEXACT
            and like.dtype in INEXACT
            and not (x.array.dtype in COMPLEX and like.dtype not in COMPLEX)
        )

    def cast(self, x: Value, like: Any, casts: list[Apply]) -> Value:
        """The value in the dtype of the array `like`, which is a new input where that cannot be."""
        if x.array.dtype == like.dtype:
            return x
        step = Apply(Cast(like.dtype), CAST, smooth=True, inputs=(x,))
        if not self.finish(step):
            return self.new_input(like)
        casts.append(step)
        return step.outputs[0]

    def new_input(self, array: Any, kind: str | None = None) -> Value:
        """A new input of the program with the numbers of `array`."""
        kind = kind or self.one_of(["constant", "variable", "placeholder", "placeholder", "placeholder"])
        shape = None if self.chance(0.05) else tuple([self.length(n) for n in array.shape])
        self.inputs.append(Input(kind, Value(array, known=kind == "constant"), shape))
        return self.inputs[-1].value

    def length(self, n: int) -> int | str | None:
        """A length as a number, one of two names, or nothing."""
        return self.one_of([None, f"m{n}", f"n{n}", n, n])  # type: ignore[no-any-return]

    def other_numbers(self, array: Any, more_axes: Sequence[int]) -> Any:
        """Numbers of other places, and of other shapes, with `more_axes` in front."""
        random = np.random.default_rng(self.draw(0, 1000))
        shape = [*more_axes, *[self.one_of([self.draw(4, 70), 0, 3, 2, 1, n, n, n]) for n in array.shape]]
        if self.kind.wild and array.dtype.kind in "fciuV" and self.chance(0.5):
            return random.choice(_extremes(array.dtype), shape)
        if array.dtype not in INEXACT or not array.size:
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
        if np.size(array) > MOST_ELEMENTS or np.ndim(array) > MOST_AXES:
            return False
        if self.kind.wild or array.dtype not in INEXACT:
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
        again = tuple([self.one_of([x, *[v for v in values if _alike(v, x)]]) for x in arguments])
        return Call(self.one_of(["recompute_grad", "function"]), (arguments, again)[: self.draw(1, 2)], body)

    def loop(self, values: Sequence[Value], depth: int) -> AbstractStep:
        carried = self.some(values)
        count = self.new_input(np.asarray(self.draw(0, 3), np.int32))
        body = self.block([np.int32(0), *[x.array for x in carried]], values, depth)
        body.results = tuple([self.like(p, body) for p in body.parameters[1:]])
        return While(count, self.chance(0.3), carried, body)

    def like(self, parameter: Value, block: Block) -> Value:
        """What a block has of the type of a parameter: the parameter itself where there is nothing else."""
        alike = [y for y in self.made(block) if _alike(y, parameter)]
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


def _alike(x: Value, y: Value) -> bool:
    return type_of_array(x.array) == type_of_array(y.array)


def _row(x: Value) -> Any:
    return x.array[0] if len(x.array) else np.ones(x.array.shape[1:], x.array.dtype)


def _is_known(step: Apply) -> bool:
    """Whether compilers may be told what a step gives: it reads shapes, or what is known."""
    traits = step.primitive.traits
    return SHAPES in traits or COUNTS in traits or all(x.known for x in step.inputs)


def _extremes(dtype: Any) -> Any:
    if dtype.kind in "iu":
        return np.array([0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    limits = ml_dtypes.finfo(dtype)
    tiny, huge = float(limits.smallest_normal), float(limits.max)
    return np.array([0.0, -0.0, 1.0, 1.5, -2.5, -1.0, tiny, huge, -huge, np.inf, -np.inf, np.nan]).astype(dtype)
