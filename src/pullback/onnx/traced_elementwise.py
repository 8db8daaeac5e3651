"""Elementwise functions of traced arrays, under NumPy's names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtypes import bool as bool_
from ..core.dtypes import float32
from ..core.errors import NotRecordedError
from .traced_complex import complex_elementwise
from .traced_float64 import BY_FLOAT64
from .tracing import AbstractTraced, Traced, as_traced, common_dtype, is_complex, is_literal, namespace
from .whole_numbers import whole_power, whole_sign
from .writing import Writer

_COMPARED = {"equal": "Equal", "less": "Less", "greater": "Greater", "less_equal": "LessOrEqual"}

_COMPARED |= {"greater_equal": "GreaterOrEqual"}


_LOGICAL = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}


_BITWISE = {"bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor"}


_BINARY = {"add": "Add", "subtract": "Sub", "multiply": "Mul", "maximum": "Max", "minimum": "Min", "power": "Pow"}


_UNARY = {
    "negative": "Neg", "absolute": "Abs", "abs": "Abs", "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "sin": "Sin",
    "cos": "Cos", "tan": "Tan", "arcsin": "Asin", "arccos": "Acos", "arctan": "Atan", "sinh": "Sinh", "cosh": "Cosh",
    "tanh": "Tanh", "arcsinh": "Asinh", "arccosh": "Acosh", "arctanh": "Atanh", "floor": "Floor", "ceil": "Ceil",
    "rint": "Round", "sign": "Sign", "reciprocal": "Reciprocal",
}  # fmt: skip


def elementwise(w: Writer, name: str, *xs: Any) -> Any:
    """The function of NumPy's of that name, of each element."""
    if len(xs) == 2 and type(xs[0]) is Traced and type(xs[1]) is Traced and xs[0].dtype == xs[1].dtype:
        return _binary(w, name, *xs)
    if not any(isinstance(x, AbstractTraced) for x in xs):
        return getattr(np, name)(*xs)
    if not all(isinstance(x, AbstractTraced) or is_literal(x) for x in xs):
        return NotImplemented
    if any(map(is_complex, xs)):
        if name in _LOGICAL or name == "logical_not":
            return elementwise(w, name, *[as_traced(w, x).astype(bool_) for x in xs])
        dtype = common_dtype(*xs)
        return complex_elementwise(w, name, *[as_traced(w, x, dtype) for x in xs])
    if len(xs) == 1:
        return _unary(w, name, xs[0])
    dtype = common_dtype(*xs)
    a, b = [as_traced(w, x, dtype) for x in xs]
    return _binary(w, name, a, b)


def emit(w: Writer, op_type: str, *xs: Traced, dtype: Any = None, **attributes: Any) -> Traced:
    """One node, whose operands broadcast together."""
    out = xs[0].dtype if dtype is None else dtype
    return Traced(w, w.node(op_type, *[x.value for x in xs], dtype=out, **attributes))


def _unary(w: Writer, name: str, x: Traced) -> Any:
    if name in ("conjugate", "conj", "positive", "real"):
        return x
    if name in ("logical_not", "invert"):
        return emit(w, "Not" if x.dtype == bool_ else "BitwiseNot", x)
    if name in _DERIVED_UNARY:
        return _DERIVED_UNARY[name](x)
    if name in BY_FLOAT64 and x.dtype == np.float64:
        return BY_FLOAT64[name](x)
    if name == "sign" and x.dtype.kind in "iu" and x.dtype.itemsize == 8:
        return Traced(w, whole_sign(w, x.value))
    if name == "sign" and x.dtype.itemsize == 2 and x.dtype.kind not in "iu":
        return _unary(w, name, x.astype(float32)).astype(x.dtype)  # Its kernel for these gives 0 for NaN.
    if name in _UNARY:
        whole = name in ("floor", "ceil", "rint") and x.dtype.kind in "iub"
        return x if whole else emit(w, _UNARY[name], x)
    raise NotRecordedError(f"there is no {name} in ONNX")


def _binary(w: Writer, name: str, a: Traced, b: Traced) -> Any:
    boolean = a.dtype == bool_
    if name in _COMPARED:
        return emit(w, _COMPARED[name], a, b, dtype=bool_)
    if name == "not_equal":
        return emit(w, "Not", emit(w, "Equal", a, b, dtype=bool_))
    if name in _LOGICAL:
        return emit(w, _LOGICAL[name], a.astype(bool_), b.astype(bool_))
    if name in _BITWISE:
        return emit(w, _BITWISE[name].removeprefix("Bitwise") if boolean else _BITWISE[name], a, b)
    if name in ("left_shift", "right_shift"):
        return _shifted(w, a, b, name == "left_shift")
    if name in ("divide", "true_divide"):
        return emit(
            w, "Div", *[x.astype(np.result_type(x.dtype, float)) if x.dtype.kind in "iub" else x for x in (a, b)]
        )
    if boolean and name in ("add", "multiply", "maximum", "minimum"):
        return emit(w, "Or" if name in ("add", "maximum") else "And", a, b)
    if name in _DERIVED_BINARY:
        return _DERIVED_BINARY[name](a, b)
    if name == "power" and a.dtype.kind in "iu":
        return Traced(w, whole_power(w, a.value, b.value))
    if name in _BINARY:
        return emit(w, _BINARY[name], a, b)
    raise NotRecordedError(f"there is no {name} in ONNX")


def _shifted(w: Writer, a: Traced, b: Traced, left: bool) -> Any:
    if a.dtype.kind == "u":
        return emit(w, "BitShift", a, b, direction="LEFT" if left else "RIGHT")
    power = elementwise(w, "power", np.asarray(2, a.dtype), b)
    return a * power if left else a // power


def _expm1(x: Traced) -> Any:
    half = elementwise(x.w, "tanh", x * 0.5)
    near = elementwise(x.w, "absolute", x) < 1.0
    return namespace(x.w).where(near, 2.0 * half / (1.0 - half), elementwise(x.w, "exp", x) - 1.0)


def _log1p(x: Traced) -> Any:
    """By the rounded 1 + x, put right by how much that was rounded (HP-15C Advanced Functions Handbook)."""
    one = 1.0 + x
    exact = elementwise(x.w, "log", one) - ((one - 1.0) - x) / one
    small = elementwise(x.w, "absolute", x) < 1.0
    return namespace(x.w).where(small, exact, elementwise(x.w, "log", one))


def is_finite(x: Traced) -> Any:
    return elementwise(x.w, "absolute", x) < math.inf


def _remainder(a: Traced, b: Traced) -> Any:
    if a.dtype.kind in "iu":
        return emit(a.w, "Mod", a, _not_minus_one(b), fmod=0)
    rest = emit(a.w, "Mod", a, b, fmod=1)
    return namespace(a.w).where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


def _floor_divide(a: Traced, b: Traced) -> Any:
    if a.dtype.kind not in "iu":
        return elementwise(a.w, "floor", emit(a.w, "Div", a, b))
    safe = _not_minus_one(b)
    quotient, rest = _truncated(a, safe)
    if a.dtype.kind == "u":
        return quotient
    xp = namespace(a.w)
    quotient = xp.where((rest != 0) & ((rest < 0) != (safe < 0)), quotient - 1, quotient)
    return quotient if safe is b else xp.where(b == -1, 0 - a, quotient)


def _fmod(a: Traced, b: Traced) -> Any:
    """Of integers without Mod: with `fmod=1` onnxruntime computes in float64."""
    return _truncated(a, _not_minus_one(b))[1] if a.dtype.kind in "iu" else emit(a.w, "Mod", a, b, fmod=1)


def _truncated(a: Traced, b: Traced) -> tuple[Any, Any]:
    """The quotient of integers without its fraction, and what is left; no step of it overflows."""
    quotient = emit(a.w, "Div", a, b)
    return quotient, a - quotient * b


def _not_minus_one(b: Traced) -> Traced:
    """`b` with 1 for -1, where that can be: the smallest number over -1 ends the process in onnxruntime."""
    known = b.w.static(b.value)
    if b.dtype.kind == "u" or (known is not None and not (known == -1).any()):
        return b
    safe: Traced = namespace(b.w).where(b == -1, np.ones((), b.dtype), b)
    return safe


def _arctan2(y: Traced, x: Traced) -> Any:
    """With the signs of zeros, and of infinities that meet; the larger one divides, so that no derivative is lost."""
    xp = namespace(y.w)
    steep = abs(y) > abs(x)
    slope = xp.where(steep, -x, y) / xp.where(steep, y, x)
    base = xp.arctan(xp.where(xp.isinf(y) & xp.isinf(x), xp.sign(y) * xp.sign(x), slope))
    half = xp.where(xp.signbit(y), -math.pi, math.pi).astype(y.dtype)
    beside = xp.where((y == 0) & xp.signbit(x), half, y)
    flat = xp.where(x > 0, base, xp.where(x < 0, base + half, xp.where(x == 0, beside, x)))
    return xp.where(steep, base + half * 0.5, flat)


def _frexp(x: Traced) -> tuple[Any, Any]:
    """The mantissa and the power of two; the rounded logarithm may be one off, which comparisons put right."""
    size = elementwise(x.w, "absolute", x)
    xp = namespace(x.w)
    guess = elementwise(x.w, "floor", elementwise(x.w, "log2", size)) + 1.0
    power = xp.where((size > 0) & is_finite(x), guess, xp.zeros((), x.dtype))
    rest = elementwise(x.w, "absolute", _ldexp(x, -power))
    off = xp.where(rest >= 1.0, 1.0, xp.where((rest < 0.5) & (rest > 0), -1.0, 0.0)).astype(x.dtype)
    power = xp.where(is_finite(x), power + off, power)
    return _ldexp(x, -power), power.astype(np.int32)


def _ldexp(x: Traced, power: Any) -> Any:
    """In two steps, of which none overflows where the result does not."""
    half = elementwise(x.w, "floor", power * 0.5)
    return x * elementwise(x.w, "exp2", half) * elementwise(x.w, "exp2", power - half)


_DERIVED_UNARY: dict[str, Callable[[Traced], Any]] = {
    "square": lambda x: x * x,
    "expm1": _expm1,
    "log1p": _log1p,
    "exp2": lambda x: elementwise(x.w, "power", np.asarray(2, x.dtype), x),
    "log2": lambda x: elementwise(x.w, "log", x) * (1 / math.log(2.0)),
    "log10": lambda x: elementwise(x.w, "log", x) * (1 / math.log(10.0)),
    "trunc": lambda x: elementwise(x.w, "sign", x) * elementwise(x.w, "floor", elementwise(x.w, "absolute", x)),
    "isnan": lambda x: emit(x.w, "IsNaN", x, dtype=bool_),
    "isinf": lambda x: emit(x.w, "IsInf", x, dtype=bool_),
    "isfinite": is_finite,
    "signbit": lambda x: (x < 0) | ((1.0 / x) < 0),
    "imag": lambda x: x * 0,
    "frexp": _frexp,
    "cbrt": lambda x: elementwise(x.w, "sign", x) * elementwise(x.w, "absolute", x) ** (1 / 3),
}


_DERIVED_BINARY: dict[str, Callable[[Traced, Traced], Any]] = {
    "remainder": _remainder,
    "mod": _remainder,
    "fmod": _fmod,
    "floor_divide": _floor_divide,
    "ldexp": _ldexp,
    "hypot": lambda a, b: elementwise(a.w, "sqrt", a * a + b * b),
    "copysign": lambda a, b: namespace(a.w).where(elementwise(a.w, "signbit", b), -abs(a), abs(a)),
    "arctan2": _arctan2,
    "float_power": lambda a, b: emit(a.w, "Pow", a, b),
}
