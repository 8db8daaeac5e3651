"""Logistic function and its kin: sigmoid, softplus, and the logarithm of the sigmoid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import intervals
from ...core.dtypes import COMPLEX, FLOATING, INEXACT
from ...core.intervals import UNIT, Interval
from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, linear
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, in_float32, unary
from ..complex.complex import conj
from ..elementwise.arithmetic import Neg


def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 / (1 + exp(-x))`, element by element.

    Shapes: any. Dtypes: any float or complex.

    Derivative: dx = dy * y * (1 - y).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.sigmoid([0.0, 1.0]))
    array([0.5      , 0.7310...], dtype=float32)
    """
    return unary(Sigmoid(), x, name)


class Sigmoid(AbstractElementwise):
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        if x.dtype in COMPLEX:
            # Of the two quotients the one whose exponential does not overflow.
            is_left = xp.less(xp.real(x), 0)
            y = xp.exp(xp.where(is_left, x, xp.negative(x)))
            share = xp.reciprocal(xp.add(y, 1))
            return xp.where(is_left, xp.multiply(y, share), share)
        rest = rest_of_sigmoid(xp, xp.negative(xp.abs(x)))
        return xp.abs(xp.subtract(xp.astype(xp.greater_equal(x, 0), x.dtype), rest))  # A choice takes NumPy longer.

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del x
        return (lambda: SigmoidGrad()(conj(y), dy),)

    def bounds(self, *xs: Interval) -> Interval:
        return UNIT._replace(nan=xs[0].nan)


def rest_of_sigmoid(xp: Any, x: Any) -> Any:
    """The sigmoid of `x` <= 0, which is what the sigmoid of `-x` lacks of 1, to the last place."""
    y = xp.exp(x)
    return xp.divide(y, xp.add(y, 1))


class SigmoidGrad(AbstractElementwise):
    """`dy * y * (1 - y)`."""

    traits = (ELEMENTWISE, linear(1))
    dtypes = INEXACT

    @in_float32
    def kernel(self, xp: Any, y: Any, dy: Any) -> Any:
        return xp.multiply(xp.multiply(xp.subtract(1, y), y), dy)

    def partials(self, dy: Tensor, dx: Tensor, y: Tensor, seed: Tensor) -> Sequence[Entry]:
        del dx
        return lambda: dy * conj(seed) * (1 - conj(y) * 2), lambda: SigmoidGrad()(conj(y), dy)


def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + exp(x))`, element by element, without overflow.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * sigmoid(x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.softplus([0.0, 100.0]))
    array([  0.6931..., 100.       ], dtype=float32)
    """
    return unary(Softplus(), features, name)


class Softplus(AbstractElementwise):
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, features: Any) -> Any:
        # So written, it has the slope 1/2 at 0 for jax, and when it is read from a file.
        return xp.add(xp.maximum(0, features), xp.log1p(xp.exp(xp.minimum(features, xp.negative(features)))))

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: SoftplusGrad()(dy, x),)

    def bounds(self, *xs: Interval) -> Interval:
        return intervals.rising(lambda x: max(x, 0.0) + 1.0, xs[0])._replace(low=0.0)


class SoftplusGrad(AbstractElementwise):
    """`dy * sigmoid(x)`."""

    traits = (ELEMENTWISE, linear(0))
    dtypes = FLOATING

    @in_float32
    def kernel(self, xp: Any, dy: Any, x: Any) -> Any:
        return xp.divide(dy, xp.add(xp.exp(xp.negative(x)), 1))

    def partials(self, dy: Tensor, dx: Tensor, seed: Tensor, x: Tensor) -> Sequence[Entry]:
        del dx
        return lambda: SoftplusGrad()(dy, x), lambda: SigmoidGrad()(sigmoid(x), dy * seed)


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """`log(sigmoid(x))`, element by element, without underflow.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy * sigmoid(-x).

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.log_sigmoid([0.0, -100.0]))
    array([  -0.6931..., -100.       ], dtype=float32)
    """
    return unary(Neg(), softplus(unary(Neg(), x)), name or "LogSigmoid")
