"""ONNX export of moments, and of what is normalised with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.normalization.normalization import Neighbours, Standardize, StandardizeGrad, Unbiased
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .reduction.moments import mean_along, mean_and_variance, product_of_lengths, widened
from .traced import traced


@writer(Standardize)
def standardize(w: Writer, p: Any, x: Value) -> list[Value]:
    x = widened(w, x)
    mean, variance, deviation = _given_moments(w, x, p) or mean_and_variance(w, x, p.axis)
    y = w.node("Mul", deviation, _inverse(w, variance, p.epsilon))
    return [w.cast(v, w.op.outputs[0].dtype) for v in (y, mean, variance)]


@writer(StandardizeGrad)
def standardize_grad(w: Writer, p: Any, dy: Value, y: Value, variance: Value) -> Value:
    dy, y, variance = (widened(w, v) for v in (dy, y, variance))
    mean = mean_along(w, dy, p.axis)
    projection = mean_along(w, w.node("Mul", y, dy), p.axis)
    rest = w.node("Sub", w.node("Sub", dy, mean), w.node("Mul", y, projection))
    return w.cast(w.node("Mul", rest, _inverse(w, variance, p.epsilon)), w.op.outputs[0].dtype)


@writer(Unbiased)
def unbiased(w: Writer, p: Any, variance: Value, x: Value) -> Value:
    count = product_of_lengths(w, x, p.axis, variance)
    one = w.scalar(1, variance)
    rest = w.node("Max", w.node("Sub", count, one), one)
    return w.node("Mul", variance, w.node("Div", count, rest))


def _given_moments(w: Writer, x: Value, p: Any) -> tuple[Value, Value, Value] | None:
    """The same, where a LayerNormalization of `x` gives the mean and one over the root of variance and epsilon."""
    rank = x.type.shape.rank
    if p.axis is None or rank is None or list(p.axis) != list(range(p.axis[0], rank)):
        return None
    record = w.model.normalised.get((x.name, p.axis[0], float(np.float32(p.epsilon))))
    if record is None:
        return None
    _, variance, _ = mean_and_variance(w, x, p.axis)  # left out of the model where nobody reads it
    mean, inverse = [w.further_output(record, i, variance.type) for i in (1, 2)]
    w.model.inverses[variance.name] = inverse
    return mean, variance, w.node("Sub", x, mean)


def _inverse(w: Writer, variance: Value, epsilon: float) -> Value:
    if variance.name in w.model.inverses:
        return w.model.inverses[variance.name]
    root = w.node("Sqrt", w.node("Add", variance, w.scalar(epsilon, variance)))
    return w.node("Reciprocal", root)


# Where all lengths are known, the kernels of these say how they are written.
writer(Neighbours, pairs=True)(traced)
