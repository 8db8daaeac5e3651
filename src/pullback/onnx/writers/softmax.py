"""Writers of softmax, of its logarithm, and of the cross entropies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, float16, float32, int64
from ...core.operation import Operation
from ...primitives.cross_entropy import SoftmaxCrossEntropyWithLogits, SparseSoftmaxCrossEntropyWithLogits
from ...primitives.softmax import LogSoftmax, LogSoftmaxGrad, Softmax, SoftmaxGrad
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(Softmax, LogSoftmax)
def softmax(w: Writer, op: Operation, x: Value) -> Value:
    p: Any = op.primitive
    return _narrow(w, op, w.node(op.type, _wide(w, x), axis=p.axis))


@writer(SoftmaxGrad)
def softmax_grad(w: Writer, op: Operation, y: Value, dy: Value) -> Value:
    """`y * dy - y * sum(y * dy)`: the product is needed once."""
    p: Any = op.primitive
    y, dy = _wide(w, y), _wide(w, dy)
    product = w.node("Mul", y, dy)
    total = w.sum(product, [p.axis], True)
    return _narrow(w, op, w.node("Sub", product, w.node("Mul", y, total)))


@writer(LogSoftmaxGrad)
def log_softmax_grad(w: Writer, op: Operation, y: Value, dy: Value) -> Value:
    p: Any = op.primitive
    y, dy = _wide(w, y), _wide(w, dy)
    total = w.sum(dy, [p.axis], True)
    return _narrow(w, op, w.node("Sub", dy, w.node("Mul", w.node("Exp", y), total)))


@writer(SoftmaxCrossEntropyWithLogits)
def cross_entropy(w: Writer, op: Operation, x: Value, labels: Value) -> list[Value | None]:
    p: Any = op.primitive
    x, labels = _wide(w, x), _wide(w, labels)
    axis = p.axis if x.type.shape.rank is None else p.axis % x.type.shape.rank
    logarithm = w.node("LogSoftmax", x, axis=p.axis)
    loss = back = None
    if w.read(op, 0):
        zero = w.scalar(0, labels)
        terms = w.where(w.node("Equal", labels, zero), zero, w.node("Mul", labels, logarithm))
        loss = _narrow(w, op, w.node("Neg", w.sum(terms, [axis], False)))
    if w.read(op, 1):
        shares = w.node("Mul", w.node("Exp", logarithm), w.sum(labels, [axis], True))
        back = _narrow(w, op, w.node("Sub", shares, labels))
    return [loss, back]


@writer(SparseSoftmaxCrossEntropyWithLogits)
def sparse_cross_entropy(w: Writer, op: Operation, x: Value, labels: Value) -> list[Value | None]:
    """NaN where a label is not the number of a class."""
    x = _wide(w, x)
    rank = len(x.type.shape.dims or (None,))
    logarithm = w.node("LogSoftmax", x, axis=-1)
    classes = w.lengths(x, [rank - 1])
    column = w.unsqueeze(w.cast(labels, int64), [rank - 1])
    count = w.static(classes)
    numbers = w.vector(range(int(count[0]))) if count is not None else _range(w, classes)
    hot = w.node("Equal", column, numbers)
    known = w.node(
        "And", w.node("GreaterOrEqual", column, w.constant(np.int64(0))), w.node("Less", column, w.reshape(classes, []))
    )
    nan = w.scalar(np.nan, x)
    logarithm = w.where(known, logarithm, nan)
    loss = back = None
    if w.read(op, 0):
        picked = w.where(hot, logarithm, w.scalar(0, x))
        total = w.node("Neg", w.sum(picked, [rank - 1], False))
        loss = _narrow(w, op, w.where(w.squeeze(known, [rank - 1]), total, nan))
    if w.read(op, 1):
        back = _narrow(w, op, w.node("Sub", w.node("Exp", logarithm), w.cast(hot, x.type.dtype)))
    return [loss, back]


def _range(w: Writer, count: Value) -> Value:
    zero, one = w.constant(np.int64(0)), w.constant(np.int64(1))
    return w.node("Range", zero, w.reshape(count, []), one)


def _wide(w: Writer, x: Value) -> Value:
    """`x`, in float32 where it holds 16-bit floats."""
    return w.cast(x, float32) if x.type.dtype in (float16, bfloat16) else x


def _narrow(w: Writer, op: Operation, y: Value) -> Value:
    return w.cast(y, op.outputs[0].dtype)
