"""ONNX export of elementwise functions that are one node, or have a better form than their kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import float32, float64
from ...primitives.elementwise.add_n import AddN
from ...primitives.elementwise.arithmetic import Add, Mul, Neg, Sub
from ...primitives.elementwise.hyperbolic import TanhGrad
from ...primitives.elementwise.masking import Mask, MaskedDiv, MaskedMul, MaskUnseen, MulNoNan, QuotientGrad
from ...primitives.elementwise.sign import ComplexAbs
from ..lean import covers, uniform
from ..pairs import Pair, trace_kernel
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .traced import traced


@writer(Add, Sub, Mul, Neg)
def arithmetic(w: Writer, p: Any, *xs: Value) -> Value:
    return w.node(type(p).__name__, *xs)


@writer(TanhGrad, pairs=True)
def tanh_grad(w: Writer, p: Any, y: Any, dy: Any) -> Any:
    """`(1 - y * y) * dy`; tracing the kernel takes three times as long."""
    if isinstance(y, Pair) or y.type.dtype not in (float32, float64):
        return trace_kernel(w, (y, dy))
    return w.node("Mul", w.node("Sub", w.scalar(1, y), w.node("Mul", y, y)), dy)


@writer(AddN, pairs=True)
def add_n(w: Writer, p: Any, *xs: Any) -> Any:
    if isinstance(xs[0], Pair):
        return [Pair(_total(w, [x.re for x in xs]), _total(w, [x.im for x in xs]))]
    return _total(w, xs)


def _total(w: Writer, xs: Sequence[Value]) -> Value:
    total = xs[0]
    for x in xs[1:]:
        total = w.node("Add", total, x)
    return total


@writer(Mask)
def mask(w: Writer, p: Any, condition: Value, x: Value) -> Value:
    zero = w.scalar(0, x)
    return w.where(condition, x, zero) if p.keep else w.where(condition, zero, x)


@writer(MaskUnseen)
def mask_unseen(w: Writer, p: Any, x: Value, b: Value, seen_by: Value) -> Value:
    """What is not finite less itself is not 0."""
    finite = w.node("Equal", w.node("Sub", b, b), w.scalar(0, b))
    zero = w.node("Equal", seen_by, w.scalar(0, seen_by))
    hidden = w.node("And", w.node("Not", finite), _all_that_meet(w, zero, seen_by, p.along))
    return w.where(hidden, w.scalar(0, x), x)


def _all_that_meet(w: Writer, holds: Value, x: Value, along: tuple[int | None, ...] | None) -> Value:
    """Whether `holds`, of the shape of `x`, for all that meets an element whose axis k goes along axis `along[k]`."""
    kept = [a for a in along or () if a is not None]
    rank = x.type.shape.rank
    others = None if rank is None or not kept else [a for a in range(rank) if a not in kept]
    if others != []:
        holds = w.node("Greater", w.reduce("ReduceMin", w.cast(holds, float32), others, False), w.constant(0, float32))
    order = [sorted(kept).index(a) for a in kept]
    turned = holds if order == sorted(order) else w.transpose(holds, order)
    alone = [k for k, a in enumerate(along or ()) if a is None]
    return w.unsqueeze(turned, alone) if kept and alone else turned


@writer(MulNoNan)
def mul_no_nan(w: Writer, p: Any, a: Value, b: Value) -> Value:
    return kept(w, [b], w.node("Mul", a, b))


@writer(MaskedMul)
def masked_mul(w: Writer, p: Any, a: Value, b: Value) -> Value:
    return kept(w, [a, b], w.node("Mul", a, b))


@writer(MaskedDiv)
def masked_div(w: Writer, p: Any, a: Value, b: Value) -> Value:
    known = w.static(b)
    y = w.node("Div", a, b)
    # Only by 0 and by NaN is 0 divided to something else.
    return y if known is not None and np.all(np.abs(known) > 0) else kept(w, [a], y)


@writer(QuotientGrad)
def quotient_grad(w: Writer, p: Any, a: Value, y: Value, b: Value) -> Value:
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
