"""ONNX export of operations on the bits of integers."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int64, uint64
from ...primitives.bitwise import LeftShift, RightShift
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(LeftShift)
def left_shift(w: Writer, p: Any, a: Value, b: Value) -> Value:
    """As unsigned numbers of 64 bits; 0 where the places are not those of the dtype."""
    count = w.cast(b, int64)
    wrong = _outside(w, count, 63)
    places = w.cast(w.where(wrong, w.scalar(0, count), count), uint64)
    shifted = w.node("BitShift", w.cast(w.cast(a, int64), uint64), places, direction="LEFT")
    y = w.cast(w.cast(shifted, int64), a.type.dtype)
    return w.where(_outside(w, count, a.type.dtype.itemsize * 8 - 1), w.scalar(0, y), y)


@writer(RightShift)
def right_shift(w: Writer, p: Any, a: Value, b: Value) -> Value:
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
