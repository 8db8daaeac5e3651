"""Gradient accumulation: calls for parts of the batch, one after the other, that add up sums over it.

Each part is a call of its own, which XLA compiles anew; the sums of those before go in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..control_flow.call import RecomputedCall
from ..core.dtypes import int32
from ..core.function import Function, Parameter, add_parameter, body, like_parameter
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..primitives.creation.constant import constant
from ..primitives.creation.fill import zeros
from ..primitives.elementwise.arithmetic import add, multiply
from ..primitives.shape.reshape import reshape
from ..primitives.shape.stacking import concat
from ..primitives.shape.transpose import transpose
from .microbatch_rules import short
from .microbatches import Division

Key = tuple[Tensor, int]
"""A tensor, in parts along an axis."""


def accumulated(division: Division) -> dict[Tensor | Operation, Any]:
    """Adds the calls for the parts of a division, and what comes after: what stands for the results and targets."""
    return _Accumulating(division).run()


class _Accumulating:
    def __init__(self, division: Division) -> None:
        self.division, self.view = division, division.view
        self.graph = get_default_graph().acting
        self.values: dict[Tensor, Tensor] = {}
        """What stands for tensors: sums, rows, and what is computed of them."""
        self.copies: dict[Operation, Operation] = {}

    def run(self) -> dict[Tensor | Operation, Any]:
        """What stands for the results and targets in the end."""
        self._run_parts()
        for op in self.division.late:
            self._copy(op)
        found: dict[Tensor | Operation, Any] = {}
        for y in self.view.results:
            stand_in = self.view.stand_in(y)
            found[y] = self.values.get(stand_in, stand_in)
        for op in self.view.targets:
            runs = self.view.runs_for(op)
            found[op] = self.copies.get(runs, runs) if runs is not None else op
        return found

    def _copy(self, op: Operation) -> None:
        inputs = [self.values.get(x, x) for x in self.view.inputs(op)]
        controls = tuple([self.copies.get(c, c) for c in self.view.controls(op)])
        self.copies[op] = copy = _restored(self.graph, op, op.primitive, inputs, controls)
        self.values.update(zip(op.outputs, copy.outputs, strict=True))

    def _run_parts(self) -> None:
        """A call for each part, one after the other: each adds to the sums of those before."""
        division = self.division
        rows, totals = division.fetched_rows(), list(division.totals)
        sliced, whole = self._read()
        function = self._function(totals, sliced, whole, rows)
        apart = [self._in_rows(x, axis) for x, axis in sliced]
        sums = [zeros(y.shape.known, y.dtype) for y in totals]
        made: list[list[Tensor]] = [[] for _ in rows]
        for i in range(division.parts):
            number = constant(i, int32, name="number")
            call = RecomputedCall(function).operation(*sums, number, *whole, *apart, name="microbatch")
            sums = list(call.outputs[: len(totals)])
            for pieces, y in zip(made, call.outputs[len(totals) :], strict=True):
                pieces.append(y)
        self.values.update(zip(totals, sums, strict=True))
        self.values.update((y, reshape(concat(pieces, 0), y.shape.known)) for y, pieces in zip(rows, made, strict=True))

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

    def _in_rows_type(self, x: Tensor, axis: int) -> TensorType:
        part = short(x.type, axis, self.division.parts)
        return TensorType(x.dtype, TensorShape([self.division.parts, *part.shape.known]))

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
        """What is done with one part: of the sums before, its number, and what is read."""
        division, parts = self.division, self.division.parts
        with body("microbatch", inherit=False) as graph:
            sums = {y: add_parameter(graph, Parameter(y.type), f"{y.op.name}/sum") for y in totals}
            number = add_parameter(graph, Parameter(TensorType(int32, TensorShape.SCALAR)), "number")
            inside: dict[tuple[Tensor, int | None], Tensor] = {}
            inside.update(((x, None), add_parameter(graph, like_parameter(x), x.op.name)) for x in whole)
            apart = [add_parameter(graph, Parameter(self._in_rows_type(x, axis)), x.op.name) for x, axis in sliced]
            given = (*sums.values(), number, *inside.values(), *apart)
            inside.update((key, x[number]) for key, x in zip(sliced, apart, strict=True))
            for op, part in division.runs:
                inputs = [inside[key] for key in zip(self.view.inputs(op), part.inputs, strict=True)]
                if part.scaled == "input":
                    inputs[0] = multiply(inputs[0], constant(1.0 / parts, inputs[0].dtype))
                outputs = list(_restored(graph, op, part.primitive, inputs).outputs)
                if part.scaled == "output":
                    outputs = [multiply(y, constant(1.0 / parts, y.dtype)) for y in outputs]
                for y, made in zip(op.outputs, outputs, strict=True):
                    if part.output is None:
                        sums[y] = add(sums[y], made)
                    else:
                        inside[y, part.output] = made
        results = (*sums.values(), *[inside[y, division.along[y]] for y in rows])
        return Function(graph, given, results, "microbatch")


def _restored(
    graph: Graph, op: Operation, primitive: Any, inputs: Sequence[Tensor], controls: tuple[Operation, ...] = ()
) -> Operation:
    return graph.restore(
        primitive,
        inputs,
        graph.unique_name(op.name),
        control_inputs=controls,
        device=op.device,
        attrs=op.attrs,
        original_op=None,
        site=op.site,
    )
