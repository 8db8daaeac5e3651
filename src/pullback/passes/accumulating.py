"""Gradient accumulation: a loop over parts of the batch, that carries the sums over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..control_flow.loop import Loop
from ..core.dtypes import int32
from ..core.function import Function, Parameter, add_parameter, body, like_parameter
from ..core.graph import Operation, Tensor, get_default_graph
from ..primitives.creation.constant import constant
from ..primitives.elementwise.arithmetic import add, multiply
from ..primitives.shape.broadcast import broadcast_to
from ..primitives.shape.reshape import reshape
from ..primitives.shape.transpose import transpose
from .microbatch_parts import short
from .microbatches import Division
from .rebuilding import restored

Key = tuple[Tensor, int]
"""A tensor, in parts along an axis."""


def accumulated(division: Division) -> tuple[dict[Tensor | Operation, Any], Operation]:
    """Adds the loop over the parts of a division, and what comes after.

    What stands for the results and targets, and the loop.
    """
    return _Accumulating(division).run()


class _Accumulating:
    def __init__(self, division: Division) -> None:
        self.division, self.view = division, division.view
        self.graph = get_default_graph().acting
        self.values: dict[Tensor, Tensor] = {}
        """What stands for tensors: sums, rows, and what is computed of them."""
        self.copies: dict[Operation, Operation] = {}

    def run(self) -> tuple[dict[Tensor | Operation, Any], Operation]:
        """What stands for the results and targets in the end, and the loop."""
        run_in_parts = self._run_parts()
        for op in self.division.late:
            self._copy(op)
        found: dict[Tensor | Operation, Any] = {}
        for y in self.view.results:
            stand_in = self.view.stand_in(y)
            found[y] = self.values.get(stand_in, stand_in)
        for op in self.view.targets:
            runs = self.view.runs_for(op)
            found[op] = self.copies.get(runs, runs) if runs is not None else op
        return found, run_in_parts

    def _copy(self, op: Operation) -> None:
        inputs = [self.values.get(x, x) for x in self.view.inputs(op)]
        controls = tuple([self.copies.get(c, c) for c in self.view.controls(op)])
        self.copies[op] = copy = restored(self.graph, op, op.primitive, inputs, self.copies, controls)
        self.values.update(zip(op.outputs, copy.outputs, strict=True))

    def _run_parts(self) -> Operation:
        """A loop over the parts, each of which adds to the sums of those before."""
        division = self.division
        rows, totals = division.whole_rows(), list(division.totals)
        sliced, whole = self._read()
        function = self._function(totals, sliced, whole, rows)
        apart = [self._in_rows(x, axis) for x, axis in sliced]
        sums = [broadcast_to(constant(0, y.dtype), y.shape.known) for y in totals]
        loop = Loop(function, None, len(totals), len(sliced), len(rows), division.parts, in_order=True)
        steps = constant(division.parts, int32, name="microbatches")
        run_in_parts = loop.operation(steps, *sums, *apart, *whole, name="microbatches")
        _, *made = run_in_parts.outputs
        self.values.update(zip(totals, made, strict=False))
        stacked = made[len(totals) : len(totals) + len(rows)]
        self.values.update((y, reshape(x, y.shape.known)) for y, x in zip(rows, stacked, strict=True))
        return run_in_parts

    def _read(self) -> tuple[list[Key], list[Tensor]]:
        """What is read from outside: in parts, and as a whole."""
        division = self.division
        sliced: dict[Key, None] = {}
        whole: dict[Tensor, None] = {}
        made: set[Key] = set()
        for op, part in division.runs:
            for x, axis in zip(self.view.inputs(op), part.inputs, strict=True):
                if axis is None:
                    whole[x] = None
                elif (x, axis) not in made:
                    sliced[x, axis] = None
            if part.output is not None:
                made.update((y, part.output) for y in op.outputs)
        return list(sliced), list(whole)

    def _in_rows(self, x: Tensor, axis: int) -> Tensor:
        """The parts of a tensor along an axis, one after the other along a new first one."""
        dims, parts = x.shape.known, self.division.parts
        apart = reshape(x, [*dims[:axis], parts, dims[axis] // parts, *dims[axis + 1 :]])
        if all(n == 1 for n in dims[:axis]):
            return reshape(apart, [parts, *short(x.type, axis, parts).shape.known])
        return transpose(apart, [axis, *range(axis), *range(axis + 1, len(dims) + 1)])

    def _function(
        self, totals: Sequence[Tensor], sliced: Sequence[Key], whole: Sequence[Tensor], rows: Sequence[Tensor]
    ) -> Function:
        """What is done with one part: of the sums before, and what is read of it and of the whole."""
        division, parts = self.division, self.division.parts
        with body("microbatch", inherit=False) as graph:
            sums = {y: add_parameter(graph, Parameter(y.type), f"{y.op.name}/sum") for y in totals}
            inside: dict[tuple[Tensor, int | None], Tensor] = {}
            for x, axis in sliced:
                inside[x, axis] = add_parameter(graph, Parameter(short(x.type, axis, parts)), x.op.name)
            inside.update(((x, None), add_parameter(graph, like_parameter(x), x.op.name)) for x in whole)
            given = (*sums.values(), *inside.values())
            copies: dict[Operation, Operation] = {}
            for op, part in division.runs:
                inputs = [inside[key] for key in zip(self.view.inputs(op), part.inputs, strict=True)]
                if part.scaled == "input":
                    inputs[0] = multiply(inputs[0], constant(1.0 / parts, inputs[0].dtype))
                copies[op] = copy = restored(graph, op, part.primitive, inputs, copies)
                outputs = list(copy.outputs)
                if part.scaled == "output":
                    outputs = [multiply(y, constant(1.0 / parts, y.dtype)) for y in outputs]
                for y, made in zip(op.outputs, outputs, strict=True):
                    if part.output is None:
                        sums[y] = add(sums[y], made)
                    else:
                        inside[y, part.output] = made
        results = (*sums.values(), *[inside[y, division.along[y]] for y in rows])
        return Function(graph, given, results, "microbatch")
