"""Operator fusion: reductions that would be slow in one loop with what they read are apart from it.

On a processor XLA works elementwise operations into the loop of a reduction that reads them, which then goes from
element to element. That is quick, unless each of these reads several places: the sum of 2 million elements of a
depthwise convolution takes 125 ms, and 4 ms where the convolution is made before. Or unless the loop goes along an axis
of few, far elements: the largest of 16 rows of 32,768 takes 1.5 ms, and 0.5. XLA drops barriers before it fuses, so
such a reduction becomes a call that is not inlined: arguments of calls are made.

It also works what reads several places into every loop that reads it, and computes it as often: a first convolution, of
25 shifted images, for the next one and again for each derivative of its activation. What is read more than once is a
call itself: a step of a classifier with 5 x 5 windows and pools takes 0.78 of the time, of a small one 0.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import jax
from jax.experimental.xla_metadata import set_xla_metadata

from ...core.operation import Operation
from ...core.primitive import Primitive
from ...core.traits import ADDS, CONVERTS, ELEMENTWISE, MOVES, ZEROS, multiplies
from ...core.types import TensorType
from ...primitives.reduction.sum import Sum
from ..plan import Plan, Step
from .array_namespace import are_few, far_rows
from .platform import on_processor
from .turns import takes_turns

_FEW = 2
"""The shifted arrays from which on it is worth it."""
_LARGE = 1 << 14
"""The elements from which on it is worth it."""
_windowed: dict[type[Primitive], Callable[[Operation], bool] | None] = {}
_cheap: set[type[Primitive]] = set()


def computed_by_shifts(
    *classes: type[Primitive], where: Callable[[Operation], bool] | None = None, are_cheap: bool = False
) -> None:
    """Note that XLA's kernels of `classes` are sums, or the like, of shifted arrays.

    They are for the operations that `where` is true of, for all if it is None. Where they `are_cheap` it takes no
    longer to compute them in each loop that reads them than to write them to memory.
    """
    _windowed.update(dict.fromkeys(classes, where))
    _cheap.update(classes if are_cheap else ())


def _is_windowed(op: Operation) -> bool:
    kind = type(op.primitive)
    where = _windowed.get(kind)
    return kind in _windowed and (where is None or where(op))


class Fused:
    """The slots whose values XLA computes where they are read, with the shifted arrays that it reads for an element."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._shifts: dict[int, frozenset[Any]] = {}
        self._made: set[int] = set()
        """The slots of what is apart because it is read again."""

    @cached_property
    def _readers(self) -> dict[int, list[Step]]:
        """The steps that read a slot."""
        readers: dict[int, list[Step]] = {}
        for step in self._plan.steps:
            for n in {*step.inputs}:
                readers.setdefault(n, []).append(step)
        return readers

    def note(self, step: Step) -> None:
        """Work it out for the results of a step."""
        shifts = self._shifts
        if _is_windowed(step.op) and self._made.isdisjoint(step.outputs):
            several = frozenset([(step.op, i) for i in range(_FEW)])
            shifts.update(dict.fromkeys(step.outputs, several))
        elif _is_fused(step.op):
            read = frozenset([step.op] if _shifts(step.op) else [])
            read = read.union(*[shifts.get(n, ()) for n in {*step.inputs}])
            shifts.update(dict.fromkeys(step.outputs, frozenset(list(read)[:_FEW])))
        else:
            for n in step.outputs:
                shifts.pop(n, None)

    def is_better_apart(self, step: Step, arrays: Sequence[Any]) -> bool:
        """Whether a step brings elements together of an array that it had better read from memory."""
        primitive = step.op.primitive
        if _is_windowed(step.op):
            can_be = on_processor() and type(primitive) not in _cheap and any(map(_is_large, arrays))
            if not can_be or not self._is_read_again(step):
                return False
            self._made.update(step.outputs)
            return True
        if not primitive.reads_values or _is_fused(step.op):
            return False
        if multiplies(primitive.traits) or not on_processor():
            return False
        inputs = enumerate(zip(step.inputs, arrays, strict=True))
        brought = [n for i, (n, x) in inputs if n in self._shifts and _is_large(x) and not _stays(step.op, i)]
        return any(len(self._shifts[n]) >= _FEW for n in brought) or (bool(brought) and _is_along_few(step.op))

    def _is_read_again(self, step: Step) -> bool:
        """Whether what XLA computes where it is read is read more than once, or something that is computed of it."""
        readers = self._readers.get(step.outputs[0], [])
        while len(readers) == 1 and _is_fused(readers[0].op):
            readers = self._readers.get(readers[0].outputs[0], [])
        return len(readers) > 1


def _is_large(x: Any) -> bool:
    return isinstance(x, jax.Array) and all(isinstance(n, int) for n in x.shape) and x.size >= _LARGE


def _is_fused(op: Operation) -> bool:
    """Whether XLA computes the elements of the result where they are read."""
    traits = op.primitive.traits
    if ELEMENTWISE in traits or CONVERTS in traits or MOVES in traits or (ADDS in traits and ZEROS in traits):
        return True
    if op.inputs and all(_stays(op, i) for i in range(len(op.inputs))):
        return True
    return isinstance(op.primitive, Sum) and _is_additions(op.inputs[0].type, op.primitive.axis or ())


def _stays(op: Operation, i: int) -> bool:
    """Whether each element of a result depends on one element of input `i`, as those of a sum with a bias."""
    x = op.inputs[i].shape
    links = op.primitive.links(i, *[y.type for y in op.inputs]) if x.rank is not None else None
    return links is not None and {link.input for link in links if link.pairs is None} == set(range(x.rank or 0))


def _is_additions(x: TensorType, axes: Sequence[int]) -> bool:
    """Whether the sum of an array along `axes` is no reduction, but additions of its slices."""
    return x.shape.is_fully_defined() and x.dtype.itemsize >= 4 and are_few(x.shape.known, axes)


def _shifts(op: Operation) -> bool:
    """Whether an operation moves elements along an axis: none of the result goes along it, and not all are left."""
    lengths = op.inputs[0].shape.lengths if op.inputs else None
    if ELEMENTWISE in op.primitive.traits or lengths is None:
        return False
    links = op.primitive.links(0, *[x.type for x in op.inputs])
    stay = {link.input for link in links or ()}
    size = op.inputs[0].shape.num_elements()
    moved = any(n != 1 for axis, n in enumerate(lengths) if axis not in stay)
    return moved and (size is None or size != op.outputs[0].shape.num_elements())


def _is_along_few(op: Operation) -> bool:
    """Whether an operation brings few elements together that lie far from each other in its first input."""
    x = op.inputs[0]
    links = op.primitive.links(0, *[y.type for y in op.inputs]) if x.shape.is_fully_defined() else None
    if links is None:
        return False
    stay = {link.input for link in links}
    return far_rows(x.shape.known, [axis for axis in range(len(x.shape.known)) if axis not in stay]) is not None


def apart(kernel: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """What `kernel` makes of `arrays`, which are made before."""
    numbers = [i for i, x in enumerate(arrays) if isinstance(x, jax.Array)]
    given = [arrays[i] for i in numbers]

    @jax.jit
    def compute(*given: Any) -> Any:
        values = list(arrays)
        for i, x in zip(numbers, given, strict=True):
            values[i] = x
        return kernel(*values)

    if takes_turns(compute, *given):
        return kernel(*arrays)
    return set_xla_metadata(compute(*given), inlineable="false")  # type: ignore[no-untyped-call]
