"""Elementary functions of float64 that onnxruntime computes in float32 only, by those that it has for float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .tracing import Traced, namespace

_LARGE = 1e300
"""The smallest number times its square is beyond 1."""
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


def _arcsin(x: Traced) -> Any:
    return _arctan(x / namespace(x.w).sqrt((1.0 - x) * (1.0 + x)))


def _arccos(x: Traced) -> Any:
    return 2.0 * _arctan(namespace(x.w).sqrt((1.0 - x) / (1.0 + x)))


def _odd(x: Traced, y: Any) -> Any:
    """`y`, a function of the absolute value of `x`, with the sign of `x`, be it that of a zero; which Where loses."""
    far = x * _LARGE * _LARGE
    return y * Traced(x.w, x.w.node("Clip", far.value, x.w.scalar(-1, far.value), x.w.scalar(1, far.value)))


BY_FLOAT64: dict[str, Callable[[Traced], Any]] = {
    "tan": _tan,
    "sinh": _sinh,
    "cosh": _cosh,
    "arcsin": _arcsin,
    "arccos": _arccos,
    "arctan": _arctan,
    "arcsinh": _arcsinh,
    "arccosh": _arccosh,
    "arctanh": _arctanh,
}
"""By NumPy's names."""
