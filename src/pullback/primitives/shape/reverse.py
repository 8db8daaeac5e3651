"""Elements in reverse order along axes, and rolled round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import MOVES, VIEWS, Links, all_axes_but
from ...core.types import TensorType
from ...core.typing import AxisLike, TensorLike
from ..base.axes import checked_axis, is_computed, static_integers
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..creation.ranges import range_
from ..elementwise.division import floormod
from ..identity.identity import identity
from ..indexing.gather import gather
from .reshape import reshape
from .size import shape


def reverse(tensor: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """`tensor` with the order of the elements along each of `axis` turned round.

    Shapes: any. Dtypes: any.

    Derivative: dx = reverse(dy).

    Raises:
        ValueError: an axis is out of range, or not known while the graph is built.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reverse([1, 2, 3], [0]))
    array([3, 2, 1], dtype=int32)
    """
    x = convert_to_tensor(tensor)
    given = static_integers(axis, "reverse: axis")
    axes = [checked_axis(a, x.shape.rank, "reverse", x.type) for a in given]
    if len(set(axes)) != len(axes):
        raise ValueError(f"reverse: an axis stands twice in {list(given)}")
    return ReverseV2(tuple(axes))(x, name=name)


class ReverseV2(Primitive):
    type = "ReverseV2"
    traits = (MOVES, VIEWS)

    axis: tuple[int, ...]

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank, *self.axis)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.flip(x, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: self(dy),)


def roll(input: TensorLike, shift: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """`input` with its elements moved on by `shift` along `axis`; those that fall off come back at the other end.

    Shapes: any; `shift` and `axis` are integers or lists of one length; a run may compute `shift`. Dtypes: any.

    Derivative: dx = dy rolled back.

    Raises:
        ValueError: the lists differ in length; an axis is out of range, or not known while the graph is built.

    >>> import pullback as pb
    >>> pb.Session().run(pb.roll([1, 2, 3, 4], 1, 0))
    array([4, 1, 2, 3], dtype=int32)
    """
    x = convert_to_tensor(input)
    axes = static_integers(axis, "roll: axis")
    if is_computed(shift):
        return _rolled(x, reshape(convert_to_tensor(shift), [len(axes)]), axes, name)
    shifts = static_integers(shift, "roll: shift")
    if len(shifts) != len(axes):
        raise ValueError(f"roll: shift {list(shifts)} and axis {list(axes)} differ in length")
    places = tuple([checked_axis(a, x.shape.rank, "roll", x.type) for a in axes])
    return Roll(shifts, places)(x, name=name)


def _rolled(x: Tensor, shifts: Tensor, axes: Sequence[int], name: str | None) -> Tensor:
    """`x` with, along each of `axes`, the element at each place that was one of the computed `shifts` before it."""
    with x.graph.acting.name_scope(name or "Roll") as scope:
        for i, axis in enumerate(axes):
            length = cast(shape(x)[axis], shifts.dtype)
            x = gather(x, floormod(range_(length) - shifts[i], length), axis=axis)
        return identity(x, name=scope)


class Roll(Primitive):
    type = "Roll"
    traits = (MOVES,)

    shift: tuple[int, ...]
    axis: tuple[int, ...]

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.roll(x, self.shift, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: Roll(tuple([-n for n in self.shift]), self.axis)(dy),)
