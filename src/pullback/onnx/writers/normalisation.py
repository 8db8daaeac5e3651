"""ONNX export of moments, and of what is normalised with them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, float16, float32
from ...core.operation import Operation
from ...primitives.normalization.normalization import Standardize, StandardizeGrad, Unbiased
from ...primitives.reduction.moments import LengthProduct, Moments
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(Moments)
def moments(w: Writer, op: Operation, x: Value) -> list[Value]:
    p: Any = op.primitive
    x = _wide(w, x)
    mean, variance, _ = _moments(w, x, p.axis)
    axes = list(range(len(x.type.shape.dims or ()))) if p.axis is None else list(p.axis)
    made = [mean, variance] if p.keepdims else [w.squeeze(v, axes) for v in (mean, variance)]
    return [w.cast(v, op.outputs[0].dtype) for v in made]


@writer(Standardize)
def standardize(w: Writer, op: Operation, x: Value) -> list[Value]:
    p: Any = op.primitive
    x = _wide(w, x)
    mean, variance, deviation = _given_moments(w, x, p) or _moments(w, x, p.axis)
    y = w.node("Mul", deviation, _inverse(w, variance, p.epsilon))
    return [w.cast(v, op.outputs[0].dtype) for v in (y, mean, variance)]


@writer(StandardizeGrad)
def standardize_grad(w: Writer, op: Operation, dy: Value, y: Value, variance: Value) -> Value:
    p: Any = op.primitive
    dy, y, variance = (_wide(w, v) for v in (dy, y, variance))
    mean = _mean(w, dy, p.axis)
    projection = _mean(w, w.node("Mul", y, dy), p.axis)
    rest = w.node("Sub", w.node("Sub", dy, mean), w.node("Mul", y, projection))
    return w.cast(w.node("Mul", rest, _inverse(w, variance, p.epsilon)), op.outputs[0].dtype)


@writer(Unbiased)
def unbiased(w: Writer, op: Operation, variance: Value, x: Value) -> Value:
    p: Any = op.primitive
    count = _length_product(w, x, p.axis, variance)
    one = w.scalar(1, variance)
    rest = w.node("Max", w.node("Sub", count, one), one)
    return w.node("Mul", variance, w.node("Div", count, rest), shape=variance.type.shape)


@writer(LengthProduct)
def length_product(w: Writer, op: Operation, x: Value) -> Value:
    p: Any = op.primitive
    return _length_product(w, x, p.axis, x)


def _length_product(w: Writer, x: Value, axes: Any, like: Value) -> Value:
    lengths = w.lengths(x, list(axes))
    return w.cast(w.node("ReduceProd", lengths, shape=[], keepdims=0), like.type.dtype)


def _moments(w: Writer, x: Value, axis: Any) -> tuple[Value, Value, Value]:
    """Both with length one at `axis`, and the differences from the mean."""
    mean = _mean(w, x, axis)
    deviation = w.node("Sub", x, mean)
    return mean, _mean(w, w.node("Mul", deviation, deviation), axis), deviation


def _given_moments(w: Writer, x: Value, p: Any) -> tuple[Value, Value, Value] | None:
    """The same, where a LayerNormalization of `x` gives the mean and one over the root of variance and epsilon."""
    rank = x.type.shape.rank
    if p.axis is None or rank is None or list(p.axis) != list(range(p.axis[0], rank)):
        return None
    record = w.model.normalised.get((x.name, p.axis[0], float(np.float32(p.epsilon))))
    if record is None:
        return None
    _, variance, _ = _moments(w, x, p.axis)  # left out of the model where nobody reads it
    mean, inverse = [w.further_output(record, i, variance.type) for i in (1, 2)]
    w.model.inverses[variance.name] = inverse
    return mean, variance, w.node("Sub", x, mean)


def _mean(w: Writer, x: Value, axis: Any) -> Value:
    dims = x.type.shape.dims
    axes = list(range(len(dims or ()))) if axis is None else list(axis)
    if dims is not None and None not in dims and prod([dims[a] for a in axes]) == 0:  # type: ignore[misc]
        return w.node("Div", w.reduce("ReduceSum", x, axis, True), w.scalar(0, x))
    return w.reduce("ReduceMean", x, axis, True)


def _inverse(w: Writer, variance: Value, epsilon: float) -> Value:
    if variance.name in w.model.inverses:
        return w.model.inverses[variance.name]
    root = w.node("Sqrt", w.node("Add", variance, w.scalar(epsilon, variance)))
    return w.node("Reciprocal", root)


def _wide(w: Writer, x: Value) -> Value:
    """`x`, in float32 where it holds 16-bit floats."""
    return w.cast(x, float32) if x.type.dtype in (float16, bfloat16) else x
