"""Cumulative sums and products along an axis, and the product of all; derivatives are exact where elements are 0.

The derivative of a running product is a linear recurrence `s[i] = a[i] * s[i-1] + b[i]`, which is a primitive here: its
own derivative is the same recurrence in the other direction, so that every order is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import bfloat16, float16, float32
from ...core.errors import InvalidArgumentError
from ...core.intervals import Interval, hull
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, same_type
from ...core.traits import IGNORES_ZEROS, MOVES, ZEROS, Link, Links, Positions, all_axes_but, linear
from ...core.types import TensorType
from ...core.typing import AxisLike, TensorLike
from ..base.axes import checked_axis, is_computed, scalar_axis
from ..complex.complex import conj
from ..creation.constant import convert_to_tensor
from ..elementwise.masking import kept
from ..reduction.reduce import NUMBERS, take_numbers


class AbstractScan(Primitive):
    """Results along an axis of all elements up to each."""

    axis: int
    exclusive: bool = False
    reverse: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        checked_axis(self.axis, x.shape.rank, self.type.lower(), x)
        return (x,)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return running_axes(x.shape.rank, self.axis, self.exclusive, self.reverse)


@in_graph_of_inputs
def cumsum(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The running sums along `axis`: entry i is the sum of the elements up to i; with `exclusive` of those before i.

    With `reverse` the sums run from the end.

    Shapes: any of rank at least 1; the result has the same; a run may compute `axis`, a scalar.
    Dtypes: any number.

    Derivative: dx = cumsum of dy in the other direction.

    Raises:
        InvalidArgumentError: the axis is out of range.

    >>> import pullback as pb
    >>> pb.Session().run(pb.cumsum([1, 2, 3], exclusive=True))
    array([0, 1, 3], dtype=int32)
    """
    tensor = take_numbers(x, "cumsum", NUMBERS)
    return scanned(lambda place: Cumsum(place, bool(exclusive), bool(reverse)), tensor, axis, "cumsum", name)


def scanned(make: Callable[[int], Primitive], x: Tensor, axis: AxisLike, what: str, name: str | None) -> Tensor:
    """What the primitive that `make` makes for an axis does along `axis`, which a run may compute.

    Raises:
        InvalidArgumentError: it is outside `x`.
    """
    if is_computed(axis):
        from ..shape.computed_axis import along_computed  # which needs products, and these running ones

        return along_computed(convert_to_tensor(axis), x, what, make(1), name)
    place, rank = scalar_axis(axis, None, what, x.type), x.shape.rank
    if rank is not None and not -rank <= place < rank:
        found = f"not {place}, of {x.type}"
        raise InvalidArgumentError(f"{what}: Expected scan axis in the range [{-rank}, {rank}), {found}")
    return make(place if rank is None else place % rank)(x, name=name)


class Cumsum(AbstractScan):
    traits = (linear(0), IGNORES_ZEROS)

    def kernel(self, xp: Any, x: Any) -> Any:
        return _running(xp, xp.cumsum, x, self.axis, self.exclusive, self.reverse, 0)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: Cumsum(self.axis, self.exclusive, not self.reverse)(dy),)


def running_axes(rank: int | None, axis: int, exclusive: bool, reverse: bool, first: int = 0) -> Links | None:
    """All axes stay where they are; along `axis` an element depends on those up to it, from number `first` on."""

    def up_to(n: int, _: int) -> Positions:
        before = np.tri(n, k=-1 if exclusive else 0, dtype=bool)
        before[:, :first] = False
        later, earlier = np.nonzero(before[::-1, ::-1] if reverse else before)
        return later, earlier

    others = all_axes_but(rank, axis)
    return None if rank is None or others is None else (*others, Link(axis % rank, axis % rank, up_to))


def _running(xp: Any, fn: Any, x: Any, axis: int, exclusive: bool, reverse: bool, first: int) -> Any:
    wide = float32 if x.dtype in (float16, bfloat16) else x.dtype
    if reverse:
        x = xp.flip(x, axis)
    if exclusive:
        x = shifted(xp, x, axis, first)
    y = fn(x, axis=axis, dtype=wide).astype(x.dtype)
    return xp.flip(y, axis) if reverse else y


def shifted(xp: Any, x: Any, axis: int, first: float) -> Any:
    """`x` moved on by one along `axis`, with `first` in front; the last element falls off."""
    axis %= x.ndim
    index = (slice(None),) * axis
    head = xp.full(x[(*index, slice(0, 1))].shape, first, x.dtype)
    return xp.concatenate([head, x[(*index, slice(None, -1))]], axis=axis)


@in_graph_of_inputs
def cumprod(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The running products along `axis`: entry i is the product of the elements up to i; with `exclusive` before i.

    With `reverse` the products run from the end. The derivatives are exact where elements are 0.

    Shapes: any of rank at least 1; the result has the same; a run may compute `axis`, a scalar.
    Dtypes: any number.

    Derivative: dx_i = sum over the later j of dy_j * (product of the x up to j but x_i), exact where some are 0.

    Raises:
        InvalidArgumentError: the axis is out of range.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.cumprod([1, 2, 3], reverse=True))
    array([6, 6, 3], dtype=int32)
    """
    tensor = take_numbers(x, "cumprod", NUMBERS)
    return scanned(lambda place: Cumprod(place, bool(exclusive), bool(reverse)), tensor, axis, "cumprod", name)


class Cumprod(AbstractScan):
    def kernel(self, xp: Any, x: Any) -> Any:
        return _running(xp, xp.cumprod, x, self.axis, self.exclusive, self.reverse, 1)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: self._back(dy, op.inputs[0]),)

    def _back(self, dy: Tensor, x: Tensor) -> Tensor:
        """The product before j, times the sum over i from j on of dy[i] and the product between j and i."""
        before, after = conj(Cumprod(self.axis, True, self.reverse)(x)), Shift(self.axis, not self.reverse)
        sums = Recurrence(self.axis, not self.reverse)
        return before * (after(sums(conj(x), dy)) if self.exclusive else sums(after(conj(x)), dy))


class Shift(Primitive):
    """Each element moved on by one along an axis (back with `reverse`), `first` put in."""

    traits = (MOVES, ZEROS)

    axis: int
    reverse: bool = False
    first: float = 0.0

    infer = same_type

    def kernel(self, xp: Any, x: Any) -> Any:
        if not self.reverse:
            return shifted(xp, x, self.axis, self.first)
        return xp.flip(shifted(xp, xp.flip(x, self.axis), self.axis, self.first), self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: Shift(self.axis, not self.reverse)(dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return hull([xs[0], Interval(self.first, self.first)])


class Recurrence(Primitive):
    """`s[i] = a[i] * s[i-1] + b[i]` along an axis, from zero; from the other end with `reverse`.

    With `zeros_win` a product is 0 where a factor is 0, even if the other is infinite or NaN.
    """

    traits = (linear(1),)

    axis: int
    reverse: bool = False
    zeros_win: bool = False

    def infer(self, a: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        del b
        return (a,)

    def links(self, i: int, a: TensorType, b: TensorType) -> Links | None:
        del b
        return running_axes(a.shape.rank, self.axis, False, self.reverse, first=0 if i else 1)

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        if 0 in a.shape:
            return b
        a, b = xp.moveaxis(a, self.axis, 0), xp.moveaxis(b, self.axis, 0)
        order = range(a.shape[0] - 1, -1, -1) if self.reverse else range(a.shape[0])
        states: dict[int, Any] = {}
        state = xp.zeros_like(b[0])
        for i in order:
            state = self.product(xp, a[i], state) + b[i]
            states[i] = state
        return xp.moveaxis(xp.stack([states[i] for i in range(a.shape[0])]), 0, self.axis)

    def product(self, xp: Any, a: Any, s: Any) -> Any:
        """`a * s`."""
        return kept(xp, xp.logical_and(a, s), a * s) if self.zeros_win else a * s

    def masked(self) -> Primitive:
        return Recurrence(self.axis, self.reverse, True)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        a, _ = op.inputs
        (s,) = op.outputs
        db = Recurrence(self.axis, not self.reverse, self.zeros_win)(Shift(self.axis, not self.reverse)(conj(a)), dy)
        return lambda: db * conj(Shift(self.axis, self.reverse)(s)), db
