"""ONNX export of reshapes and transpositions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ....core.dtypes import bool as bool_
from ....core.dtypes import int64
from ....primitives.shape.broadcast import BroadcastLike, BroadcastTo
from ....primitives.shape.reshape import Reshape, ReshapeLike
from ....primitives.shape.reshape_keeping import ReshapeKeeping
from ....primitives.shape.size import Rank, Shape, ShapeN, Size
from ....primitives.shape.squeeze import ExpandDims, Squeeze
from ....primitives.shape.transpose import Transpose
from ...pairs import Pair
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..shapes import rank_of, repeated_like, reshaped_like, shape_vector


@writer(Reshape)
def reshape(w: Writer, p: Any, x: Value, lengths: Value | None = None) -> Value:
    out = w.op.outputs[0].shape
    if lengths is None and out.is_fully_defined():
        return w.reshape(x, out.known)
    if out.sizes is not None and out.sizes.count(None) == 1 and 0 not in out.sizes:
        return w.reshape(x, [-1 if n is None else n for n in out.sizes])
    if lengths is None:
        vector = _beside_zero(w, x, p.shape) if 0 in p.shape and -1 in p.shape else w.vector(p.shape)
        return w.node("Reshape", x, vector, **_zeros_count(p.shape))
    return w.node("Reshape", x, shape_vector(w, p.shape, lengths), **_zeros_count(p.shape))


def _beside_zero(w: Writer, x: Value, shape: Sequence[int]) -> Value:
    """`shape` with its -1 worked out as `filled` does, which ONNX refuses to do beside a 0."""
    count = w.reduce("ReduceProd", w.node("Max", w.shape(x), w.vector([1])), None, False)
    rest = w.constant(math.prod([n for n in shape if n > 0]), int64)
    return w.where(w.constant([n == -1 for n in shape], bool_), w.node("Div", count, rest), w.vector(shape))


def _zeros_count(shape: Any) -> dict[str, int]:
    """ONNX takes a length of 0 for that of the input, unless it is told otherwise."""
    return {"allowzero": 1} if shape is None or 0 in shape or None in shape else {}


def of_parts(f: Callable[[Writer, Value, Value], Value], w: Writer, x: Any, like: Any) -> Any:
    """`f` of the parts of complex numbers, one by one."""
    shape = _part(like)
    return [Pair(f(w, x.re, shape), f(w, x.im, shape))] if isinstance(x, Pair) else f(w, x, shape)


@writer(ReshapeLike, pairs=True)
def reshape_like(w: Writer, p: Any, x: Any, like: Any) -> Any:
    return of_parts(reshaped_like, w, x, like)


@writer(BroadcastTo)
def broadcast_to(w: Writer, p: Any, x: Value, lengths: Value | None = None) -> Value:
    return w.expand(x, shape_vector(w, p.shape, lengths))


@writer(BroadcastLike, pairs=True)
def broadcast_like(w: Writer, p: Any, x: Any, like: Any) -> Any:
    return of_parts(repeated_like, w, x, like)


@writer(ExpandDims)
def expand_dims(w: Writer, p: Any, x: Value) -> Value:
    if w.op.outputs[0].shape.is_fully_defined():
        return w.reshape(x, w.op.outputs[0].shape.known)
    return w.unsqueeze(x, p.axis)


@writer(Squeeze)
def squeeze(w: Writer, p: Any, x: Value) -> Value:
    out = w.op.outputs[0].shape
    if out.is_fully_defined():
        return w.reshape(x, out.known)
    if p.axis:
        return w.squeeze(x, p.axis)
    return w.node("Squeeze", x)


@writer(Transpose)
def transpose(w: Writer, p: Any, x: Value) -> Value:
    if p.perm is None and x.type.shape.rank is None:
        return w.node("Transpose", x)
    return w.transpose(x, p.perm if p.perm is not None else list(reversed(range(rank_of(x)))))


@writer(Shape, pairs=True)
def shape(w: Writer, p: Any, x: Any) -> Value:
    return w.cast(w.shape(_part(x)), w.op.outputs[0].dtype)


@writer(ShapeN, pairs=True)
def shape_n(w: Writer, p: Any, *xs: Any) -> list[Value]:
    return [w.cast(w.shape(_part(x)), y.dtype) for x, y in zip(xs, w.op.outputs, strict=True)]


@writer(Size, pairs=True)
def size(w: Writer, p: Any, x: Any) -> Value:
    return w.cast(w.node("Size", _part(x), dtype=int64), w.op.outputs[0].dtype)


@writer(Rank, pairs=True)
def rank(w: Writer, p: Any, x: Any) -> Value:
    return w.cast(w.reshape(w.node("Size", w.shape(_part(x)), dtype=int64), []), w.op.outputs[0].dtype)


def _part(x: Any) -> Value:
    """Of a complex value its real part, which has the same shape."""
    part: Value = x.re if isinstance(x, Pair) else x
    return part


@writer(ReshapeKeeping)
def reshape_keeping(w: Writer, p: Any, x: Value, lengths: Value | None = None) -> Value:
    return w.reshape(x, shape_vector(w, p.shape, lengths))
