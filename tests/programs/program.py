"""Random programs: steps that are computed on arrays one by one, built as a graph, and written down as code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pullback as pb
from pullback.core.primitive import Primitive

from ..cases.case import Case
from .code import Names, indented, literal

Array = np.ndarray[Any, Any]


@dataclass(eq=False)
class Value:
    """What a step gives: the array that it is when the program is drawn; `known` if compilers may be told it."""

    array: Array
    known: bool = False


Environment = dict[Value, Any]
"""The arrays, or tensors, of values."""


class AbstractStep(ABC):
    """A part of a program: values that are read, and those that are made of them."""

    outputs: tuple[Value, ...]

    @property
    @abstractmethod
    def inputs(self) -> tuple[Value, ...]:
        """What is read at the step itself."""

    @property
    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """The pieces of program inside."""

    @abstractmethod
    def compute(self, at: Environment) -> Sequence[Any]:
        """The outputs as arrays, by the definition of the step."""

    @abstractmethod
    def build(self, at: Environment) -> Sequence[Any]:
        """The outputs as tensors."""

    @abstractmethod
    def code(self, names: Names) -> list[str]:
        """The lines of Python code that build it."""

    def reads(self) -> Iterator[Value]:
        """All values that it reads from around it."""
        yield from self.inputs
        for block in self.blocks:
            yield from block.reads()


@dataclass(eq=False)
class Block:
    """Steps that follow each other, as a function: what it is given, what it returns; it reads what is around too."""

    parameters: tuple[Value, ...]
    steps: list[AbstractStep] = field(default_factory=list)
    results: tuple[Value, ...] = ()

    def compute(self, around: Environment, arrays: Sequence[Any] = ()) -> list[Any]:
        """The results as arrays."""
        at = type(around)(around)
        at.update(zip(self.parameters, arrays, strict=True))
        for step in self.steps:
            at.update(zip(step.outputs, step.compute(at), strict=True))
        return [at[y] for y in self.results]

    def build(self, around: Environment, tensors: Sequence[Any] = ()) -> list[Any]:
        """The results as tensors."""
        at = {**around, **dict(zip(self.parameters, tensors, strict=True))}
        for step in self.steps:
            at.update(zip(step.outputs, step.build(at), strict=True))
        return [at[y] for y in self.results]

    def code(self, names: Names, function: str) -> list[str]:
        """A function of Python code."""
        body = [line for step in self.steps for line in step.code(names)]
        result = f"return [{names.of(self.results)}]"
        return [f"def {function}({names.of(self.parameters)}):", *indented([*body, result])]

    def reads(self) -> Iterator[Value]:
        """All values that it reads from around it."""
        own = {*self.parameters, *[y for step in self.steps for y in step.outputs]}
        values = [x for step in self.steps for x in step.reads()]
        yield from [x for x in [*values, *self.results] if x not in own]

    def prune(self) -> None:
        """Leave out the steps of which nothing is read."""
        wanted, kept = set(self.results), []
        for step in reversed(self.steps):
            if not wanted.isdisjoint(step.outputs):
                for block in step.blocks:
                    block.prune()
                wanted.update(step.reads())
                kept.append(step)
        self.steps = kept[::-1]

    def all_steps(self) -> Iterator[AbstractStep]:
        """Its steps, and those in the blocks that they hold."""
        for step in self.steps:
            yield step
            for block in step.blocks:
                yield from block.all_steps()


@dataclass(eq=False)
class Apply(AbstractStep):
    """One operation of the case table; `smooth`: its derivative by each input is that of what it computes."""

    primitive: Primitive
    case: Case
    smooth: bool
    inputs: tuple[Value, ...] = ()
    outputs: tuple[Value, ...] = ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        return ()

    def compute(self, at: Environment) -> Sequence[Any]:
        with np.errstate(all="ignore"):
            found = self.primitive.kernel(np, *[at[x] for x in self.inputs])
        return [np.asarray(y) for y in (found if isinstance(found, tuple) else (found,))]

    def build(self, at: Environment) -> Sequence[Any]:
        return self.primitive.operation(*[at[x] for x in self.inputs]).outputs

    def code(self, names: Names) -> list[str]:
        return [f"[{names.of(self.outputs)}] = {literal(self.primitive)}.operation({names.of(self.inputs)}).outputs"]


@dataclass(eq=False)
class While(AbstractStep):
    """A `while_loop`: `count` steps, as its counter says, or as its bound does (`bounded`)."""

    count: Value
    bounded: bool
    carried: tuple[Value, ...]
    body: Block
    outputs: tuple[Value, ...] = ()

    @property
    def inputs(self) -> tuple[Value, ...]:
        return (self.count, *self.carried)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.body,)

    def compute(self, at: Environment) -> Sequence[Any]:
        state = [at[x] for x in self.carried]
        for i in range(int(at[self.count])):
            state = self.body.compute(at, [np.asarray(i, np.int32), *state])
        return state

    def build(self, at: Environment) -> Sequence[Any]:
        count = at[self.count]
        return pb.while_loop(
            (lambda i, *_: i >= 0) if self.bounded else (lambda i, *_: i < count),
            lambda i, *state: [i + 1, *self.body.build(at, [i, *state])],
            [pb.constant(0), *[at[x] for x in self.carried]],
            maximum_iterations=count if self.bounded else None,
        )[1:]

    def code(self, names: Names) -> list[str]:
        body, count = names.function("body"), names[self.count]
        condition = "i >= 0" if self.bounded else f"i < {count}"
        start = names.of(self.carried)
        bound = f", maximum_iterations={count}" if self.bounded else ""
        return [
            *self.body.code(names, body),
            f"[_, {names.of(self.outputs)}] = pb.while_loop(lambda i, *_: {condition}, "
            f"lambda i, *s: [i + 1, *{body}(i, *s)], [pb.constant(0), {start}]{bound})",
        ]


@dataclass(eq=False)
class Branch(AbstractStep):
    """A `cond`."""

    predicate: Value
    taken: Block
    other: Block
    outputs: tuple[Value, ...] = ()

    @property
    def inputs(self) -> tuple[Value, ...]:
        return (self.predicate,)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.taken, self.other)

    def compute(self, at: Environment) -> Sequence[Any]:
        return (self.taken if at[self.predicate] else self.other).compute(at)

    def build(self, at: Environment) -> Sequence[Any]:
        return pb.cond(at[self.predicate], lambda: self.taken.build(at), lambda: self.other.build(at))

    def code(self, names: Names) -> list[str]:
        taken, other = names.function("taken"), names.function("other")
        return [
            *self.taken.code(names, taken),
            *self.other.code(names, other),
            f"[{names.of(self.outputs)}] = pb.cond({names[self.predicate]}, {taken}, {other})",
        ]


@dataclass(eq=False)
class Map(AbstractStep):
    """A `map_fn`, a `vectorized_map`, or a loop that reads and writes `TensorArray`s."""

    kind: str
    rows: tuple[Value, ...]
    body: Block
    outputs: tuple[Value, ...] = ()

    @property
    def inputs(self) -> tuple[Value, ...]:
        return self.rows

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.body,)

    def compute(self, at: Environment) -> Sequence[Any]:
        rows = [at[x] for x in self.rows]
        if not len(rows[0]):
            no_rows = self.body.compute(at, [np.ones(x.shape[1:], x.dtype) for x in rows])
            return [np.zeros((0, *y.shape), y.dtype) for y in no_rows]
        found = [self.body.compute(at, [np.asarray(x[i]) for x in rows]) for i in range(len(rows[0]))]
        return [np.stack(ys) for ys in zip(*found, strict=True)]

    def build(self, at: Environment) -> Sequence[Any]:
        rows = [at[x] for x in self.rows]
        if self.kind == "arrays":
            return map_by_arrays(lambda *xs: self.body.build(at, xs), rows, [y.array.dtype for y in self.outputs])
        function = pb.map_fn if self.kind == "map_fn" else pb.vectorized_map
        return function(lambda xs: self.body.build(at, xs), rows)

    def code(self, names: Names) -> list[str]:
        body = names.function("row")
        if self.kind == "arrays":
            dtypes = ", ".join(literal(y.array.dtype) for y in self.outputs)
            made = f"map_by_arrays({body}, [{names.of(self.rows)}], [{dtypes}])"
        else:
            made = f"pb.{self.kind}(lambda xs: {body}(*xs), [{names.of(self.rows)}])"
        return [*self.body.code(names, body), f"[{names.of(self.outputs)}] = {made}"]


def map_by_arrays(function: Any, rows: Sequence[pb.Tensor], dtypes: Sequence[Any]) -> list[pb.Tensor]:
    """What `function` makes of each row, read from `TensorArray`s and written to others, in a `while_loop`."""
    count = pb.shape(rows[0])[0]
    read = [pb.TensorArray(x.dtype, size=count).unstack(x) for x in rows]
    written = [pb.TensorArray(dtype, size=count) for dtype in dtypes]

    def body(i: pb.Tensor, *arrays: pb.TensorArray) -> list[Any]:
        ys = function(*[x.read(i) for x in read])
        return [i + 1, *[array.write(i, y) for array, y in zip(arrays, ys, strict=True)]]

    found = pb.while_loop(lambda i, *_: i < count, body, [pb.constant(0), *written])
    return [array.stack() for array in found[1:]]


@dataclass(eq=False)
class Scan(AbstractStep):
    """A `scan` from a start."""

    reverse: bool
    start: tuple[Value, ...]
    rows: tuple[Value, ...]
    body: Block
    outputs: tuple[Value, ...] = ()

    @property
    def inputs(self) -> tuple[Value, ...]:
        return (*self.start, *self.rows)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.body,)

    def compute(self, at: Environment) -> Sequence[Any]:
        state, rows = [at[x] for x in self.start], [at[x] for x in self.rows]
        n = len(rows[0])
        found = [np.zeros((n, *x.shape), x.dtype) for x in state]
        for i in reversed(range(n)) if self.reverse else range(n):
            state = self.body.compute(at, [*state, *[np.asarray(x[i]) for x in rows]])
            for ys, y in zip(found, state, strict=True):
                ys[i] = y
        return found

    def build(self, at: Environment) -> Sequence[Any]:
        return pb.scan(
            lambda state, rows: self.body.build(at, [*state, *rows]),
            [at[x] for x in self.rows],
            [at[x] for x in self.start],
            reverse=self.reverse,
        )

    def code(self, names: Names) -> list[str]:
        body = names.function("step")
        rows, start = names.of(self.rows), names.of(self.start)
        made = f"pb.scan(lambda s, r: {body}(*s, *r), [{rows}], [{start}], reverse={self.reverse})"
        return [*self.body.code(names, body), f"[{names.of(self.outputs)}] = {made}"]


@dataclass(eq=False)
class Call(AbstractStep):
    """Calls of a `pb.function`, or of a piece under `pb.recompute_grad`, one with each tuple of arguments."""

    kind: str
    arguments: tuple[tuple[Value, ...], ...]
    body: Block
    outputs: tuple[Value, ...] = ()

    @property
    def inputs(self) -> tuple[Value, ...]:
        return sum(self.arguments, ())

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.body,)

    def compute(self, at: Environment) -> Sequence[Any]:
        return [y for xs in self.arguments for y in self.body.compute(at, [at[x] for x in xs])]

    def build(self, at: Environment) -> Sequence[Any]:
        kind: Any = pb.function if self.kind == "function" else pb.recompute_grad
        function = kind(lambda *xs: self.body.build(at, xs))
        return [y for xs in self.arguments for y in function(*[at[x] for x in xs])]

    def code(self, names: Names) -> list[str]:
        body = names.function("called")
        calls = ", ".join([f"*{body}({names.of(xs)})" for xs in self.arguments])
        made = [f"{body} = pb.{self.kind}({body})", f"[{names.of(self.outputs)}] = [{calls}]"]
        return [*self.body.code(names, body), *made]


@dataclass(eq=False)
class Input:
    """What a program is given: a placeholder of a shape that may have names and None, a variable, or a constant."""

    kind: str
    value: Value
    shape: tuple[int | str | None, ...] | None

    def build(self, name: str, static: bool) -> Any:
        """A tensor or a variable."""
        array = self.value.array
        if self.kind == "placeholder":
            return pb.placeholder(array.dtype, array.shape if static else self.shape, name=name)
        return pb.Variable(array, name=name) if self.kind == "variable" else pb.constant(array, name=name)

    def code(self, name: str) -> str:
        """A line of Python code that makes it."""
        dtype, array = literal(self.value.array.dtype), literal(self.value.array)
        if self.kind == "placeholder":
            shape = None if self.shape is None else list(self.shape)
            return f"{name} = feed({dtype}, {shape}, {array})"
        return f"{name} = pb.{'Variable' if self.kind == 'variable' else 'constant'}({array})"


@dataclass(eq=False, repr=False)
class Program:
    """Inputs, and a block whose parameters are their values."""

    inputs: list[Input]
    block: Block

    def pruned(self) -> Program:
        """Only what is needed for the results."""
        self.block.prune()
        read = {*self.block.results, *[x for step in self.block.steps for x in step.reads()]}
        self.inputs = [x for x in self.inputs if x.value in read]
        self.block.parameters = tuple([x.value for x in self.inputs])
        return self

    def cases(self) -> list[Case]:
        """The rows that its operations come from."""
        return [step.case for step in self.block.all_steps() if isinstance(step, Apply)]

    def smooth(self) -> bool:
        """Whether its derivatives are those of what it computes."""
        return all(step.smooth for step in self.block.all_steps() if isinstance(step, Apply))

    def compute(self) -> list[Any]:
        """The results, step by step on arrays."""
        return self.block.compute({}, [x.value.array for x in self.inputs])

    def __repr__(self) -> str:
        names = Names()
        given = [x.code(names[x.value]) for x in self.inputs]
        steps = [line for step in self.block.steps for line in step.code(names)]
        return "\n".join([PREAMBLE, *given, *steps, f"ys = [{names.of(self.block.results)}]"])


PREAMBLE = """\
import numpy as np
import pullback as pb
from pullback.core.primitive import primitive_class
from tests.programs.program import map_by_arrays

feeds = {}
def op(type, **attributes):
    return primitive_class(type)(**attributes)
def feed(dtype, shape, array):
    x = pb.placeholder(dtype, shape)
    feeds[x] = array
    return x
"""
