"""Shape operands for ONNX export: the shape of another value, or static lengths and a vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import int64
from ...core.errors import NotRecordedError
from ...core.shape import summed_axes
from ..lean import same_shape
from ..records import Value
from ..writing import Writer


def shape_vector(w: Writer, dims: Sequence[int | None] | None, lengths: Value | None) -> Value:
    """The shape that a primitive has in an attribute, or, as far as that does not say, in a vector of integers."""
    if lengths is None:
        assert dims is not None
        return w.vector(dims)
    return w.cast(lengths, int64)


def reshaped_like(w: Writer, x: Value, like: Value) -> Value:
    """The elements of `x` in the shape of `like`."""
    if same_shape(x, like):
        return x
    dims = like.type.shape.sizes
    if dims is not None and dims.count(None) <= 1 and 0 not in dims:
        return alike(w, w.reshape(x, [-1 if n is None else n for n in dims]), like)
    return alike(w, w.reshape_to(x, w.shape(like)), like)


def repeated_like(w: Writer, x: Value, like: Value) -> Value:
    """`x` repeated to the shape of `like`."""
    return alike(w, w.expand(x, w.shape(like)), like)


def alike(w: Writer, made: Value, like: Value) -> Value:
    """`made`, which is known to have the shape of `like`."""
    return w.refined(made, like.type.shape)


def rank_of(x: Value, what: str = "its input") -> int:
    """The rank of `x`; NotRecordedError where it is not known."""
    rank = x.type.shape.rank
    if rank is None:
        raise NotRecordedError(f"the rank of {what} is not known")
    return rank


def count_along(w: Writer, x: Value, axes: Sequence[int] | None) -> Value:
    """The number of elements of `x` along some axes, or of all: a scalar of int64."""
    dims = x.type.shape.sizes
    if axes is None:
        size = x.type.shape.num_elements()
        return w.constant(size, int64) if size is not None else w.node("Size", x)
    if not axes:
        return w.constant(1, int64)
    if dims is not None and all(dims[a] is not None for a in axes):
        return w.constant(np.prod([dims[a] for a in axes], dtype=np.int64))  # type: ignore[arg-type]
    if len(axes) == 1:
        return w.reshape(w.lengths(x, axes), [])
    return w.reduce("ReduceProd", w.lengths(x, axes), None, False)


def reduced_like(w: Writer, x: Value, like: Value, op_type: str = "ReduceSum") -> Value:
    """`x` reduced over the axes along which `like` is repeated when it is broadcast to the shape of `x`."""
    if same_shape(x, like):
        return x
    axes = summed_axes(like.type.shape, x.type.shape)
    if axes is None:
        return _reduced_at_run_time(w, x, like, op_type)
    lead = rank_of(x) - rank_of(like)
    total = w.reduce(op_type, x, axes, not lead)
    return alike(w, total, like) if not lead or len(axes) == lead else reshaped_like(w, total, like)


def _reduced_at_run_time(w: Writer, x: Value, like: Value, op_type: str) -> Value:
    """Where `like` has length one and `x` has not is only known at run time."""
    wanted, shape = w.shape(like), w.shape(x)
    ranks: Any = (x.type.shape.rank, like.type.shape.rank)
    if None in ranks:
        missing = w.node("Sub", w.node("Size", shape), w.node("Size", wanted))
        ones = w.node("Expand", w.vector([1]), w.reshape(missing, [1]))
        padded = w.concat([ones, wanted], 0)
    else:
        padded = w.concat([w.vector([1] * (ranks[0] - ranks[1])), wanted], 0) if ranks[0] > ranks[1] else wanted
    one = w.node("Equal", padded, w.vector([1]))
    axes = w.reshape(w.node("NonZero", one, shape=[1, None]), [-1])
    rest = x.type.shape.rank
    total = w.node(op_type, x, axes, shape=None if rest is None else [None] * rest, keepdims=1, noop_with_empty_axes=1)
    if None not in ranks and ranks[0] == ranks[1]:
        return alike(w, total, like)
    return w.reshape(total, wanted)
