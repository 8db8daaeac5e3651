"""Loop rerolling: repeated pieces of a graph, as in generated code and unrolled loops, become loops or batches."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..control_flow.maps import vectorized_map
from ..control_flow.scan import foldl, scan
from ..core.garbage import without_collection
from ..core.graph import Graph, Operation, Tensor, get_default_graph, site_of
from ..core.operation import index_of
from ..core.scopes import Scope
from ..primitives.creation.constant import constant
from ..primitives.creation.fill import zeros, zeros_like
from ..primitives.creation.ranges import range_
from ..primitives.elementwise.add_n import AddN
from ..primitives.reduction.reduce import reduce_sum
from ..primitives.shape.stacking import Pack
from ..primitives.shape.transpose import transpose
from ..primitives.variables.operations import ReadVariableOp
from .agenda import Agenda, Alike, Step, Summation, Sums, batched, is_small
from .appending import Appending
from .repeats import LEAST_COUNT, LEAST_OPERATIONS, Run, Search, Wiring, slabs_first, wiring
from .slabs import slab_of, stacked
from .stacks import Stacks
from .structure import Structure
from .view import View, view_of

Kind = Literal["loop", "batch", "sum"]


class Rolled(NamedTuple):
    """What `reroll` gives."""

    fetches: Any
    """What computes the values, in the structure of what was given."""
    report: RerollReport


@dataclass(frozen=True)
class Repeat:
    """Pieces that became one."""

    count: int
    operations: tuple[Operation, ...]
    """Those of the first piece."""
    kind: Kind
    total: int
    """The operations of all pieces; sums need not have equally many."""

    @property
    def is_batch(self) -> bool:
        """Whether the pieces do not read each other, and are computed at once."""
        return self.kind != "loop"

    def __str__(self) -> str:
        first, count = self.operations[0], len(self.operations)
        what = f"a {self.kind} of {self.count:,} times {count} operations"
        if self.kind == "sum":
            what = f"{self.count:,} {'sum' if self.count == 1 else 'sums'} of {self.total:,} operations"
        elif count == 1:
            what = f"a {self.kind} of {self.count:,} operations of type {first.type}"
        return f"{what} ({site_of(first)})"


@dataclass(frozen=True)
class RerollReport:
    """What was rolled."""

    repeats: tuple[Repeat, ...]
    operations: int
    """The operations before, constants left out."""

    def __str__(self) -> str:
        rolled = sum([repeat.total for repeat in self.repeats])
        loops = sum([not repeat.is_batch for repeat in self.repeats])
        batches = len(self.repeats) - loops
        found = [*_counted(loops, "loop", "loops"), *_counted(batches, "batch", "batches")]
        lines = [f"{rolled:,} of {self.operations:,} operations became {' and '.join(found) or 'nothing else'}"]
        return "\n".join([*lines, *[f"  {r}" for r in self.repeats[:20]]])


def _counted(count: int, one: str, many: str) -> list[str]:
    return [f"{count} {one if count == 1 else many}"] if count else []


def reroll(fetches: Any, *, keep: Any = (), name: str = "rerolled") -> Rolled:
    """Tensors of the values of `fetches`, in whose graph operations that come again and again are one, and a report.

    Generated code and unrolled loops print the same operations thousands of times, with other constants and slabs of
    arrays (`x[i]`, `x[:, i]`, those of `unstack` and `split`). Where eight pieces or more are alike, each reading what
    the one before it gives, they become one loop over those; where they do not read each other, one batch.

    Elementwise operations of up to 64 numbers need not repeat in any order: those that are alike, and do not need each
    other, become one operation of an array, and so do sums, as in models that are printed scalar by scalar. What is
    next is chosen as by Neubig, Goldberg and Dyer, "On-the-fly operation batching in dynamic computation graphs", 2017.

    Such a graph is built, differentiated and compiled in the time of one piece: roll it before `gradients`. Values are
    the same up to the rounding of batches and sums. A variable that is read in each piece is read once.

    What is new is added to the graph, below the name scope `name`; what was there stays as it was. `keep` are tensors
    by which somebody will differentiate, or which will be fed: they, and what they are computed from, stay as they are.

    Raises:
        TypeError: what is no tensor. InaccessibleTensorError: tensors of different graphs. RuntimeError: the graph is
        finalized.

    >>> import pullback as pb
    >>> x = y = pb.placeholder(pb.float32, [3])
    >>> for k in range(1000):
    ...     y = pb.sin(y * (1.0 + k / 1000.0))
    >>> y, report = pb.reroll(y)
    >>> print(str(report).partition(" (")[0])
    2,000 of 2,001 operations became 1 loop
      a loop of 1,000 times 2 operations
    >>> y.op.type
    'Loop'
    """
    given, kept = Structure(fetches, "reroll"), Structure(keep, "reroll")
    results = given.elements
    if not results:
        return Rolled(fetches, RerollReport((), 0))
    for x in results:
        results[0].graph.as_graph_element(x)
    found, report = rolled(results, frozenset(kept.elements), name)
    return Rolled(given.of(dict(zip(results, found, strict=True))), report)


def rolled(
    results: Sequence[Tensor], keep: Set[Tensor], name: str, least: int = LEAST_OPERATIONS
) -> tuple[list[Tensor], RerollReport]:
    """`results` with runs of at least so many operations rolled, added to their graph, and a report."""
    graph = results[0].graph.acting
    view = view_of(results, [], keep)
    shared = _shared_reads(view)
    view = view_of(results, [], keep, same=shared) if shared else view
    with without_collection(), graph.transaction(), graph.name_scope(name) as prefix:
        rolling = _Rolling(view, graph, prefix, least)
        rolling.run()
        found = [rolling.tensor(y) for y in results]
    return found, RerollReport(tuple(rolling.repeats), len(rolling.operations))


def _shared_reads(view: View) -> dict[Tensor, Tensor]:
    """For reads of a variable that give what an earlier one gives, as each step of unrolled code makes them, that one.

    Between both nothing acts on the variable, as operations act in the order in which they were made.
    """
    reads: dict[Any, list[Operation]] = {}
    for op in view.operations:
        if isinstance(op.primitive, ReadVariableOp) and not op.controls:
            reads.setdefault((op.inputs[0], op.primitive, op.device), []).append(op)
    often = {handle: ops for (handle, *_), ops in reads.items() if len(ops) >= LEAST_COUNT}
    acts: dict[Tensor, list[int]] = {handle: [] for handle in often}
    for graph in {handle.graph for handle in often}:
        for op in graph.operations:
            for x in op.inputs:
                if x in acts and not isinstance(op.primitive, ReadVariableOp):
                    acts[x].append(index_of(op))
    same = {}
    for handle, ops in often.items():
        first = ops[0]
        for op in ops[1:]:
            if any(index_of(first) < act < index_of(op) for act in acts[handle]):
                first = op
            else:
                same[op.outputs[0]] = first.outputs[0]
    return same


class _Rolling(Appending):
    """Adds a graph with its runs as loops, and with what is alike as batches, to the graph."""

    def __init__(self, view: View, graph: Graph, prefix: str, least: int) -> None:
        super().__init__(view, graph, prefix)
        computed = [op for op in view.operations if not (op.outputs and op.outputs[0] in view.known)]
        self.operations = slabs_first(view, computed)
        self.steps = _steps(view, self.operations, least)
        self.repeats: list[Repeat] = []
        self.stacks = Stacks(view, self.tensor, self._read_one_by_one())

    def _read_one_by_one(self) -> set[Tensor]:
        read = {self.view.stand_in(y) for y in self.view.results}
        for step in self.steps:
            if isinstance(step, Run):
                read.update(x for op in self.operations[step.start : step.end] for x in self.view.inputs(op))
            elif isinstance(step, Operation) and not isinstance(step.primitive, Pack | AddN):
                read.update(self.view.inputs(step))
        return read

    def run(self) -> None:
        """Go through the steps."""
        for step in self.steps:
            match step:
                case Run():
                    self._roll(step)
                case Alike():
                    self._batch(step)
                case Sums():
                    self._add_up(step)
                case _:
                    self.visit(step)

    def visit(self, op: Operation) -> None:
        """Add a copy of `op`; a sum, or an array, of rows of arrays is made of them at once."""
        inputs = self.view.inputs(op) if not op.controls else ()
        if isinstance(op.primitive, AddN) and (whole := self.stacks.whole(inputs)) is not None:
            self.values[op.outputs[0]] = reduce_sum(whole, 0)
        elif isinstance(op.primitive, Pack) and self._are_rows(inputs):
            self.values[op.outputs[0]] = _with_first_axis_at(op.primitive.axis, self.stacks.array(inputs))
        else:
            for x in self.view.inputs(op):
                self._unstack(x)
            super().visit(op)

    def tensor(self, x: Tensor) -> Tensor:
        """What stands for `x` in the graph."""
        self._unstack(self.view.stand_in(x))
        return super().tensor(x)

    def _unstack(self, x: Tensor) -> None:
        """Take `x` out of the array that it is a row of."""
        if x in self.values or x not in self.stacks.rows:
            return
        row = self.stacks.row(x)
        if row not in self.values:
            self.values.update(self.stacks.read(row))
        self.values[x] = self.values[row]

    def _are_rows(self, xs: Sequence[Tensor]) -> bool:
        """Whether most of `xs` are rows of arrays, and enough of them."""
        rows = sum([x in self.stacks.rows for x in xs])
        return rows >= LEAST_COUNT and 2 * rows > len(xs) and xs[0].shape.rank is not None

    def _roll(self, run: Run) -> None:
        wired = wiring(self.view, self.operations, run)
        if wired is None:  # What the second piece reads, the third one does too.
            for op in self.operations[run.start : run.start + run.period]:
                self.visit(op)
            run = Run(run.start + run.period, run.period, run.count - 1)
            wired = wiring(self.view, self.operations, run)
            assert wired is not None
        piece = _Piece(self, run, wired)
        kind: Kind = "loop" if wired.carried else "batch"
        self.repeats.append(Repeat(run.count, tuple(piece.operations), kind, run.end - run.start))
        last, arrays = piece.loop() if wired.carried else ({}, piece.batch())
        for y, value in last.items():
            self.values[piece.tensor(y, run.count - 1)] = value
        for y, array in arrays.items():
            self.stacks.add([piece.tensor(y, n) for n in range(run.count)], array)

    def _batch(self, alike: Alike) -> None:
        """Compute elementwise operations that are alike as one; those that are equal once."""
        distinct: dict[Hashable, Operation] = {}
        same = [distinct.setdefault(self.stacks.key(op), op).outputs[0] for op in alike.operations]
        first, count = alike.operations[0], len(alike.operations)
        with self._standing_for(first):
            operands = self.stacks.operands(list(distinct.values()))
            copy = None if operands is None else self.graph.add(first.primitive, operands, first.name)
        if copy is None:
            for op in alike.operations:
                self.visit(op)
            return
        self.stacks.add([op.outputs[0] for op in distinct.values()], copy.outputs[0])
        for op, row in zip(alike.operations, same, strict=True):
            self.stacks.equate(op.outputs[0], row)
        self.repeats.append(Repeat(count, (first,), "batch", count))

    def _add_up(self, step: Sums) -> None:
        """Compute sums as one, where that takes no array that is not there: of large ones only of all rows of one."""
        operations = [op for total in step.sums for op in total.operations]
        with self._standing_for(operations[-1]):
            array = self._added_up(step.sums)
        if array is None:
            for op in operations:
                self.visit(op)
            return
        self.stacks.add([total.operations[-1].outputs[0] for total in step.sums], array)
        if len(operations) > 1:
            self.repeats.append(Repeat(len(step.sums), tuple(step.sums[0].operations), "sum", len(operations)))

    def _added_up(self, sums: Sequence[Summation]) -> Tensor | None:
        """Sums along a first axis; None where most of their terms are no rows of arrays."""
        terms = [x for total in sums for x in total.terms]
        if not is_small(sums[0].operations[0]):
            whole = self.stacks.whole(sorted(terms, key=self.stacks.place)) if min(sums[0].signs) > 0 else None
            return None if whole is None else reduce_sum(whole, 0, keepdims=True)
        if 2 * sum([self.stacks.slab(x) is not None for x in terms]) < len(terms):
            return None
        return self.stacks.sums([total.terms for total in sums], [total.signs for total in sums])

    def _standing_for(self, op: Operation) -> AbstractContextManager[Scope]:
        """A block that makes operations in the place of `op`."""
        devices = (op.device,) if op.device else ()
        scope = self.graph.scope._replace(site=op.site, attrs=op.attrs, devices=devices)
        return self.graph.entered(scope)


def _steps(view: View, operations: Sequence[Operation], least: int) -> list[Step]:
    """What is computed at once, in order; in batches where these have so many operations together."""
    search = Search(view, operations, least)
    runs, kinds = list(search.runs()), search.kind.tolist()
    plain = Agenda(view, operations, (), kinds)
    loops = plain.growing(runs)
    steps = list((Agenda(view, operations, loops, kinds) if loops else plain).steps())
    if sum(map(batched, steps)) >= least:
        return steps
    steps, place = [], 0
    for run in runs:
        steps += [*operations[place : run.start], run]
        place = run.end
    return [*steps, *operations[place:]]


class _Piece:
    """The first piece of a run, from which all are computed."""

    def __init__(self, rolling: _Rolling, run: Run, wired: Wiring) -> None:
        self.rolling, self.run, self.wired, self.view = rolling, run, wired, rolling.view
        self.all = rolling.operations
        self.operations = self.all[run.start : run.start + run.period]
        self.place = {op: i for i, op in enumerate(self.operations)}
        self.constants: dict[tuple[int, int], Tensor] = {}
        """Constants of an operation of the piece, by its number and that of the input: one, or rows for the pieces."""
        self.rows: list[tuple[int, int]] = []
        self._find_constants()

    def tensor(self, y: Tensor, n: int) -> Tensor:
        """What `y`, of the first piece, is in piece `n`."""
        return self.all[self.run.start + self.place[y.op] + n * self.run.period].outputs[y.value_index]

    def _find_constants(self) -> None:
        known = self.view.known
        for i, op in enumerate(self.operations):
            for k, x in enumerate(self.view.inputs(op)):
                if (i, k) in self.wired.reads or x.op in self.place:
                    continue
                given = [self.view.inputs(other)[k] for other in self._of_all(i)]
                if x in known:
                    self._add_constant((i, k), [known[y] for y in given])
                elif any(y is not x for y in given):
                    self.constants[i, k] = self._taken(given)
                    self.rows.append((i, k))

    def _of_all(self, i: int) -> list[Operation]:
        """Operation number `i` of all pieces."""
        return list(self.all[self.run.start + i : self.run.end : self.run.period])

    def _add_constant(self, at: tuple[int, int], values: Sequence[Any]) -> None:
        if all(np.array_equal(v, values[0]) for v in values):
            self.constants[at] = constant(values[0])
        else:
            self.constants[at] = constant(np.stack(values))
            self.rows.append(at)

    def _taken(self, given: Sequence[Tensor]) -> Tensor:
        """Slabs of one array, as an array."""
        slabs = [slab for slab in [slab_of(self.view, y) for y in given] if slab is not None]
        return stacked(slabs, self.rolling.tensor(slabs[0].array))

    def _compute(self, carried: Mapping[Tensor, Tensor], rows: Sequence[Tensor]) -> dict[Tensor, Tensor]:
        """The tensors of the piece, for what is carried, and for a row of each constant that has rows."""
        constants = {**self.constants, **dict(zip(self.rows, rows, strict=True))}
        graph, values = get_default_graph().acting, dict[Tensor, Tensor]()
        for i, op in enumerate(self.operations):
            inputs = []
            for k, x in enumerate(self.view.inputs(op)):
                if (i, k) in constants:
                    inputs.append(constants[i, k])
                elif (i, k) in self.wired.reads:
                    inputs.append(carried[self.wired.reads[i, k]])
                else:
                    inputs.append(values[x] if x in values else self.rolling.tensor(x))
            with graph.entered(graph.scope._replace(site=op.site, attrs=op.attrs)):
                copy = graph.add(op.primitive, inputs, op.name)
            values.update(zip(op.outputs, copy.outputs, strict=True))
        return values

    def batch(self) -> dict[Tensor, Tensor]:
        """For what is read behind the run, that of all pieces, stacked."""
        read = [*self.wired.last, *self.wired.rows]
        elems = [self.constants[at] for at in self.rows] or [range_(self.run.count)]

        def compute(rows: Sequence[Tensor]) -> list[Tensor]:
            values = self._compute({}, rows if self.rows else ())
            return [values[y] for y in read]

        return dict(zip(read, vectorized_map(compute, elems), strict=True))

    def loop(self) -> tuple[dict[Tensor, Tensor], dict[Tensor, Tensor]]:
        """For what is read behind the run, that of the last piece, and that of all pieces, stacked."""
        carried, rows = self.wired.carried, self.wired.rows
        more = [y for y in (*self.wired.last, *rows) if y not in carried]
        state = [*carried, *more]
        start = [*[self.rolling.tensor(x) for x in carried.values()], *[_nothing_like(y) for y in more]]
        elems = [self.constants[at] for at in self.rows] or [range_(self.run.count)]

        def step(values: Sequence[Tensor], own: Sequence[Tensor]) -> list[Tensor]:
            made = self._compute(dict(zip(state, values, strict=True)), own if self.rows else ())
            return [made[y] for y in state]

        if not rows:
            return dict(zip(state, foldl(step, elems, start), strict=True)), {}
        stacks = dict(zip(state, scan(step, elems, start), strict=True))
        return {y: stack[-1] for y, stack in stacks.items() if y not in rows}, {y: stacks[y] for y in rows}


def _with_first_axis_at(axis: int, x: Tensor) -> Tensor:
    """`x`, whose first axis becomes number `axis`."""
    order = list(range(1, len(x.shape)))
    order.insert(axis % len(x.shape), 0)
    return x if order[0] == 0 else transpose(x, order)


def _nothing_like(y: Tensor) -> Tensor:
    return zeros(y.shape.known, y.dtype) if y.shape.is_fully_defined() else zeros_like(y)
