"""Loop-invariant lengths: the body of a loop, told which lengths of what it carries are the same in all steps.

A body is traced for lengths that may change from step to step. Those that it hands on as they came are then taken for
those of the start, and the body is copied with them: so its derivative need not ask at each step what was repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.function import Function, Parameter, add_parameter, body, close, copy_operation, like_parameter
from ..core.graph import Operation
from ..core.lengths import Dimension, Length
from ..core.shape import TensorShape
from ..core.types import TensorType


def with_steady_lengths(function: Function, start: Sequence[TensorType]) -> Function:
    """`function`, which carries its first parameters, for lengths that stay those of `start` as far as they do."""
    types = [_told(x.type, begins) for x, begins in zip(function.parameters, start, strict=False)]
    while any(t is not x.type for x, t in zip(function.parameters, types, strict=False)):
        found = _copied(function, types)
        kept = [_kept(x.type, t, y.type) for x, t, y in zip(function.parameters, types, found.results, strict=False)]
        if all(a is b for a, b in zip(kept, types, strict=True)):
            return found
        types = kept
    return function


def _told(own: TensorType, start: TensorType) -> TensorType:
    """`own` with the lengths of `start` that a run decides."""
    if own.shape.lengths is None or start.shape.lengths is None or own.shape.is_fully_defined():
        return own
    pairs = zip(own.shape.lengths, start.shape.lengths, strict=False)
    return _with_lengths(own, [n if isinstance(n, Length) and isinstance(m, Length) else m for m, n in pairs])


def _kept(own: TensorType, assumed: TensorType, result: TensorType) -> TensorType:
    """`assumed` as far as a step hands it on as it was; elsewhere `own`."""
    if assumed is own or own.shape.lengths is None or assumed.shape.lengths is None:
        return own
    results = result.shape.lengths or (None,) * len(own.shape.lengths)
    triples = zip(own.shape.lengths, assumed.shape.lengths, results, strict=True)
    lengths = [a if a == r else m for m, a, r in triples]
    return assumed if tuple(lengths) == assumed.shape.lengths else _with_lengths(own, lengths)


def _with_lengths(own: TensorType, lengths: Sequence[Dimension | None]) -> TensorType:
    return own if tuple(lengths) == own.shape.lengths else TensorType(own.dtype, TensorShape(lengths))


def _copied(function: Function, types: Sequence[TensorType]) -> Function:
    """`function` for first parameters of other types."""
    with body(function.name, inherit=False) as graph:
        kinds = [like_parameter(x) for x in function.parameters]
        kinds[: len(types)] = [Parameter(t, k.handle) for t, k in zip(types, kinds, strict=False)]
        given = [add_parameter(graph, k, x.op.name) for k, x in zip(kinds, function.parameters, strict=True)]
        values = dict(zip(function.parameters, given, strict=True))
        copies: dict[Operation, Operation] = {}
        for op in function.operations:
            copies[op] = copy_operation(op, values, copies)
    made = close(graph, given, [values[y] for y in function.results]).function
    return replace(made, on_demand=function.on_demand)
