"""Reductions to the shape of another tensor (`sum_like` and others), whose axes a run decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, float16, float32
from ...core.dtypes import bool as bool_
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape, broadcast_axes
from ...core.traits import CHOOSES, MARKS_CHOSEN, Link, Links
from ...core.types import TensorType
from ..segment.products import ProductOfOthers
from ..shape.broadcast import broadcast_like
from .reduce import highest, lowest


class AbstractReductionLike(Primitive):
    """A reduction along the axes along which an array shaped as `like`, its second input, is repeated."""

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, like.shape),)

    def links(self, i: int, x: TensorType, like: TensorType) -> Links | None:
        if x.shape.rank is None or like.shape.sizes is None:
            return None
        lead = x.shape.rank - len(like.shape.sizes)
        return () if i else tuple([Link(a, lead + a) for a, n in enumerate(like.shape.sizes) if n != 1])


def _shared(self: AbstractReductionLike, op: Operation, dy: Tensor) -> Sequence[Any]:
    return lambda: TieSharesLike()(op.inputs[0], op.outputs[0]) * dy, None


class MaxLike(AbstractReductionLike):
    """The largest element along the axes along which an array shaped as `like` is repeated; equals share."""

    traits = (CHOOSES,)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        axes = broadcast_axes(like.shape, x.shape)
        if 0 in x.shape:
            return xp.full(like.shape, lowest(x.dtype), x.dtype)
        return x.max(axis=axes).reshape(like.shape) if axes else x

    gradient = _shared


class MinLike(AbstractReductionLike):
    """The smallest element along the axes along which an array shaped as `like` is repeated; equals share."""

    traits = (CHOOSES,)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        axes = broadcast_axes(like.shape, x.shape)
        if 0 in x.shape:
            return xp.full(like.shape, highest(x.dtype), x.dtype)
        return x.min(axis=axes).reshape(like.shape) if axes else x

    gradient = _shared


class TieSharesLike(Primitive):
    """For each element of `x` that equals the extremum `y` that it is reduced into, one over the number of those."""

    traits = (MARKS_CHOSEN,)

    def infer(self, x: TensorType, y: TensorType) -> tuple[TensorType, ...]:
        del y
        return (x,)

    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        equal = x == y
        count = xp.sum(equal, axis=broadcast_axes(y.shape, x.shape), keepdims=True, dtype=np.int32).astype(x.dtype)
        return xp.where(equal, xp.ones((), x.dtype), xp.zeros((), x.dtype)) / count

    gradient = no_gradient


class ProdLike(AbstractReductionLike):
    """The product along the axes along which an array shaped as `like` is repeated; exact where elements are 0."""

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        axes = broadcast_axes(like.shape, x.shape)
        wide = float32 if x.dtype in (float16, bfloat16) else x.dtype
        return xp.prod(x, axis=axes, dtype=wide).astype(x.dtype).reshape(like.shape) if axes else x

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, y = op.inputs[0], op.outputs[0]
        return lambda: broadcast_like(dy, x) * ProductOfOthers()(x, PlacesLike()(x, y)), None


class PlacesLike(Primitive):
    """For each element of `x` the number of the element of an array shaped as `like` that it is reduced into."""

    reads_values = False

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        del like
        return (TensorType(np.dtype(np.int64), x.shape),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        del xp
        return np.broadcast_to(np.arange(like.size, dtype=np.int64).reshape(like.shape), x.shape)

    gradient = no_gradient


class ShapeOnly(Primitive):
    """Something of a shape that a vector gives, for what reads only shapes."""

    shape_inputs = (0,)

    shape: tuple[int | None, ...] | None = None

    def infer(self, lengths: TensorType) -> tuple[TensorType, ...]:
        rank = None if lengths.shape.rank is None else lengths.shape.size(0)
        unknown = TensorShape.UNKNOWN if rank is None else TensorShape([None] * rank)
        return (TensorType(bool_, TensorShape(self.shape) if self.shape is not None else unknown),)

    def kernel(self, xp: Any, lengths: Any) -> Any:
        del xp
        return np.broadcast_to(np.zeros((), bool), tuple(np.asarray(lengths).tolist()))

    gradient = no_gradient
