"""Elements in reverse order along axes, and rolled round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int32
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, same_type
from ...core.traits import MOVES, VIEWS, Links, all_axes_but
from ...core.types import TensorType
from ...core.typing import AxisLike, TensorLike
from ..base.axes import checked_axis, is_computed, static_integers
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..creation.ranges import range_
from ..cumulative.cumsum import cumprod
from ..debugging.assertions import assert_
from ..elementwise.division import floordiv, floormod
from ..identity.identity import identity
from ..indexing.gather import gather
from ..indexing.slicing import Take
from ..indexing.where import where
from ..logic.comparison import equal
from ..reduction.reduce import reduce_any, reduce_sum
from .computed_axis import several_counted
from .reshape import reshape
from .size import shape, size


@in_graph_of_inputs
def reverse(tensor: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """`tensor` with the order of the elements along each of `axis` turned round.

    Shapes: any. Dtypes: any.

    Derivative: dx = reverse(dy).

    Raises:
        InvalidArgumentError: an axis is out of range. ValueError: one stands twice.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reverse([1, 2, 3], [0]))
    array([3, 2, 1], dtype=int32)
    """
    x = convert_to_tensor(tensor)
    if is_computed(axis):
        return _reversed_along(convert_to_tensor(axis), x, name)
    given = static_integers(axis, "reverse: axis")
    axes = [checked_axis(a, x.shape.rank, "reverse", x.type) for a in given]
    if len(set(axes)) != len(axes):
        raise ValueError(f"reverse: an axis stands twice in {list(given)}")
    return ReverseV2(tuple(axes))(x, name=name)


def _reversed_along(axes: Tensor, x: Tensor, name: str | None) -> Tensor:
    """`x` with, along each axis that is among the computed `axes`, its elements from the last to the first."""
    with x.graph.acting.within(name or "ReverseV2") as scope:
        given = several_counted(axes, x, "reverse")
        once = equal(reduce_sum(cast(equal(given[:, None], given), int32)), size(given))
        with x.graph.acting.control_dependencies([assert_(once, ["reverse: an axis stands twice:", axes])]):
            given = identity(given)
        if x.shape.rank is None:
            return identity(_reversed_of_any_rank(given, x), name=scope)
        for axis in range(x.shape.rank):
            x = where(reduce_any(equal(given, axis)), ReverseV2((axis,))(x), x)
        return identity(x, name=scope)


def _reversed_of_any_rank(axes: Tensor, x: Tensor) -> Tensor:
    """`x` reversed along `axes`, by the places that its elements have in row-major order."""
    lengths = shape(x)
    strides = cumprod(lengths, exclusive=True, reverse=True)
    places = floormod(floordiv(range_(size(x))[:, None], strides), lengths)
    turned = reduce_any(equal(range_(size(lengths))[:, None], axes), 1)
    sources = reduce_sum(where(turned, lengths - 1 - places, places) * strides, 1)
    return reshape(gather(reshape(x, [-1]), sources), lengths)


class ReverseV2(Primitive):
    traits = (MOVES, VIEWS)

    axis: tuple[int, ...]

    infer = same_type

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank, *self.axis)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.flip(x, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: self(dy),)


@in_graph_of_inputs
def roll(input: TensorLike, shift: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """`input` with its elements moved on by `shift` along `axis`; those that fall off come back at the other end.

    Shapes: any; `shift` and `axis` are integers or lists of one length; a run may compute both. Dtypes: any.

    Derivative: dx = dy rolled back.

    Raises:
        InvalidArgumentError: an axis is out of range. ValueError: the lists differ in length; the axes are known only
            in a run, as the rank of `input` is.

    >>> import pullback as pb
    >>> pb.Session().run(pb.roll([1, 2, 3, 4], 1, 0))
    array([4, 1, 2, 3], dtype=int32)
    """
    x = convert_to_tensor(input)
    if is_computed(axis):
        return _rolled_along(convert_to_tensor(axis), x, shift, name)
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
    with x.graph.acting.within(name or "Roll") as scope:
        for i, axis in enumerate(axes):
            length = cast(shape(x)[axis], shifts.dtype)
            x = Take(axis)(x, floormod(range_(length) - shifts[i], length))
        return identity(x, name=scope)


def _rolled_along(axes: Tensor, x: Tensor, shift: TensorLike, name: str | None) -> Tensor:
    """`x` rolled along each of its axes, by the sum of what `shift` says for it among the computed `axes`."""
    with x.graph.acting.within(name or "Roll") as scope:
        if x.shape.rank is None:
            raise ValueError(f"roll: a computed axis needs a tensor of known rank: {axes}, {x}")
        given = several_counted(axes, x, "roll")
        shifts = reshape(convert_to_tensor(shift), [-1])
        fit = assert_(equal(size(shifts), size(given)), ["roll: shift and axis must have the same size:", shifts, axes])
        own = range(len(x.shape.lengths or ()))
        with x.graph.acting.control_dependencies([fit]):
            total = reduce_sum(where(equal(range_(len(own))[:, None], given), shifts, 0), 1)
        return identity(_rolled(x, total, own, None), name=scope)


class Roll(Primitive):
    traits = (MOVES,)

    shift: tuple[int, ...]
    axis: tuple[int, ...]

    infer = same_type

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.roll(x, self.shift, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: Roll(tuple([-n for n in self.shift]), self.axis)(dy),)
