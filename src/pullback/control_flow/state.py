"""State of functions: what they read of variables around them is handed in where it can be, else kept."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..core.dtypes import resource
from ..core.function import (
    Function,
    Parameter,
    Traced,
    add_parameter,
    body,
    close,
    copy_operation,
    inline,
    like_parameter,
    trace,
)
from ..core.graph import Operation, Tensor
from ..core.primitive import Primitive, no_gradient
from ..core.types import TensorType
from ..primitives.creation.fill import zeros
from ..primitives.indexing.gather import gather
from ..primitives.shape.size import shape
from ..primitives.tensor_array import ArrayRead
from ..primitives.variables.operations import (
    ReadVariableOp,
    ResourceGather,
    VariableShape,
    read_variable,
    variable_type,
)
from .branch import Case, If

_READERS = (ReadVariableOp, ResourceGather, VariableShape)


def with_values(traced: Traced) -> tuple[Function, tuple[bool, ...]]:
    """The function with values in place of the handles of variables that it only reads.

    Also says for each captured tensor whether its value is meant. A value that is read before the call is the one
    that a derivative sees too, even where something assigns to the variable in between.
    """
    function = traced.function
    handles = function.parameters[len(function.parameters) - len(traced.captured) :]
    only_read = _only_read(function, [x for x in handles if x.dtype == resource])
    chosen = tuple([x in only_read for x in handles])
    return (_copy(function, only_read), chosen) if only_read else (function, chosen)


def _only_read(function: Function, handles: Sequence[Tensor]) -> set[Tensor]:
    """Those of `handles` that are read, and not used otherwise."""
    read: set[Tensor] = set()
    other: set[Tensor] = set(function.results)
    for op in function.operations:
        (read if isinstance(op.primitive, _READERS) else other).update(op.inputs)
    return {x for x in handles if x in read and x not in other}


def _copy(function: Function, only_read: set[Tensor]) -> Function:
    with body(function.name, inherit=False) as graph:
        values = {}
        for x in function.parameters:
            parameter = Parameter(variable_type(x)) if x in only_read else like_parameter(x)
            values[x] = add_parameter(graph, parameter, x.op.name)
        copies: dict[Operation, Operation] = {}
        for op in function.operations:
            if isinstance(op.primitive, _READERS) and op.inputs[0] in only_read:
                values[op.outputs[0]] = _read_of(op, values)
            else:
                copies[op] = copy_operation(op, values, copies)
    parameters, results = [values[x] for x in function.parameters], [values[y] for y in function.results]
    return replace(close(graph, parameters, results).function, on_demand=function.on_demand)


def _read_of(op: Operation, values: dict[Tensor, Tensor]) -> Tensor:
    """What `op`, which reads a variable, gives, from the variable's value."""
    value = values[op.inputs[0]]
    if isinstance(op.primitive, ReadVariableOp):
        return value
    return gather(value, values[op.inputs[1]]) if isinstance(op.primitive, ResourceGather) else shape(value)


def with_kept(function: Function) -> tuple[Function, tuple[int, ...]]:
    """The function with more results, and the numbers of those that hold what it read of state, or drew at random.

    Its derivative is given them, for a second time would find other values.
    """
    numbers = {y: i for i, y in enumerate(function.results)}
    count = len(numbers)
    kept = [
        y
        for op in function.operations
        if op.primitive.stateful and not isinstance(op.primitive, VariableShape)
        for y in op.outputs
        if y.dtype != resource
    ]
    places = tuple([numbers.setdefault(y, len(function.results) + len(numbers) - count) for y in kept])
    more = [y for y in kept if numbers[y] >= len(function.results)]
    return (function.with_results([*function.results, *more]) if more else function), places


def values_for_handles(
    functions: Sequence[Function], captured: Sequence[Tensor]
) -> tuple[list[Function], list[Tensor]]:
    """Functions of the same captured tensors, and these, with values for the handles that all of them only read."""
    starts = [len(function.parameters) - len(captured) for function in functions]
    chosen = []
    for i, x in enumerate(captured):
        if x.dtype == resource:
            parameters = [f.parameters[start + i] for f, start in zip(functions, starts, strict=True)]
            uses = [[op for op in f.operations if p in op.inputs] for f, p in zip(functions, parameters, strict=True)]
            if any(uses) and all(isinstance(op.primitive, _READERS) for ops in uses for op in ops):
                chosen.append(i)
    if not chosen:
        return list(functions), list(captured)
    changed = [_copy(f, {f.parameters[start + i] for i in chosen}) for f, start in zip(functions, starts, strict=True)]
    return changed, [read_variable(x) if i in chosen else x for i, x in enumerate(captured)]


class Unmade(Primitive):
    """In a branch, what stands for a value that only another branch makes, and that nobody reads."""

    of: TensorType

    def infer(self) -> tuple[TensorType, ...]:
        return (self.of,)

    def kernel(self, xp: Any) -> Any:
        del xp
        return np.zeros([n or 0 for n in self.of.shape.sizes or ()], self.of.dtype)

    gradient = no_gradient


def with_step_results(function: Function, carried: int) -> Function:
    """The body of a loop that carries its first parameters, with what no step finds again, or only dearly, as results.

    These are the outputs of stateful operations, and what is read of arrays that the loop carries: a step could find
    an element again only if the whole array were kept for each step, n arrays of n elements.
    """
    changing = set(function.parameters[:carried])
    reads: list[Tensor] = []
    for op in function.operations:
        if not changing.isdisjoint(op.inputs):
            changing.update(op.outputs)
            reads += _read_by(op, changing)
    kept = dict.fromkeys([*_drawn(function), *reads])
    return function.with_results([*function.results, *kept]) if kept else function


def _drawn(function: Function) -> list[Tensor]:
    """The outputs of stateful operations: a second time would not find them."""
    return [y for op in function.operations if op.primitive.stateful for y in op.outputs if y.dtype != resource]


def _read_by(op: Operation, changing: Container[Tensor]) -> list[Tensor]:
    """What `op` reads of arrays among `changing`; of a branch all that it gives, but for such arrays themselves."""
    if isinstance(op.primitive, ArrayRead):
        return op.outputs if op.inputs[0] in changing else []
    if not isinstance(op.primitive, If | Case):
        return []
    arrays = [x for x in _arrays_read(op) if x in changing]
    types = [x.type for x in arrays]
    return [y for y in op.outputs if y.type not in types and y.dtype != resource] if arrays else []


def _arrays_read(op: Operation) -> list[Tensor]:
    """The inputs of a branch that stand for arrays from which one of its functions reads, or a branch inside it."""
    functional = op.primitive
    assert isinstance(functional, If | Case)
    found: list[Tensor] = []
    for function, args in zip(functional.functions, functional.arguments(op.inputs), strict=True):
        read = {inner.inputs[0] for inner in function.operations if isinstance(inner.primitive, ArrayRead)}
        read.update(*[_arrays_read(inner) for inner in function.operations if isinstance(inner.primitive, If | Case)])
        found += [arg for x, arg in zip(function.parameters, args, strict=True) if x in read]
    return found


def with_kept_of_all(branches: Sequence[Function], reads: bool) -> tuple[list[Function], tuple[tuple[int, ...], ...]]:
    """Branches with what is kept of all of them as further results, and which of these are whose.

    Kept are the outputs of stateful operations, and, with `reads`, what is read of arrays: a loop around may carry
    them. A branch has zeros for those of the others.
    """
    own = [_kept_of(function, reads) for function in branches]
    if not any(own):
        return list(branches), tuple([() for _ in branches])
    ends = list(accumulate([len(ys) for ys in own], initial=len(branches[0].results)))
    places = tuple([tuple(range(a, b)) for a, b in pairwise(ends)])
    return [_beside_zeros(function, i, own) for i, function in enumerate(branches)], places


def _kept_of(function: Function, reads: bool) -> list[Tensor]:
    given = set(function.parameters)
    read = [y for op in function.operations for y in _read_by(op, given)] if reads else []
    return list(dict.fromkeys([*_drawn(function), *read]))


def _beside_zeros(function: Function, number: int, kept: Sequence[Sequence[Tensor]]) -> Function:
    """The branch of that number with its `kept` among zeros for those of the others."""
    whole, count = function.with_results([*function.results, *kept[number]]), len(function.results)

    def build(*given: Tensor) -> list[Tensor]:
        results = inline(whole, given)
        more = [results[count:] if i == number else [_zeros_for(y) for y in ys] for i, ys in enumerate(kept)]
        return [*results[:count], *[y for ys in more for y in ys]]

    parameters = [like_parameter(x) for x in whole.parameters]
    made = trace(build, parameters, function.name, [x.op.name for x in whole.parameters], inherit=False).function
    return replace(made, on_demand=function.on_demand)


def _zeros_for(y: Tensor) -> Tensor:
    """What stands for a value of another branch: zeros, where its lengths are known."""
    return zeros(y.shape.known, y.dtype) if y.shape.is_fully_defined() else Unmade(y.type.static)()
