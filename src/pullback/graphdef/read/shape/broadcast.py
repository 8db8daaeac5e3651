"""GraphDef import of shapes, broadcasting, and what TensorFlow computes to undo it in derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....core.operation import Tensor
from ....primitives.creation.constant import constant
from ....primitives.shape.broadcast import broadcast_to
from ....primitives.shape.size import rank, shape, shape_n, size
from ....primitives.shape.static_shapes import broadcast_dynamic_shape
from ...nodes import Node, calling, reader

reader("Shape")(calling(shape, 1, out_type="int32"))
reader("Size")(calling(size, 1, out_type="int32"))
reader("Rank")(calling(rank, 1))
reader("BroadcastTo")(calling(broadcast_to, 2))


@dataclass(frozen=True)
class RepeatedAxes:
    """The axes along which an array of a shape is repeated, of which only a run knows which they are."""

    shape: Tensor


@reader("ShapeN", outputs=("output",))
def shapes(node: Node, *xs: Tensor) -> Any:
    return tuple(shape_n(list(xs), node.attribute("out_type", "int32"), name=node.exactly))


@reader("BroadcastArgs")
def broadcast_args(node: Node, a: Tensor, b: Tensor) -> Any:
    del node
    return broadcast_dynamic_shape(a, b)


@reader("BroadcastGradientArgs", outputs=("r0", "r1"))
def broadcast_gradient_args(node: Node, a: Tensor, b: Tensor) -> Any:
    dtype: Any = a.dtype
    first, second = node.static(a), node.static(b)
    if first is None or second is None:
        return RepeatedAxes(a), RepeatedAxes(b)
    rank = max(first.size, second.size)
    lengths = [np.concatenate([np.ones(rank - x.size, x.dtype), x]) for x in (first, second)]
    return tuple(
        [constant(np.flatnonzero((own == 1) & (other >= own)).astype(dtype)) for own, other in (lengths, lengths[::-1])]
    )
