"""Reductions along axes: which shape remains, and which axes go along."""

from __future__ import annotations

from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import Links, reduced_axes
from ...core.types import TensorType

Axes = tuple[int, ...] | None
"""In ascending order, from the front where the rank is known (from either end where it is not); None for all."""


class AbstractReduction(Primitive):
    """One value of the dtype of the elements for all along the axes."""

    axis: Axes = None
    keepdims: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, reduced_shape(x.shape, self.axis, self.keepdims)),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return reduced_axes(x.shape.rank, self.axis, self.keepdims)


def reduced_shape(shape: TensorShape, axis: tuple[int, ...] | None, keepdims: bool) -> TensorShape:
    """The shape after a reduction over `axis` (None for all)."""
    if axis is None and not keepdims:
        return TensorShape.SCALAR
    if shape.lengths is None:
        return shape
    rank = len(shape.lengths)
    outside = [a for a in axis or () if not -rank <= a < rank]
    if outside:
        raise ValueError(f"axis {outside[0]} of a tensor of rank {rank} is not in [{-rank}, {rank})")
    axis = tuple(range(rank)) if axis is None else tuple([a % rank for a in axis])
    if keepdims:
        return TensorShape([1 if i in axis else n for i, n in enumerate(shape.lengths)])
    return TensorShape([n for i, n in enumerate(shape.lengths) if i not in axis])
