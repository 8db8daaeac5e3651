"""ONNX export of elementwise functions that are one node, or have a better form than their kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX, FLOATING, INTEGER, float32, float64, int64, uint64
from ...core.operation import Operation
from ...primitives.bitwise import LeftShift, RightShift
from ...primitives.casting.bitcast import Bitcast
from ...primitives.casting.cast import Cast
from ...primitives.elementwise.add_n import AddN
from ...primitives.elementwise.arithmetic import Add, Mul, Neg, Sub
from ...primitives.elementwise.hyperbolic import TanhGrad
from ...primitives.indexing.where import Select
from ..pairs import Pair, as_array, as_value, trace_kernel
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(Add)
def add(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    return w.node("Add", a, b)


@writer(Sub)
def sub(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    return w.node("Sub", a, b)


@writer(Mul)
def mul(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    return w.node("Mul", a, b)


@writer(TanhGrad, pairs=True)
def tanh_grad(w: Writer, op: Operation, y: Any, dy: Any) -> Any:
    """`(1 - y * y) * dy`; tracing the kernel takes three times as long."""
    if isinstance(y, Pair) or y.type.dtype not in (float32, float64):
        return trace_kernel(w, op.primitive, (y, dy), op.outputs)
    return w.node("Mul", w.node("Sub", w.scalar(1, y), w.node("Mul", y, y)), dy)


@writer(Neg)
def neg(w: Writer, op: Operation, x: Value) -> Value:
    return w.node("Neg", x)


@writer(AddN, pairs=True)
def add_n(w: Writer, op: Operation, *xs: Any) -> Any:
    if isinstance(xs[0], Pair):
        return [Pair(_total(w, [x.re for x in xs]), _total(w, [x.im for x in xs]))]
    return _total(w, xs)


def _total(w: Writer, xs: Sequence[Value]) -> Value:
    total = xs[0]
    for x in xs[1:]:
        total = w.node("Add", total, x)
    return total


@writer(Cast, pairs=True)
def cast(w: Writer, op: Operation, x: Any) -> Any:
    wanted: Any = op.outputs[0].dtype
    if isinstance(x, Pair) and wanted in INTEGER:
        x = x.re
    if isinstance(x, Pair) or wanted in COMPLEX:
        return as_value(w, as_array(w, x).astype(wanted), wanted)
    if x.type.dtype in FLOATING and wanted in INTEGER:
        return _saturated(w, x, wanted)
    return w.cast(x, wanted)


def _saturated(w: Writer, x: Value, dtype: np.dtype[Any]) -> Value:
    """NaN is 0, and what is out of range the nearest in range; runtimes differ there by themselves."""
    limits = np.iinfo(dtype)
    z = w.cast(x, float32) if x.type.dtype.itemsize < 4 else x
    z = w.where(w.node("IsNaN", z), w.scalar(0, z), z)
    kind: Any = z.type.dtype
    low, high = kind.type(limits.min), kind.type(limits.max)
    last = high if float(high) <= limits.max else np.nextafter(high, kind.type(0))
    safe = w.cast(w.node("Clip", z, w.constant(low), w.constant(last), shape=x.type.shape), dtype)
    if last == high:
        return safe
    over = w.node("GreaterOrEqual", z, w.constant(high))
    return w.where(over, w.constant(limits.max, dtype), safe)


@writer(Bitcast)
def bitcast(w: Writer, op: Operation, x: Value) -> Value:
    """Casts between whole numbers of one width keep the bits; for others there is BitCast from opset 26 on."""
    wanted: Any = op.outputs[0].dtype
    if (x.type.dtype in INTEGER and wanted in INTEGER) or x.type.dtype.kind == "b":
        return w.cast(x, wanted)
    if w.model.opset < 26:
        raise NotImplementedError("the bits of floats can only be read from opset 26 on")
    return w.node("BitCast", x, dtype=wanted, shape=x.type.shape, to=wanted)


@writer(LeftShift)
def left_shift(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    """As unsigned numbers of 64 bits; 0 where the places are not those of the dtype."""
    count = w.cast(b, int64)
    wrong = _outside(w, count, 63)
    places = w.cast(w.where(wrong, w.scalar(0, count), count), uint64)
    shifted = w.node("BitShift", w.cast(w.cast(a, int64), uint64), places, direction="LEFT")
    y = w.cast(w.cast(shifted, int64), a.type.dtype)
    return w.where(_outside(w, count, a.type.dtype.itemsize * 8 - 1), w.scalar(0, y), y)


@writer(RightShift)
def right_shift(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    """Of negative numbers the complement is shifted: only bits of the sign come in."""
    width = a.type.dtype.itemsize * 8
    count = w.cast(b, int64)
    places = w.cast(w.where(_outside(w, count, width - 1), w.constant(63, int64), count), uint64)
    if a.type.dtype.kind == "u":
        moved = w.cast(w.node("BitShift", w.cast(a, uint64), places, direction="RIGHT"), a.type.dtype)
        return w.where(_outside(w, count, width - 1), w.scalar(0, moved), moved)
    x = w.cast(a, int64)
    negative = w.node("Less", x, w.scalar(0, x))
    bits = w.cast(w.where(negative, w.node("BitwiseNot", x), x), uint64)
    moved = w.cast(w.node("BitShift", bits, places, direction="RIGHT"), int64)
    return w.cast(w.where(negative, w.node("BitwiseNot", moved), moved), a.type.dtype)


def _outside(w: Writer, count: Value, last: int) -> Value:
    return w.node("Or", w.node("Less", count, w.scalar(0, count)), w.node("Greater", count, w.scalar(last, count)))


@writer(Select)
def select(w: Writer, op: Operation, c: Value, a: Value, b: Value) -> Value:
    return w.where(c, a, b)
