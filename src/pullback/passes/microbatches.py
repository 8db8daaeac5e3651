"""Micro-batching: which operations of a graph are run on parts of the batch, one after the other, and which once.

What is computed of fed values along their first axis is computed of parts of that axis; sums over it are those of the
parts, added up. What reads none of it comes before, what reads sums after. Whatever the axis means to the user, each
operation is one that does with the parts what it does with the whole, by `microbatch_rules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..core.dtypes import INEXACT, TokenType, resource
from ..core.graph import Operation, Tensor, site_of
from ..core.operation import index_of
from ..core.traits import CONSTANT, GIVEN
from ..primitives.creation.placeholders import Placeholder
from .microbatch_parts import Part
from .microbatch_rules import part_of
from .variable_changes import handles_changed, writes_state
from .view import View

_LENGTHS_TRIED = 3


class RefusedError(Exception):
    """A graph cannot be run on parts; says why."""


class Run(NamedTuple):
    """An operation that is run on each part."""

    operation: Operation
    part: Part


@dataclass
class Division:
    """The operations of a view, divided: before the parts, on each part, and after them."""

    view: View
    seeds: Sequence[Tensor]
    """What is fed in parts."""
    parts: int
    rows: int
    """The length of the axis that is divided."""
    runs: list[Run] = field(default_factory=list)
    along: dict[Tensor, int] = field(default_factory=dict)
    """The axis of values that are there in parts only."""
    short: dict[tuple[Tensor, int], bool] = field(default_factory=dict)
    """Values that are there whole, and read in parts along an axis: whether parts are computed, not sliced."""
    totals: dict[Tensor, None] = field(default_factory=dict)
    """The sums over all parts."""
    late: list[Operation] = field(default_factory=list)
    """What comes after the parts."""
    together: list[Tensor] = field(default_factory=list)
    """What is there in parts and read as a whole after them."""

    def whole_rows(self) -> list[Tensor]:
        """What is there in parts and put together: results, and what is read so."""
        found = [*[self.view.stand_in(y) for y in self.view.results], *self.together]
        return [y for y in dict.fromkeys(found) if y in self.along and y not in self.seeds]


def divided(view: View, seeds: Sequence[Tensor], parts: int) -> Division:
    """The operations of a view for so many parts of `seeds`, tensors of one first length.

    Raises:
        RefusedError: an operation needs the whole of what is there in parts, or is an effect, or draws random numbers.
    """
    return _Dividing(view, seeds, parts).run()


def seeds_of(view: View, fed: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """What may be the batch: placeholders and what is `fed`, of one first length, those with the most bytes first."""
    found = [*[op.outputs[0] for op in view.operations if isinstance(op.primitive, Placeholder)], *fed]
    found = [x for x in found if x.shape.is_fully_defined() and x.shape.rank and x.shape.known[0] > 1]
    found.sort(key=lambda x: -(x.shape.num_elements() or 0) * x.dtype.itemsize)
    found.sort(key=lambda x: x.dtype not in INEXACT)
    lengths = dict.fromkeys([x.shape.known[0] for x in found])
    for n in list(lengths)[:_LENGTHS_TRIED]:
        alike = [x for x in found if x.shape.known[0] == n]
        yield alike
        if len(alike) > 1:
            yield alike[:1]


class _Dividing:
    def __init__(self, view: View, seeds: Sequence[Tensor], parts: int) -> None:
        self.view = view
        self.made = Division(view, seeds, parts, seeds[0].shape.known[0])
        self.made.along.update((x, 0) for x in seeds)
        self.after: set[Operation] = set()
        self.in_parts: set[Operation] = set()
        self.looked_up: set[Tensor] = set()
        """Variables of which the batch reads rows."""
        self.changed: set[Tensor] = set()
        """Those that something changes, or may, that comes after the parts."""
        self.updating = _only_for_updates(view)
        self.acted = False
        """Whether something that comes after the parts has an effect: what is read of variables then comes later."""

    def run(self) -> Division:
        """The division."""
        made = self.made
        for op in self.view.operations:
            if op.outputs and (op.outputs[0] in self.view.known or op.outputs[0] in made.along or _is_handle(op)):
                continue
            inputs = self.view.inputs(op)
            if any(x in made.along for x in inputs):
                self._run_on_parts(op, inputs)
            elif self._is_late(op, inputs):
                self._run_later(op)
            elif not self.looked_up.isdisjoint(handles_changed(op)):
                raise _refused(op, "changes a variable of which rows of the batch were read before")
        for op in self.view.targets:
            if self.view.runs_for(op) in self.in_parts:
                raise RefusedError(f"'{op.name}' is asked for without a value")
        for y in made.whole_rows():
            if any(n != 1 for n in y.shape.known[: made.along[y]]):
                raise RefusedError(f"{y} has the batch along axis {made.along[y]}")
        if not made.runs:
            raise RefusedError("nothing is computed of what is fed")
        return made

    def _is_late(self, op: Operation, inputs: Sequence[Tensor]) -> bool:
        if any(c in self.in_parts for c in self.view.controls(op)):
            raise RefusedError(f"'{op.name}' waits for values of the batch")
        needs = [*[x.op for x in inputs], *self.view.controls(op)]
        waits = any(o in self.after for o in needs) or any(x in self.made.totals for x in inputs)
        return waits or (self.acted and (op.primitive.stateful or op.primitive.acts))

    def _run_on_parts(self, op: Operation, inputs: Sequence[Tensor]) -> None:
        part = self._part_of_run(op, inputs)
        if isinstance(part, str):
            if op not in self.updating:
                raise _refused(op, part)
            self._run_later(op)
            self.made.together += [x for x in inputs if x in self.made.along]
            return
        self._give(inputs, part)
        self.looked_up.update(x for x in inputs if x.dtype is resource)
        self.made.runs.append(Run(op, part))
        self.in_parts.add(op)
        for y in op.outputs:
            if part.output is None:
                self.made.totals[y] = None
            else:
                self.made.along[y] = part.output

    def _run_later(self, op: Operation) -> None:
        self.after.add(op)
        self.made.late.append(op)
        self.acted = self.acted or op.primitive.stateful or op.primitive.acts
        self.changed.update(handles_changed(op))

    def _part_of_run(self, op: Operation, inputs: Sequence[Tensor]) -> Part | str:
        """How an operation is run on each part, or why it is not."""
        if op.controls:
            return "waits for others"
        if not self.changed.isdisjoint(inputs):
            return "reads rows of a variable after a change that follows from all rows of the batch"
        for x in inputs:
            if x in self.made.totals or x.op in self.after:
                return f"reads the batch by rows, and '{x.op.name}', which follows from all of its rows"
        axes = tuple([self.made.along.get(x) for x in inputs])
        part = self._part(op, inputs, axes, None)
        return part or "takes rows of the batch together otherwise than in a sum, or is not known to"

    def _part(
        self, op: Operation, inputs: Sequence[Tensor], axes: tuple[int | None, ...], wanted: int | None
    ) -> Part | None:
        if not all(x.shape.is_fully_defined() for x in (*inputs, *op.outputs)):
            return None
        types = [x.type for x in inputs]
        return part_of(op.primitive, types, [y.type for y in op.outputs], axes, self.made.parts, wanted)

    def _give(self, inputs: Sequence[Tensor], part: Part) -> None:
        """Sees to it that whole values that are read in parts are there so."""
        for x, axis in zip(inputs, part.inputs, strict=True):
            if axis is not None and x not in self.made.along:
                self._shorten(x, axis)

    def _shorten(self, x: Tensor, axis: int) -> None:
        """A whole value in parts: computed so where that can be, for it need not be there as a whole then."""
        pending = [(x, axis)]
        order: list[tuple[Tensor, int, Part]] = []
        while pending:
            x, axis = pending.pop()
            if (x, axis) in self.made.short:
                continue
            part = self._short_part(x, axis)
            self.made.short[x, axis] = part is not None
            if part is not None:
                order.append((x, axis, part))
                pairs = zip(self.view.inputs(x.op), part.inputs, strict=True)
                pending.extend((y, a) for y, a in pairs if a is not None)
        self.made.runs.extend(Run(x.op, part) for x, _, part in sorted(order, key=lambda made: index_of(made[0].op)))

    def _short_part(self, x: Tensor, axis: int) -> Part | None:
        op = x.op
        given = GIVEN in op.primitive.traits or CONSTANT in op.primitive.traits or x in self.view.known
        if given or op.controls or len(op.outputs) != 1 or op.primitive.stateful:
            return None
        inputs = self.view.inputs(op)
        part = self._part(op, inputs, (None,) * len(inputs), axis)
        if part is None or part.output != axis or any(y.dtype is resource for y in inputs):
            return None
        return None if any(isinstance(y.dtype, TokenType) for y in inputs) else part


def _only_for_updates(view: View) -> set[Operation]:
    """What changes variables, and what is computed for nothing else."""
    read = {view.stand_in(y).op for y in view.results}
    found: set[Operation] = set()
    for op in reversed(view.operations):
        if writes_state(op) or (op.outputs and op not in read):
            found.add(op)
            continue
        read.update(x.op for x in view.inputs(op))
    return found


def _is_handle(op: Operation) -> bool:
    return not op.inputs and op.outputs[0].dtype is resource


def _refused(op: Operation, why: str) -> RefusedError:
    return RefusedError(f"'{op.name}' ({op.type}, made at {site_of(op)}) {why}")
