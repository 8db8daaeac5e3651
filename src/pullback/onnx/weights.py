"""ONNX initializers: those in a model as arrays, those in files beside it mapped into memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import SparseTensorProto, TensorProto, numpy_helper

from ..core.dtypes import TokenType
from ..core.errors import DataLossError, InvalidArgumentError, NotFoundError
from .element_types import dtype_of

_PACKED = frozenset([TensorProto.UINT4, TensorProto.INT4, TensorProto.FLOAT4E2M1, TensorProto.UINT2, TensorProto.INT2])
"""The element types of which several share a byte."""


@dataclass(frozen=True)
class External:
    """A piece of a file that holds the elements of a tensor."""

    path: Path
    offset: int
    length: int


def array_of(tensor: TensorProto, directory: Path | None = None) -> np.ndarray[Any, Any]:
    """The elements of `tensor`, never written to; those in a file are read when they are used.

    Raises:
        TypeError: strings. NotFoundError: the file is not in `directory`. DataLossError: elements are missing.
        InvalidArgumentError: the file would not be inside `directory`.
    """
    dtype = dtype_of(tensor.data_type)
    assert not isinstance(dtype, TokenType)
    where = external_of(tensor, directory)
    if where is not None:
        return _mapped(tensor, where, dtype)
    if not tensor.HasField("raw_data") or tensor.data_type in _PACKED:
        array = numpy_helper.to_array(tensor)
        array.setflags(write=False)
        return array
    raw = tensor.raw_data
    if len(raw) != _bytes(tensor, dtype):
        raise DataLossError(
            f"onnx.load: the tensor '{tensor.name}' needs {_bytes(tensor, dtype)} bytes, but {len(raw)} are there"
        )
    return np.frombuffer(raw, dtype.newbyteorder("<")).reshape(tuple(tensor.dims))


def dense_of(sparse: SparseTensorProto) -> np.ndarray[Any, Any]:
    """The array that a sparse tensor stands for."""
    values, places = array_of(sparse.values), array_of(sparse.indices)
    array = np.zeros(tuple(sparse.dims), values.dtype)
    if places.ndim == 1:
        array.reshape(-1)[places] = values
    else:
        array[tuple(places.T)] = values
    return array


def external_of(tensor: TensorProto, directory: Path | None) -> External | None:
    """Where the elements of `tensor` are, if not in it."""
    if tensor.data_location != TensorProto.EXTERNAL:
        return None
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if directory is None:
        raise NotFoundError(
            f"onnx.load: the data of '{tensor.name}' are in the file '{location}'; "
            "load the model by its path, or say with directory= where that file is"
        )
    path = (directory / location).resolve()
    if not path.is_relative_to(directory.resolve()):
        raise InvalidArgumentError(
            f"onnx.load: the data of '{tensor.name}' are in '{location}', which is outside the model's folder"
        )
    if not location or not path.is_file():
        raise NotFoundError(f"onnx.load: the data of '{tensor.name}' are in the file '{location}', which is not there")
    offset = int(entries.get("offset", 0))
    return External(path, offset, int(entries.get("length", path.stat().st_size - offset)))


def _mapped(tensor: TensorProto, where: External, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    needed = (_bytes(tensor, dtype) + 1) // 2 if tensor.data_type in _PACKED else _bytes(tensor, dtype)
    there = max(0, min(where.length, where.path.stat().st_size - where.offset))
    if there < needed:
        raise DataLossError(
            f"onnx.load: the tensor '{tensor.name}' needs {needed} bytes of '{where.path.name}', but {there} are there"
        )
    if tensor.data_type in _PACKED:
        whole = TensorProto(data_type=tensor.data_type, dims=tensor.dims)
        whole.raw_data = np.fromfile(where.path, np.uint8, needed, offset=where.offset).tobytes()
        return array_of(whole)
    if not needed:
        return np.zeros(tuple(tensor.dims), dtype)
    mapped = np.memmap(where.path, np.uint8, "r", where.offset, (needed,))
    return np.asarray(mapped).view(dtype.newbyteorder("<")).reshape(tuple(tensor.dims))


def _bytes(tensor: TensorProto, dtype: np.dtype[Any]) -> int:
    return int(np.prod(np.array(tensor.dims, np.int64))) * dtype.itemsize
