"""Recomputation by a rematerialisation schedule: operations that are computed again, in calls of their own.

What comes before the first of these stays as it is. What comes after is copied, for it must come later than they.
"""

from __future__ import annotations

from typing import Any

from ..control_flow.call import Call, RecomputedCall
from ..core.dtypes import INEXACT
from ..core.function import Function, add_parameter, body, like_parameter
from ..core.graph import Operation, Tensor, get_default_graph
from ..primitives.identity.barrier import optimization_barrier
from .pieces import Piece
from .rebuilding import restored
from .schedule import Schedule


def written(schedule: Schedule) -> dict[Tensor | Operation, Any]:
    """Adds the operations of a schedule to the graph that acts: what stands for its results and targets."""
    return _Writing(schedule).run()


class _Writing:
    def __init__(self, schedule: Schedule) -> None:
        self.schedule, self.view = schedule, schedule.view
        self.graph = get_default_graph().acting
        self.values: dict[Tensor, Tensor] = {}
        """What stands for tensors at the moment, where it is another."""
        self.copies: dict[Operation, Operation] = {}
        self.latest: Tensor | None = None
        """What was computed last for the first time: nothing is computed again before it is there."""
        self.ended: list[Tensor] = []
        """What was computed for the first time since something was computed again, and nothing else waits for."""
        self.is_changed = False
        self.apart = _calls_again(schedule) if len(schedule.steps) > len(schedule.nodes) else set()

    def run(self) -> dict[Tensor | Operation, Any]:
        """What stands for the results and targets in the end."""
        for piece in self.schedule.pieces:
            if piece.again:
                self._again(piece)
                continue
            op = self.schedule.operations[piece.nodes[0].node]
            if self.schedule.is_fetched_part(piece.nodes[0].node):
                self.ended += [self._now(y) for y in op.outputs if y in self.schedule.results and y.dtype in INEXACT]
                continue
            self.is_changed = self.is_changed or op in self.schedule.lean or op in self.apart
            if self.is_changed:
                self._copy(op)
            floats = [self._now(y) for y in op.outputs if y.dtype in INEXACT]
            self.latest = next(iter(floats), self.latest)
            self.ended += floats if self.schedule.nodes[piece.nodes[0].node].kept else []
        view = self.view
        found: dict[Tensor | Operation, Any] = {y: self._now(view.stand_in(y)) for y in view.results}
        for op in view.targets:
            runs = view.runs_for(op)
            found[op] = self.copies.get(runs, runs) if runs is not None else op
        return found

    def _now(self, x: Tensor) -> Tensor:
        return self.values.get(x, x)

    def _copy(self, op: Operation) -> None:
        inputs = [self._now(x) for x in map(self.view.stand_in, op.inputs)]
        controls = tuple([self.copies.get(c, c) for c in self.view.controls(op)])
        primitive = self.schedule.lean.get(op, op.primitive)
        if isinstance(primitive, Call) and op in self.apart:
            primitive = RecomputedCall(primitive.function, primitive.kept, primitive.recompute, primitive.zeros)
            inputs = list(optimization_barrier(inputs))
        copy = restored(self.graph, op, primitive, inputs, self.copies, controls)
        self.copies[op] = copy
        self.values.update(zip(op.outputs, copy.outputs, strict=True))

    def _again(self, piece: Piece) -> None:
        """A call that computes a piece again once the latest value is there, and what is fetched of those before.

        A runtime that chooses its own order would leave that for the end, and keep all that it reads.
        """
        self.is_changed = True
        operations = [self.schedule.operations[made.node] for made in piece.nodes]
        read = self._read_from_outside(operations)
        given = {self.schedule.operations[made.node] for made in piece.gives}
        outputs = [y for op in operations if op in given for y in op.outputs]
        schedule = self.schedule
        results = [y for y in dict.fromkeys(outputs) if y in schedule.read and not schedule.is_again_apart(y)]
        args = [self._now(x) for x in read]
        args += [y for y in self.ended if y is not self.latest]
        self.ended = []
        if self.latest is not None:
            args.append(self.latest)
        function = self._function(operations, read, args, results)
        call = RecomputedCall(function).operation(*optimization_barrier(args))
        call.device = operations[-1].device
        self.values.update(zip(results, call.outputs, strict=True))

    def _read_from_outside(self, operations: list[Operation]) -> list[Tensor]:
        """What is read before it is made, if it is: a value may be there at first, be dropped, and come again."""
        made: set[Tensor] = set()
        read: dict[Tensor, None] = {}
        for op in operations:
            read.update((x, None) for x in map(self.view.stand_in, op.inputs) if x not in made)
            made.update(op.outputs)
        return list(read)

    def _function(
        self, operations: list[Operation], read: list[Tensor], args: list[Tensor], results: list[Tensor]
    ) -> Function:
        with body("again", inherit=False) as graph:
            parameters = [add_parameter(graph, like_parameter(x), x.op.name) for x in args]
            inside = dict(zip(read, parameters, strict=False))
            copies: dict[Operation, Operation] = {}
            for op in operations:
                inputs = [inside[self.view.stand_in(x)] for x in op.inputs]
                copies[op] = copy = restored(graph, op, self.schedule.lean.get(op, op.primitive), inputs, copies)
                inside.update(zip(op.outputs, copy.outputs, strict=True))
        return Function(graph, tuple(parameters), tuple([inside[y] for y in results]), "again")


def _calls_again(schedule: Schedule) -> set[Operation]:
    """The calls that read all that an earlier one has read, as derivatives do, and may compute the same again.

    XLA would merge that with the first time, and keep it meanwhile.
    """
    earlier: dict[Tensor, list[set[Tensor]]] = {}
    found: set[Operation] = set()
    for op in schedule.number:
        if not isinstance(op.primitive, Call) or not op.inputs:
            continue
        inputs = set(schedule.view.inputs(op))
        if any(before <= inputs for x in inputs for before in earlier.get(x, ())):
            found.add(op)
        earlier.setdefault(schedule.view.inputs(op)[0], []).append(inputs)
    return found
