"""Type annotations: what functions take for a tensor, a shape, a dtype and axes, as `numpy.typing` has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias

import numpy as np

from .dtypes import DType
from .lengths import Length
from .operation import AbstractTensorLike, Tensor
from .shape import TensorShape
from .slices import IndexedSlices


class SupportsArray(Protocol):
    """What NumPy makes an array of: arrays and scalars of NumPy, arrays of jax, of torch, columns of pandas."""

    def __array__(self) -> np.ndarray[Any, Any]: ...


TensorLike: TypeAlias = (
    Tensor | AbstractTensorLike | IndexedSlices | SupportsArray | int | float | complex | Sequence["TensorLike"]
)
"""What `convert_to_tensor` takes: a tensor, a variable, slices, an array, a number, or nested sequences of these."""

DTypeLike: TypeAlias = DType | type | str
"""What `as_dtype` takes: a dtype, a scalar class of NumPy or Python, or a name."""

ShapeLike: TypeAlias = (
    TensorShape
    | Tensor
    | AbstractTensorLike
    | SupportsArray
    | int
    | Iterable[SupportsIndex | Tensor | AbstractTensorLike | Length | str | None]
)
"""A shape: lengths, of which a static one may have a name or be None, or an integer vector that a run computes."""

AxisLike: TypeAlias = Tensor | AbstractTensorLike | SupportsArray | int | Sequence[SupportsIndex]
"""One axis or several, known while the graph is built; -1 is the last."""
