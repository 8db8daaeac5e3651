"""Transpose, squeeze and expand; roll and reverse; rank, size and shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.dtypes import as_dtype, int32
from ..core.lengths import known_to_differ
from ..core.operation import Operation, Tensor
from ..core.primitive import Primitive, no_gradient
from ..core.shape import TensorShape
from ..core.traits import COUNTS, IGNORES_ZEROS, MOVES, SHAPES, Link, Links, all_axes_but
from ..core.types import TensorType
from ..core.typing import AxisLike, DTypeLike, TensorLike
from .axes import as_axis, checked_axis, static_integers
from .complex import conj
from .constant import constant_in, convert_to_tensor
from .reshaping import ExpandDims, broadcast_to, reshape, reshape_like, shape


def expand_dims(input: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """`input` with an axis of length one put in at `axis`; negative ones count from the end of the result.

    Shapes: any. Dtypes: any.

    Derivative: dx = dy without the axis.

    Raises:
        ValueError: `axis` is outside the result, or not known while the graph is built.

    >>> import pullback as pb
    >>> pb.expand_dims(pb.zeros([2, 3]), -1).shape
    TensorShape([2, 3, 1])
    """
    x = convert_to_tensor(input)
    rank = x.shape.rank
    place = as_axis(axis, None if rank is None else rank + 1, "expand_dims", x.type)
    return ExpandDims((place,))(x, name=name)


def squeeze(input: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """`input` without the axes `axis`, which have length one; without all of length one where it is None or empty.

    Shapes: any; without `axis` an unknown length makes the rank of the result unknown. Dtypes: any.

    Derivative: dx = dy with the axes put in.

    Raises:
        ValueError: an axis is out of range or has another length.

    >>> import pullback as pb
    >>> pb.squeeze(pb.zeros([1, 2, 1]), [0]).shape
    TensorShape([2, 1])
    """
    x = convert_to_tensor(input)
    given = () if axis is None else static_integers(axis, "squeeze: axis")
    axes = tuple(sorted({checked_axis(a, x.shape.rank, "squeeze", x.type) for a in given}))
    return Squeeze(axes or None)(x, name=name)


class Squeeze(Primitive):
    type = "Squeeze"
    traits = (MOVES,)

    axis: tuple[int, ...] | None = None

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None or (self.axis is None and not x.shape.is_fully_defined()):
            return (TensorType(x.dtype, TensorShape.UNKNOWN),)
        if self.axis is None:
            return (TensorType(x.dtype, TensorShape([n for n in dims if n != 1])),)
        axes = {checked_axis(a, len(dims), "squeeze", x) for a in self.axis}
        for axis in axes:
            if known_to_differ(dims[axis], 1):
                raise ValueError(f"squeeze: axis {axis} of {x} has length {dims[axis]}, not 1")
        return (TensorType(x.dtype, TensorShape([n for i, n in enumerate(dims) if i not in axes])),)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.squeeze(x, axis=self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (partial(reshape_like, dy, op.inputs[0]),)


def transpose(
    a: TensorLike, perm: TensorLike | None = None, conjugate: bool = False, name: str | None = "transpose"
) -> Tensor:
    """`a` with its axes in the order `perm`, in the reverse order where it is None; conjugated with `conjugate`.

    Shapes: any; axis i of the result is axis `perm[i]` of `a`. Dtypes: any.

    Derivative: dx = dy with its axes in the inverse order.

    Raises:
        ValueError: `perm` is no permutation of the axes, or not known while the graph is built.

    >>> import pullback as pb
    >>> pb.Session().run(pb.transpose([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    x = convert_to_tensor(a)
    if conjugate:
        x = conj(x)
    rank = x.shape.rank
    order = None if perm is None else static_integers(perm, "transpose: perm")
    if order is not None:
        order = tuple([p % len(order) if -len(order) <= p < len(order) else p for p in order])
        if sorted(order) != list(range(len(order))) or rank not in (None, len(order)):
            raise ValueError(f"transpose: perm {list(order)} is no permutation of the axes of {x}")
    elif rank is not None:
        order = tuple(reversed(range(rank)))
    return Transpose(order)(x, name=name)


class Transpose(Primitive):
    type = "Transpose"
    traits = (MOVES,)

    perm: tuple[int, ...] | None = None

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        dims = x.shape.lengths
        if dims is None:
            return (TensorType(x.dtype, TensorShape([None] * len(self.perm) if self.perm is not None else None)),)
        return (TensorType(x.dtype, TensorShape([dims[p] for p in self.perm or reversed(range(len(dims)))])),)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        if x.shape.rank is None:
            return None
        return tuple([Link(o, a) for o, a in enumerate(self.perm or reversed(range(x.shape.rank)))])

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.transpose(x, self.perm)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        inverse = None if self.perm is None else tuple(np.argsort(self.perm).tolist())
        return (lambda: Transpose(inverse)(dy),)


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of axes of `input`, an int32 scalar; a constant where it is known.

    >>> import pullback as pb
    >>> pb.Session().run(pb.rank(pb.zeros([2, 3])))
    np.int32(2)
    """
    x = convert_to_tensor(input)
    if x.shape.rank is not None:
        return constant_in(x.graph, np.array(x.shape.rank, int32), name or "Rank")
    return Rank()(x, name=name)


class Rank(Primitive):
    type = "Rank"
    traits = (IGNORES_ZEROS,)
    reads_values = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return (TensorType(int32, TensorShape.SCALAR),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return np.array(x.ndim, int32)

    gradient = no_gradient


def size(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The number of elements of `input`, a scalar of `out_type` (None: int32); a constant where it is known.

    >>> import pullback as pb
    >>> pb.Session().run(pb.size(pb.zeros([2, 3])))
    np.int32(6)
    """
    x = convert_to_tensor(input)
    known = x.shape.num_elements()
    wanted: Any = int32 if out_type is None else as_dtype(out_type)
    if known is not None:
        return constant_in(x.graph, np.array(known, wanted), name or "Size")
    return Size(wanted)(x, name=name)


class Size(Primitive):
    type = "Size"
    traits = (COUNTS,)
    reads_values = False

    out_type: Any = int32

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        del x
        return (TensorType(self.out_type, TensorShape.SCALAR),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return np.array(x.size, self.out_type)

    gradient = no_gradient


def shape_n(input: Sequence[Any], out_type: DTypeLike = int32, name: str | None = None) -> list[Tensor]:
    """The shapes of the tensors of a list, as vectors of `out_type`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.shape_n([pb.zeros([2, 3]), 1.0]))
    [array([2, 3], dtype=int32), array([], dtype=int32)]
    """
    tensors = [convert_to_tensor(x) for x in input]
    if len(tensors) < 2 or all(x.shape.is_fully_defined() for x in tensors):
        return [shape(x, out_type) for x in tensors]
    return list(tensors[0].graph.add(ShapeN(as_dtype(out_type)), tensors, name).outputs)


class ShapeN(Primitive):
    type = "ShapeN"
    traits = (SHAPES,)
    reads_values = False

    out_type: Any = int32

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        return tuple([TensorType(self.out_type, TensorShape([x.shape.rank])) for x in xs])

    def kernel(self, xp: Any, *xs: Any) -> Any:
        del xp
        return tuple([np.array(x.shape, self.out_type) for x in xs])

    gradient = no_gradient


def reverse(tensor: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """`tensor` with the order of the elements along each of `axis` turned round.

    Shapes: any. Dtypes: any.

    Derivative: dx = reverse(dy).

    Raises:
        ValueError: an axis is out of range, or not known while the graph is built.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reverse([1, 2, 3], [0]))
    array([3, 2, 1], dtype=int32)
    """
    x = convert_to_tensor(tensor)
    given = static_integers(axis, "reverse: axis")
    axes = [checked_axis(a, x.shape.rank, "reverse", x.type) for a in given]
    if len(set(axes)) != len(axes):
        raise ValueError(f"reverse: an axis stands twice in {list(given)}")
    return ReverseV2(tuple(axes))(x, name=name)


class ReverseV2(Primitive):
    type = "ReverseV2"
    traits = (MOVES,)

    axis: tuple[int, ...]

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)

    def links(self, i: int, x: TensorType) -> Links | None:
        del i
        return all_axes_but(x.shape.rank, *self.axis)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.flip(x, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: self(dy),)


def roll(input: TensorLike, shift: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """`input` with its elements moved on by `shift` along `axis`; those that fall off come back at the other end.

    Shapes: any; `shift` and `axis` are integers or lists of one length. Dtypes: any.

    Derivative: dx = dy rolled back.

    Raises:
        ValueError: the lists differ in length, or are not known while the graph is built; an axis is out of range.

    >>> import pullback as pb
    >>> pb.Session().run(pb.roll([1, 2, 3, 4], 1, 0))
    array([4, 1, 2, 3], dtype=int32)
    """
    x = convert_to_tensor(input)
    shifts, axes = static_integers(shift, "roll: shift"), static_integers(axis, "roll: axis")
    if len(shifts) != len(axes):
        raise ValueError(f"roll: shift {list(shifts)} and axis {list(axes)} differ in length")
    places = tuple([checked_axis(a, x.shape.rank, "roll", x.type) for a in axes])
    return Roll(shifts, places)(x, name=name)


class Roll(Primitive):
    type = "Roll"
    traits = (MOVES,)

    shift: tuple[int, ...]
    axis: tuple[int, ...]

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.roll(x, self.shift, self.axis)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (lambda: Roll(tuple([-n for n in self.shift]), self.axis)(dy),)


def meshgrid(*args: TensorLike, indexing: str = "xy", name: str | None = "meshgrid") -> list[Tensor]:
    """The coordinates of the points of a grid, one tensor for each of the vectors in `args`.

    With "xy" the first vector runs along axis 1 and the second along axis 0, with "ij" each along its own axis.

    Shapes: vectors (scalars count as such); all results have the lengths of all vectors. Dtypes: any.

    Derivative: dx_i = sum of dy_i over the other axes.

    Raises:
        ValueError: another `indexing`. TypeError: an argument has more than one axis.

    >>> import pullback as pb
    >>> pb.Session().run(pb.meshgrid([1, 2], [3, 4, 5])[0])
    array([[1, 2],
           [1, 2],
           [1, 2]], dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', not {indexing!r}")
    vectors = [convert_to_tensor(x) for x in args]
    for x in vectors:
        if x.shape.rank not in (0, 1):
            raise TypeError(f"meshgrid: each argument must be a vector, not {x}")
    count = len(vectors)
    places = [1 - i if indexing == "xy" and i < 2 and count > 1 else i for i in range(count)]
    if not vectors:
        return []
    with vectors[0].graph.name_scope(name):
        rows = [
            reshape(x, [-1 if i == place else 1 for i in range(count)])
            for x, place in zip(vectors, places, strict=True)
        ]
        if all(x.shape.is_fully_defined() for x in rows):
            dims = np.broadcast_shapes(*[x.shape.known for x in rows])
            return [broadcast_to(x, dims) for x in rows]
        lengths: list[Any] = [0] * count
        for x, place in zip(rows, places, strict=True):
            lengths[place] = shape(x)[place]
        return [broadcast_to(x, lengths) for x in rows]
