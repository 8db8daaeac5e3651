"""ONNX export of reductions along axes, and of their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.dtypes import FLOATING, INTEGER, bfloat16, float16, float32, int32, int64
from ....core.errors import NotRecordedError
from ....primitives.reduction.argmax import ArgMax, ArgMin
from ....primitives.reduction.logsumexp import LogSumExp, LogSumExpShares
from ....primitives.reduction.norms import EuclideanNorm
from ....primitives.reduction.product import Prod
from ....primitives.reduction.reduce import (
    All,
    Any_,
    CountNonzero,
    Max,
    Mean,
    MeanGrad,
    Min,
    TieShares,
    highest,
    lowest,
)
from ....primitives.reduction.reduce_like import MaxLike, MinLike, PlacesLike, ProdLike, ShapeOnly, TieSharesLike
from ....primitives.reduction.sum import Sum, SumLike
from ...nans import orderly, with_nans
from ...records import Value
from ...registry import writer
from ...whole_numbers import whole_product, whole_sum
from ...writing import Writer
from ..shape.reshape import of_parts
from ..shapes import alike, count_along, reduced_like, repeated_like

Axes = Sequence[int] | None


def wide(x: Value) -> Any:
    """The dtype in which elements of the dtype of `x` are added up."""
    return float32 if x.type.dtype in (float16, bfloat16) else x.type.dtype


@writer(Sum)
def sum_(w: Writer, p: Any, x: Value) -> Value:
    if x.type.dtype in INTEGER:
        return whole_sum(w, x, lambda y: w.sum(y, p.axis, p.keepdims))
    return w.cast(w.sum(w.cast(x, wide(x)), p.axis, p.keepdims), x.type.dtype)


@writer(Mean)
def mean(w: Writer, p: Any, x: Value) -> Value:
    if x.type.dtype in INTEGER:
        total = whole_sum(w, w.cast(x, int64), lambda y: w.sum(y, p.axis, p.keepdims))
        count = w.node("Max", count_along(w, x, p.axis), w.constant(1, int64))
        return w.cast(w.node("Div", total, count), x.type.dtype)
    if p.axis == () or _may_be_empty(x, p.axis):
        total = w.sum(x, p.axis, p.keepdims)
        return w.node("Div", total, w.cast(count_along(w, x, p.axis), x.type.dtype))
    return w.cast(w.reduce("ReduceMean", w.cast(x, wide(x)), p.axis, p.keepdims), x.type.dtype)


def _may_be_empty(x: Value, axis: Axes) -> bool:
    """Whether a length along `axis` is 0 or unknown: onnxruntime's ReduceMean of nothing is 0."""
    dims = x.type.shape.sizes
    if dims is None:
        return True
    return any(dims[a] in (0, None) for a in (range(len(dims)) if axis is None else axis))


@writer(MeanGrad)
def mean_grad(w: Writer, p: Any, dy: Value, like: Value | None = None) -> Value:
    """The share is divided before it is repeated."""
    dims = p.shape if like is None else like.type.shape.sizes
    if like is None:
        axes = range(len(p.shape)) if p.axis is None else p.axis
        count = w.constant(max(int(np.prod([p.shape[a] for a in axes])), 1), int64)
    else:
        count = count_along(w, like, p.axis)
    share = w.cast(w.node("Div", w.cast(dy, wide(dy)), w.cast(count, wide(dy))), dy.type.dtype)
    share = kept(w, share, None if dims is None else len(dims), p.axis, p.keepdims)
    return w.expand(share, p.shape) if like is None else repeated_like(w, share, like)


def kept(w: Writer, y: Value, rank: int | None, axis: Axes, keepdims: bool) -> Value:
    """`y`, a reduction along `axis`, with length one there, so that it broadcasts."""
    if keepdims or axis is None or list(axis) == list(range(len(axis))):
        return y
    del rank
    return w.unsqueeze(y, axis)


@writer(Max, Min)
def extremum(w: Writer, p: Any, x: Value) -> Value:
    op_type, nothing = ("ReduceMax", lowest) if isinstance(p, Max) else ("ReduceMin", highest)
    if 0 in (x.type.shape.sizes or ()) and w.op.outputs[0].shape.is_fully_defined():
        return w.constant(np.full(w.op.outputs[0].shape.known, nothing(x.type.dtype), x.type.dtype))
    y = w.reduce(op_type, x, p.axis, p.keepdims)
    return y if y is x else with_nans(w, x, y, lambda nans: w.sum(nans, p.axis, p.keepdims))


@writer(TieShares)
def tie_shares(w: Writer, p: Any, x: Value, y: Value) -> Value:
    top = kept(w, y, x.type.shape.rank, p.axis, p.keepdims)
    equal = w.cast(w.node("Equal", x, top), x.type.dtype)
    count = w.reduce("ReduceSum", equal, p.axis, True)
    return alike(w, w.node("Div", equal, count), x)


@writer(TieSharesLike)
def tie_shares_like(w: Writer, p: Any, x: Value, y: Value) -> Value:
    equal = w.cast(w.node("Equal", x, y), x.type.dtype)
    return alike(w, w.node("Div", equal, reduced_like(w, equal, y)), x)


@writer(Any_)
def any_(w: Writer, p: Any, x: Value) -> Value:
    count = w.sum(w.cast(x, int32), p.axis, p.keepdims)
    return w.node("Greater", count, w.scalar(0, count))


@writer(All)
def all_(w: Writer, p: Any, x: Value) -> Value:
    count = w.sum(w.cast(w.node("Not", x), int32), p.axis, p.keepdims)
    return w.node("Equal", count, w.scalar(0, count))


@writer(CountNonzero)
def count_nonzero(w: Writer, p: Any, x: Value) -> Value:
    return w.cast(w.sum(w.cast(nonzero(w, x), int64), p.axis, p.keepdims), p.dtype)


def nonzero(w: Writer, x: Value) -> Value:
    """Whether each element is not 0."""
    if x.type.dtype == np.dtype(bool):
        return x
    if x.type.dtype in FLOATING or x.type.dtype in INTEGER:
        return w.node("Not", w.node("Equal", x, w.scalar(0, x)))
    raise NotRecordedError(f"there is no {x.type.dtype} in ONNX")


@writer(LogSumExp)
def logsumexp(w: Writer, p: Any, x: Value) -> Value:
    return w.cast(w.reduce("ReduceLogSumExp", w.cast(x, wide(x)), p.axis, p.keepdims), x.type.dtype)


@writer(LogSumExpShares)
def logsumexp_shares(w: Writer, p: Any, x: Value) -> Value:
    narrow, x = x.type.dtype, w.cast(x, wide(x))
    most = np.finfo(x.type.dtype).max
    top = w.node("Max", w.node("Min", w.reduce("ReduceMax", x, p.axis, True), w.scalar(most, x)), w.scalar(-most, x))
    e = w.node("Exp", w.node("Sub", x, top))
    total = w.sum(e, p.axis, True)
    one = w.scalar(1, x)
    shares = w.node("Div", e, w.where(w.node("Equal", total, w.scalar(0, x)), one, total))
    return w.cast(w.where(w.node("Equal", e, w.scalar(np.inf, x)), one, shares), narrow)


@writer(EuclideanNorm)
def euclidean_norm(w: Writer, p: Any, x: Value) -> Value:
    if p.axis == () or x.type.shape.rank == 0:
        return w.node("Abs", x)
    return w.cast(w.reduce("ReduceL2", w.cast(x, wide(x)), p.axis, p.keepdims), x.type.dtype)


@writer(MaxLike, MinLike)
def extremum_like(w: Writer, p: Any, x: Value, like: Value) -> Value:
    y = reduced_like(w, x, like, "ReduceMax" if isinstance(p, MaxLike) else "ReduceMin")
    return y if y is x else with_nans(w, x, y, lambda nans: reduced_like(w, nans, like))


@writer(ProdLike)
def prod_like(w: Writer, p: Any, x: Value, like: Value) -> Value:
    return reduced_like(w, x, like, "ReduceProd")


@writer(PlacesLike)
def places_like(w: Writer, p: Any, x: Value, like: Value) -> Value:
    size = w.node("Size", like)
    numbers = w.node("Range", w.constant(0, int64), size, w.constant(1, int64))
    own = w.reshape_to(numbers, w.shape(like))
    return w.expand(own, w.shape(x))


@writer(ShapeOnly)
def shape_only(w: Writer, p: Any, lengths: Value) -> Value:
    return w.expand(w.constant(False), w.cast(lengths, int64))


@writer(Prod)
def prod(w: Writer, p: Any, x: Value) -> Value:
    if x.type.dtype in INTEGER:
        return whole_product(w, x, p.axis, p.keepdims)
    return w.cast(w.reduce("ReduceProd", w.cast(x, wide(x)), p.axis, p.keepdims), x.type.dtype)


@writer(ArgMax, ArgMin)
def argument(w: Writer, p: Any, x: Value) -> Value:
    key = orderly(w, x, first=isinstance(p, ArgMin))
    found = w.node(p.type, key, shape=w.op.outputs[0].shape, axis=p.axis, keepdims=0)
    return w.cast(found, w.op.outputs[0].dtype)


@writer(SumLike, pairs=True)
def sum_like(w: Writer, p: Any, x: Any, like: Any) -> Any:
    if x.type.dtype in INTEGER:
        return whole_sum(w, x, lambda y: reduced_like(w, y, like))
    return of_parts(reduced_like, w, x, like)
