"""Kernel tracing for GraphDef export: a primitive is written by running its kernel on arrays that record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import bool as bool_
from ..core.errors import NotRecordedError
from ..core.graph import Operation
from .body import Body, Ref

_FUNCTIONS = {
    **{
        name: name.capitalize()
        for name in ("exp", "expm1", "log", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **{name: name.capitalize() for name in ("sqrt", "square", "sign", "floor", "ceil", "rint", "maximum", "minimum")},
    **{name: name.capitalize() for name in ("equal", "less", "greater", "reciprocal")},
    **{f"arc{name}": f"A{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    **{"negative": "Neg", "absolute": "Abs", "abs": "Abs", "fabs": "Abs", "conj": "Conj", "conjugate": "Conj"},
    **{
        "add": "AddV2",
        "subtract": "Sub",
        "multiply": "Mul",
        "divide": "RealDiv",
        "true_divide": "RealDiv",
        "power": "Pow",
    },
    **{"not_equal": "NotEqual", "less_equal": "LessEqual", "greater_equal": "GreaterEqual"},
    **{"isnan": "IsNan", "isinf": "IsInf", "isfinite": "IsFinite"},
    **{"logical_and": "LogicalAnd", "logical_or": "LogicalOr", "logical_not": "LogicalNot"},
    **{"floor_divide": "FloorDiv", "remainder": "FloorMod", "power": "Pow", "nextafter": "NextAfter"},
}
"""TensorFlow's op types of functions of NumPy's."""


def record_kernel(body: Body, op: Operation, inputs: Sequence[Ref]) -> Ref:
    """The value of the output; NotRecordedError, or what the kernel raises, where it cannot be recorded."""
    made = op.primitive.kernel(Namespace(body), *[Traced(body, ref) for ref in inputs])
    if not isinstance(made, Traced):
        raise NotRecordedError
    return made.ref


class Traced:
    """An array of which only the dtype is known."""

    __array_ufunc__ = None

    def __init__(self, body: Body, ref: Ref) -> None:
        self.body = body
        self.ref = ref

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self.ref.dtype

    def astype(self, dtype: Any) -> Traced:
        """The same numbers in another dtype."""
        wanted = np.dtype(dtype)
        if wanted == self.dtype:
            return self
        return Traced(self.body, self.body.node("Cast", self.ref, DstT=wanted))

    def __neg__(self) -> Traced:
        return applied("negative", self)

    def __invert__(self) -> Traced:
        return applied("logical_not", self)

    def __abs__(self) -> Traced:
        return applied("abs", self)


def applied(name: str, *xs: Any) -> Traced:
    """A function of NumPy's of arrays of which one at least is traced; numbers have the dtype of that."""
    first = next(x for x in xs if isinstance(x, Traced))
    op_type = _FUNCTIONS.get(name)
    if op_type is None:
        raise NotRecordedError(name)
    if name in ("logical_and", "logical_or", "logical_not"):
        xs = tuple([_truth(x) for x in xs])
    return Traced(first.body, first.body.node(op_type, *[ref_of(first, x) for x in xs]))


def ref_of(like: Traced, x: Any) -> Ref:
    """A value as one of the graph; a number in the dtype of `like`."""
    if isinstance(x, Traced):
        return x.ref
    kind: Any = bool_ if isinstance(x, bool | np.bool_) else like.dtype
    return like.body.constant(np.asarray(x).astype(kind))


def _truth(x: Any) -> Any:
    return x if not isinstance(x, Traced) or x.dtype == bool_ else applied("not_equal", x, 0)


def _operator(name: str, swapped: bool) -> Any:
    def operate(self: Traced, other: Any) -> Traced:
        return applied(name, other, self) if swapped else applied(name, self, other)

    return operate


_OPERATORS = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power"},
    **{"floordiv": "floor_divide", "mod": "remainder", "and": "logical_and", "or": "logical_or"},
}
for _name, _function in _OPERATORS.items():
    setattr(Traced, f"__{_name}__", _operator(_function, False))
    setattr(Traced, f"__r{_name}__", _operator(_function, True))
for _name, _function in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(Traced, f"__{_name}__", _operator(_function, False))
for _name, _function in {"eq": "equal", "ne": "not_equal"}.items():
    setattr(Traced, f"__{_name}__", _operator(_function, False))


class Namespace:
    """Functions named as NumPy's, of arrays of which some are traced."""

    pi, inf, nan = np.pi, np.inf, np.nan

    def __init__(self, body: Body) -> None:
        self.body = body

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if not callable(found) or isinstance(found, type):
            return found

        def call(*xs: Any, **options: Any) -> Any:
            if not any(isinstance(x, Traced) for x in xs):
                return found(*xs, **options)
            return applied(name, *xs)

        return call

    def where(self, condition: Any, x: Any, y: Any) -> Traced:
        """`x` where the condition holds, else `y`."""
        like = next((v for v in (x, y) if isinstance(v, Traced)), condition)
        chosen = ref_of(condition, condition)
        return Traced(self.body, self.body.node("SelectV2", chosen, ref_of(like, x), ref_of(like, y)))

    def clip(self, x: Any, low: Any, high: Any) -> Traced:
        """`x` between two limits."""
        return applied("minimum", applied("maximum", x, low), high)

    def copysign(self, x: Any, sign: Any) -> Traced:
        """`x` with the sign of `sign`, which is no zero."""
        size = applied("abs", x) if isinstance(x, Traced) else abs(x)
        return self.where(applied("less", sign, 0), -size, size)

    def zeros_like(self, x: Traced) -> Traced:
        """Zeros in the shape of `x`."""
        return Traced(self.body, self.body.node("ZerosLike", x.ref))

    def ones_like(self, x: Traced) -> Traced:
        """Ones in the shape of `x`."""
        return Traced(self.body, self.body.node("OnesLike", x.ref))

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        """`x` as an array."""
        if isinstance(x, Traced):
            return x if dtype is None else x.astype(dtype)
        return np.asarray(x, dtype)
