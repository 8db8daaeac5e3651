"""Take along axis: other positions for each place beside the axis; sorting and top-k are differentiated with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import ADDS, MOVES, ZEROS, Links, all_axes_but, reads_shape
from ...core.types import TensorType
from ..base.scattering import sum_rows, wide_enough


class TakeAlong(Primitive):
    """The elements of `x` [a..., n, b...] at positions [a..., k, b...] along an axis, all in range."""

    traits = (MOVES,)

    axis: int = -1

    def infer(self, x: TensorType, positions: TensorType) -> tuple[TensorType, ...]:
        return (x if x.shape is positions.shape else TensorType(x.dtype, positions.shape),)

    def kernel(self, xp: Any, x: Any, positions: Any) -> Any:
        return xp.take_along_axis(x, positions, axis=self.axis)

    def links(self, i: int, x: TensorType, positions: TensorType) -> Links | None:
        del i, positions
        return all_axes_but(x.shape.rank, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, positions = op.inputs
        return lambda: PutAlong(self.axis)(dy, positions, x), None


class PutAlong(Primitive):
    """Zeros of the shape of the last input, to which `dy` is added at positions along an axis."""

    traits = (ADDS, ZEROS, reads_shape(2))

    axis: int = -1

    def infer(self, dy: TensorType, positions: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        del positions
        return (like if like.dtype == dy.dtype else TensorType(dy.dtype, like.shape),)

    def kernel(self, xp: Any, dy: Any, positions: Any, like: Any) -> Any:
        dy, positions = xp.moveaxis(dy, self.axis, -1), xp.moveaxis(positions, self.axis, -1)
        n = like.shape[self.axis]
        beside = dy.shape[:-1]
        total = math.prod(like.shape)
        positions = wide_enough(positions, total)
        first = xp.arange(math.prod(beside), dtype=positions.dtype).reshape(*beside, 1) * n
        sums = sum_rows(xp, (positions + first).reshape(-1), dy.reshape(-1), total)
        return xp.moveaxis(sums.reshape(*beside, n), -1, self.axis)

    def links(self, i: int, dy: TensorType, positions: TensorType, like: TensorType) -> Links | None:
        del i, positions, like
        return all_axes_but(dy.shape.rank, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return lambda: TakeAlong(self.axis)(dy, op.inputs[1]), None, None
