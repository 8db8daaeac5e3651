"""Complex arithmetic in ONNX: functions of each element of traced complex arrays, by their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import NotRecordedError
from ..primitives.elementwise.cuts import CUT, parts_on_side
from .tracing import TracedComplex, as_traced, namespace
from .writing import Writer


def complex_elementwise(w: Writer, name: str, *xs: Any) -> Any:
    """`elementwise` of complex numbers."""
    if name in ("real", "imag"):
        return xs[0].im if name == "imag" else xs[0].re
    found = _COMPLEX.get(name)
    if found is None:
        raise NotRecordedError(f"there is no {name} of complex numbers")
    y = found(*xs)
    if name not in CUT:
        return y
    (x,) = xs
    return TracedComplex(*parts_on_side(namespace(w), name, (y.re, y.im), (x.re, x.im)))


def _complex_product(a: TracedComplex, b: TracedComplex) -> TracedComplex:
    return TracedComplex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


def _complex_quotient(a: TracedComplex, b: TracedComplex) -> TracedComplex:
    """Scaled by the larger part of `b`, so that its square does not overflow."""
    xp = namespace(a.w)
    scale = xp.maximum(abs(b.re), abs(b.im))
    c, d = b.re / scale, b.im / scale
    size = (c * c + d * d) * scale
    return TracedComplex((a.re * c + a.im * d) / size, (a.im * c - a.re * d) / size)


def _complex_absolute(z: TracedComplex) -> Any:
    xp = namespace(z.w)
    large, small = xp.maximum(abs(z.re), abs(z.im)), xp.minimum(abs(z.re), abs(z.im))
    zero = large == 0
    ratio = small / xp.where(zero, xp.ones_like(large), large)
    return xp.where(zero, xp.zeros_like(large), large * xp.sqrt(1.0 + ratio * ratio))


def _complex_exp(z: TracedComplex) -> TracedComplex:
    xp = namespace(z.w)
    size = xp.exp(z.re)
    return TracedComplex(size * xp.cos(z.im), size * xp.sin(z.im))


def _complex_log(z: TracedComplex) -> TracedComplex:
    """Near the unit circle by what the square of the size is beside 1, which keeps its digits."""
    xp = namespace(z.w)
    square = (z.re - 1.0) * (z.re + 1.0) + z.im * z.im
    size = xp.where(abs(square) < 0.5, xp.log1p(square) * 0.5, xp.log(abs(z)))
    return TracedComplex(size, xp.arctan2(z.im, z.re))


def _complex_sqrt(z: TracedComplex) -> TracedComplex:
    xp = namespace(z.w)
    size = abs(z)
    t = xp.sqrt((size + abs(z.re)) * 0.5)
    safe = xp.where(t == 0, xp.ones_like(t), t)
    other = z.im / (2.0 * safe)
    right = z.re >= 0
    sign = xp.where(z.im < 0, -1.0, 1.0).astype(t.dtype)
    return TracedComplex(xp.where(right, t, abs(other)), xp.where(right, other, sign * t))


def _complex_power(a: TracedComplex, b: TracedComplex) -> TracedComplex:
    xp = namespace(a.w)
    value = _complex_exp(_complex_product(b, _complex_log(a)))
    zero, none = (a.re == 0) & (a.im == 0), (b.re == 0) & (b.im == 0)
    re = xp.where(none, 1.0, xp.where(zero, 0.0, value.re)).astype(value.re.dtype)
    return TracedComplex(re, xp.where(none | zero, 0.0, value.im).astype(value.im.dtype))


def _i_times(z: TracedComplex, sign: float = 1.0) -> TracedComplex:
    return TracedComplex(-z.im * sign, z.re * sign)


def _complex_sinh(z: TracedComplex) -> TracedComplex:
    xp = namespace(z.w)
    return TracedComplex(xp.sinh(z.re) * xp.cos(z.im), xp.cosh(z.re) * xp.sin(z.im))


def _complex_cosh(z: TracedComplex) -> TracedComplex:
    xp = namespace(z.w)
    return TracedComplex(xp.cosh(z.re) * xp.cos(z.im), xp.sinh(z.re) * xp.sin(z.im))


def _complex_tanh(z: TracedComplex) -> TracedComplex:
    """By the hyperbolic tangent of the real part, which does not overflow as sines and cosines do."""
    xp = namespace(z.w)
    t, s, c, hyperbolic = xp.tanh(z.re), xp.sin(z.im), xp.cos(z.im), xp.cosh(z.re)
    size = c * c + t * t * s * s
    return TracedComplex(t / size, s * c / hyperbolic / hyperbolic / size)


def _complex_log1p(z: TracedComplex) -> TracedComplex:
    """Near 0 by the logarithm of `1 + (|1 + z|^2 - 1)`, which keeps its digits."""
    xp = namespace(z.w)
    far, excess = _complex_log(1.0 + z), z.re * (2.0 + z.re) + z.im * z.im
    return TracedComplex(xp.where(abs(excess) < 0.5, xp.log1p(excess) * 0.5, far.re), far.im)


def _complex_arctanh(z: TracedComplex) -> TracedComplex:
    """The parts of `(log(1 + z) - log(1 - z)) / 2`, in which nothing cancels near 0; the first is odd."""
    xp = namespace(z.w)
    size, beside = abs(z.re), 1.0 - abs(z.re)
    part = xp.log1p(4.0 * size / (beside * beside + z.im * z.im)) * 0.25
    angle = xp.arctan2(2.0 * z.im, beside * (1.0 + size) - z.im * z.im)
    return TracedComplex(xp.where(z.re < 0, -part, part), angle * 0.5)


def _complex_arccosh(z: TracedComplex) -> TracedComplex:
    xp = namespace(z.w)
    a, b = _complex_sqrt(z - 1.0), _complex_sqrt(z + 1.0)
    return TracedComplex(xp.arcsinh(a.re * b.re + a.im * b.im), 2.0 * xp.arctan2(a.im, b.re))


def _complex_arcsin(z: TracedComplex) -> TracedComplex:
    xp = namespace(z.w)
    a, b = _complex_sqrt(1.0 - z), _complex_sqrt(1.0 + z)
    return TracedComplex(xp.arctan2(z.re, a.re * b.re - a.im * b.im), xp.arcsinh(a.re * b.im - a.im * b.re))


def _complex_arccos(z: TracedComplex) -> TracedComplex:
    xp = namespace(z.w)
    a, b = _complex_sqrt(1.0 - z), _complex_sqrt(1.0 + z)
    return TracedComplex(2.0 * xp.arctan2(a.re, b.re), xp.arcsinh(b.re * a.im - b.im * a.re))


def _complex_sign(z: TracedComplex) -> Any:
    xp = namespace(z.w)
    size = abs(z)
    zero = size == 0
    safe = xp.where(zero, xp.ones_like(size), size)
    return TracedComplex(z.re / safe, z.im / safe)


def _complex_expm1(z: TracedComplex) -> TracedComplex:
    xp = namespace(z.w)
    half = xp.sin(z.im * 0.5)
    re = xp.expm1(z.re) * xp.cos(z.im) - 2.0 * half * half
    return TracedComplex(re, xp.exp(z.re) * xp.sin(z.im))


def _complex_equal(a: TracedComplex, b: TracedComplex) -> Any:
    return (a.re == b.re) & (a.im == b.im)


_COMPLEX: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: TracedComplex(a.re + b.re, a.im + b.im),
    "subtract": lambda a, b: TracedComplex(a.re - b.re, a.im - b.im),
    "multiply": _complex_product,
    "divide": _complex_quotient,
    "true_divide": _complex_quotient,
    "power": _complex_power,
    "equal": _complex_equal,
    "not_equal": lambda a, b: ~_complex_equal(a, b),
    "positive": lambda z: z,
    "negative": lambda z: TracedComplex(-z.re, -z.im),
    "conjugate": lambda z: TracedComplex(z.re, -z.im),
    "conj": lambda z: TracedComplex(z.re, -z.im),
    "absolute": _complex_absolute,
    "abs": _complex_absolute,
    "square": lambda z: _complex_product(z, z),
    "reciprocal": lambda z: _complex_quotient(as_traced(z.w, np.ones((), z.dtype)), z),
    "exp": _complex_exp,
    "expm1": _complex_expm1,
    "log": _complex_log,
    "log1p": _complex_log1p,
    "sqrt": _complex_sqrt,
    "sinh": _complex_sinh,
    "cosh": _complex_cosh,
    "tanh": _complex_tanh,
    "sin": lambda z: _i_times(_complex_sinh(_i_times(z)), -1.0),
    "cos": lambda z: _complex_cosh(_i_times(z)),
    "tan": lambda z: _i_times(_complex_tanh(_i_times(z)), -1.0),
    "arcsinh": lambda z: _i_times(_complex_arcsin(_i_times(z)), -1.0),
    "arctanh": _complex_arctanh,
    "arccosh": _complex_arccosh,
    "arcsin": _complex_arcsin,
    "arccos": _complex_arccos,
    "arctan": lambda z: _i_times(_complex_arctanh(_i_times(z)), -1.0),
    "sign": _complex_sign,
    "isnan": lambda z: namespace(z.w).elementwise("isnan", z.re) | namespace(z.w).elementwise("isnan", z.im),
    "isinf": lambda z: namespace(z.w).elementwise("isinf", z.re) | namespace(z.w).elementwise("isinf", z.im),
    "isfinite": lambda z: namespace(z.w).isfinite(z.re) & namespace(z.w).isfinite(z.im),
    "angle": lambda z: namespace(z.w).arctan2(z.im, z.re),
}
