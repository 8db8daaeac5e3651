"""Leading submatrices, by the size of other tensors, so that rules need no lengths while the graph is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.intervals import input_or_zero
from ...core.lengths import Dimension, least
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape, same_shape
from ...core.traits import MOVES, VIEWS, reads_shape
from ...core.types import TensorType


def corner(x: Tensor, rows: Tensor, columns: Tensor, axis: int = -2) -> Tensor:
    """The first rows and columns of each matrix of `x`: as many as `rows` has along `axis`, and `columns` has columns.

    All of them where `x` has fewer.
    """
    made = Corner(axis)
    (wanted,) = made.infer(x.type, rows.type, columns.type)
    if same_shape(wanted.shape, x.shape):
        return x
    return made(x, rows, columns)


class Corner(Primitive):
    traits = (MOVES, VIEWS, reads_shape(1, 2))

    axis: int = -2

    def infer(self, x: TensorType, rows: TensorType, columns: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        size = [_least(dims[-2], _length(rows, self.axis)), _least(dims[-1], _length(columns, -1))]
        return (TensorType(x.dtype, TensorShape([*dims[:-2], *size])),)

    def kernel(self, xp: Any, x: Any, rows: Any, columns: Any) -> Any:
        del xp
        return x[..., : rows.shape[self.axis], : columns.shape[-1]]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x = op.inputs[0]
        return lambda: InCorner()(dy, x, x), None, None


class InCorner(Primitive):
    """`x` in the corner of matrices with the rows and columns of two others, and zeros elsewhere."""

    traits = (MOVES, reads_shape(1, 2))

    def infer(self, x: TensorType, rows: TensorType, columns: TensorType) -> tuple[TensorType, ...]:
        if x.shape.lengths is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        size = [_length(rows, -2), _length(columns, -1)]
        return (TensorType(x.dtype, TensorShape([*x.shape.lengths[:-2], *size])),)

    def kernel(self, xp: Any, x: Any, rows: Any, columns: Any) -> Any:
        below, right = rows.shape[-2] - x.shape[-2], columns.shape[-1] - x.shape[-1]
        return xp.pad(x, [*[(0, 0)] * (x.ndim - 2), (0, below), (0, right)])

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x = op.inputs[0]
        return lambda: corner(dy, x, x), None, None

    bounds = input_or_zero


def _length(x: TensorType, axis: int) -> Dimension | None:
    return None if x.shape.lengths is None else x.shape.lengths[axis]


def _least(m: Dimension | None, n: Dimension | None) -> Dimension | None:
    return None if m is None or n is None else least(m, n)
