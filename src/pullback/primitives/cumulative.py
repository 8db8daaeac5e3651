"""Cumulative sums and products along an axis, and the product of all; derivatives are exact where elements are 0.

The derivative of a running product is a linear recurrence `s[i] = a[i] * s[i-1] + b[i]`, which is a primitive here: its
own derivative is the same recurrence in the other direction, so that every order is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import bfloat16, float16, float32
from ..core.operation import Operation, Tensor
from ..core.primitive import Primitive
from ..core.traits import IGNORES_ZEROS, MOVES, Link, Links, Positions, all_axes_but, linear, reduced_axes
from ..core.types import TensorType
from ..core.typing import AxisLike, TensorLike
from .axes import as_axes, as_axis
from .complex import conj
from .reduction import NUMBERS, Axes, take_numbers
from .reshaping import keep_reduced, reduced_shape, reshape, reshape_like


def cumsum(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The running sums along `axis`: entry i is the sum of the elements up to i; with `exclusive` of those before i.

    With `reverse` the sums run from the end.

    Shapes: any of rank at least 1; the result has the same. Dtypes: any number.

    Derivative: dx = cumsum of dy in the other direction.

    Raises:
        ValueError: the axis is out of range, or not known while the graph is built.

    >>> import pullback as pb
    >>> pb.Session().run(pb.cumsum([1, 2, 3], exclusive=True))
    array([0, 1, 3], dtype=int32)
    """
    tensor = take_numbers(x, "cumsum", NUMBERS)
    place = as_axis(axis, tensor.shape.rank, "cumsum", tensor.type)
    return Cumsum(place, bool(exclusive), bool(reverse))(tensor, name=name)


class Cumsum(Primitive):
    type = "Cumsum"
    traits = (linear(0), IGNORES_ZEROS)

    axis: int
    exclusive: bool = False
    reverse: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return running_axes(x.shape.rank, self.axis, self.exclusive, self.reverse)

    def kernel(self, xp: Any, x: Any) -> Any:
        return _running(xp, xp.cumsum, x, self.axis, self.exclusive, self.reverse, 0)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: Cumsum(self.axis, self.exclusive, not self.reverse)(dy),)


def running_axes(rank: int | None, axis: int, exclusive: bool, reverse: bool) -> Links | None:
    """All axes stay where they are; along `axis` an element depends on those up to it."""

    def up_to(n: int, _: int) -> Positions:
        later, earlier = np.nonzero(np.tri(n, k=-1 if exclusive else 0, dtype=bool))
        return (earlier, later) if reverse else (later, earlier)

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


def cumprod(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The running products along `axis`: entry i is the product of the elements up to i; with `exclusive` before i.

    With `reverse` the products run from the end. The derivatives are exact where elements are 0.

    Shapes: any of rank at least 1; the result has the same. Dtypes: any number.

    Derivative: dx_i = sum over the later j of dy_j * (product of the x up to j but x_i), exact where some are 0.

    Raises:
        ValueError: the axis is out of range, or not known while the graph is built.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.cumprod([1, 2, 3], reverse=True))
    array([6, 6, 3], dtype=int32)
    """
    tensor = take_numbers(x, "cumprod", NUMBERS)
    place = as_axis(axis, tensor.shape.rank, "cumprod", tensor.type)
    return Cumprod(place, bool(exclusive), bool(reverse))(tensor, name=name)


class Cumprod(Primitive):
    type = "Cumprod"

    axis: int
    exclusive: bool = False
    reverse: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return running_axes(x.shape.rank, self.axis, self.exclusive, self.reverse)

    def kernel(self, xp: Any, x: Any) -> Any:
        return _running(xp, xp.cumprod, x, self.axis, self.exclusive, self.reverse, 1)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: self._back(dy, op.inputs[0]),)

    def _back(self, dy: Tensor, x: Tensor) -> Tensor:
        """The product before j, times the sum over i from j on of dy[i] and the product between j and i."""
        before = conj(Cumprod(self.axis, True, self.reverse)(x))
        factors = Shift(self.axis, not self.reverse)(conj(x))
        if not self.exclusive:
            return before * Recurrence(self.axis, not self.reverse)(factors, dy)
        later = Shift(self.axis, not self.reverse)(dy)
        return before * Recurrence(self.axis, not self.reverse)(factors, later)


class Shift(Primitive):
    """Each element moved on by one along an axis (back with `reverse`), `first` put in."""

    type = "Shift"
    traits = (MOVES,)

    axis: int
    reverse: bool = False
    first: float = 0.0

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)

    def kernel(self, xp: Any, x: Any) -> Any:
        if not self.reverse:
            return shifted(xp, x, self.axis, self.first)
        return xp.flip(shifted(xp, xp.flip(x, self.axis), self.axis, self.first), self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: Shift(self.axis, not self.reverse)(dy),)


class Recurrence(Primitive):
    """`s[i] = a[i] * s[i-1] + b[i]` along an axis, from zero; from the other end with `reverse`."""

    type = "Recurrence"
    traits = (linear(1),)

    axis: int
    reverse: bool = False

    def infer(self, a: TensorType, b: TensorType) -> tuple[TensorType, ...]:
        del b
        return (a,)

    def links(self, i: int, a: TensorType, b: TensorType) -> Links | None:
        del i, b
        return running_axes(a.shape.rank, self.axis, False, self.reverse)

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        if 0 in a.shape:
            return b
        a, b = xp.moveaxis(a, self.axis, 0), xp.moveaxis(b, self.axis, 0)
        order = range(a.shape[0] - 1, -1, -1) if self.reverse else range(a.shape[0])
        states: dict[int, Any] = {}
        state = xp.zeros_like(b[0])
        for i in order:
            state = a[i] * state + b[i]
            states[i] = state
        return xp.moveaxis(xp.stack([states[i] for i in range(a.shape[0])]), 0, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        a, _ = op.inputs
        (s,) = op.outputs
        db = Recurrence(self.axis, not self.reverse)(Shift(self.axis, not self.reverse)(conj(a)), dy)
        return lambda: db * conj(Shift(self.axis, self.reverse)(s)), db


def reduce_prod(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The product of the elements along `axis`: an axis, a list of them, or None for all; of none it is 1.

    The derivatives are exact where elements are 0.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: any number.

    Derivative: dx_i = dy * (product of the other x), exact where some are 0.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not numbers.

    >>> import pullback as pb
    >>> x = pb.constant([2.0, 0.0, 4.0])
    >>> dx, = pb.gradients(pb.reduce_prod(x), x)
    >>> pb.Session().run(dx)
    array([0., 8., 0.], dtype=float32)
    """
    x = take_numbers(input_tensor, "reduce_prod", NUMBERS)
    return Prod(as_axes(axis, x, "reduce_prod"), bool(keepdims))(x, name=name)


class Prod(Primitive):
    type = "Prod"

    axis: Axes = None
    keepdims: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, reduced_shape(x.shape, self.axis, self.keepdims)),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return reduced_axes(x.shape.rank, self.axis, self.keepdims)

    def kernel(self, xp: Any, x: Any) -> Any:
        wide = float32 if x.dtype in (float16, bfloat16) else x.dtype
        return xp.prod(x, axis=self.axis, keepdims=self.keepdims, dtype=wide).astype(x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,) = op.inputs
        if self.axis is None:
            return (lambda: _all_back(dy, x),)
        axes = self.axis
        return (lambda: _axes_back(keep_reduced(dy, x, axes, self.keepdims), x, axes),)


def _all_back(dy: Tensor, x: Tensor) -> Tensor:
    flat = x if x.shape.rank == 1 else reshape(x, [-1])
    dy = dy if dy.shape.rank == 0 else reshape(dy, [])
    return reshape_like(dy * _product_of_others(flat, 0), x)


def _axes_back(dy: Tensor, x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """One axis after the other: the cotangent times the product of the other elements along it."""
    stages: list[Tensor] = []
    for axis in axes:
        stages.append(x)
        x = Prod((axis,), keepdims=True)(x) if axis != axes[-1] else x
    for stage, axis in zip(reversed(stages), reversed(axes), strict=True):
        dy = dy * _product_of_others(stage, axis)
    return dy


def _product_of_others(x: Tensor, axis: int) -> Tensor:
    """For each element the (conjugate) product of the others along `axis`."""
    return conj(Cumprod(axis, True)(x) * Cumprod(axis, True, True)(x))
