"""Column-major order: narrow matrices of many rows are computed column by column.

Of a matrix of 2000 rows and 20 columns XLA computes row by row: 16 elements fill a vector, and four are left, so
elementwise operations take twice the time of long rows; products by small weights, and those that are summed over the
rows, are slower too. So products, and the elementwise operations between them, compute transposes: a perceptron's step
of 20 columns takes 0.7 of the time. Where such matrices come in and where others read them they are transposed, and
there must be few such places beside what is gained.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import jax
from jax import lax

from ...core.dtypes import bool as boolean
from ...core.dtypes import float32
from ...core.operation import Operation, Tensor
from ...core.traits import ELEMENTWISE
from ...primitives.activations.bias import BiasAdd
from ...primitives.linalg.matmul import MatMul
from ...primitives.reduction.abstract import AbstractReduction
from ..plan import NOWHERE, Plan, Step
from .array_namespace import kernel_of
from .platform import on_processor

_NARROW = 31
"""The columns up to which a matrix is narrow."""
_VECTOR = 16
"""The elements that are computed at once; none is left over from rows of a multiple of it."""
_MANY = 256
"""The rows from which on it is worth it."""
_SMALL = 1 << 12
"""The elements up to which it takes no time to transpose what a matrix is broadcast from."""
_PRODUCT, _SUMMED, _ELEMENTWISE = 0.5, 1.5, 0.3
"""What a product gains, one that is summed over the rows, and an elementwise operation: parts of what it takes to
transpose a matrix of as many columns."""
_MARGIN = 1.5
"""How many times what it costs must be gained."""


class ColumnMajor:
    """The steps of a plan that compute transposes, and the transposes that there are."""

    def __init__(self, plan: Plan) -> None:
        self.steps = _chosen(plan)
        """By the slots of their results."""
        self._columns: dict[int, tuple[Any, Any]] = {}
        """For a slot the matrix and its transpose."""

    def results(self, step: Step, arrays: Sequence[Any]) -> Any:
        """What a step makes of `arrays`; None where it is not one of these steps, or has few rows."""
        if self.steps.isdisjoint(step.outputs) or not any(map(_is_long, arrays)) or not on_processor():
            return None
        p = step.op.primitive
        if isinstance(p, MatMul) and not p.transpose_a:
            weights = arrays[1] if p.transpose_b else arrays[1].T
            result = lax.dot_general(weights, self._column_major(step, arrays, 0), (((1,), (0,)), ((), ())))
            return self._noted(step, result)
        columns = [self._column_major(step, arrays, i) for i in range(len(arrays))]
        if isinstance(p, MatMul):
            return lax.dot_general(columns[0], columns[1], (((1,), (1,)), ((), ())))
        if isinstance(p, AbstractReduction):
            axis = p.axis and tuple(sorted(1 - a % 2 for a in p.axis))
            return kernel_of(replace(p, axis=axis))(*columns)
        return self._noted(step, kernel_of(p)(*columns))

    def _noted(self, step: Step, columns: Any) -> Any:
        matrix = columns.T
        self._columns[step.outputs[0]] = matrix, columns
        return matrix

    def _column_major(self, step: Step, arrays: Sequence[Any], i: int) -> Any:
        """Input `i` of a step in this order, so that it broadcasts as it did."""
        x = arrays[i]
        matrix, columns = self._columns.get(step.inputs[i], (None, None))
        if matrix is x:
            return columns
        return x[:, None] if x.ndim == 1 else x.T

    def forget(self, step: Step) -> None:
        """Let go of what nobody reads after a step."""
        for n in step.frees:
            self._columns.pop(n, None)


def _is_long(x: Any) -> bool:
    return isinstance(x, jax.Array) and x.ndim == 2 and isinstance(x.shape[0], int) and x.shape[0] >= _MANY


def _chosen(plan: Plan) -> frozenset[int]:
    """The slots of the results of steps that are better in column-major order, but for few rows."""
    parts = _Parts([slot for slot, _ in plan.constants])
    for step in plan.steps:
        parts.note(step)
    for slot in plan.fetch_slots:
        parts.read(slot)
    return parts.worth_it()


class _Parts:
    """The parts of a plan that could be in column-major order: steps that hand matrices to each other."""

    def __init__(self, free: Iterable[int]) -> None:
        self._free = set(free)
        """The slots of what takes no time to transpose."""
        self._next: dict[int, int] = {}
        """For each such step, by the slot of its result, another one of its part; the first of a part for itself."""
        self._gains: dict[int, float] = {}
        self._widths: dict[int, int] = {}
        """The columns of what a step makes, which is 0 where that is no narrow matrix."""
        self._costs: dict[int, tuple[int, int]] = {}
        """For a matrix that is transposed a step for which it is, and its columns."""

    def note(self, step: Step) -> None:
        """Take a step in."""
        op, gain = step.op, _gain(step.op)
        if gain is None or step.outputs[0] == NOWHERE:
            if _is_broadcast(op):
                self._free.update(step.outputs)
            for i, n in enumerate(step.inputs):
                if _is_read(op, i):
                    self.read(n)
            return
        slot = step.outputs[0]
        self._next[slot], self._gains[slot], self._widths[slot] = slot, gain, _width(op.outputs[0]) or 0
        matrices = _matrices(op)
        for i, n in enumerate(step.inputs):
            if i not in matrices:
                self.read(n)
            elif self._widths.get(n):
                self._next[self._first(n)] = self._first(slot)
            elif n not in self._free:
                self._costs.setdefault(n, (slot, _width(op.inputs[i]) or 0))

    def read(self, slot: int) -> None:
        """Note that a matrix is read in the other order."""
        if self._widths.get(slot, 0) > 1:
            self._costs[slot] = (slot, self._widths[slot])

    def worth_it(self) -> frozenset[int]:
        """The slots of the results of the steps of parts that gain by it."""
        gains: dict[int, float] = defaultdict(float)
        for slot, gain in self._gains.items():
            gains[self._first(slot)] += gain
        for slot, width in self._costs.values():
            gains[self._first(slot)] -= _MARGIN * width if width > 1 else 0
        return frozenset([slot for slot in self._gains if gains[self._first(slot)] > 0])

    def _first(self, slot: int) -> int:
        path = []
        while self._next[slot] != slot:
            path.append(slot)
            slot = self._next[slot]
        self._next.update(dict.fromkeys(path, slot))
        return slot


def _gain(op: Operation) -> float | None:
    """What an operation gains in column-major order; None where it is not computed in it."""
    p = op.primitive
    if len(op.outputs) != 1 or any(x.dtype not in (float32, boolean) for x in (*op.inputs, *op.outputs)):
        return None
    if isinstance(p, MatMul):
        width, columns = _width(op.outputs[0]), _width(op.inputs[0])
        if p.transpose_a:
            other = None if p.transpose_b else _width(op.inputs[1])
            return None if columns is None or other is None else _SUMMED * (_uneven(columns) + _uneven(other)) / 2
        return None if width is None or columns is None else _PRODUCT * (_uneven(columns) + _uneven(width)) / 2
    if isinstance(p, AbstractReduction):
        return None if p.keepdims or _width(op.inputs[0]) is None else 0.0
    if not (ELEMENTWISE in p.traits or (isinstance(p, BiasAdd) and not p.channels_first)) or not p.reads_values:
        return None
    width = _width(op.outputs[0])
    if width is None or any(x.shape.rank is None for x in op.inputs):
        return None
    return _ELEMENTWISE * _uneven(width)


def _uneven(width: int) -> int:
    """The columns, if rows of so many are slow."""
    return width if width % _VECTOR and width > 1 else 0


def _matrices(op: Operation) -> list[int]:
    """The numbers of the inputs that are transposed."""
    if isinstance(op.primitive, MatMul):
        return [0, 1] if op.primitive.transpose_a else [0]
    return [i for i, x in enumerate(op.inputs) if x.shape.rank == 2]


def _width(x: Tensor) -> int | None:
    """The columns of a narrow matrix, which may have many rows; None for what is none."""
    lengths = x.shape.lengths
    if lengths is None or len(lengths) != 2 or not isinstance(lengths[1], int) or not 0 < lengths[1] <= _NARROW:
        return None
    return None if isinstance(lengths[0], int) and lengths[0] < _MANY else lengths[1]


def _is_broadcast(op: Operation) -> bool:
    """Whether the elements of a result are made of few."""
    read = [x for i, x in enumerate(op.inputs) if _is_read(op, i)]
    sizes = [x.shape.num_elements() for x in read]
    return all(isinstance(n, int) and n <= _SMALL for n in sizes)


def _is_read(op: Operation, i: int) -> bool:
    """Whether elements of an input are read."""
    return op.primitive.reads_values and not any(t.name == "reads shape" and i in t.inputs for t in op.primitive.traits)
