"""ONNX import of scatters: elements put into a tensor by number."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.division import floormod
from ...primitives.indexing.index_arithmetic import FlatPositions, vectors_from_front
from ...primitives.indexing.scatter_nd import (
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_update,
)
from ...primitives.indexing.scatter_product import tensor_scatter_nd_mul
from ...primitives.shape.broadcast import broadcast_like
from ...primitives.shape.reshape import reshape, reshape_like
from ..reading import Node, reader
from .lengths import length, rank_of

_INTO: dict[str, Any] = {
    "none": tensor_scatter_nd_update,
    "add": tensor_scatter_nd_add,
    "mul": tensor_scatter_nd_mul,
    "max": tensor_scatter_nd_max,
    "min": tensor_scatter_nd_min,
}


@reader("ScatterND")
def scatter_nd(node: Node, x: Tensor, indices: Tensor, updates: Tensor) -> Any:
    return _INTO[node.attribute("reduction", "none")](x, vectors_from_front(indices, x), updates)


@reader("ScatterElements", "Scatter")
def scatter_elements(node: Node, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    axis = node.attribute("axis", 0) % rank_of(node, x)
    return _into_elements(node.attribute("reduction", "none"), axis, x, indices, updates)


def _into_elements(how: str, axis: int, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Single elements put into the flattened `x`."""
    flat = _INTO[how](reshape(x, [-1]), FlatPositions(axis)(indices, x), reshape(updates, [-1]))
    return reshape_like(flat, x)


@reader("TensorScatter")
def tensor_scatter(node: Node, cache: Tensor, update: Tensor, first: Tensor | None = None) -> Tensor:
    """Entry i of the batch is written from `first[i]` on along the axis, round its end in circular mode."""
    rank = rank_of(node, cache)
    axis = node.attribute("axis", -2) % rank
    places: Any = range_(length(update, axis), dtype=int64)
    places = reshape(places, [-1 if i == axis else 1 for i in range(rank)])
    if first is not None:
        places = places + reshape(cast(first, int64), [-1, *[1] * (rank - 1)])
    if node.attribute("mode", "linear") == "circular":
        places = floormod(places, length(cache, axis))
    return _into_elements("none", axis, cache, broadcast_like(places, update), update)
