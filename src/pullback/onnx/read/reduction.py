"""ONNX import of reductions. Where a run decides the axes, primitives reduce to a shape computed in the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import FLOATING, float64, int64
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import constant
from ...primitives.elementwise.exponential import exp, log
from ...primitives.elementwise.powers import sqrt, square
from ...primitives.elementwise.sign import absolute
from ...primitives.identity.identity import stop_gradient
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal
from ...primitives.logic.logical import logical_not, logical_or
from ...primitives.reduction.argmax import argmax, argmin
from ...primitives.reduction.logsumexp import reduce_logsumexp
from ...primitives.reduction.norms import euclidean_norm
from ...primitives.reduction.product import reduce_prod
from ...primitives.reduction.reduce import reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from ...primitives.reduction.reduce_like import MaxLike, MinLike, ProdLike, ShapeOnly
from ...primitives.reduction.sum import SumLike
from ...primitives.shape.reshape import reshape
from ...primitives.shape.reverse import reverse
from ...primitives.shape.size import shape as shape_of
from ...primitives.shape.size import size
from ...primitives.shape.squeeze import expand_dims
from ..reading import Node, reader
from .lengths import length, rank_of
from .operands import count_of, flags_of, from_front, integers, lengths_without

Reduce = Callable[..., Any]


def _of_floats(reduce: Reduce) -> Reduce:
    """`reduce`, which of integers is that of them in float64, an integer again."""

    def either(x: Tensor, *args: Any) -> Any:
        return reduce(x, *args) if x.dtype in FLOATING else cast(reduce(cast(x, float64), *args), x.dtype)

    return either


_REDUCE: dict[str, Reduce] = {
    "ReduceL1": lambda x, axis, keep: reduce_sum(absolute(x), axis, keep),
    "ReduceL2": _of_floats(euclidean_norm),
    "ReduceLogSum": _of_floats(lambda x, axis, keep: log(reduce_sum(x, axis, keep))),
    "ReduceLogSumExp": _of_floats(reduce_logsumexp),
    "ReduceMax": lambda x, axis, keep: (reduce_any if x.dtype == bool_ else reduce_max)(x, axis, keep),
    "ReduceMean": reduce_mean,
    "ReduceMin": lambda x, axis, keep: (reduce_all if x.dtype == bool_ else reduce_min)(x, axis, keep),
    "ReduceProd": reduce_prod,
    "ReduceSum": reduce_sum,
    "ReduceSumSquare": lambda x, axis, keep: reduce_sum(square(x), axis, keep),
}


@reader(*_REDUCE)
def reduction(node: Node, x: Tensor, axes: Tensor | None = None) -> Any:
    keep = bool(node.attribute("keepdims", 1))
    noop = bool(node.attribute("noop_with_empty_axes", 0))
    known = [] if axes is None or count_of(axes) == 0 else integers(node, axes)
    if known is None:
        assert axes is not None
        return _reduced_in_run(node, x, axes, keep, noop)
    return _REDUCE[node.op_type](x, known if known or noop else None, keep)


def _reduced_in_run(node: Node, x: Tensor, axes: Tensor, keep: bool, noop: bool) -> Any:
    """The reduction over axes that a run decides, of which not even the number may be known."""
    flags, count = flags_of(axes, rank_of(node, x)), count_of(axes)
    if not noop and not count:
        flags = logical_or(flags, equal(size(axes), 0))
    own = shape_of(x, int64)
    like = ShapeOnly((None,) * rank_of(node, x))(where(flags, constant(np.int64(1)), own))
    y = _LIKE[node.op_type](x, like)
    return y if keep else reshape(y, lengths_without(x, flags, count or None))


def _sum(x: Tensor, like: Tensor) -> Tensor:
    return SumLike()(x, like)


def _mean_like(x: Tensor, like: Tensor) -> Any:
    count = size(x, int64) / size(like, int64)
    return (
        cast(cast(_sum(x, like), float64) / count, x.dtype)
        if x.dtype not in FLOATING
        else _sum(x, like) / cast(count, x.dtype)
    )


@_of_floats
def _l2_like(x: Tensor, like: Tensor) -> Any:
    total = _sum(square(x), like)
    none = equal(total, 0.0)
    return where(none, 0.0, sqrt(where(none, 1.0, total)))


@_of_floats
def _log_sum_exp_like(x: Tensor, like: Tensor) -> Any:
    top = stop_gradient(MaxLike()(x, like))
    top = where(equal(absolute(top), float("inf")), 0.0, top)
    return log(_sum(exp(x - top), like)) + top


def _max_like(x: Tensor, like: Tensor) -> Any:
    if x.dtype != bool_:
        return MaxLike()(x, like)
    return _sum(cast(x, int64), like) > 0


def _min_like(x: Tensor, like: Tensor) -> Any:
    if x.dtype != bool_:
        return MinLike()(x, like)
    return logical_not(_sum(cast(logical_not(x), int64), like) > 0)


_LIKE: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "ReduceL1": lambda x, like: _sum(absolute(x), like),
    "ReduceL2": _l2_like,
    "ReduceLogSum": _of_floats(lambda x, like: log(_sum(x, like))),
    "ReduceLogSumExp": _log_sum_exp_like,
    "ReduceMax": _max_like,
    "ReduceMean": _mean_like,
    "ReduceMin": _min_like,
    "ReduceProd": lambda x, like: ProdLike()(x, like),
    "ReduceSum": _sum,
    "ReduceSumSquare": lambda x, like: _sum(square(x), like),
}


@reader("ArgMax", "ArgMin")
def extreme_place(node: Node, x: Tensor) -> Tensor:
    find = argmax if node.op_type == "ArgMax" else argmin
    axis = node.attribute("axis", 0)
    if node.attribute("select_last_index", 0):
        y: Tensor = length(x, axis) - 1 - find(reverse(x, [axis]), axis)
    else:
        y = find(x, axis)
    if not node.attribute("keepdims", 1):
        return y
    return expand_dims(y, from_front(node, axis, rank_of(node, x)))
