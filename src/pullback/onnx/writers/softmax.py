"""ONNX export of softmax, of its logarithm, and of the cross entropies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, float16, float32, int32, int64
from ...core.operation import Operation
from ...primitives.activations.softmax import LogSoftmax, LogSoftmaxGrad, Softmax, SoftmaxGrad
from ...primitives.losses.cross_entropy import SoftmaxCrossEntropyWithLogits, SparseSoftmaxCrossEntropyWithLogits
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
    column = w.unsqueeze(labels if labels.type.dtype in (int32, int64) else w.cast(labels, int64), [rank - 1])
    last = w.node("Sub", w.cast(w.reshape(classes, []), column.type.dtype), w.scalar(1, column))
    nearest = w.node("Clip", column, w.scalar(0, column), last)
    logarithm = w.where(w.node("Equal", nearest, column), logarithm, w.scalar(np.nan, x))
    loss = back = None
    if w.read(op, 0):
        picked = w.node("GatherElements", logarithm, nearest, shape=column.type.shape, axis=-1)
        loss = _narrow(w, op, w.node("Neg", w.squeeze(picked, [rank - 1])))
    if w.read(op, 1):
        numbers = w.cast(_range(w, classes), column.type.dtype)
        hot = w.node("Equal", column, numbers)
        back = _narrow(w, op, w.node("Sub", w.node("Exp", logarithm), w.cast(hot, x.type.dtype)))
    return [loss, back]


def _range(w: Writer, count: Value) -> Value:
    known = w.static(count)
    if known is not None:
        return w.vector(range(int(known[0])))
    zero, one = w.constant(np.int64(0)), w.constant(np.int64(1))
    return w.node("Range", zero, w.reshape(count, []), one)


def _wide(w: Writer, x: Value) -> Value:
    """`x`, in float32 where it holds 16-bit floats."""
    return w.cast(x, float32) if x.type.dtype in (float16, bfloat16) else x


def _narrow(w: Writer, op: Operation, y: Value) -> Value:
    return w.cast(y, op.outputs[0].dtype)
