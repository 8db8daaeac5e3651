"""Shape specialisation: a view whose fed values have the lengths that are given, and so all that is computed of them.

What reads a shape that is known then is replaced by what has it as an attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.dtypes import resource
from ..core.errors import PullbackError
from ..core.graph import Operation, Tensor, get_default_graph
from ..primitives.base.state import AbstractStateful
from ..primitives.creation.constant import constant_value
from ..primitives.creation.placeholders import Placeholder
from ..primitives.identity.identity import ensure_shape
from ..primitives.indexing.slice import Slice
from ..primitives.reduction.reduce import MeanGrad
from ..primitives.reduction.sum import SumLike, sum_like
from ..primitives.shape.broadcast import BroadcastLike, broadcast_like
from ..primitives.shape.reshape import ReshapeLike, reshape_like
from .fold import folded
from .merge import merged
from .probing import ProbedError
from .rebuilding import restored
from .run_lengths import Lengths
from .view import View, view_of

_BY_SHAPES: dict[type, Callable[[Tensor, Tensor], Tensor]] = {
    BroadcastLike: broadcast_like,
    ReshapeLike: reshape_like,
    SumLike: sum_like,
}


@dataclass
class Specialized:
    """A view, and what stands in it for what was."""

    view: View
    fed: list[Tensor] = field(default_factory=list)
    """Fed values of lengths that were not known."""
    values: dict[Tensor, Tensor] = field(default_factory=dict)
    operations: dict[Operation, Operation] = field(default_factory=dict)


def with_shapes(lengths: Lengths, view: View) -> Lengths:
    """Lengths that tell as well what follows of them for tensors whose own shapes do not say it."""
    if all(lengths.knows(y) for op in view.operations for y in op.outputs):
        return lengths
    shapes = {}
    with suppress(ProbedError), get_default_graph().acting.transaction():
        shapes = {x: y.shape for x, y in _copied(view, lengths).values.items()}
        raise ProbedError
    for op in view.operations:
        shapes.update((x, shapes[y]) for x, y in zip(op.inputs, view.inputs(op), strict=True) if y in shapes)
    return replace(lengths, shapes=shapes)


def specialized(view: View, lengths: Lengths) -> Specialized | None:
    """The view at these lengths, added to the graph that acts; a run refuses others. None where it draws numbers."""
    made = _copied(view, lengths)
    if not made.fed or any(
        isinstance(op.primitive, AbstractStateful) and op.primitive.owns_state for op in made.operations
    ):
        return None
    results = [made.values.get(y, y) for y in view.results]
    targets = [made.operations.get(op, op) for op in view.targets]
    made.view = merged(folded(view_of(results, targets, frozenset())))
    return made


def _copied(view: View, lengths: Lengths) -> Specialized:
    made = Specialized(view)
    graph = get_default_graph().acting
    handles: set[Tensor] = set()
    """Those of variables that a copy reads or changes: what does so later comes later."""
    for op in view.operations:
        if isinstance(op.primitive, Placeholder):
            (x,) = op.outputs
            dims = [lengths.number(n) for n in x.shape.lengths or ()]
            if x.shape.rank and not x.shape.is_fully_defined() and None not in dims:
                made.values[x] = ensure_shape(x, [n or 0 for n in dims])
                made.fed.append(made.values[x])
            continue
        before = view.inputs(op)
        inputs = [made.values.get(x, x) for x in before]
        waits = any(c in made.operations for c in op.controls) or not handles.isdisjoint(before)
        if inputs == list(before) and not waits:
            continue
        handles.update(x for x in before if x.dtype is resource)
        controls = tuple([made.operations.get(c, c) for c in view.controls(op)])
        outputs = _of_shapes(op, inputs) if not controls else None
        if outputs is None:
            copy = made.operations[op] = restored(graph, op, op.primitive, inputs, made.operations, controls)
            outputs = _with_attributes(copy)
        made.values.update(zip(op.outputs, outputs, strict=True))
    return made


def _of_shapes(op: Operation, inputs: Sequence[Tensor]) -> Sequence[Tensor] | None:
    """What an operation that reads the shape of its second input gives, where that is known."""
    p = op.primitive
    if len(inputs) != 2 or not inputs[1].shape.is_fully_defined():
        return None
    if isinstance(p, MeanGrad):
        return (MeanGrad(p.axis, p.keepdims, inputs[1].shape.known)(inputs[0]),)
    change = _BY_SHAPES.get(type(p))
    return None if change is None else (change(*inputs),)


def _with_attributes(op: Operation) -> Sequence[Tensor]:
    """What an operation gives, by one that has the shape of it as an attribute and not as its last input."""
    p: Any = op.primitive
    if isinstance(p, Slice) and len(op.inputs) > 1:
        return _slice(op)
    y, *others = op.outputs or (None,)
    if len(op.inputs) - 1 not in p.length_inputs or y is None or others or not y.shape.is_fully_defined():
        return op.outputs
    dims = y.shape.known
    for name, value in (("shape", dims), ("num_segments", dims[0] if dims else None)):
        if name in p.attributes and _is_open(p.attributes[name]):
            try:
                return (replace(p, **{name: value})(*op.inputs[:-1]),)
            except (PullbackError, TypeError, ValueError):
                break
    return op.outputs


def _slice(op: Operation) -> Sequence[Tensor]:
    """A slice with the numbers as attributes that its other inputs are known to be."""
    p: Any = op.primitive
    x, *vectors = op.inputs
    values = [constant_value(v) for v in vectors]
    known = [tuple([int(n) for n in value]) for value in values if value is not None]
    if len(known) != 2:
        return op.outputs
    begin, size = known
    return (replace(p, begin=begin, size=size)(x),)


def _is_open(value: Any) -> bool:
    """Whether an attribute leaves numbers to an input."""
    return value is None or (isinstance(value, tuple) and None in value)
