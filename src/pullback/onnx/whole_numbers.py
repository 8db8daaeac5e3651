"""Integer arithmetic in ONNX: what onnxruntime computes in float64, or in halves of 64 bits, exact and modulo 2^n.

onnxruntime 1.31 adds up and multiplies the elements of integers in float64, and ends at the largest; so it raises to
powers; and it takes 2^31 for something negative where it asks for the sign of several numbers of 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.dtypes import bool as bool_
from ..core.dtypes import int64
from ..core.shape import TensorShape
from ..core.types import TensorType
from .lean import uniform
from .records import Value
from .writing import Writer

_HALF = 2**32
_LEAST_BOUND = 2**31
"""So many numbers below it as an array can have add up to one that float64 holds."""
_UNROLLED = 16
_SCALAR = TensorShape.SCALAR


def whole_sum(w: Writer, x: Value, add: Callable[[Value], Value]) -> Value:
    """The sum of integers, as `add` adds up numbers: those of 64 bits in two halves, unless they are small."""
    if x.type.dtype != int64:
        return w.cast(add(w.cast(x, int64)), x.type.dtype) if x.type.dtype.itemsize < 8 else _unsigned(w, x, add)
    if _is_small(w, x):
        return add(x)
    half = w.scalar(_HALF, x)
    low = w.node("Mod", x, half)
    high = w.node("Div", w.node("Sub", x, low), half)
    return w.node("Add", w.node("Mul", add(high), half), add(low))


def _unsigned(w: Writer, x: Value, add: Callable[[Value], Value]) -> Value:
    return w.cast(whole_sum(w, w.cast(x, int64), add), x.type.dtype)


def _is_small(w: Writer, x: Value) -> bool:
    """Whether the elements are lengths, or known to be below a bound."""
    if _are_lengths(w, x):
        return True
    bounds = [w.model.known.interval(given) for given in w.op.inputs[:1]]
    return all(b.low >= -_LEAST_BOUND and b.high <= _LEAST_BOUND for b in bounds)


def _are_lengths(w: Writer, x: Value) -> bool:
    known = w.model.elements.get(x.name)
    return known is not None and all(n is not None for n in known.flat)


def whole_product(w: Writer, x: Value, axes: Sequence[int] | None, keepdims: bool) -> Value:
    """The product of integers along axes: that of lengths in float64, which holds them, others one after the other."""
    rank = x.type.shape.rank
    if rank is None or _are_lengths(w, x):
        return w.cast(w.reduce("ReduceProd", w.cast(x, int64), axes, keepdims), x.type.dtype)
    along = sorted({a % rank for a in (range(rank) if axes is None else axes)})
    if not along:
        return x
    rest = [a for a in range(rank) if a not in along]
    moved = w.transpose(w.cast(x, int64), [*along, *rest])
    kept = w.lengths(moved, list(range(len(along), rank))) if rest else w.vector([])
    rows = w.reshape_to(moved, w.concat([_count(w, moved, len(along)), kept], 0))
    one = w.expand(w.constant(1, int64), kept)

    def build(inner: Writer, number: Value, going: Value, product: Value) -> list[Value]:
        return [going, inner.node("Mul", product, inner.gather(rows, number))]

    body = w.body(build, [TensorType(int64, _SCALAR), TensorType(bool_, _SCALAR), one.type], ["step", "going"])
    (made,) = w.emit("Loop", [w.reshape(w.lengths(rows, [0]), []), w.constant(True), one], [one.type], {"body": body})
    return w.cast(w.unsqueeze(made, along) if keepdims else made, x.type.dtype)


def _count(w: Writer, x: Value, axes: int) -> Value:
    """The number of elements along the first axes, a vector of one."""
    return w.reduce("ReduceProd", w.lengths(x, list(range(axes))), [0], True)


def whole_power(w: Writer, a: Value, b: Value) -> Value:
    """Integers to integer powers that are not negative, by squaring."""
    known = uniform(w, b)
    if known is not None and 0 < known <= _UNROLLED:
        return _power(w, a, int(known))
    if uniform(w, a) == 2 and a.type.dtype.kind == "i":
        # Exact in float64, but for the only power that does not fit.
        return w.node("Pow", a, b)
    one = w.scalar(1, a)
    ones = w.node("Add", w.node("Mul", a, w.scalar(0, a)), w.node("Add", w.node("Mul", b, w.scalar(0, b)), one))
    base = w.node("Mul", a, ones)
    exponent = w.node("Mul", b, ones)

    def build(inner: Writer, step: Value, going: Value, power: Value, square: Value, left: Value) -> list[Value]:
        del step, going
        two = inner.scalar(2, left)
        odd = inner.node("Equal", inner.node("Mod", left, two), inner.scalar(1, left))
        now = inner.where(odd, inner.node("Mul", power, square), power)
        rest = inner.node("Div", left, two)
        return [_any_above_zero(inner, rest), now, inner.node("Mul", square, square), rest]

    types = [TensorType(int64, _SCALAR), TensorType(bool_, _SCALAR), *[x.type for x in (ones, base, exponent)]]
    body = w.body(build, types, ["step", "going"])
    power, _, _ = w.emit("Loop", [None, w.constant(True), ones, base, exponent], types[2:], {"body": body})
    return power


def _power(w: Writer, a: Value, exponent: int) -> Value:
    """A constant power, by as many products as that takes."""
    if exponent == 1:
        return a
    half = _power(w, a, exponent // 2)
    square = w.node("Mul", half, half)
    return w.node("Mul", square, a) if exponent % 2 else square


def _any_above_zero(w: Writer, x: Value) -> Value:
    positive = w.cast(w.node("Greater", x, w.scalar(0, x)), np.dtype(np.int32))
    return w.node("Greater", w.sum(w.reshape(positive, [-1]), [0], False), w.constant(np.int32(0)))


def whole_sign(w: Writer, x: Value) -> Value:
    """The sign of integers of 64 bits."""
    zero = w.scalar(0, x)
    above, below = [w.cast(w.node(op_type, x, zero), x.type.dtype) for op_type in ("Greater", "Less")]
    return w.node("Sub", above, below)
