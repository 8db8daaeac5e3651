"""GraphDef import of reductions along axes."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.reduction.argmax import argmax, argmin
from ...primitives.reduction.norms import euclidean_norm
from ...primitives.reduction.product import reduce_prod
from ...primitives.reduction.reduce import reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from ...primitives.reduction.reduce_like import ShapeOnly
from ...primitives.reduction.sum import sum_like
from ...primitives.shape.reshape import split_shape
from ..nodes import Node, reader
from .operands import tensor_of
from .shape.broadcast import RepeatedAxes

_REDUCTIONS: dict[str, Any] = {
    "Sum": reduce_sum,
    "Mean": reduce_mean,
    "Prod": reduce_prod,
    "Max": reduce_max,
    "Min": reduce_min,
    "Any": reduce_any,
    "All": reduce_all,
    "EuclideanNorm": euclidean_norm,
}


@reader(*_REDUCTIONS, anything=True)
def reduce(node: Node, x: Any, axis: Any) -> Any:
    x = tensor_of(node, x)
    if isinstance(axis, RepeatedAxes):
        if node.op_type != "Sum":
            node.refuse("its axes are computed by BroadcastGradientArgs, which only Sum can use")
        dims, lengths = split_shape(axis.shape)
        return sum_like(x, ShapeOnly(dims)(axis.shape if lengths is None else lengths))
    places = tensor_of(node, axis)
    axes = places if node.static(places) is None else node.integers(places, "the axes")
    keepdims = node.attribute("keep_dims", False)
    return _REDUCTIONS[node.op_type](x, axes, keepdims, name=node.exactly)


@reader("ArgMax", "ArgMin")
def arg(node: Node, x: Tensor, axis: Tensor) -> Any:
    place = axis if node.static(axis) is None else node.integers(axis, "the axis")[0]
    found = argmax if node.op_type == "ArgMax" else argmin
    return found(x, place, node.attribute("output_type", "int64"), name=node.exactly)
