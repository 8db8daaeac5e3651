"""GraphDef import of indexing: slices, gather, scatter, where, partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...autodiff.reverse import gradients
from ...core.dtypes import bool as bool_
from ...core.operation import Tensor
from ...primitives.creation.constant import shape_value
from ...primitives.creation.fill import zeros
from ...primitives.identity.identity import identity
from ...primitives.indexing import scatter_nd as nd
from ...primitives.indexing.gather import gather
from ...primitives.indexing.index_arithmetic import unravel_index
from ...primitives.indexing.partition import dynamic_partition, dynamic_stitch
from ...primitives.indexing.slice import slice_
from ...primitives.indexing.slicing import StridedSliceGrad, getitem, strided_slice
from ...primitives.indexing.where import Select, where
from ...primitives.indexing.where_rows import where_rows
from ...primitives.logic.comparison import not_equal
from ...primitives.shape.reshape import split_shape
from ...primitives.shape.stacking import Pack
from ..nodes import Node, calling, making, reader

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")

reader("Slice")(calling(slice_, 3))
reader("GatherNd")(calling(nd.gather_nd, 2))
reader("ScatterNd")(calling(nd.scatter_nd, 3))
reader("TensorScatterAdd", "ScatterNdNonAliasingAdd")(calling(nd.tensor_scatter_nd_add, 3))
reader("TensorScatterSub")(calling(nd.tensor_scatter_nd_sub, 3))
reader("TensorScatterUpdate")(calling(nd.tensor_scatter_nd_update, 3))
reader("TensorScatterMax")(calling(nd.tensor_scatter_nd_max, 3))
reader("TensorScatterMin")(calling(nd.tensor_scatter_nd_min, 3))
reader("SelectV2")(making(Select))
reader("UnravelIndex")(calling(unravel_index, 2))
reader("Select")(calling(where_rows, 3))


@reader("StridedSlice")
def strided_slice_(node: Node, x: Tensor, begin: Tensor, end: Tensor, strides: Any) -> Any:
    columns = [shape_value(v) for v in (begin, end, strides)]
    if columns[0] is not None and any(
        n is None and _bit(node, "shrink_axis_mask", i) for i, n in enumerate(columns[0])
    ):
        vectors = [_numbers(v, known) for v, known in zip((begin, end, strides), columns, strict=True)]
        return getitem(x, tuple([_key(node, i, bounds) for i, bounds in enumerate(zip(*vectors, strict=True))]))
    masks = dict(zip(_MASKS, _masks(node), strict=True))
    return strided_slice(x, begin, end, strides, **masks, name=node.exactly)


def _numbers(vector: Tensor, known: Sequence[int | None] | None) -> list[Any]:
    """The elements of a vector: numbers where they are known, else scalars."""
    primitive = vector.op.primitive
    packed = vector.op.inputs if isinstance(primitive, Pack) else [vector[i] for i in range(len(known or ()))]
    return [n if n is not None else packed[i] for i, n in enumerate(known or ())]


def _key(node: Node, i: int, bounds: Sequence[Any]) -> Any:
    """Entry i of a slicing as an item of an index."""
    first, last, step = bounds
    if _bit(node, "ellipsis_mask", i):
        return ...
    if _bit(node, "new_axis_mask", i):
        return None
    if _bit(node, "shrink_axis_mask", i):
        return first
    return slice(None if _bit(node, "begin_mask", i) else first, None if _bit(node, "end_mask", i) else last, step)


def _bit(node: Node, mask: str, i: int) -> bool:
    return bool(node.attribute(mask, 0) >> i & 1)


def _masks(node: Node) -> list[int]:
    return [node.attribute(mask, 0) for mask in _MASKS]


@reader("StridedSliceGrad")
def strided_slice_grad(node: Node, lengths: Tensor, begin: Tensor, end: Tensor, strides: Tensor, dy: Tensor) -> Any:
    """By the slice that it is the derivative of, of something of the same shape."""
    if any(node.static(x) is None for x in (begin, end, strides)):
        like = zeros(lengths, dy.dtype)
        masks: dict[str, Any] = dict(zip(_MASKS, _masks(node), strict=True))
        step: Any = strides
        (dx,) = gradients(strided_slice(like, begin, end, step, **masks), like, dy)
        return identity(dx, name=node.exactly)
    bounds = [node.integers(x, "the bounds of the slice") for x in (begin, end, strides)]
    spec = tuple([_entry(i, [column[i] for column in bounds], _masks(node)) for i in range(len(bounds[0]))])
    dims, rest = split_shape(lengths)
    return node.make(StridedSliceGrad(spec, dims), dy, *(() if rest is None else (rest,)))


def _entry(i: int, bounds: list[int], masks: list[int]) -> Any:
    first, last, step = bounds
    no_begin, no_end, ellipsis, new, shrink = [bool(mask >> i & 1) for mask in masks]
    if ellipsis:
        return "..."
    if new:
        return None
    return first if shrink else (None if no_begin else first, None if no_end else last, step)


@reader("GatherV2")
def gather_v2(node: Node, x: Tensor, indices: Tensor, axis: Tensor) -> Any:
    (place,) = node.integers(axis, "the axis")
    return gather(x, indices, axis=place, batch_dims=node.attribute("batch_dims", 0), name=node.exactly)


@reader("Gather")
def gather_(node: Node, x: Tensor, indices: Tensor) -> Any:
    return gather(x, indices, axis=0, name=node.exactly)


@reader("Where")
def where_(node: Node, x: Tensor) -> Any:
    return where(x if x.dtype == bool_ else not_equal(x, np.zeros((), x.dtype)), name=node.exactly)


@reader("DynamicPartition", outputs=("outputs",))
def partition(node: Node, x: Tensor, partitions: Tensor) -> Any:
    return tuple(dynamic_partition(x, partitions, node.count("num_partitions"), name=node.exactly))


@reader("DynamicStitch", "ParallelDynamicStitch")
def stitch(node: Node, *given: Tensor) -> Any:
    n = len(given) // 2
    return dynamic_stitch(list(given[:n]), list(given[n:]), name=node.exactly)
