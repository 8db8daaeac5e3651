"""Sums along axes, and to the shape of another tensor: the transpose of broadcasting.

`sum_like` adds nothing where static shapes show that nothing is to be done; unknown lengths need no shape arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core import intervals
from ...core.dtypes import bfloat16, float16, float32
from ...core.intervals import Interval
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import broadcast_axes, summed_axes
from ...core.traits import ADDS, IGNORES_ZEROS, reads_shape
from ...core.types import TensorType
from ..shape.broadcast import broadcast_like, broadcast_result
from ..shape.reshape import reshape_like
from ..shape.squeeze import ExpandDims
from .abstract import AbstractReduction


class Sum(AbstractReduction):
    traits = (ADDS, IGNORES_ZEROS)

    def kernel(self, xp: Any, x: Any) -> Any:
        return sum_kernel(xp, x, self.axis, self.keepdims)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(expand_reduced, dy, op.inputs[0], self.axis, self.keepdims),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.total(xs[0])


def sum_like(x: Tensor, like: Tensor) -> Tensor:
    """`x` summed over the axes along which an array shaped as `like` is repeated when broadcast to the shape of `x`."""
    axes = summed_axes(like.shape, x.shape)
    if axes is None:
        return SumLike()(x, like)
    if not axes:
        return x
    lead = (x.shape.rank or 0) - (like.shape.rank or 0)
    if not lead:
        return Sum(axes, keepdims=True)(x)
    return reshape_like(Sum(axes)(x), like)


class SumLike(Primitive):
    traits = (ADDS, IGNORES_ZEROS, reads_shape(1))

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        broadcast_result(like, x.shape, "sum_like")
        return (TensorType(x.dtype, like.shape),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        axes = broadcast_axes(like.shape, x.shape)
        return sum_kernel(xp, x, axes, keepdims=False).reshape(like.shape) if axes else x

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return partial(broadcast_like, dy, op.inputs[0]), None

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.total(xs[0])


def expand_reduced(dy: Tensor, x: Tensor, axis: tuple[int, ...] | None, keepdims: bool) -> Tensor:
    """`dy`, the cotangent of a reduction of `x`, repeated along the reduced axes to the shape of `x`."""
    return broadcast_like(keep_reduced(dy, x, axis, keepdims), x)


def keep_reduced(y: Tensor, x: Tensor, axis: tuple[int, ...] | None, keepdims: bool) -> Tensor:
    """`y`, a reduction of `x`, with length one where `x` was reduced, so that it broadcasts against `x`."""
    if keepdims or axis is None or axis == tuple(range(len(axis))):
        return y
    del x
    return ExpandDims(axis)(y)


def sum_kernel(xp: Any, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """The sum in the dtype of `x`; 16-bit floats are added up in float32."""
    add_up = x.sum if xp is np else partial(xp.sum, x)
    if x.dtype in (float16, bfloat16):
        return add_up(axis=axis, keepdims=keepdims, dtype=float32).astype(x.dtype)
    return add_up(axis=axis, keepdims=keepdims, dtype=x.dtype)
