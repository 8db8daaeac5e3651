"""Shape arithmetic: what broadcasting gives, and positions in arrays of a shape."""

from __future__ import annotations

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Tensor
from ...core.shape import TensorShape, as_shape
from ...core.shape import broadcast_static_shape as broadcast
from ...core.typing import ShapeLike, TensorLike
from ..creation.constant import convert_to_tensor
from ..debugging.assertions import assert_
from ..elementwise.maximum import maximum
from ..indexing.where import where
from ..logic.comparison import equal
from ..reduction.reduce import reduce_all
from .pad import pad
from .size import size


@in_graph_of_inputs
def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """The static shape of an elementwise result over arrays of `shape_x` and `shape_y`.

    Raises:
        ValueError: they do not broadcast together.

    >>> import pullback as pb
    >>> pb.broadcast_static_shape(pb.TensorShape([2, 1]), pb.TensorShape([None, 3]))
    TensorShape([2, 3])
    """
    return broadcast(as_shape(shape_x), as_shape(shape_y))


@in_graph_of_inputs
def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape of an elementwise result over arrays of `shape_x` and `shape_y`, integer vectors, as such a vector.

    Raises:
        InvalidArgumentError: in a run, they do not broadcast together.

    >>> import pullback as pb
    >>> pb.Session().run(pb.broadcast_dynamic_shape([2, 1], [3]))
    array([2, 3], dtype=int32)
    """
    x = convert_to_tensor(shape_x)
    y = convert_to_tensor(shape_y, dtype_hint=x.dtype)
    rank = maximum(size(x), size(y))
    a, b = [pad(v, [[rank - size(v), 0]], constant_values=1) for v in (x, y)]
    fits = reduce_all(equal(a, b) | equal(a, 1) | equal(b, 1))
    check = assert_(fits, ["broadcast_dynamic_shape: arrays of these shapes do not broadcast together:", x, y])
    with x.graph.control_dependencies([check]):
        return where(equal(a, 1), b, a)
