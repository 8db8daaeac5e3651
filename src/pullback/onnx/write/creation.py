"""ONNX export of arrays made out of shapes and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import int64
from ...core.errors import NotRecordedError
from ...primitives.creation.constant import Const
from ...primitives.creation.eye import Eye
from ...primitives.creation.fill import Fill, Filled, FillLike
from ...primitives.creation.one_hot import OneHot
from ...primitives.creation.placeholders import PlaceholderWithDefault
from ...primitives.creation.ranges import Range
from ..records import Value
from ..registry import writer
from ..writing import Writer
from .shapes import alike, shape_vector


@writer(Filled)
def filled(w: Writer, p: Any, lengths: Value | None = None) -> Value:
    number = w.constant(np.asarray(p.value).astype(p.dtype))
    return w.expand(number, shape_vector(w, p.shape, lengths))


@writer(FillLike)
def fill_like(w: Writer, p: Any, x: Value) -> Value:
    number = w.constant(np.asarray(p.value).astype(p.dtype))
    return alike(w, w.expand(number, w.shape(x)), x)


@writer(Fill)
def fill(w: Writer, p: Any, x: Value, lengths: Value | None = None) -> Value:
    return w.expand(x, shape_vector(w, p.shape, lengths))


@writer(Range)
def range_(w: Writer, p: Any, *given: Value) -> Value:
    if not given:
        return w.constant(p.kernel(np))
    start, limit, delta = given
    kind = start.type.dtype
    if kind.kind == "f":
        # The length is worked out once; each element is one product away from the start, as everywhere else.
        span = w.node("Div", w.node("Sub", limit, start), delta)
        count = w.cast(w.node("Ceil", span), int64)
        steps = w.node("Range", w.constant(0, int64), count, w.constant(1, int64))
        return w.node("Add", w.node("Mul", w.cast(steps, kind), delta), start)
    return w.node("Range", start, limit, delta)


@writer(Eye)
def eye(w: Writer, p: Any, lengths: Value | None = None) -> Value:
    if lengths is None:
        return w.constant(p.kernel(np))
    like = w.expand(w.constant(0, np.dtype("float32")), shape_vector(w, p.shape, lengths))
    return w.cast(w.node("EyeLike", like, shape=w.op.outputs[0].shape), p.dtype)


@writer(OneHot)
def one_hot(w: Writer, p: Any, indices: Value, depth: Value | None = None) -> Value:
    """By comparing, since OneHot counts negative numbers from the end."""
    if indices.type.shape.rank is None and p.axis != -1:
        raise NotRecordedError("the rank of the indices is not known")
    if depth is None:
        numbers = w.vector(np.arange(p.depth[0]))
    else:
        count = w.reshape(w.cast(depth, int64), [])
        numbers = w.node("Range", w.constant(0, int64), count, w.constant(1, int64))
    places = w.unsqueeze(w.cast(indices, int64), [p.axis])
    rank = indices.type.shape.rank
    behind = 0 if p.axis == -1 or rank is None else rank - p.axis % (rank + 1)
    if behind:
        numbers = w.reshape(numbers, [-1, *[1] * behind])
    return w.cast(w.node("Equal", places, numbers), p.dtype)


@writer(Const)
def const(w: Writer, p: Any) -> Value:
    return w.constant(p.value)


@writer(PlaceholderWithDefault, pairs=True)
def placeholder_with_default(w: Writer, p: Any, x: Value) -> Value:
    del w
    return x
