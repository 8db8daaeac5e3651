"""Select (`where`): a choice between two tensors, element by element; the places of what is true."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import bool as bool_
from ...core.dtypes import int64
from ...core.intervals import Interval, hull
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape, broadcast_static_shape
from ...core.traits import ELEMENTWISE, FEWER, ZEROS, linear
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import Entry, operands, undo_broadcast
from ..creation.constant import convert_to_tensor
from ..elementwise.masking import chosen, mask


@in_graph_of_inputs
def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """`x` where `condition`, `y` elsewhere; without both, the indices [n, rank] of what is true, as int64.

    The derivative by what is not chosen is exactly zero: `where(x > 0, sqrt(x), 0)` has derivative 0 at 0.

    Shapes: three that broadcast together. With one argument, any; XLA cannot compile that form, because its length is
    known only when it runs. Dtypes: `condition` bool; `x` and `y` any, the same for both.

    Derivative: dx = dz where condition, dy = dz elsewhere, else 0, each summed over the axes along which it was
    repeated.

    Raises:
        TypeError: `condition` is not bool, or the dtypes of `x` and `y` differ.
        ValueError: the shapes do not broadcast, or only one of `x` and `y` is given.

    >>> import pullback as pb
    >>> pb.Session().run(pb.where([True, False], [1.0, 2.0], 0.0))
    array([1., 0.], dtype=float32)
    >>> pb.Session(engine="numpy").run(pb.where([False, True, True]))
    array([[1],
           [2]])
    """
    if (x is None) != (y is None):
        raise ValueError("where: give both x and y, or neither")
    chosen = convert_to_tensor(condition)
    if x is None:
        return Where()(chosen, name=name)
    return Select()(chosen, *operands(x, y), name=name)


class Select(Primitive):
    type = "SelectV2"
    traits = (ELEMENTWISE, linear(1, 2), ZEROS)

    def infer(self, condition: TensorType, x: TensorType, y: TensorType) -> tuple[TensorType, ...]:
        if condition.dtype != bool_:
            raise TypeError(f"where: the condition must be bool, not {condition}")
        if x.dtype != y.dtype:
            raise TypeError(f"where: dtypes differ: {x} and {y}; convert one with pb.cast")
        try:
            shape = broadcast_static_shape(broadcast_static_shape(x.shape, y.shape), condition.shape)
        except ValueError:
            listed = f"{condition} and {x} and {y}"
            raise ValueError(f"where: shapes do not broadcast together: {listed}") from None
        return (x if shape is x.shape else TensorType(x.dtype, shape),)

    def kernel(self, xp: Any, condition: Any, x: Any, y: Any) -> Any:
        return chosen(xp, condition, x, y)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Entry]:
        condition = op.inputs[0]
        return (
            None,
            undo_broadcast(partial(mask, condition, dy), 1, op),
            undo_broadcast(partial(mask, condition, dy, keep=False), 2, op),
        )

    def bounds(self, *xs: Interval) -> Interval:
        return hull(xs[1:])


class Where(Primitive):
    traits = (FEWER,)

    def infer(self, condition: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(int64, TensorShape([None, condition.shape.rank])),)

    def kernel(self, xp: Any, condition: Any) -> Any:
        return xp.argwhere(condition)

    gradient = no_gradient
