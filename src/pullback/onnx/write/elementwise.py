"""ONNX export of elementwise functions that are one node, or have a better form than their kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import float32, float64
from ...core.operation import Operation
from ...primitives.elementwise.add_n import AddN
from ...primitives.elementwise.arithmetic import Add, Mul, Neg, Sub
from ...primitives.elementwise.hyperbolic import TanhGrad
from ...primitives.elementwise.masking import Mask, MaskedDiv, MaskedMul, MulNoNan, QuotientGrad
from ...primitives.elementwise.sign import ComplexAbs
from ..lean import covers, uniform
from ..pairs import Pair, trace_kernel
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .traced import traced


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


@writer(Mask)
def mask(w: Writer, op: Operation, condition: Value, x: Value) -> Value:
    p: Any = op.primitive
    zero = w.scalar(0, x)
    return w.where(condition, x, zero) if p.keep else w.where(condition, zero, x)


@writer(MulNoNan)
def mul_no_nan(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    del op
    return kept(w, [b], w.node("Mul", a, b))


@writer(MaskedMul)
def masked_mul(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    del op
    return kept(w, [a, b], w.node("Mul", a, b))


@writer(MaskedDiv)
def masked_div(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    del op
    known = w.static(b)
    y = w.node("Div", a, b)
    # Only by 0 and by NaN is 0 divided to something else.
    return y if known is not None and np.all(np.abs(known) > 0) else kept(w, [a], y)


@writer(QuotientGrad)
def quotient_grad(w: Writer, op: Operation, a: Value, y: Value, b: Value) -> Value:
    del op
    return kept(w, [a, y], w.node("Neg", w.node("Div", w.node("Mul", a, y), b)))


def kept(w: Writer, operands: list[Value], y: Value) -> Value:
    """`y`, but 0 where one of the operands is; those that are known not to be 0 are not asked."""
    for x in operands:
        number = uniform(w, x)
        if number is None or not number or not covers(y, x):
            y = w.where(w.node("Equal", x, w.scalar(0, x)), w.scalar(0, y), y)
    return y


# Where all lengths are known, the kernels of these say how they are written.
writer(ComplexAbs, pairs=True)(traced)
