"""Graph rewriting by views: a graph as a pass leaves it, told by what stands for its tensors; nothing is copied.

Each pass is a function of views, which is what engines make their plans of, and one of functions, made by `rebuilt`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.graph import Operation, Tensor
from ..core.needs import needed
from ..core.operation import index_of
from ..primitives.base.state import AbstractStateful
from ..primitives.creation.constant import Const

Array = np.ndarray[Any, Any]


def all_inputs(op: Operation) -> Sequence[Tensor]:
    """What an operation reads, for itself and for its derivative."""
    return op.inputs


def inputs_of_run(op: Operation) -> Sequence[Tensor]:
    """What an operation reads when it is run."""
    return op.primitive.run_inputs(op.inputs)


@dataclass(frozen=True)
class View:
    """Some operations of a graph, in an order in which they can be run, and what stands for their outputs."""

    operations: Sequence[Operation]
    results: Sequence[Tensor]
    targets: Sequence[Operation] = ()
    """What is run although nobody may read its outputs."""
    given: Set[Tensor] = frozenset()
    """Tensors whose values come from outside: parameters, and what is fed."""
    reads: Callable[[Operation], Sequence[Tensor]] = all_inputs
    keep: Set[Tensor] = frozenset()
    """Tensors for which no others may stand: somebody asks for them by name."""
    apart: Set[Tensor] = frozenset()
    """Tensors by which somebody may differentiate: computed for themselves, and read by what reads them now."""
    same: Mapping[Tensor, Tensor] = field(default_factory=dict)
    """For a tensor the one that stands for it."""
    known: Mapping[Tensor, Array] = field(default_factory=dict)
    """The values of tensors that need not be computed: constants, at first, that wait for nothing."""

    def stand_in(self, x: Tensor) -> Tensor:
        """The tensor that stands for `x`, which may be `x` itself."""
        return self.same.get(x, x)

    def inputs(self, op: Operation) -> Sequence[Tensor]:
        """What stands for the tensors that an operation reads."""
        same, inputs = self.same, self.reads(op)
        return [same.get(x, x) for x in inputs] if same else inputs

    def controls(self, op: Operation) -> list[Operation]:
        """What stands for the control inputs of an operation, those left out that need not be run."""
        return [c for c in map(self.runs_for, op.controls) if c is not None] if op.controls else []

    def runs_for(self, op: Operation) -> Operation | None:
        """What is run where `op` was to be run; None where nothing need be."""
        outputs = op.outputs
        if not outputs or isinstance(op.primitive, AbstractStateful):
            return op
        if all(y in self.given or y in self.known for y in outputs):
            return None
        return self.stands_for(op)

    def stands_for(self, op: Operation) -> Operation:
        """The operation that stands for `op`, which may be `op` itself."""
        return self.stand_in(op.outputs[0]).op if self.same and op.outputs else op

    def settled(self) -> View:
        """The view in which what stands for a tensor stands for itself."""
        same = dict(self.same)
        for x, y in same.items():
            while y in same:
                y = same[y]
            same[x] = y
        return replace(self, same=same)

    def pruned(self) -> View:
        """The view of only what the results and targets need; of nothing behind what is given or known."""
        given, known, inputs = self.given, self.known, self.inputs

        def before(op: Operation) -> list[Operation]:
            if known and op.outputs and op.outputs[0] in known:
                return []
            producers = [x.op for x in inputs(op) if x not in given]
            return [*producers, *self.controls(op)] if op.controls else producers

        targets = [op for op in map(self.runs_for, self.targets) if op is not None]
        results = [x.op for x in map(self.stand_in, self.results) if x not in given]
        found = needed([*results, *targets], before)
        ordered = [op for op in self.operations if op in found] if self.operations else sorted(found, key=index_of)
        return replace(self, operations=ordered)


def as_it_is(view: View) -> View:
    """The view that it is given: the pass that does nothing."""
    return view


def view_of(
    results: Sequence[Tensor],
    targets: Sequence[Operation],
    given: Set[Tensor],
    reads: Callable[[Operation], Sequence[Tensor]] = all_inputs,
    keep: Collection[Tensor] = (),
    apart: Collection[Tensor] = (),
    same: Mapping[Tensor, Tensor] = MappingProxyType({}),
) -> View:
    """The view of what `results` and `targets` need, where others of the `same` values stand for some tensors."""
    return _with_constants(View((), results, targets, given, reads, frozenset(keep), frozenset(apart), same).pruned())


def view_among(
    operations: Sequence[Operation],
    results: Sequence[Tensor],
    targets: Sequence[Operation],
    given: Set[Tensor],
    reads: Callable[[Operation], Sequence[Tensor]] = all_inputs,
) -> View:
    """The view of what `results` and `targets` need, where others than `operations` need not be run for it."""
    return _with_constants(View(operations, results, targets, given, reads))


def _with_constants(view: View) -> View:
    known = {
        op.outputs[0]: op.primitive.value
        for op in view.operations
        if isinstance(op.primitive, Const) and not op.controls
        if op.outputs[0] not in view.given and op.outputs[0] not in view.apart
    }
    return replace(view, known=known)
