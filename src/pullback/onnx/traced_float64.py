"""Elementary functions of float64 that onnxruntime computes in float32 only, by those that it has for float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .tracing import Traced, namespace

_LARGEST = float(np.finfo(np.float64).max)
_FAR = 1e9
"""From here on x and sqrt(x * x + 1) are one number."""


def _tan(x: Traced) -> Any:
    xp = namespace(x.w)
    return xp.sin(x) / xp.cos(x)


def _sinh(x: Traced) -> Any:
    xp, a = namespace(x.w), abs(x)
    e = xp.expm1(a)
    return _odd(x, xp.where(a < 1.0, 0.5 * (e + e / (e + 1.0)), _half_exp(a) - 0.5 * xp.exp(-a)))


def _cosh(x: Traced) -> Any:
    a = abs(x)
    return _half_exp(a) + 0.5 * namespace(x.w).exp(-a)


def _half_exp(a: Traced) -> Any:
    """Half of the exponential, which does not overflow before it must."""
    root = namespace(a.w).exp(0.5 * a)
    return root * (0.5 * root)


def _arcsinh(x: Traced) -> Any:
    xp, a = namespace(x.w), abs(x)
    near = xp.log1p(a + a * a / (1.0 + xp.sqrt(a * a + 1.0)))
    return _odd(x, xp.where(a < _FAR, near, xp.log(a) + math.log(2.0)))


def _arccosh(x: Traced) -> Any:
    xp, t = namespace(x.w), x - 1.0
    near = xp.log1p(t + xp.sqrt(t * (x + 1.0)))
    return xp.where(x < 1.0, math.nan, xp.where(x < _FAR, near, xp.log(x) + math.log(2.0)))


def _arctanh(x: Traced) -> Any:
    a = abs(x)
    return _odd(x, 0.5 * namespace(x.w).log1p(2.0 * a / (1.0 - a)))


def _arctan(x: Traced) -> Any:
    """Newton's step for sin y = t cos y from the value in float32; cubic, as there the second derivative is 0."""
    xp, a = namespace(x.w), abs(x)
    t = xp.where(a > 1.0, 1.0 / a, a)
    y = Traced(x.w, x.w.node("Atan", t.value))
    sin, cos = xp.sin(y), xp.cos(y)
    y = y - (sin - t * cos) / (cos + t * sin)
    return _odd(x, xp.where(a > 1.0, 0.5 * math.pi - y, y))


def _odd(x: Traced, y: Any) -> Any:
    """`y`, a function of the absolute value of `x`, with the sign of `x`; at zeros x, of their sign, which Where loses.

    A loaded model is differentiated as it is written: at 0 each of these functions has the derivative 1.
    """
    xp = namespace(x.w)
    signed = x / xp.where(x == 0.0, 1.0, xp.minimum(abs(x), _LARGEST))
    sign = Traced(x.w, x.w.node("Clip", signed.value, x.w.scalar(-1, x.value), x.w.scalar(1, x.value)))
    return xp.where(x == 0.0, 1.0, y) * sign


BY_FLOAT64: dict[str, Callable[[Traced], Any]] = {
    "tan": _tan,
    "sinh": _sinh,
    "cosh": _cosh,
    "arcsin": lambda x: _arctan(x / namespace(x.w).sqrt((1.0 - x) * (1.0 + x))),
    "arccos": lambda x: 2.0 * _arctan(namespace(x.w).sqrt((1.0 - x) / (1.0 + x))),
    "arctan": _arctan,
    "arcsinh": _arcsinh,
    "arccosh": _arccosh,
    "arctanh": _arctanh,
}
"""By NumPy's names."""
