"""Tensor types (abstract values): a dtype and a static shape, which is all that inference knows of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from .dtypes import DType, TokenType, as_dtype, dtype_name
from .shape import Lengths, TensorShape, as_shape


class TensorType(NamedTuple):
    """The type of a tensor; prints as `float32[3,?]`, `float32[batch,3]`, or `float32[...]` where the rank is unknown.

    >>> import pullback as pb
    >>> pb.ones([3, 2]).type
    float32[3,2]
    """

    dtype: DType
    shape: TensorShape

    @property
    def static(self) -> TensorType:
        """The type with None for each length that only a run knows."""
        shape = self.shape.static
        return self if shape is self.shape else TensorType(self.dtype, shape)

    def __str__(self) -> str:
        lengths = self.shape.lengths
        inner = "..." if lengths is None else ",".join("?" if d is None else str(d) for d in lengths)
        if not inner and isinstance(self.dtype, TokenType):
            return self.dtype.name
        return f"{dtype_name(self.dtype)}[{inner}]"

    def __repr__(self) -> str:
        return str(self)


class VectorType(TensorType):
    """The type of an integer vector, or scalar, whose elements are known as lengths: it says the shape of a result."""

    elements: Lengths


def lengths_to_infer(dims: Sequence[int | None] | None, vector: TensorType | None) -> Sequence[Any] | None:
    """The lengths that static ones say, and where those are None the elements of a vector of this type, even -1."""
    count = vector.shape.size(0) if dims is not None and vector is not None and vector.shape.rank == 1 else None
    if dims is not None and count not in (None, len(dims)):
        raise ValueError(f"{count} lengths are given for {len(dims)} axes")
    if isinstance(vector, VectorType):
        told = vector.elements
        return told if dims is None else [t if d is None else d for d, t in zip(dims, told, strict=True)]
    if dims is None and vector is not None and vector.shape.rank == 1:
        return [None] * (vector.shape.size(0) or 0) if vector.shape.size(0) is not None else None
    return dims


def shape_to_infer(dims: Sequence[int | None] | None, vector: TensorType | None) -> TensorShape:
    """The shape that static lengths say, and where they are None the elements of a vector of this type.

    Raises:
        ValueError: a length is negative.
    """
    lengths = lengths_to_infer(dims, vector)
    return TensorShape.UNKNOWN if lengths is None else TensorShape(lengths)


@lru_cache(maxsize=4096)
def _shared(dtype: DType, lengths: Lengths | None) -> TensorType:
    return TensorType(dtype, TensorShape(lengths))


def tensor_type(dtype: Any, shape: Any = None) -> TensorType:
    """The TensorType of anything that names a dtype and anything that names a shape; equal ones are one object.

    >>> tensor_type("float32", [3, None])
    float32[3,?]
    """
    return _shared(as_dtype(dtype), as_shape(shape).lengths)


def type_of_array(x: Any) -> TensorType:
    """The TensorType of a NumPy array."""
    return _shared(x.dtype, x.shape)
