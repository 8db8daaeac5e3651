"""Shape, rank and number of elements of a tensor, as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import as_dtype, int32, int64
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import COUNTS, IGNORES_ZEROS, SHAPES
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..creation.constant import constant_in, convert_to_tensor

_LARGEST_INT32 = 2**31 - 1


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


@in_graph_of_inputs
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
    traits = (SHAPES,)
    reads_values = False

    out_type: Any = int32

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        return tuple([TensorType(self.out_type, TensorShape([x.shape.rank])) for x in xs])

    def kernel(self, xp: Any, *xs: Any) -> Any:
        del xp
        return tuple([np.array(x.shape, self.out_type) for x in xs])

    gradient = no_gradient


def shape(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The shape of `input` as a vector of `out_type`; a constant where it is known.

    Dtypes: int32 for None, or int64 where a length is known that needs it.

    >>> import pullback as pb
    >>> pb.shape(pb.zeros([2, 3]))
    <Tensor 'Shape:0' int32[2]>
    """
    x = convert_to_tensor(input)
    wanted: Any = int32 if out_type is None else as_dtype(out_type)
    if out_type is None and any((n or 0) > _LARGEST_INT32 for n in x.shape.sizes or ()):
        wanted = int64
    if x.shape.is_fully_defined():
        return constant_in(x.graph, np.array(x.shape.known, wanted), name or "Shape")
    return Shape(wanted)(x, name=name)


class Shape(Primitive):
    traits = (SHAPES,)
    reads_values = False

    out_type: Any = int32

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(self.out_type, TensorShape([x.shape.rank])),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return np.array(x.shape, self.out_type)

    gradient = no_gradient
