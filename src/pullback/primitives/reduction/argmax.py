"""Positions of the largest and the smallest elements."""

from __future__ import annotations

from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import DType, as_dtype, int64
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.traits import Links, reduced_axes
from ...core.types import TensorType
from ...core.typing import AxisLike, DTypeLike, TensorLike
from ..base.axes import as_axis, is_computed
from .abstract import reduced_shape
from .computed_axes import reduce_along
from .reduce import REAL, take_numbers


@in_graph_of_inputs
def argmax(
    input: TensorLike, axis: AxisLike | None = None, output_type: DTypeLike = int64, name: str | None = None
) -> Tensor:
    """The position of the largest element along `axis` (None: 0), the first of equals; of NaN where there is one.

    Shapes: any of rank at least 1; the result lacks the axis. Dtypes: integers, floats and bool; the result has
    `output_type`.

    Raises:
        ValueError: the axis is out of range.

    >>> import pullback as pb
    >>> pb.Session().run(pb.argmax([[1, 5, 5], [3, 2, 1]], axis=1))
    array([1, 0])
    """
    x = take_numbers(input, "argmax", REAL | {bool_})
    if is_computed(axis):
        return reduce_along(lambda rows, along: argmax(rows, along, output_type), x, axis, False, name)
    return ArgMax(_one_axis(axis, x, "argmax"), as_dtype(output_type))(x, name=name)


def _one_axis(axis: Any, x: Tensor, what: str) -> int:
    return as_axis(0 if axis is None else axis, x.shape.rank, what, x.type)


class AbstractArgument(Primitive):
    """The place of an extreme element along an axis."""

    axis: int
    output_type: DType = int64

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(self.output_type, reduced_shape(x.shape, (self.axis,), False)),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return reduced_axes(x.shape.rank, (self.axis,), keepdims=False)

    gradient = no_gradient


class ArgMax(AbstractArgument):
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.argmax(x, axis=self.axis).astype(self.output_type)


@in_graph_of_inputs
def argmin(
    input: TensorLike, axis: AxisLike | None = None, output_type: DTypeLike = int64, name: str | None = None
) -> Tensor:
    """The position of the smallest element along `axis` (None: 0), the first of equals; of NaN where there is one.

    Shapes: any of rank at least 1; the result lacks the axis. Dtypes: integers, floats and bool; the result has
    `output_type`.

    Raises:
        ValueError: the axis is out of range.

    >>> import pullback as pb
    >>> pb.Session().run(pb.argmin([[1, 5, 5], [3, 2, 1]], axis=1))
    array([0, 2])
    """
    x = take_numbers(input, "argmin", REAL | {bool_})
    if is_computed(axis):
        return reduce_along(lambda rows, along: argmin(rows, along, output_type), x, axis, False, name)
    return ArgMin(_one_axis(axis, x, "argmin"), as_dtype(output_type))(x, name=name)


class ArgMin(AbstractArgument):
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.argmin(x, axis=self.axis).astype(self.output_type)
