"""`TensorType`: a dtype and a static shape, which is all that inference knows of a tensor."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .dtypes import DType, TokenType, as_dtype
from .shape import TensorShape, as_shape


class TensorType(NamedTuple):
    """The type of a tensor; prints as `float32[3,?]`, or `float32[...]` where the rank is unknown."""

    dtype: DType
    shape: TensorShape

    def __str__(self) -> str:
        dims = self.shape.dims
        inner = "..." if dims is None else ",".join("?" if d is None else str(d) for d in dims)
        if not inner and isinstance(self.dtype, TokenType):
            return self.dtype.name
        return f"{self.dtype.name}[{inner}]"

    __repr__ = __str__


def tensor_type(dtype: Any, shape: Any = None) -> TensorType:
    """The TensorType of anything that names a dtype and anything that names a shape.

    >>> tensor_type("float32", [3, None])
    float32[3,?]
    """
    return TensorType(as_dtype(dtype), as_shape(shape))


def type_of_array(x: Any) -> TensorType:
    """The TensorType of a NumPy (or NumPy-like) array."""
    return TensorType(np.dtype(x.dtype), TensorShape(x.shape))
