"""Masked products (`multiply_no_nan`): a zero cotangent wins, so that masks that are zero stay zero.

The derivative of a masked expression multiplies an exact zero with whatever the derivative is where the mask hides it,
often inf or NaN: `where(x > 0, sqrt(x), 0)` at 0. The rules of functions whose derivative is infinite somewhere use
these in place of `*` and `/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import intervals
from ...core.dtypes import INEXACT
from ...core.dtypes import bool as bool_
from ...core.intervals import ORIGIN, Interval, hull, input_or_zero
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import ELEMENTWISE, SINGULAR, ZEROS, Links, bilinear, linear, same_axes, zero_wins
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, binary
from ..complex.complex import conj

_SMALL = 1024
"""NumPy's `where` is the faster way to select up to this many elements."""
_BITS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def mask(condition: Tensor, x: Tensor, keep: bool = True) -> Tensor:
    """`x` where `condition` is `keep`, exactly zero elsewhere; `condition` broadcasts to the shape of `x`."""
    return Mask(keep)(condition, x)


class Mask(Primitive):
    traits = (ELEMENTWISE, linear(1), ZEROS)

    keep: bool = True

    def infer(self, condition: TensorType, x: TensorType) -> tuple[TensorType, ...]:
        if condition.dtype != bool_:
            raise TypeError(f"mask: the condition must be bool, not {condition}")
        return (x,)

    def kernel(self, xp: Any, condition: Any, x: Any) -> Any:
        return kept(xp, condition if self.keep else xp.logical_not(condition), x)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Entry]:
        return None, lambda: mask(op.inputs[0], dy, self.keep)

    def bounds(self, *xs: Interval) -> Interval:
        return hull([xs[1], ORIGIN])


def mask_unseen(x: Tensor, b: Tensor, seen_by: Tensor, along: tuple[int | None, ...] | None) -> Tensor:
    """`x`, and 0 where `b`, of its shape, is not finite and all that meets it of `seen_by` is 0.

    Axis k of `b` goes along axis `along[k]` of `seen_by`; along the others all elements meet. None: along none.
    """
    return MaskUnseen(along)(x, b, seen_by)


class MaskUnseen(Primitive):
    traits = (linear(0), ZEROS)

    along: tuple[int | None, ...] | None

    def infer(self, x: TensorType, b: TensorType, seen_by: TensorType) -> tuple[TensorType, ...]:
        del b, seen_by
        return (x,)

    def links(self, i: int, x: TensorType, b: TensorType, seen_by: TensorType) -> Links | None:
        del b, seen_by
        return None if i == 2 or x.shape.rank is None else same_axes(range(x.shape.rank))

    def kernel(self, xp: Any, x: Any, b: Any, seen_by: Any) -> Any:
        along = (None,) * x.ndim if self.along is None else self.along
        kept_axes = [a for a in along if a is not None]
        others = tuple([a for a in range(seen_by.ndim) if a not in kept_axes])
        seen = xp.any(seen_by != 0, axis=others) if others else seen_by != 0
        order = tuple([sorted(kept_axes).index(a) for a in kept_axes])
        lengths = [1 if a is None else seen_by.shape[a] for a in along]
        seen = xp.reshape(xp.transpose(seen, order), lengths)
        return xp.where(xp.logical_or(xp.isfinite(b), seen), x, xp.zeros((), x.dtype))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Entry]:
        _, b, seen_by = op.inputs
        return lambda: mask_unseen(dy, b, seen_by, self.along), None, None

    bounds = input_or_zero


def kept(xp: Any, condition: Any, x: Any) -> Any:
    """`x` where `condition`, exactly zero elsewhere, be it inf or NaN there.

    On NumPy the bits are multiplied: `where` takes thirty times as long where the condition has no pattern.
    """
    if xp is np and x.dtype.itemsize in _BITS:
        bits = x.view(_BITS[x.dtype.itemsize])
        return xp.multiply(bits, condition).view(x.dtype)
    return xp.where(condition, x, xp.zeros((), x.dtype))


def chosen(xp: Any, condition: Any, x: Any, y: Any) -> Any:
    """`x` where `condition`, else `y`: `where` for arrays of one dtype, by their bits where that is faster."""
    if xp is np and condition.size > _SMALL and x.dtype.itemsize in _BITS:
        bits = _BITS[x.dtype.itemsize]
        ones, zeros = xp.multiply(x.view(bits), condition), xp.multiply(y.view(bits), xp.logical_not(condition))
        return xp.bitwise_or(ones, zeros).view(x.dtype)
    return xp.where(condition, x, y)


def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * y`, element by element, and 0 where `y` is 0, even if `x` is infinite or NaN there.

    In its derivatives, of every order, a zero wins wherever it stands: what a mask hides stays zero.

    Shapes: any that broadcast together. Dtypes: any float or complex, the same for both.

    Derivative: dx = dz * y, dy = x * dz; 0 where a factor is 0.

    Raises:
        TypeError: the dtypes differ. ValueError: the shapes do not broadcast.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.multiply_no_nan([1.0, float("inf")], [2.0, 0.0]))
    array([2., 0.], dtype=float32)
    """
    return binary(MulNoNan(), x, y, name or "multiply_no_nan")


class MulNoNan(AbstractElementwise):
    traits = (ELEMENTWISE, bilinear(0, 1), zero_wins(1))
    function = "multiply_no_nan"
    dtypes = INEXACT

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        return kept(xp, b != 0, xp.multiply(a, b))

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y
        return lambda: MaskedMul()(dy, conj(b)), lambda: MaskedMul()(conj(a), dy)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.masked_product(*xs, by_both=False)

    def masked(self) -> Primitive:
        return MaskedMul()


class MaskedMul(AbstractElementwise):
    """`a * b`, and 0 where either is 0: the derivative of a masked product, to any order."""

    traits = (ELEMENTWISE, bilinear(0, 1), zero_wins(0, 1), ZEROS)
    dtypes = INEXACT

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        return kept(xp, xp.logical_and(a, b), xp.multiply(a, b))

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del y
        return lambda: MaskedMul()(dy, conj(b)), lambda: MaskedMul()(conj(a), dy)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.masked_product(*xs, by_both=True)


def masked_divide(dy: Tensor, x: Tensor) -> Tensor:
    """`dy / x`, and 0 where `dy` is 0, even if `x` is 0 or NaN there: the derivative of a logarithm.

    Unlike `xdivy`, its derivative by `dy` is `1 / x` everywhere.
    """
    return MaskedDiv()(dy, x)


class MaskedDiv(AbstractElementwise):
    traits = (ELEMENTWISE, linear(0), zero_wins(0), SINGULAR)
    function = "masked_divide"
    dtypes = INEXACT

    def kernel(self, xp: Any, a: Any, b: Any) -> Any:
        return kept(xp, a != 0, xp.divide(a, b))

    def partials(self, dy: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Sequence[Entry]:
        del a
        return lambda: masked_divide(dy, conj(b)), lambda: quotient_grad(dy, conj(y), conj(b))

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.quotient(*xs)


def quotient_grad(dy: Tensor, y: Tensor, b: Tensor) -> Tensor:
    """`-dy * y / b`, the cotangent of the divisor `b` of a quotient `y`; 0 where `dy` or `y` is 0."""
    return QuotientGrad()(dy, y, b)


class QuotientGrad(AbstractElementwise):
    traits = (ELEMENTWISE, bilinear(0, 1), zero_wins(0, 1), SINGULAR)
    dtypes = INEXACT

    def kernel(self, xp: Any, a: Any, y: Any, b: Any) -> Any:
        return kept(xp, xp.logical_and(a, y), xp.divide(xp.negative(xp.multiply(a, y)), b))

    def partials(self, dy: Tensor, out: Tensor, a: Tensor, y: Tensor, b: Tensor) -> Sequence[Entry]:
        return (
            lambda: quotient_grad(dy, conj(y), conj(b)),
            lambda: quotient_grad(dy, conj(a), conj(b)),
            lambda: quotient_grad(dy, conj(out), conj(b)),
        )

    def bounds(self, *xs: Interval) -> Interval:
        product = ORIGIN if ORIGIN in xs[:2] else intervals.multiply(xs[0], xs[1])
        return intervals.negative(intervals.quotient(product, xs[2]))
