"""ONNX import of constants, ranges and other tensors made out of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from ...core.dtypes import bfloat16, float16, float32, int64
from ...core.graph import get_default_graph
from ...core.operation import Tensor
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import constant, constant_in
from ...primitives.creation.fill import fill
from ...primitives.creation.one_hot import OneHot
from ...primitives.creation.ranges import range_
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal
from ...primitives.shape.reshape import reshape, split_shape
from ...primitives.strings.base import texts
from ..element_types import dtype_of
from ..reading import Node, reader
from ..weights import dense_of
from .lengths import lengths
from .operands import LARGEST_TABLE, scalar


@reader("Constant")
def constant_(node: Node) -> Tensor:
    if "value" in node.attributes:
        array = node.attribute("value")
    elif "sparse_value" in node.attributes:
        array = dense_of(node.attribute("sparse_value"))
    elif "value_int" in node.attributes or "value_ints" in node.attributes:
        array = np.array(node.attribute("value_int", node.attribute("value_ints", None)), np.int64)
    elif "value_float" in node.attributes or "value_floats" in node.attributes:
        array = np.array(node.attribute("value_float", node.attribute("value_floats", None)), np.float32)
    else:
        found = node.attribute("value_string", node.attribute("value_strings", None))
        array = texts([found], ()) if isinstance(found, str) else texts(list(found), (len(found),))
    array.setflags(write=False)
    return constant_in(get_default_graph().acting, array)


@reader("ConstantOfShape")
def constant_of_shape(node: Node, shape: Tensor) -> Tensor:
    value = node.attribute("value", None)
    number = np.zeros((), np.float32) if value is None else value.reshape(())
    return fill(shape, constant(number))


@reader("EyeLike")
def eye_like(node: Node, x: Tensor) -> Tensor:
    wanted = node.attribute("dtype", None)
    dtype: Any = x.dtype if wanted is None else dtype_of(wanted)
    k = node.attribute("k", 0)
    rows, columns = lengths(x)
    if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= LARGEST_TABLE:
        return constant(np.eye(rows, columns, k).astype(dtype))
    ones = equal(reshape(range_(rows, dtype=int64), [-1, 1]) + k, range_(columns, dtype=int64))
    return cast(ones, dtype)


@reader("Range")
def range_of(node: Node, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    a, b, step = scalar(start), scalar(limit), scalar(delta)
    # Vectors of one element in place of scalars: onnxruntime refuses them where it can tell.
    node.loose = any(x.shape.rank != 0 for x in (start, limit, delta))
    short = start.dtype in (float16, bfloat16) and node.attribute("stash_type", TensorProto.FLOAT) == TensorProto.FLOAT
    return cast(range_(a, b, step, dtype=float32 if short else start.dtype), start.dtype)


@reader("OneHot")
def one_hot(node: Node, indices: Tensor, depth: Tensor, values: Tensor) -> Tensor:
    """Of the `values` the first stands elsewhere, the second at the indices; negative ones count from the end."""
    ids, count = cast(indices, int64), cast(scalar(depth), int64)
    known = node.static(ids)
    if known is None or (known < 0).any():
        ids = where(ids < 0, ids + count, ids)
    axis, rank = node.attribute("axis", -1), ids.shape.rank
    if axis < 0 and axis != -1 and rank is not None:
        axis += rank + 1
    dims, vector = split_shape([count])
    if rank is not None and axis == rank:
        axis = -1
    chosen = OneHot(np.dtype(bool), axis, dims)(*((ids,) if vector is None else (ids, vector)))
    return where(chosen, values[1], values[0])
