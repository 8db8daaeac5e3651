"""ONNX export of `multiply_no_nan` and its kin, which are 0 where an operand is, whatever the other is."""

from __future__ import annotations

import numpy as np

from ...core.operation import Operation
from ...primitives.elementwise.masking import MaskedDiv, MaskedMul, MulNoNan, QuotientGrad
from ..lean import covers, uniform
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(MulNoNan)
def mul_no_nan(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    del op
    return _kept(w, [b], w.node("Mul", a, b))


@writer(MaskedMul)
def masked_mul(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    del op
    return _kept(w, [a, b], w.node("Mul", a, b))


@writer(MaskedDiv)
def masked_div(w: Writer, op: Operation, a: Value, b: Value) -> Value:
    del op
    known = w.static(b)
    y = w.node("Div", a, b)
    # Only by 0 and by NaN is 0 divided to something else.
    return y if known is not None and np.all(np.abs(known) > 0) else _kept(w, [a], y)


@writer(QuotientGrad)
def quotient_grad(w: Writer, op: Operation, a: Value, y: Value, b: Value) -> Value:
    del op
    return _kept(w, [a, y], w.node("Neg", w.node("Div", w.node("Mul", a, y), b)))


def _kept(w: Writer, operands: list[Value], y: Value) -> Value:
    """`y`, but 0 where one of the operands is; those that are known not to be 0 are not asked."""
    for x in operands:
        number = uniform(w, x)
        if number is None or not number or not covers(w, y, x):
            y = w.where(w.node("Equal", x, w.scalar(0, x)), w.scalar(0, y), y)
    return y
