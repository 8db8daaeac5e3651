"""Partitioned variables: tensors that a checkpoint of TensorFlow holds in parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.data_types import dtype_of_number
from ..core.dtypes import TokenType, string
from ..core.errors import DataLossError, UnimplementedError
from ..core.limits import Reading
from ..core.shape import TensorShape
from ..core.types import TensorType
from .ordered_code import Extent

Array = np.ndarray[Any, Any]
_MOST_AXES = 64
"""NumPy's limit."""


def type_of_entry(path: Path, name: str, number: int, shape: Any) -> TensorType:
    """The type of the tensor `name`, of which a file says the number of the dtype and the shape."""
    lengths = [dim.size for dim in shape.dim]
    if shape.unknown_rank or min(lengths, default=0) < 0 or len(lengths) > _MOST_AXES:
        raise DataLossError(f"{path} is damaged: '{name}' has the shape {lengths}")
    try:
        return TensorType(dtype_of_number(number), TensorShape(lengths))
    except ValueError as error:
        raise DataLossError(f"{path} is damaged: the dtype of '{name}': {error}") from None


def count_of(tensor: TensorType) -> int:
    """How many elements a tensor of known lengths has."""
    return math.prod(tensor.shape.known)


def check_readable(path: Path, name: str, tensor: TensorType) -> None:
    """UnimplementedError where a tensor is no array."""
    if isinstance(tensor.dtype, TokenType):
        raise UnimplementedError(f"{path}: '{name}' is a {tensor.dtype}, which is no array and is not read")


def extents_of(part: Any) -> tuple[Extent, ...]:
    """The extents that a TensorSlice message says."""
    return tuple([(e.start, e.length if e.HasField("length") else -1) for e in part.extent])


def extents_within(path: Path, name: str, extents: Sequence[Extent], tensor: TensorType) -> tuple[slice, ...]:
    """A part as indices of the tensor; DataLossError where it is not within."""
    lengths = tensor.shape.known
    whole = [(0, n) if size == -1 else (start, size) for (start, size), n in zip(extents, lengths, strict=False)]
    if len(extents) != len(lengths) or any(
        not 0 <= start <= start + size <= n for (start, size), n in zip(whole, lengths, strict=True)
    ):
        raise DataLossError(f"{path} is damaged: a part of '{name}' lies outside of {tensor}: {list(extents)}")
    return tuple([slice(start, start + size) for start, size in whole])


def joined(
    path: Path, name: str, tensor: TensorType, parts: Iterable[tuple[tuple[slice, ...], Array]], reading: Reading
) -> Array:
    """The tensor `name` of its parts; DataLossError where they are not all of it."""
    dtype: Any = tensor.dtype
    reading.takes_bytes(count_of(tensor) * dtype.itemsize)
    whole = np.full(tensor.shape.known, b"" if dtype == string else 0, dtype)
    filled = 0
    for indices, part in parts:
        if whole[indices].shape != part.shape:
            raise DataLossError(f"{path} is damaged: a part of '{name}' has the shape {list(part.shape)}")
        whole[indices] = part
        filled += part.size
    if filled != whole.size:
        raise DataLossError(f"{path} is not a whole checkpoint: '{name}' has {filled} of its {whole.size} elements")
    return whole
