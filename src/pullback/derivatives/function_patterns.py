"""Sparsity patterns through calls, branches and loops: those of the functions, composed with those of the arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ..control_flow.branch import Case, If
from ..control_flow.loop import Loop
from ..core.dtypes import TokenType
from ..core.errors import PullbackError
from ..core.function import AbstractFunctional, Function
from ..core.graph import Operation, Tensor
from .block_pattern import Pattern, composed, rows_at, union
from .run_values import Argument, Row, Undecided, Values

Patterns = dict[int, Pattern]
"""Patterns by the numbers of inputs, or of parameters."""
Finding = Callable[[Function, Values], list[Patterns]]
"""For each result of a function, called with what has these values, the patterns by its parameters."""
Choices = Mapping[Tensor, Any]
"""What is supposed of tensors that choose between branches."""
_MOST_CHOICES = 8
"""So many of them are tried out together."""


class Bodies(Protocol):
    """The functions of an operation, whose patterns are found once."""

    def through(self, found: Patterns) -> list[Pattern | None]:
        """The patterns of the outputs, from those of the inputs."""
        ...


def choices_of(ops: Iterable[Operation], values: Values) -> list[Choices]:
    """What may be supposed of the choices that several of `ops` share, as a branch and its derivative do.

    Nothing, where that would be many cases.
    """
    shared = Counter([op.inputs[0] for op in ops if isinstance(op.primitive, If | Case)])
    possible = {
        op.inputs[0]: range(len(op.primitive.functions)) if isinstance(op.primitive, Case) else (False, True)
        for op in ops
        if isinstance(op.primitive, If | Case) and shared[op.inputs[0]] > 1 and values.if_known(op.inputs[0]) is None
    }
    if prod([len(choices) for choices in possible.values()]) > _MOST_CHOICES:
        return [{}]
    return [dict(zip(possible, chosen, strict=True)) for chosen in product(*possible.values())]


def bodies_of(op: Operation, values: Values, find: Finding, choices: Choices) -> Bodies | None:
    """The functions of `op` that may be run; None where what they do is not known.

    So it is of a branch that fails for these values, and of a loop whose steps are counted by what may differ.
    """
    if not isinstance(op.primitive, Loop) and (
        not isinstance(op.primitive, AbstractFunctional) or op.primitive.repeats
    ):
        return None
    try:
        if isinstance(op.primitive, Loop):
            return _Steps(op, op.primitive, values, find)
        return _Branches(op, op.primitive, values, find, choices)
    except (PullbackError, Undecided):
        return None


class _Branches:
    """One function, or those of which one is run; the one that is, where the choice is known."""

    def __init__(
        self, op: Operation, primitive: AbstractFunctional, values: Values, find: Finding, choices: Choices
    ) -> None:
        functions, arguments = primitive.functions, primitive.arguments(op.inputs)
        taken: Iterable[int] = range(len(functions))
        if isinstance(primitive, If | Case):
            choice = choices.get(op.inputs[0], values.if_known(op.inputs[0]))
            taken = taken if choice is None else [primitive.taken(choice)]
        numbers = primitive.arguments(range(len(op.inputs)))
        self._numbers = [numbers[k] for k in taken]
        self._found = [find(functions[k], values.inside(functions[k], arguments[k])) for k in taken]

    def through(self, found: Patterns) -> list[Pattern | None]:
        branches = []
        for results, numbers in zip(self._found, self._numbers, strict=True):
            given = {i: found[n] for i, n in enumerate(numbers) if n in found}
            branches.append([_joined(by, given) for by in results])
        return [_any_of(ys) for ys in zip(*branches, strict=True)]


class _Steps:
    """The body of a loop, step by step; found once where no step needs values."""

    def __init__(self, op: Operation, loop: Loop, values: Values, find: Finding) -> None:
        self._op, self._loop, self._values, self._find = op, loop, values, find
        known = loop.length if loop.condition is None else None
        self._count = int(values.value(op.outputs[0])) if known is None else known
        self._order = range(self._count)[:: -1 if loop.reverse else 1]
        self._alike = True
        self._found = self._found_in_steps()

    def _found_in_steps(self) -> list[list[Patterns]]:
        """For each step what the results of the body depend on; once for all where it is the same."""
        state: list[Argument] = list(self._op.inputs[1 : 1 + self._loop.carried])
        scanned = list(enumerate(self._op.inputs[1:]))[self._loop.carried :]
        differing = rows = _differing(scanned, self._values)
        found = []
        for step in self._order:
            inner = self._values.inside(self._loop.body, self._arguments(state, step), differing, is_step=True)
            found.append(self._find(self._loop.body, inner))
            if not inner.asked:
                break
            self._alike = False
            state = [
                x if isinstance(y.dtype, TokenType) else inner.once(y)
                for x, y in zip(state, self._loop.body.results, strict=False)
            ]
            differing = rows | _differing(enumerate(self._loop.body.results[: len(state)]), inner)
        return found

    def _arguments(self, state: Sequence[Argument], step: int) -> list[Argument]:
        first, last = 1 + self._loop.carried, 1 + self._loop.carried + self._loop.scanned
        rows: list[Argument] = [
            Row(x, step) if x.shape.is_fully_defined() else np.asarray(self._values.once(x)[step])
            for x in self._op.inputs[first:last]
        ]
        return [*state, *rows, *self._op.inputs[last : 1 + len(self._loop.body.parameters)]]

    def through(self, found: Patterns) -> list[Pattern | None]:
        if not self._count:
            return [None, *[found.get(i) for i in range(1, 1 + self._loop.carried)], *self._no_rows()]
        given = {i - 1: pattern for i, pattern in found.items() if i}
        return self._mapped(given) if self._alike and not self._loop.carried else self._in_turn(given)

    def _no_rows(self) -> list[None]:
        return [None] * (len(self._op.outputs) - 1 - self._loop.carried)

    def _mapped(self, given: Patterns) -> list[Pattern | None]:
        """Steps that hand nothing on: blocks along the diagonal, by rows; by constants the same again and again."""
        n, scanned = self._count, self._loop.scanned
        ys: list[Pattern | None] = []
        for by in self._found[0]:
            rows = [
                composed(Pattern(p.block, p.count * n), given[i]) for i, p in by.items() if i in given and i < scanned
            ]
            constants = _joined(by, {i: p for i, p in given.items() if i >= scanned})
            ys.append(_any_of([*rows, None if constants is None else stacked([constants] * n)]))
        return [None, *ys]

    def _in_turn(self, given: Patterns) -> list[Pattern | None]:
        c, s = self._loop.carried, self._loop.scanned
        constants = {i: p for i, p in given.items() if i >= c + s}
        state = [given.get(i) for i in range(c)]
        history: dict[int, list[Pattern | None]] = {}
        rows: dict[int, list[Pattern | None]] = {}
        for step, results in zip(self._order, self._each(), strict=True):
            now = constants | {i: p for i, p in enumerate(state) if p is not None}
            now |= {i: self._row(given[i], self._op.inputs[1 + i], step) for i in range(c, c + s) if i in given}
            history[step] = state
            made = [_joined(by, now) for by in results]
            state, rows[step] = made[:c], made[c:]
        outputs = self._op.outputs[1 + c :]
        columns = [[row[i] for _, row in sorted(rows.items())] for i in range(len(self._loop.body.results) - c)]
        before = [[row[i] for _, row in sorted(history.items())] for i in range(c)]
        arrays = [*columns[: self._loop.stacked], *before, *columns[self._loop.stacked :]]
        return [None, *state, *[self._put_together(*pair) for pair in zip(arrays, outputs, strict=True)]]

    def _each(self) -> Iterator[list[Patterns]]:
        return iter(self._found * self._count if self._alike else self._found)

    def _row(self, pattern: Pattern, x: Tensor, step: int) -> Pattern:
        """The pattern of one row of the array `x`."""
        sizes = self._values.sizes_of_rows(x, self._count)
        first = sum(sizes[:step])
        return rows_at(pattern, np.arange(first, first + sizes[step]))

    def _put_together(self, rows: Sequence[Pattern | None], y: Tensor) -> Pattern | None:
        """The pattern of the array `y` of `rows`."""
        there = [p for p in rows if p is not None]
        if not there:
            return None
        if len(there) == len(rows):
            return stacked(there)
        sizes, width = self._values.sizes_of_rows(y, self._count), there[0].shape[1]
        return stacked([_nothing(n, width) if p is None else p for n, p in zip(sizes, rows, strict=True)])


def _differing(xs: Iterable[tuple[int, Tensor]], values: Values) -> set[tuple[int, bool]]:
    """The numbers of those of `xs` whose value may differ from run to run, and of those whose shape may."""
    may = [(i, values.differing.value(x), values.differing.shape(x)) for i, x in xs]
    return {(i, False) for i, value, _ in may if value} | {(i, True) for i, _, shape in may if shape}


def _joined(by: Patterns, given: Patterns) -> Pattern | None:
    """What depends by `by` on what is given."""
    return _any_of([composed(pattern, given[i]) for i, pattern in by.items() if i in given])


def _any_of(patterns: Sequence[Pattern | None]) -> Pattern | None:
    """Where any of `patterns` is true; None where there is none."""
    there = [p for p in patterns if p is not None]
    return reduce(union, there) if there else None


def _nothing(rows: int, columns: int) -> Pattern:
    return Pattern(sp.csr_array((rows, columns), dtype=bool))


def stacked(patterns: Sequence[Pattern]) -> Pattern:
    """The rows of all of `patterns`, one after the other."""
    return patterns[0] if len(patterns) == 1 else Pattern(sp.vstack([p.whole for p in patterns], format="csr"))
