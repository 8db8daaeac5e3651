"""Lazy evaluation: what a run gives for tensors, inside of functions too, computed where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..control_flow.call import without_unused_parameters
from ..core.dtypes import resource
from ..core.errors import PullbackError
from ..core.function import Function, bound_lengths, inline, type_in
from ..core.graph import Graph, Tensor
from ..core.lengths import Dimension, Length
from ..core.shape import TensorShape
from ..engines.default_session import get_default_session
from ..engines.session import Session
from ..primitives.creation.constant import constant_in
from ..primitives.variables.operations import read_variable, variable_type
from .differing import Differing

Array = np.ndarray[Any, Any]


class Row(NamedTuple):
    """One row of an array that is scanned."""

    of: Tensor
    number: int


Argument = Tensor | Row | Array
"""What a function is given: something of the graph around it, or what a run gave for it."""


class Undecided(Exception):
    """A value was asked for that depends on what may differ from run to run."""


class Run(NamedTuple):
    """A graph, and what runs it."""

    graph: Graph
    session: Session
    feeds: Mapping[Any, Any] | None
    free: frozenset[Tensor]
    """Tensors of the graph that may differ from run to run."""

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Leaves the graph as it was: what the block adds is taken back."""
        try:
            with self.graph.transaction():
                yield
                raise _Undo
        except _Undo:
            pass


class _Undo(Exception):
    """Raised to leave a graph as it was."""


class Values:
    """What a run gives for the tensors of a graph, or of a function; inside of one, what leads to them is inlined.

    What may differ from run to run, by `differing`, is computed for what is fed, and not handed out as a value.
    """

    def __init__(self, run: Run, place: Callable[[Any], Tensor], differing: Differing) -> None:
        self.run = run
        self.differing = differing
        self.place = place
        """The tensor of the graph of `run` that has the value of one of this function, or of an argument."""
        self._known: dict[Tensor, Any] = {}
        self._is_step = False
        """Whether this is a step of a loop, of many that are not looked at one by one."""
        self._lengths: dict[Length, Dimension] = {}
        self.asked = False
        """Whether a value has been asked for."""

    @classmethod
    def of_graph(
        cls, graph: Graph, feed_dict: Mapping[Any, Any] | None, free: frozenset[Tensor] = frozenset()
    ) -> Values:
        """By the default session, if it is one of `graph`, else by one of its own."""
        default = get_default_session()
        session = default if default and default.graph is graph else Session(graph=graph, engine="numpy")
        return cls(
            Run(graph, session, feed_dict, free), lambda x: _placed(graph, x), Differing((x, False) for x in free)
        )

    def inside(
        self,
        function: Function,
        args: Sequence[Argument],
        differing: Container[tuple[int, bool]] = (),
        is_step: bool = False,
    ) -> Values:
        """Of the tensors of `function`, called with `args`.

        Of an array the value, or the shape, may differ from run to run where `differing` holds its number and whether
        it is the shape that does.
        """

        def place(x: Tensor) -> Tensor:
            lean, numbers = without_unused_parameters(function.with_results([x]))
            return inline(lean, [_placed(self.run.graph, args[i], self.place) for i in numbers], effects=False)[0]

        given = [(i, x) for i, x in enumerate(args) if not isinstance(x, np.ndarray)]
        free = {(i, False) for i, x in given if self.differing.value(_source(x))}
        free |= {(i, True) for i, x in given if self.differing.shape(_source(x))}
        parameters = enumerate(function.parameters)
        facts = [(x, of) for i, x in parameters for of in (False, True) if (i, of) in free or (i, of) in differing]
        inner = Values(self.run, place, Differing(facts))
        inner._is_step = self._is_step or is_step
        inner._lengths = bound_lengths(
            [
                (x.shape, TensorShape(self._shape_of(given)))
                for x, given in zip(function.parameters, args, strict=True)
                if x.dtype != resource and not x.shape.is_fully_defined()
            ]
        )
        return inner

    def value(self, x: Tensor) -> Any:
        """The value of `x`: an array, or a list of the rows of a loop that have different shapes.

        Raises:
            Undecided: it depends on what may differ.
        """
        if self.differing.value(x):
            raise Undecided
        return self.once(x)

    def if_known(self, x: Tensor) -> Any:
        """The value of `x`; None where it depends on what may differ, on what is not fed, or on the step of a loop."""
        if self._is_step or self.differing.value(x):
            return None
        try:
            found = self.once(x)
        except PullbackError:
            return None
        return found if isinstance(found, np.ndarray) else None

    def once(self, x: Tensor) -> Any:
        """The value of `x` in this run, whether it may differ in another or not."""
        self.asked = True
        if x not in self._known:
            found = self._computed(lambda: self.place(x))
            self._known[x] = found if isinstance(found, list) else np.asarray(found)
        return self._known[x]

    def _computed(self, build: Callable[[], Tensor]) -> Any:
        with self.run.trying():
            found = self.run.session.run(build(), self.run.feeds)
        return found

    def shape(self, x: Tensor) -> tuple[int, ...]:
        """The shape of `x`, or of the variable that it is the handle of, computed where it is not known.

        That of rows of different shapes is their number of elements.
        """
        if x.dtype == resource:
            of = variable_type(x).shape
            if of.is_fully_defined():
                return of.known
            self.asked = True
            return np.shape(self._computed(lambda: read_variable(self.place(x))))
        shape = x.shape if x.shape.is_fully_defined() else type_in(self._lengths, x.type).shape
        if shape.is_fully_defined():
            return shape.known
        value = self.once(x)
        return (sum(np.size(row) for row in value),) if isinstance(value, list) else value.shape

    def size(self, x: Tensor) -> int:
        """The number of elements of `x`."""
        return int(np.prod(self.shape(x)))

    def sizes_of_rows(self, x: Tensor, count: int) -> list[int]:
        """The numbers of elements of the `count` rows of `x`."""
        size = self.size(x)
        rows = self._known.get(x)
        return [int(np.size(row)) for row in rows] if isinstance(rows, list) else [size // count] * count

    def _shape_of(self, x: Argument) -> tuple[int, ...]:
        if isinstance(x, Row):
            return self.shape(x.of)[1:]
        return x.shape if isinstance(x, np.ndarray) else self.shape(x)


def _source(x: Tensor | Row) -> Tensor:
    return x.of if isinstance(x, Row) else x


def _placed(graph: Graph, x: Argument, place: Callable[[Tensor], Tensor] = lambda x: x) -> Tensor:
    if isinstance(x, Row):
        return place(x.of)[x.number]
    return constant_in(graph, x) if isinstance(x, np.ndarray) else place(x)
