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

_SCALE = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


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
    type = "Gelu"
    dtypes = FLOATING

    approximate: bool = False

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return gelu_of(xp, x, self.approximate, special_kernels.erf)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        del y
        return (lambda: GeluGrad(self.approximate)(x, dy),)


class GeluGrad(AbstractElementwise):
    """`dy * gelu'(x)`."""

    type = "GeluGrad"
    traits = (ELEMENTWISE, linear(1))
    dtypes = FLOATING

    approximate: bool = False

    @in_float32
    def kernel(self, xp: Any, x: Any, dy: Any) -> Any:
        return gelu_slope(xp, x, self.approximate, special_kernels.erf) * dy

    def partials(self, dy: Tensor, dx: Tensor, x: Tensor, seed: Tensor) -> Sequence[Entry]:
        del dx
        second = _second_of_tanh_form if self.approximate else _second
        return lambda: multiply_no_nan(second(x), dy * seed), lambda: GeluGrad(self.approximate)(x, dy)


def gelu_of(xp: Any, x: Any, approximate: bool, erf: Callable[[Any, Any], Any]) -> Any:
    """`gelu` of an array, with the error function `erf(xp, x)`."""
    below = xp.tanh(_inner(x)) if approximate else erf(xp, x * math.sqrt(0.5))
    return x * 0.5 * (below + 1)


def gelu_slope(xp: Any, x: Any, approximate: bool, erf: Callable[[Any, Any], Any]) -> Any:
    """The derivative of `gelu` at an array."""
    if approximate:
        t = xp.tanh(_inner(x))
        return 0.5 * (t + 1) + 0.5 * x * (1 - t * t) * (_SCALE * (1 + 3 * _CUBIC * x * x))
    below = 0.5 * (erf(xp, x * math.sqrt(0.5)) + 1)
    return below + x * xp.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


def _inner(x: Any) -> Any:
    return _SCALE * x * (1 + _CUBIC * x * x)


def _second(x: Tensor) -> Tensor:
    """The second derivative: the normal density times `2 - x^2`."""
    return exp(square(x) * -0.5) * (1 / math.sqrt(2 * math.pi)) * (2 - square(x))


def _second_of_tanh_form(x: Tensor) -> Tensor:
    """`(1 - t^2) (u' + x u'' / 2 - x t u'^2)` for `t = tanh(u(x))`."""
    t = tanh(x * (_SCALE * (1 + _CUBIC * square(x))))
    slope = _SCALE * (1 + 3 * _CUBIC * square(x))
    bend = 3 * _SCALE * _CUBIC * square(x)
    return (1 - square(t)) * (slope + bend - x * t * square(slope))
