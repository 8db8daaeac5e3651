"""ONNX export of means and variances."""

from __future__ import annotations

from math import prod
from typing import Any

from ....core.dtypes import bfloat16, float16, float32
from ....primitives.reduction.moments import LengthProduct, Moments
from ...records import Value
from ...registry import writer
from ...writing import Writer


@writer(Moments)
def moments(w: Writer, p: Any, x: Value) -> list[Value]:
    x = widened(w, x)
    mean, variance, _ = mean_and_variance(w, x, p.axis)
    axes = list(range(len(x.type.shape.sizes or ()))) if p.axis is None else list(p.axis)
    made = [mean, variance] if p.keepdims else [w.squeeze(v, axes) for v in (mean, variance)]
    return [w.cast(v, w.op.outputs[0].dtype) for v in made]


@writer(LengthProduct)
def length_product(w: Writer, p: Any, x: Value) -> Value:
    return product_of_lengths(w, x, p.axis, x)


def product_of_lengths(w: Writer, x: Value, axes: Any, like: Value) -> Value:
    lengths = w.lengths(x, list(axes))
    return w.cast(w.node("ReduceProd", lengths, keepdims=0), like.type.dtype)


def mean_and_variance(w: Writer, x: Value, axis: Any) -> tuple[Value, Value, Value]:
    """Both with length one at `axis`, and the differences from the mean."""
    mean = mean_along(w, x, axis)
    deviation = w.node("Sub", x, mean)
    return mean, mean_along(w, w.node("Mul", deviation, deviation), axis), deviation


def mean_along(w: Writer, x: Value, axis: Any) -> Value:
    dims = x.type.shape.sizes
    axes = list(range(len(dims or ()))) if axis is None else list(axis)
    if dims is not None and None not in dims and prod([dims[a] for a in axes]) == 0:  # type: ignore[misc]
        return w.node("Div", w.reduce("ReduceSum", x, axis, True), w.scalar(0, x))
    return w.reduce("ReduceMean", x, axis, True)


def widened(w: Writer, x: Value) -> Value:
    """`x`, in float32 where it holds 16-bit floats."""
    return w.cast(x, float32) if x.type.dtype in (float16, bfloat16) else x
