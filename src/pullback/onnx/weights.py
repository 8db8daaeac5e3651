"""ONNX initializers: those in a model as arrays, those in files beside it mapped into memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import SparseTensorProto, TensorProto, numpy_helper

from ..core.dtypes import TokenType, string
from ..core.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from ..core.limits import reading
from .element_types import dtype_of

_PACKED = frozenset([TensorProto.UINT4, TensorProto.INT4, TensorProto.FLOAT4E2M1, TensorProto.UINT2, TensorProto.INT2])
"""The element types of which several share a byte."""
_LONGEST_PATH = 1024
_LONGEST_NUMBER = 19


@dataclass(frozen=True)
class External:
    """A piece of a file that holds the elements of a tensor."""

    path: Path
    offset: int
    length: int


def array_of(tensor: TensorProto, directory: Path | None = None) -> np.ndarray[Any, Any]:
    """The elements of `tensor`, never written to; those in a file are read when they are used.

    Raises:
        UnimplementedError: there is no such dtype. NotFoundError: the file is not in `directory`. DataLossError:
            elements are missing.
        InvalidArgumentError: the file would not be inside `directory`.
    """
    dtype = _numpy_dtype(tensor)
    if dtype == string:
        return _texts(tensor)
    where = external_of(tensor, directory)
    if where is not None:
        return _mapped(tensor, where, dtype)
    if not tensor.HasField("raw_data") or tensor.data_type in _PACKED:
        try:
            array = numpy_helper.to_array(tensor)
        except (TypeError, ValueError) as error:
            raise DataLossError(f"onnx.load: the elements of the tensor '{tensor.name}' cannot be: {error}") from None
        array.setflags(write=False)
        return array
    raw = tensor.raw_data
    if len(raw) != _bytes(tensor, dtype):
        raise DataLossError(
            f"onnx.load: the tensor '{tensor.name}' needs {_bytes(tensor, dtype)} bytes, but {len(raw)} are there"
        )
    return _shaped(tensor, np.frombuffer(raw, dtype.newbyteorder("<")))


def _texts(tensor: TensorProto) -> np.ndarray[Any, Any]:
    """An array of bytes, as texts are here."""
    found = np.empty(len(tensor.string_data), string)
    found[:] = list(tensor.string_data)
    array = _shaped(tensor, found)
    array.setflags(write=False)
    return array


def _numpy_dtype(tensor: TensorProto) -> np.dtype[Any]:
    try:
        dtype = dtype_of(tensor.data_type)
    except UnimplementedError as error:
        raise UnimplementedError(f"onnx.load: '{tensor.name}': {error}") from None
    assert not isinstance(dtype, TokenType)
    return dtype


def dense_of(sparse: SparseTensorProto) -> np.ndarray[Any, Any]:
    """The array that a sparse tensor stands for."""
    values, places = array_of(sparse.values), array_of(sparse.indices)
    dims = tuple(sparse.dims)
    reading().takes_bytes(math.prod(dims) * values.dtype.itemsize)
    try:
        array = np.zeros(dims, values.dtype)
        if places.ndim == 1:
            array.reshape(-1)[places] = values
        else:
            array[tuple(places.T)] = values
    except (IndexError, ValueError) as error:
        raise DataLossError(
            f"onnx.load: the sparse tensor '{sparse.values.name}' of the shape {list(dims)} cannot be: {error}"
        ) from None
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
    if not location or "\0" in location or len(location) > _LONGEST_PATH:
        raise InvalidArgumentError(
            f"onnx.load: the data of '{tensor.name}' are in no file that can be: {location[:80]!r}"
        )
    path = (directory / location).resolve()
    if not path.is_relative_to(directory.resolve()):
        raise InvalidArgumentError(
            f"onnx.load: the data of '{tensor.name}' are in '{location}', which is outside the model's folder"
        )
    if not path.is_file():
        raise NotFoundError(f"onnx.load: the data of '{tensor.name}' are in the file '{location}', which is not there")
    offset = _place(tensor, entries, "offset", 0)
    return External(path, offset, _place(tensor, entries, "length", max(0, path.stat().st_size - offset)))


def _place(tensor: TensorProto, entries: Mapping[str, str], key: str, default: int) -> int:
    """A number of bytes that the model says."""
    text = entries.get(key, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < _LONGEST_NUMBER):
        raise DataLossError(f"onnx.load: the data of '{tensor.name}' have the {key} {text[:80]!r}, which is no number")
    return int(text)


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
        return _shaped(tensor, np.zeros(0, dtype))
    mapped = np.memmap(where.path, np.uint8, "r", where.offset, (needed,))
    return _shaped(tensor, np.asarray(mapped).view(dtype.newbyteorder("<")))


def _shaped(tensor: TensorProto, elements: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    try:
        return elements.reshape(tuple(tensor.dims))
    except (OverflowError, ValueError) as error:  # More axes, or longer ones, than an array may have.
        raise DataLossError(f"onnx.load: the tensor '{tensor.name}' cannot be: {error}") from None


def _bytes(tensor: TensorProto, dtype: np.dtype[Any]) -> int:
    return int(math.prod(tensor.dims)) * dtype.itemsize
