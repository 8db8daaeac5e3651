"""GraphDef export of reductions along axes, and of what repeats them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, float16, float32
from ...primitives.reduction.argmax import ArgMax, ArgMin
from ...primitives.reduction.logsumexp import LogSumExp, LogSumExpShares
from ...primitives.reduction.moments import Moments
from ...primitives.reduction.norms import EuclideanNorm, Root
from ...primitives.reduction.product import Prod
from ...primitives.reduction.reduce import All, Any_, CountNonzero, Max, Mean, MeanGrad, Min, TieShares
from ...primitives.reduction.reduce_like import ShapeOnly, TieSharesLike
from ...primitives.reduction.sum import Sum, SumLike
from ..body import Body, Ref
from ..exporting import writer
from ..traced import record_kernel


def axes_of(body: Body, p: Any) -> Ref:
    """The axes of a reduction of the first input, all where none are said."""
    if p.axis is not None:
        return body.integers(list(p.axis))
    return all_axes(body, body.refs[body.op.inputs[0]])


def all_axes(body: Body, x: Ref) -> Ref:
    """All axes of the first input."""
    rank = body.op.inputs[0].shape.rank
    if rank is not None:
        return body.integers(list(range(rank)))
    return body.node("Range", body.integers(0), body.node("Rank", x), body.integers(1))


@writer(Sum, Mean, Prod, Max, Min, Any_, All, EuclideanNorm)
def reduced(body: Body, p: Any, x: Ref) -> Any:
    return body.main(p.type, x, axes_of(body, p), keep_dims=p.keepdims)


@writer(ArgMax, ArgMin)
def place(body: Body, p: Any, x: Ref) -> Any:
    return body.main(p.type, x, body.integers(p.axis), output_type=body.op.outputs[0].dtype)


@writer(LogSumExp)
def log_sum_exp(body: Body, p: Any, x: Ref) -> Any:
    top, _, total = _exponentials(body, p, x)
    result = body.node("AddV2", body.node("Log", total), top)
    return result if p.keepdims else body.main("Sum", result, axes_of(body, p), keep_dims=False)


@writer(LogSumExpShares)
def log_sum_exp_shares(body: Body, p: Any, x: Ref) -> Any:
    _, e, total = _exponentials(body, p, x)
    infinite = body.node("Equal", e, body.constant(np.inf, x.dtype))
    ones = body.node("OnesLike", x)
    return body.main("SelectV2", infinite, ones, body.node("DivNoNan", e, total))


def _exponentials(body: Body, p: Any, x: Ref) -> tuple[Ref, Ref, Ref]:
    """The largest element, made finite, `exp` of the elements less that, and its sum."""
    axes = axes_of(body, p)
    most = body.constant(np.finfo(x.dtype).max, x.dtype)
    top = body.node("Max", x, axes, keep_dims=True)
    top = body.node("Maximum", body.node("Minimum", top, most), body.node("Neg", most))
    e = body.node("Exp", body.node("Sub", x, top))
    return top, e, body.node("Sum", e, axes, keep_dims=True)


@writer(CountNonzero)
def count_nonzero(body: Body, p: Any, x: Ref) -> Any:
    is_there = body.node("NotEqual", x, body.constant(np.zeros((), x.dtype)))
    return body.main(
        "Sum", body.node("Cast", is_there, DstT=body.op.outputs[0].dtype), axes_of(body, p), keep_dims=p.keepdims
    )


@writer(Moments)
def moments(body: Body, p: Any, x: Ref) -> Any:
    axes = axes_of(body, p)
    mean = body.node("Mean", x, axes, keep_dims=True)
    variance = body.node("Mean", body.node("SquaredDifference", x, mean), axes, keep_dims=p.keepdims)
    return body.node("Mean", x, axes, keep_dims=p.keepdims), variance


@writer(MeanGrad)
def mean_grad(body: Body, p: Any, dy: Ref, *like: Ref) -> Any:
    """dy, divided by the number of elements of which it is the mean, where those are."""
    shape = body.shape_of(like[0]) if like else body.integers(list(p.shape))
    if p.axis is None:
        lengths, kept = shape, body.node("OnesLike", shape)
    else:
        axes = np.array(p.axis, np.int32)[:, None]
        ones = body.constant(np.ones(len(axes)), np.int32)
        if (axes < 0).any():
            return body.refuse("the rank of what it is the mean of must be known")
        lengths = body.node("GatherNd", shape, body.constant(axes))
        kept = body.node("TensorScatterUpdate", shape, body.constant(axes), ones)
    count = body.node("Maximum", body.node("Prod", lengths, body.integers([0]), keep_dims=False), body.integers(1))
    wide = float32 if dy.dtype in (float16, bfloat16) else dy.dtype
    share = body.cast(body.node("RealDiv", body.cast(dy, wide), body.cast(count, wide)), dy.dtype)
    return body.main("BroadcastTo", body.node("Reshape", share, kept), shape)


@writer(TieShares)
def tie_shares(body: Body, p: Any, x: Ref, y: Ref) -> Any:
    axes = axes_of(body, p)
    if not p.keepdims:
        y = body.node("Max", y, body.integers([]), keep_dims=False)
        y = _kept(body, p, x, y)
    equal = body.node("Cast", body.node("Equal", x, y), DstT=x.dtype)
    return body.main("RealDiv", equal, body.node("Sum", equal, axes, keep_dims=True))


@writer(TieSharesLike)
def tie_shares_like(body: Body, p: Any, x: Ref, y: Ref) -> Any:
    equal = body.node("Cast", body.node("Equal", x, y), DstT=x.dtype)
    repeated, _ = body.outputs("BroadcastGradientArgs", body.shape_of(y), body.shape_of(x))
    count = body.node("Reshape", body.node("Sum", equal, repeated, keep_dims=False), body.shape_of(y))
    return body.main("RealDiv", equal, count)


def _kept(body: Body, p: Any, x: Ref, y: Ref) -> Ref:
    """`y`, a reduction of `x`, with axes of length one where `x` was reduced."""
    shape = body.shape_of(body.node("Max", x, axes_of(body, p), keep_dims=True))
    return body.node("Reshape", y, shape)


@writer(SumLike)
def sum_like(body: Body, p: Any, x: Ref, like: Ref) -> Any:
    """The sum along the axes that broadcasting `like` to the shape of `x` repeats."""
    mine, its = (y.shape for y in body.op.inputs)
    shape = body.shape_of(like)
    if mine.rank is None or its.rank is None or None in its.as_list():
        repeated, _ = body.outputs("BroadcastGradientArgs", shape, body.shape_of(x))
    else:
        ahead = mine.rank - its.rank
        repeated = body.integers([*range(ahead), *[ahead + i for i, n in enumerate(its.as_list()) if n == 1]])
    return body.main("Reshape", body.node("Sum", x, repeated, keep_dims=False), shape)


@writer(ShapeOnly)
def shape_only(body: Body, p: Any, lengths: Ref) -> Any:
    return body.main("Fill", lengths, body.constant(False))


@writer(Root)
def root(body: Body, p: Any, x: Ref) -> Any:
    """A choice at 0: the derivative of what is read again is 0 there, which that of a power is not."""
    zero = body.constant(0, x.dtype)
    return body.main("SelectV2", body.node("Equal", x, zero), zero, record_kernel(body, body.op, [x]))
