"""Softmax, its logarithm, and the cross entropies of its result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.dtypes import FLOATING
from ...core.intervals import ORIGIN, UNIT, Interval
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import Links, all_axes_but, bounds_by_traits, linear
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.axes import as_axis
from ..base.broadcasting import in_float32
from ..creation.constant import convert_to_tensor
from ..elementwise.exponential import exp
from ..elementwise.masking import MaskedMul, kept, multiply_no_nan
from ..reduction.reduce import reduce_sum


def softmax(logits: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along `axis`, the last for None, without overflow.

    Shapes: any but a scalar. Dtypes: any float; 16-bit floats are computed in float32.

    Derivative: dx = y * (dy - sum(dy * y)).

    Raises:
        ValueError: `axis` is outside `logits`. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.softmax([0.0, 0.0]))
    array([0.5, 0.5], dtype=float32)
    """
    x = convert_to_tensor(logits)
    return Softmax(last_as_minus_one(x, axis, "softmax"))(x, name=name)


def last_as_minus_one(x: Tensor, axis: int | None, what: str) -> int:
    """`axis` counted from the front where the rank is known, but for the last axis and None, which are -1."""
    if axis is None:
        axis = -1
    if x.shape.rank is None:
        return axis
    known = as_axis(axis, x.shape.rank, what, x.type)
    return -1 if known == x.shape.rank - 1 else known


class Softmax(Primitive):
    axis: int = -1

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (_check_floats("softmax", x, self.axis),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank, self.axis)

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        _, e, total = exponentials(xp, x, self.axis)
        return e / total

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(SoftmaxGrad(self.axis), op.outputs[0], dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return UNIT._replace(nan=not xs[0].finite)


class SoftmaxGrad(Primitive):
    """`y * (dy - sum(y * dy))`: symmetric in its cotangents, so that it differentiates itself by `dy`.

    A zero cotangent gives zero where `y` is NaN, which it is all along the axis where all of `x` is -inf; and so does a
    zero of `y`, where `x` is -inf, whatever the cotangent is.
    """

    traits = (linear(1),)

    axis: int = -1

    def infer(self, y: TensorType, dy: TensorType) -> tuple[TensorType, ...]:
        return (_merged(y, dy),)

    def links(self, i: int, y: TensorType, dy: TensorType) -> Links | None:
        del i, dy
        return all_axes_but(y.shape.rank, self.axis)

    @in_float32
    def kernel(self, xp: Any, y: Any, dy: Any) -> Any:
        products = y * dy
        if xp is np:
            mean = np.sum(products, axis=self.axis, keepdims=True)
            if not np.isnan(mean).any():
                return y * (dy - mean)
        difference = dy - xp.sum(kept(xp, xp.logical_and(dy, y), products), axis=self.axis, keepdims=True)
        return kept(xp, xp.logical_and(difference, y), y * difference)

    def gradient(self, op: Operation, d: Tensor) -> Sequence[Any]:
        y, dy = op.inputs
        axis = self.axis

        def by_y() -> Tensor:
            inner = reduce_sum(MaskedMul()(y, dy), axis, keepdims=True)
            outer = reduce_sum(MaskedMul()(y, d), axis, keepdims=True)
            return d * (dy - inner) - multiply_no_nan(outer, dy)

        return by_y, partial(SoftmaxGrad(axis), y, d)


def log_softmax(logits: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """`x - log(sum(exp(x)))` along `axis`, the last for None, without overflow.

    Shapes: any but a scalar. Dtypes: any float; 16-bit floats are computed in float32.

    Derivative: dx = dy - exp(y) * sum(dy).

    Raises:
        ValueError: `axis` is outside `logits`. TypeError: no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.log_softmax([0.0, 0.0]))
    array([-0.6931472, -0.6931472], dtype=float32)
    """
    x = convert_to_tensor(logits)
    return LogSoftmax(last_as_minus_one(x, axis, "log_softmax"))(x, name=name)


class LogSoftmax(Primitive):
    axis: int = -1

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (_check_floats("log_softmax", x, self.axis),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank, self.axis)

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        shifted, _, total = exponentials(xp, x, self.axis)
        return shifted - xp.log(total)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(LogSoftmaxGrad(self.axis), op.outputs[0], dy),)


class LogSoftmaxGrad(Primitive):
    """`dy - exp(y) * sum(dy)`; a sum that is zero wins."""

    traits = (linear(1),)

    axis: int = -1

    def infer(self, y: TensorType, dy: TensorType) -> tuple[TensorType, ...]:
        return (_merged(y, dy),)

    def links(self, i: int, y: TensorType, dy: TensorType) -> Links | None:
        del i, dy
        return all_axes_but(y.shape.rank, self.axis)

    @in_float32
    def kernel(self, xp: Any, y: Any, dy: Any) -> Any:
        total = xp.sum(dy, axis=self.axis, keepdims=True)
        return dy - kept(xp, total != 0, xp.exp(y) * total)

    def gradient(self, op: Operation, d: Tensor) -> Sequence[Any]:
        y, dy = op.inputs
        axis = self.axis

        def by_y() -> Tensor:
            return -multiply_no_nan(multiply_no_nan(exp(y), d), reduce_sum(dy, axis, keepdims=True))

        return by_y, lambda: d - reduce_sum(multiply_no_nan(exp(y), d), axis, keepdims=True)

    def bounds(self, *xs: Interval) -> Interval:
        return ORIGIN if xs[1] == ORIGIN else bounds_by_traits(self.traits, xs)


def exponentials(xp: Any, x: Any, axis: int) -> tuple[Any, Any, Any]:
    """`x` less its largest element along `axis`, the exponentials of that, and their sum."""
    if x.shape[axis] == 0:
        return x, x, xp.ones_like(xp.sum(x, axis=axis, keepdims=True))
    shifted = x - xp.max(x, axis=axis, keepdims=True)
    e = xp.exp(shifted)
    return shifted, e, xp.sum(e, axis=axis, keepdims=True)


def _check_floats(what: str, x: TensorType, axis: int) -> TensorType:
    if x.dtype not in FLOATING:
        raise TypeError(f"{what}: no such operation on {x}; it takes floats")
    rank = x.shape.rank
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"{what}: axis {axis} is outside {x}")
    return x


def _merged(y: TensorType, dy: TensorType) -> TensorType:
    shape = y.shape.merge_with(dy.shape)
    return y if shape is y.shape else TensorType(y.dtype, shape)
