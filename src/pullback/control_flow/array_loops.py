"""TensorArray lowering in loops: elements get the shape that a step writes, and room for all where steps count.

An array that grows has no length that XLA could compile. Where the number of steps and the positions are known when the
loop is built, so is the length in the end: the loop is given an array of that length, and writes into it. Where there
is only a bound on the steps, XLA has room for so many elements, and zeros behind those that were written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..core.dtypes import int32
from ..core.function import Function, Parameter, add_parameter, body, close, copy_operation, like_parameter
from ..core.graph import Operation, Tensor
from ..core.primitive import Primitive
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..primitives.creation.constant import constant, constant_value
from ..primitives.creation.fill import zeros
from ..primitives.tensor_array import ArrayBlank, ArrayHead, ArrayRead, ArrayWrite
from .loop_count import affine, conjuncts, increment, steps_while, whole_number

_UNBOUNDED = np.iinfo(np.int32).max
MOST_ROOM = 1 << 20
"""A bound on elements or steps above which it is taken for none."""


@dataclass(frozen=True)
class ArrayLoop:
    """A loop that is to be made: its variables at the beginning, its functions, and what these captured."""

    start: Sequence[Tensor]
    body: Function
    condition: Function
    captured: Sequence[Tensor]
    limit: Tensor

    def end(self, i: int) -> Tensor:
        """What a step makes of the variable of that number."""
        return self.body.results[i]

    def first(self, i: int) -> int | None:
        """What that is at the beginning, where it is known."""
        return whole_number(constant_value(self.start[i]))

    def carried(self, x: Tensor) -> int | None:
        """The number of the variable that `x` is, if steps change it."""
        i = self._number(x)
        return None if i is None or i >= len(self.start) or self.end(i) is self.body.parameters[i] else i

    def known(self, x: Tensor) -> int | None:
        """The value of `x`, a constant, or the same in each step, where it is known."""
        i = self._number(x)
        if i is None:
            return whole_number(constant_value(x))
        return None if self.carried(x) is not None else whole_number(constant_value([*self.start, *self.captured][i]))

    def _number(self, x: Tensor) -> int | None:
        """The number of the parameter that `x` is."""
        functions = (self.body, self.condition)
        return next((i for f in functions for i, parameter in enumerate(f.parameters) if parameter is x), None)

    def steps(self) -> tuple[int | None, bool]:
        """The most steps, where that is known, and whether there are exactly so many."""
        limit = whole_number(constant_value(self.limit))
        found = [limit, *[_steps_while(self, y) for y in conjuncts(self.condition.results[0])]]
        steps = min([n for n in found if n is not None], default=_UNBOUNDED)
        return (steps if steps < _UNBOUNDED else None), None not in found


class _Array(NamedTuple):
    """An array among the variables of a loop."""

    number: int
    writes: list[Operation]
    """All that a step does to it, the first first."""
    row: TensorShape
    """What is known of the shape of an element."""
    length: int | None
    """The most elements that it can have in the end, where it grows and that is known."""
    exact: bool
    """Whether it has so many."""


class Settled(NamedTuple):
    """A loop with what is known of its arrays, by the numbers of the variables."""

    loop: ArrayLoop
    sizes: dict[int, Tensor]
    """The sizes that are known in the end."""
    rooms: dict[int, int]
    """The most elements of those arrays of which only a run says how long they get."""

    def ends(self, ends: Sequence[Tensor]) -> list[Tensor]:
        """What the variables are after the loop, from what it returned."""
        found = [self.sizes.get(i, y) for i, y in enumerate(ends)]
        for i, room in self.rooms.items():
            found[i] = ArrayHead(room, ended=True)(ends[i], ends[i + 1])
        return found


def with_arrays_settled(loop: ArrayLoop) -> Settled:
    """The loop, whose arrays have from the beginning the element shape of the end, and, if it is known, the length."""
    arrays = [_array(loop, i, writes) for i in range(len(loop.start)) if (writes := _writes(loop, i))]
    starts = list(loop.start)
    types: dict[int, TensorType] = {}
    for array in arrays:
        i, start = array.number, loop.start[array.number]
        if array.length is not None and array.exact:
            starts[i] = _lengthened(start, loop.first(i + 1) or 0, array)
            types[i] = starts[i].type
            continue
        if isinstance(start.op.primitive, ArrayBlank) and start.shape.rank is None and array.row.rank is not None:
            starts[i] = _blank(start.dtype, start.op.inputs[0], array.row)
            grows = array.writes[0].primitive.grows  # type: ignore[attr-defined]
            types[i] = TensorType(start.dtype, TensorShape([None]).concatenate(array.row)) if grows else starts[i].type
        if array.length is not None:
            starts[i] = ArrayHead(array.length)(starts[i], loop.start[i + 1])
            types.setdefault(i, loop.body.parameters[i].type)
    if not types:
        return Settled(loop, {}, {})
    known = [a for a in arrays if a.length is not None]
    sizes = {a.number + 1: constant(a.length or 0, int32, name="size") for a in known if a.exact}
    rooms = {a.number: a.length or 0 for a in known if not a.exact}
    return Settled(replace(loop, start=starts, body=_rewritten(loop, arrays, types)), sizes, rooms)


def _writes(loop: ArrayLoop, i: int) -> list[Operation]:
    """The operations that make the variable of that number from what it was, if all of them write elements."""
    y, found = loop.end(i), []
    while isinstance(y.op.primitive, ArrayWrite):
        found.append(y.op)
        y = y.op.inputs[0]
    return found[::-1] if y is loop.body.parameters[i] else []


def _array(loop: ArrayLoop, i: int, writes: list[Operation]) -> _Array:
    made = loop.end(i).shape
    array = _Array(i, writes, made[1:] if made.rank else TensorShape.UNKNOWN, None, exact=False)
    grows = all(op.primitive.grows for op in writes)  # type: ignore[attr-defined]
    (steps, exact), size = loop.steps(), loop.first(i + 1)
    if not grows or not steps or size is None or not _is_only_read_and_written(loop, array):
        return array
    ranges = [_positions(loop, array, op.inputs[1], steps) for op in writes]
    known = [r for r in ranges if r is not None and r[0] >= 0]
    length = max(size, *[last + 1 for _, last in known], 0)
    if len(known) < len(ranges) or (length > MOST_ROOM and not exact):
        return array
    return array._replace(length=length, exact=exact)


def _stages(loop: ArrayLoop, array: _Array) -> list[Tensor]:
    """What the array is in the course of a step."""
    return [loop.body.parameters[array.number], *[op.outputs[0] for op in array.writes]]


def _is_only_read_and_written(loop: ArrayLoop, array: _Array) -> bool:
    """Whether nothing in a step, or in the condition, can see how long the array is, but by its size."""
    stages = {*_stages(loop, array), loop.condition.parameters[array.number]}
    users = [op for f in (loop.body, loop.condition) for op in f.operations if not stages.isdisjoint(op.inputs)]
    elsewhere = [y for i, y in enumerate(loop.body.results) if i != array.number]
    return stages.isdisjoint(elsewhere) and all(
        stages.isdisjoint(op.inputs[1:]) and (op in array.writes or isinstance(op.primitive, ArrayRead)) for op in users
    )


def _positions(loop: ArrayLoop, array: _Array, x: Tensor, steps: int) -> tuple[int, int] | None:
    """The least and the greatest of the positions `x` over all steps: constants, or a counter times a, plus b."""
    value = constant_value(x)
    if value is not None:
        return (int(np.min(value)), int(np.max(value))) if value.size else None
    a, b = 1, 0
    while (i := loop.carried(x)) is None:
        inner = affine(x, loop.known)
        if inner is None:
            return None
        x, by, more = inner
        a, b = a * by, b + a * more
    start, step = loop.first(i), increment(loop, i)
    if i == array.number + 1 and len(array.writes) == 1 and (a, b) == (1, 0):
        step = 1
    if start is None or step is None:
        return None
    ends = [a * start + b, a * (start + (steps - 1) * step) + b]
    return min(ends), max(ends)


def _steps_while(loop: ArrayLoop, holds: Tensor) -> int | None:
    value = constant_value(holds)
    if value is not None:
        return _UNBOUNDED if value.ndim == 0 and bool(value) else 0
    return steps_while(loop, holds)


def _blank(dtype: Any, count: Any, row: TensorShape) -> Tensor:
    """An array of so many elements, of whose shape `row` is known."""
    known = constant_value(count) if isinstance(count, Tensor) else count
    if row.is_fully_defined():
        return zeros([count if known is None else int(known), *row.known], dtype)
    return ArrayBlank(dtype, row.static)(count if isinstance(count, Tensor) else constant(count, int32))


def _lengthened(rows: Tensor, size: int, array: _Array) -> Tensor:
    """An array of the length of the end, which begins with the `size` elements of `rows`."""
    blank = _blank(rows.dtype, array.length, array.row)
    if not size or isinstance(rows.op.primitive, ArrayBlank):
        return blank
    assert array.length is not None
    count = constant(array.length, int32)
    return ArrayWrite()(blank, constant(np.arange(size, dtype=np.int32)), rows, count)


def _rewritten(loop: ArrayLoop, arrays: Sequence[_Array], types: dict[int, TensorType]) -> Function:
    """The body for variables of other types, in which arrays of known length do not grow."""
    function = loop.body
    lengthened = {x: a for a in arrays if a.length is not None for x in _stages(loop, a)}
    with body(function.name, inherit=False) as graph:
        parameters = [
            Parameter(types[i]) if i in types else like_parameter(x) for i, x in enumerate(function.parameters)
        ]
        given = [add_parameter(graph, p, x.op.name) for p, x in zip(parameters, function.parameters, strict=True)]
        values = dict(zip(function.parameters, given, strict=True))
        copies: dict[Operation, Operation] = {}
        for op in function.operations:
            array = lengthened.get(op.inputs[0]) if op.inputs else None
            if array is None:
                copies[op] = copy_operation(op, values, copies)
                continue
            y = values[op.outputs[0]] = _of_length(op, array, [values[x] for x in op.inputs])
            copies[op] = y.op
    results = [values[y] for y in function.results]
    made = replace(close(graph, given, results).function, on_demand=function.on_demand)
    for i in [a.number + 1 for a in arrays if a.length is not None and a.exact]:
        made = _without_size(made, loop.condition, i)
    return made


def _of_length(op: Operation, array: _Array, inputs: Sequence[Tensor]) -> Tensor:
    """What `op`, which reads or writes the array, makes of one that has its length, or room for it."""
    primitive: Any = op.primitive
    if not array.exact:
        with_room: Primitive = replace(primitive, room=array.length)
        return with_room(*inputs, name=op.name)
    assert array.length is not None
    exact: Primitive = ArrayWrite() if isinstance(primitive, ArrayWrite) else primitive
    return exact(*inputs[:-1], constant(array.length, int32), name=op.name)


def _without_size(function: Function, condition: Function, i: int) -> Function:
    """The body, which hands the variable of that number on as it is, where nothing else reads that."""
    x, y = function.parameters[i], condition.parameters[i]
    shorter = function.with_results([x if k == i else z for k, z in enumerate(function.results)])
    read = any(x in op.inputs for op in shorter.operations) or any(y in op.inputs for op in condition.operations)
    return function if read else shorter
