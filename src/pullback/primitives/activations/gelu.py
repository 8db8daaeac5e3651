"""Gaussian error linear unit (GELU)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...core.dtypes import FLOATING
from ...core.operation import Tensor
from ...core.traits import ELEMENTWISE, linear
from ...core.typing import TensorLike
from ..base.broadcasting import AbstractElementwise, Entry, in_float32, unary
from ..elementwise.exponential import exp
from ..elementwise.hyperbolic import tanh
from ..elementwise.masking import multiply_no_nan
from ..elementwise.powers import square
from ..special import error_function_kernels as special_kernels
from .sigmoid import sigmoid

SCALE = math.sqrt(2 / math.pi)
CUBIC = 0.044715


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """`x * (1 + erf(x / sqrt(2))) / 2`, element by element: `x` times the normal probability below `x`.

    With `approximate` it is `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2`.

    Shapes: any. Dtypes: any float.

    Source: D. Hendrycks, K. Gimpel, arXiv:1606.08415.

    Derivative: dx = dy * (Phi(x) + x * phi(x)), with the normal distribution and its density; of the approximation, its
    own.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.gelu([-1.0, 2.0]))
    array([-0.1586...,  1.9544... ], dtype=float32)
    """
    return unary(Gelu(bool(approximate)), features, name)


class Gelu(AbstractElementwise):
    dtypes = FLOATING

    approximate: bool = False

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return gelu_of(xp, x, self.approximate, special_kernels.erfc)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: GeluGrad(self.approximate)(x, dy),)


class GeluGrad(AbstractElementwise):
    """`dy * gelu'(x)`."""

    traits = (ELEMENTWISE, linear(1))
    dtypes = FLOATING

    approximate: bool = False

    @in_float32
    def kernel(self, xp: Any, x: Any, dy: Any) -> Any:
        return gelu_slope(xp, x, self.approximate, special_kernels.erfc) * dy

    def partials(self, dy: Tensor, dx: Tensor, x: Tensor, seed: Tensor) -> Sequence[Entry]:
        del dx
        second = _second_of_tanh_form if self.approximate else _second
        return lambda: multiply_no_nan(second(x), dy * seed), lambda: GeluGrad(self.approximate)(x, dy)


def gelu_of(xp: Any, x: Any, approximate: bool, erfc: Callable[[Any, Any], Any]) -> Any:
    """`gelu` of an array, with the complement of the error function `erfc(xp, x)`."""
    return x * _share(xp, x, approximate, erfc)[0]


def gelu_slope(xp: Any, x: Any, approximate: bool, erfc: Callable[[Any, Any], Any]) -> Any:
    """The derivative of `gelu` at an array."""
    share, slope = _share(xp, x, approximate, erfc)
    return share + x * slope


def _share(xp: Any, x: Any, approximate: bool, erfc: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """What `x` is multiplied with, exact where it is small too, and the derivative of that."""
    if not approximate:
        return 0.5 * erfc(xp, x * -math.sqrt(0.5)), xp.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    twice = 2 * SCALE * x * (1 + CUBIC * x * x)
    small = xp.exp(-xp.abs(twice))
    share = xp.where(twice < 0, small, xp.ones_like(small)) / (1 + small)
    return share, small / (1 + small) ** 2 * (2 * SCALE * (1 + 3 * CUBIC * x * x))


def _second(x: Tensor) -> Tensor:
    """The second derivative: the normal density times `2 - x^2`."""
    return exp(square(x) * -0.5) * (1 / math.sqrt(2 * math.pi)) * (2 - square(x))


def _second_of_tanh_form(x: Tensor) -> Tensor:
    """`(1 - t^2) (u' + x u'' / 2 - x t u'^2)` for `t = tanh(u(x))`."""
    u = x * (SCALE * (1 + CUBIC * square(x)))
    t, complement = tanh(u), 4.0 * sigmoid(2.0 * u) * sigmoid(-2.0 * u)
    slope = SCALE * (1 + 3 * CUBIC * square(x))
    bend = 3 * SCALE * CUBIC * square(x)
    return complement * (slope + bend - x * t * square(slope))
