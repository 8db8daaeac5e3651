"""Axes of length one added and removed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.lengths import known_to_differ
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape
from ...core.traits import MOVES, VIEWS, Links, inserted_axes
from ...core.types import TensorType
from ...core.typing import AxisLike, TensorLike
from ..base.axes import as_axis, checked_axis, is_computed, static_integers
from ..creation.constant import convert_to_tensor
from .reshape import reshape_like


class ExpandDims(Primitive):
    traits = (MOVES, VIEWS)

    axis: tuple[int, ...]
    """Where the axes of length one stand in the result, in ascending order; from its end where they are negative."""

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        return (TensorType(x.dtype, TensorShape(_with_ones(dims, self.axis))),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return inserted_axes(x.shape.rank, *self.axis)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return x.reshape(_with_ones(x.shape, self.axis))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(reshape_like, dy, op.inputs[0]),)


def _with_ones(dims: Sequence[Any], axes: tuple[int, ...]) -> tuple[Any, ...]:
    """`dims` with ones put in, so that they stand at `axes` of the result."""
    rank = len(dims) + len(axes)
    ones = {axis % rank for axis in axes}
    if len(ones) < len(axes):
        raise ValueError(f"expand_dims: the axes {list(axes)} are not different ones of a result with {rank} axes")
    rest = iter(dims)
    return tuple([1 if i in ones else next(rest) for i in range(rank)])


@in_graph_of_inputs
def expand_dims(input: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """`input` with an axis of length one put in at `axis`; negative ones count from the end of the result.

    Shapes: any; where a run computes `axis`, a scalar, no length is known before. Dtypes: any.

    Derivative: dx = dy without the axis.

    Raises:
        InvalidArgumentError: `axis` is outside the result.

    >>> import pullback as pb
    >>> pb.expand_dims(pb.zeros([2, 3]), -1).shape
    TensorShape([2, 3, 1])
    """
    x = convert_to_tensor(input)
    rank = x.shape.rank
    if is_computed(axis):
        from .expand_along import expanded_along  # It needs all that is reduced, which needs ExpandDims.

        return expanded_along(convert_to_tensor(axis), x, name)
    place = as_axis(axis, None if rank is None else rank + 1, "expand_dims", x.type)
    return ExpandDims((place,))(x, name=name)


@in_graph_of_inputs
def squeeze(input: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """`input` without the axes `axis`, which have length one; without all of length one where it is None or empty.

    Shapes: any; without `axis` an unknown length makes the rank of the result unknown. Dtypes: any.

    Derivative: dx = dy with the axes put in.

    Raises:
        ValueError: an axis is out of range or has another length.

    >>> import pullback as pb
    >>> pb.squeeze(pb.zeros([1, 2, 1]), [0]).shape
    TensorShape([2, 1])
    """
    x = convert_to_tensor(input)
    given = () if axis is None else static_integers(axis, "squeeze: axis")
    axes = tuple(sorted({checked_axis(a, x.shape.rank, "squeeze", x.type) for a in given}))
    return Squeeze(axes or None)(x, name=name)


class Squeeze(Primitive):
    traits = (MOVES, VIEWS)

    axis: tuple[int, ...] | None = None

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None or (self.axis is None and not x.shape.is_fully_defined()):
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        if self.axis is None:
            return (TensorType(x.dtype, TensorShape([n for n in dims if n != 1])),)
        axes = {checked_axis(a, len(dims), "squeeze", x) for a in self.axis}
        for axis in axes:
            if known_to_differ(dims[axis], 1):
                raise ValueError(f"squeeze: axis {axis} of {x} has length {dims[axis]}, not 1")
        return (TensorType(x.dtype, TensorShape([n for i, n in enumerate(dims) if i not in axes])),)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.squeeze(x, axis=self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(reshape_like, dy, op.inputs[0]),)
