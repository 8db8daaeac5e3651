"""Function calls (`PartitionedCall`): differentiated once per function; the derivative is a call too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.dtypes import TRAINABLE
from ..core.function import AbstractFunctional, Function, types_at_call
from ..core.graph import Operation, Tensor, get_default_graph
from ..core.primitive import ZERO
from ..core.types import TensorType
from ..primitives.identity.barrier import OptimizationBarrier, optimization_barrier

if TYPE_CHECKING:
    from ..autodiff.cotangent import Term


class AbstractCall(AbstractFunctional):
    """The results of `function` for the inputs.

    y = f(x);  dx = f_grad(x, dy), which computes again what it needs of f: XLA merges that with the first time.
    """

    takes_none = True
    takes_wanted = True

    function: Function
    kept: tuple[int, ...] = ()
    """The numbers of the results that its derivative is given: what a second time would not find again."""
    recompute: bool = False
    """Whether the derivative computes f again once it has dy, on every engine, so that nothing of f is kept for it."""
    zeros: bool = False
    """Whether the derivative by an input on which no result depends is zero, and not None."""

    def infer(self, *args: TensorType) -> tuple[TensorType, ...]:
        check_arguments(f"call of {self.function.name}", self.function, args)
        return tuple(types_at_call(self.function, args))

    def arguments(self, inputs: Sequence[Any]) -> list[Sequence[Any]]:
        return [inputs[: len(self.function.parameters)]]

    @property
    def called(self) -> str:
        return self.function.name

    def gradient(self, op: Operation, *dys: Any, wanted: Sequence[bool]) -> Sequence[Term | None]:
        from ..autodiff.pullbacks import pullback_of

        seeded = tuple([dy is not None for dy in dys])
        kept = self.kept
        if self.recompute:
            kept += tuple([i for i, y in enumerate(op.outputs) if i not in kept and _is_read_again(y)])
        pullback = pullback_of(self.function, tuple(wanted), seeded, kept)
        function, numbers = without_unused_parameters(pullback.function)
        if not function.results:
            return self._entries(op, [None] * len(op.inputs))
        seeds = [dy for dy in dys if dy is not None]
        args = [*op.inputs, *seeds, *[op.outputs[i] for i in kept]]
        if self.recompute:
            first = len(op.inputs) + len(seeds)
            args[:first] = optimization_barrier(args[:first])
            again = RecomputedCall(function, (), True)
            results = again.operation(*[args[i] for i in numbers]).outputs
        else:
            results = call(function, [args[i] for i in numbers]).outputs
        return self._entries(op, [pullback.term(i, results, x) for i, x in enumerate(op.inputs)])

    def _entries(self, op: Operation, terms: Sequence[Term | None]) -> Sequence[Term | None]:
        if not self.zeros:
            return terms
        return [ZERO if dx is None and x.dtype in TRAINABLE else dx for x, dx in zip(op.inputs, terms, strict=True)]


def _is_read_again(y: Tensor) -> bool:
    """Whether a call that computes something again reads `y`, which is there until then in any case."""
    barriers = [op for op in y.consumers() if isinstance(op.primitive, OptimizationBarrier)]
    behind = [z for op in barriers for x, z in zip(op.inputs, op.outputs, strict=True) if x is y]
    return any(isinstance(op.primitive, RecomputedCall) for z in behind for op in z.consumers())


class Call(AbstractCall):
    type = "PartitionedCall"


class StatefulCall(AbstractCall):
    """A call of a function that reads or changes state."""

    type = "StatefulPartitionedCall"


class RecomputedCall(AbstractCall):
    """A call that computes again what was computed before; no engine takes the result of the first time."""

    recomputes = True


def call(
    function: Function,
    args: Sequence[Tensor],
    name: str | None = None,
    *,
    kept: tuple[int, ...] = (),
    recompute: bool = False,
    zeros: bool = False,
) -> Operation:
    """A new operation that calls `function`, in the graph that acts."""
    primitive = (StatefulCall if function.stateful else Call)(function, kept, recompute, zeros)
    graph = args[0].op.graph if args else get_default_graph()
    return graph.acting.add(primitive, args, name)


def without_unused_parameters(function: Function) -> tuple[Function, tuple[int, ...]]:
    """`function` without the parameters that it does not read, and the numbers of those that stay; made once."""
    known: tuple[Function, tuple[int, ...]] | None = function.memo.get("without_unused_parameters")
    if known is None:
        used = {x for op in function.operations for x in op.inputs} | set(function.results)
        numbers = tuple([i for i, x in enumerate(function.parameters) if x in used])
        parameters = [function.parameters[i] for i in numbers]
        known = function.with_results(function.results, parameters), numbers
        function.memo["without_unused_parameters"] = known
    return known


def check_arguments(what: str, function: Function, args: Sequence[TensorType]) -> None:
    """TypeError or ValueError unless `args` fit the parameters of `function`."""
    if len(args) != len(function.parameters):
        raise ValueError(f"{what}: {len(args)} arguments for {len(function.parameters)} parameters")
    for x, given in zip(function.parameters, args, strict=True):
        if given.dtype != x.dtype:
            raise TypeError(f"{what}: parameter '{x.op.name}' is {x.type}, not {given}")
        if not given.shape.is_compatible_with(x.shape):
            raise ValueError(f"{what}: parameter '{x.op.name}' is {x.type}, not {given}")
