"""ONNX export of softmax, of its logarithm, and of the cross entropies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.dtypes import bfloat16, float16, float32, float64
from ....primitives.activations.softmax import LogSoftmax, LogSoftmaxGrad, Softmax, SoftmaxGrad
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..elementwise import kept

_LONGEST_TABLE = 2**20


@writer(Softmax, LogSoftmax)
def softmax(w: Writer, p: Any, x: Value) -> Value:
    x = widened(w, x)
    return narrowed(w, log_softmax(w, x, p.axis) if p.type == "LogSoftmax" else w.node(p.type, x, axis=p.axis))


def log_softmax(w: Writer, x: Value, axis: int) -> Value:
    """NaN along the axis where it holds NaN or inf, which onnxruntime forgets in float64."""
    y = w.node("LogSoftmax", x, axis=axis)
    if x.type.dtype != float64:
        return y
    finite = w.node("Less", x, w.scalar(np.inf, x))
    return w.node("Add", y, w.sum(w.where(finite, w.scalar(0, x), w.scalar(np.nan, x)), [axis], True))


@writer(SoftmaxGrad)
def softmax_grad(w: Writer, p: Any, y: Value, dy: Value) -> Value:
    """`y * dy - y * sum(y * dy)`: the product is needed once. Zeros win over a `y` that is NaN."""
    y, dy = widened(w, y), widened(w, dy)
    product = kept(w, [dy], w.node("Mul", y, dy))
    total = w.sum(product, [p.axis], True)
    return narrowed(w, w.node("Sub", product, kept(w, [total], w.node("Mul", y, total))))


@writer(LogSoftmaxGrad)
def log_softmax_grad(w: Writer, p: Any, y: Value, dy: Value) -> Value:
    y, dy = widened(w, y), widened(w, dy)
    total = w.sum(dy, [p.axis], True)
    return narrowed(w, w.node("Sub", dy, kept(w, [total], w.node("Mul", w.node("Exp", y), total))))


def counted_up(w: Writer, count: Value) -> Value:
    known = w.static(count)
    if known is not None and known[0] <= _LONGEST_TABLE:
        return w.vector(range(int(known[0])))
    zero, one = w.constant(np.int64(0)), w.constant(np.int64(1))
    return w.node("Range", zero, w.reshape(count, []), one)


def widened(w: Writer, x: Value) -> Value:
    """`x`, in float32 where it holds 16-bit floats."""
    return w.cast(x, float32) if x.type.dtype in (float16, bfloat16) else x


def narrowed(w: Writer, y: Value) -> Value:
    return w.cast(y, w.op.outputs[0].dtype)
