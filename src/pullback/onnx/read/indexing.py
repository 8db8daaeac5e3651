"""ONNX import of gathers, and of whatever picks elements by number or by truth value."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import bool as bool_
from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.division import floormod
from ...primitives.indexing.gather import GatherV2, TrueIndices
from ...primitives.indexing.index_arithmetic import FlatPositions, counted_from_front, vectors_from_front
from ...primitives.indexing.scatter_nd import gather_nd as gather_nd_of
from ...primitives.indexing.scatter_nd import (
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_update,
)
from ...primitives.indexing.scatter_product import tensor_scatter_nd_mul
from ...primitives.indexing.slicing import FULL, UNKNOWN, Take, slice_by
from ...primitives.indexing.take_along import TakeAlong
from ...primitives.indexing.where import where
from ...primitives.indexing.where import where as where_of
from ...primitives.logic.comparison import not_equal
from ...primitives.shape.broadcast import broadcast_like
from ...primitives.shape.reshape import reshape, reshape_like
from ...primitives.shape.transpose import transpose
from ..reading import Node, calling, reader
from .lengths import length, lengths, rank_of
from .operands import axis_of, from_front, require_places, require_same_rank

reader("Where")(calling(where_of))


@reader("Gather")
def gather(node: Node, x: Tensor, indices: Tensor) -> Any:
    axis = axis_of(node, node.attribute("axis", 0), x)
    require_places(node, indices, x, axis)
    if axis == 0:
        return GatherV2(0)(x, counted_from_front(indices, x, 0))
    return Take(axis)(x, indices)


@reader("GatherElements")
def gather_elements(node: Node, x: Tensor, indices: Tensor) -> Any:
    """Along the other axes `indices` may be shorter than `x`."""
    axis = from_front(node, node.attribute("axis", 0), rank_of(node, x))
    require_same_rank(node, indices, x)
    require_places(node, indices, x, axis)
    own, asked = x.shape.as_list(), indices.shape.as_list()
    shorter = [i for i in range(len(own)) if i != axis and (own[i] is None or own[i] != asked[i])]
    if shorter:
        picked = lengths(indices)
        spec = [FULL] * len(own)
        for i in shorter:
            spec[i] = (0, picked[i] if isinstance(picked[i], int) else UNKNOWN, 1)
        x = slice_by(x, tuple(spec), [picked[i] for i in shorter if isinstance(picked[i], Tensor)])
    known = node.static(indices)
    positions = indices if known is not None and (known >= 0).all() else counted_from_front(indices, x, axis)
    return TakeAlong(axis)(x, positions)


@reader("GatherND")
def gather_nd(node: Node, x: Tensor, indices: Tensor) -> Tensor:
    batch_dims = node.attribute("batch_dims", 0)
    _require_vectors(node, indices, x, batch_dims)
    return gather_nd_of(x, vectors_from_front(indices, x, batch_dims), batch_dims)


def _require_vectors(node: Node, indices: Tensor, x: Tensor, batch_dims: int = 0) -> None:
    """Raise where the places of which `indices` holds the coordinates are outside `x`, as far as they are known."""
    if node.static(indices) is not None and indices.shape.rank:
        for i in range(indices.shape.known[-1]):
            require_places(node, indices[..., i], x, batch_dims + i)


@reader("Compress")
def compress(node: Node, x: Tensor, condition: Tensor) -> Any:
    axis = node.attribute("axis", None)
    return Take(0 if axis is None else axis)(reshape(x, [-1]) if axis is None else x, TrueIndices()(condition))


@reader("NonZero")
def non_zero(node: Node, x: Tensor) -> Tensor:
    del node
    found = x if x.dtype == bool_ else not_equal(x, 0)
    return transpose(where(found), [1, 0])


_INTO: dict[str, Any] = {
    "none": tensor_scatter_nd_update,
    "add": tensor_scatter_nd_add,
    "mul": tensor_scatter_nd_mul,
    "max": tensor_scatter_nd_max,
    "min": tensor_scatter_nd_min,
}


@reader("ScatterND")
def scatter_nd(node: Node, x: Tensor, indices: Tensor, updates: Tensor) -> Any:
    _require_vectors(node, indices, x)
    return _INTO[node.attribute("reduction", "none")](x, vectors_from_front(indices, x), updates)


@reader("ScatterElements", "Scatter")
def scatter_elements(node: Node, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    axis = from_front(node, node.attribute("axis", 0), rank_of(node, x))
    require_same_rank(node, indices, x)
    require_places(node, indices, x, axis)
    if not updates.shape.is_compatible_with(indices.shape):
        node.reject(f"the updates {updates} have not the shape of the indices {indices}")
    return _into_elements(node.attribute("reduction", "none"), axis, x, indices, updates)


def _into_elements(how: str, axis: int, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Single elements put into the flattened `x`."""
    flat = _INTO[how](reshape(x, [-1]), FlatPositions(axis)(indices, x), reshape(updates, [-1]))
    return reshape_like(flat, x)


@reader("TensorScatter")
def tensor_scatter(node: Node, cache: Tensor, update: Tensor, first: Tensor | None = None) -> Tensor:
    """Entry i of the batch is written from `first[i]` on along the axis, round its end in circular mode."""
    rank = rank_of(node, cache)
    axis = from_front(node, node.attribute("axis", -2), rank)
    places: Any = range_(length(update, axis), dtype=int64)
    places = reshape(places, [-1 if i == axis else 1 for i in range(rank)])
    if first is not None:
        places = places + reshape(cast(first, int64), [-1, *[1] * (rank - 1)])
    if node.attribute("mode", "linear") == "circular":
        places = floormod(places, length(cache, axis))
    return _into_elements("none", axis, cache, broadcast_like(places, update), update)
