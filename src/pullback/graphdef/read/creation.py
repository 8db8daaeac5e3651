"""GraphDef import of array creation: constants, placeholders, filled arrays, ranges, one-hot."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import get_default_graph
from ...core.operation import Tensor
from ...core.shape import TensorShape
from ...primitives.creation.constant import constant_in
from ...primitives.creation.fill import FillLike, fill
from ...primitives.creation.one_hot import one_hot
from ...primitives.creation.placeholders import Placeholder, PlaceholderWithDefault
from ...primitives.creation.ranges import linspace, range_
from ..nodes import REQUIRED, Node, calling, making, reader
from .operands import tensor_of

_SHORT = 64

reader("Placeholder", "PlaceholderV2")(making(Placeholder, dtype=REQUIRED, shape=TensorShape.UNKNOWN))
reader("Fill")(calling(fill, 2))
reader("LinSpace")(calling(linspace, 3))


@reader("Const", "HostConst")
def const(node: Node) -> Any:
    array = node.attribute("value")
    return array if array.dtype == object else constant_in(get_default_graph().acting, array, node.exactly)


@reader("PlaceholderWithDefault", anything=True)
def placeholder_with_default(node: Node, x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x
    return node.make(PlaceholderWithDefault(node.attribute("shape", TensorShape.UNKNOWN)), tensor_of(node, x))


@reader("ZerosLike", "OnesLike")
def fill_like(node: Node, x: Tensor) -> Any:
    dtype: Any = x.dtype
    return node.make(FillLike(int(node.op_type == "OnesLike"), dtype), x)


@reader("Range")
def range_of(node: Node, start: Tensor, limit: Tensor, delta: Tensor) -> Any:
    """A constant, where it is known and short: it may say along which axes something is done."""
    known = [node.static(x) for x in (start, limit, delta)]
    if all(x is not None and x.size == 1 and x.dtype.kind in "iu" for x in known) and known[2] != 0:
        numbers = range(*[int(x.item()) for x in known if x is not None])
        if len(numbers) <= _SHORT:
            dtype: Any = start.dtype
            return constant_in(get_default_graph().acting, np.array(numbers, dtype), node.exactly)
    return range_(start, limit, delta, name=node.exactly)


@reader("OneHot")
def one_hot_(node: Node, indices: Tensor, depth: Tensor, on: Tensor, off: Tensor) -> Any:
    axis = node.attribute("axis", -1)
    return one_hot(indices, depth, on, off, axis=axis, dtype=on.dtype, name=node.exactly)
