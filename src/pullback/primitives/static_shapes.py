"""Shape arithmetic: what broadcasting gives, and positions in arrays of a shape."""

from __future__ import annotations

from ..core.operation import Tensor
from ..core.shape import TensorShape, as_shape
from ..core.shape import broadcast_static_shape as broadcast
from ..core.typing import ShapeLike, TensorLike
from .comparison import equal
from .constant import convert_to_tensor
from .cumulative import cumprod
from .division import floordiv, floormod
from .extremes import maximum
from .repeating import pad
from .selection import where
from .shaping import expand_dims, size


def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """The static shape of an elementwise result over arrays of `shape_x` and `shape_y`.

    Raises:
        ValueError: they do not broadcast together.

    >>> import pullback as pb
    >>> pb.broadcast_static_shape(pb.TensorShape([2, 1]), pb.TensorShape([None, 3]))
    TensorShape([2, 3])
    """
    return broadcast(as_shape(shape_x), as_shape(shape_y))


def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape of an elementwise result over arrays of `shape_x` and `shape_y`, integer vectors, as such a vector.

    A run does not check that they broadcast together.

    >>> import pullback as pb
    >>> pb.Session().run(pb.broadcast_dynamic_shape([2, 1], [3]))
    array([2, 3], dtype=int32)
    """
    x = convert_to_tensor(shape_x)
    y = convert_to_tensor(shape_y, dtype_hint=x.dtype)
    rank = maximum(size(x), size(y))
    a, b = [pad(v, [[rank - size(v), 0]], constant_values=1) for v in (x, y)]
    return where(equal(a, 1), b, a)


def unravel_index(indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """The coordinates, in arrays of the shape `dims`, of the elements whose positions in memory are `indices`.

    Shapes: `indices` [] or [n]; `dims` [rank]; the result [rank] or [rank, n]. Dtypes: any integer, the same for both.

    >>> import pullback as pb
    >>> pb.Session().run(pb.unravel_index([5, 0], [2, 3])).tolist()
    [[1, 0], [2, 0]]
    """
    positions = convert_to_tensor(indices)
    lengths = convert_to_tensor(dims, dtype_hint=positions.dtype)
    with positions.graph.name_scope(name or "unravel_index"):
        strides = cumprod(lengths, exclusive=True, reverse=True)
        if positions.shape.rank:
            strides, lengths = expand_dims(strides, 1), expand_dims(lengths, 1)
        return floormod(floordiv(positions, strides), lengths)
