"""Attributes of nodes: numbers, strings, dtypes, shapes, arrays and functions, as Python has them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.data_types import dtype_of_number
from ..core.dtypes import string
from ..core.errors import InvalidArgumentError, UnimplementedError
from ..core.limits import reading
from ..core.shape import TensorShape
from .messages import messages

_MOST_AXES = 254
_LARGEST_LENGTH = 2**62
_REFERENCE = 100
"""What TensorFlow adds to the number of a dtype for a reference to a variable of it."""
_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "int64": "int64_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "bool": "bool_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
}
"""Where a TensorProto has the elements of a dtype; those of the others are in `int_val`."""


@dataclass(frozen=True)
class FunctionName:
    """A function that an attribute names, and its own attributes."""

    name: str
    attributes: Any


def dtype_of(number: int) -> Any:
    """The dtype of a number of TensorFlow's `DataType`.

    Raises:
        InvalidArgumentError: there is no such number. UnimplementedError: pullback has no dtype for it.
    """
    try:
        return dtype_of_number(number)
    except ValueError:
        name = messages().dtypes.get(number % _REFERENCE)
    if name is None:
        raise InvalidArgumentError(f"there is no dtype of the number {number}")
    short = name.removeprefix("DT_").lower()
    raise UnimplementedError(f"tensors of {short} are not numbers that pullback has a dtype for")


def shape_of(proto: Any) -> TensorShape:
    """The shape that a TensorShapeProto says."""
    if proto.unknown_rank:
        return TensorShape.UNKNOWN
    sizes = [dim.size for dim in proto.dim]
    if len(sizes) > _MOST_AXES or any(not -1 <= n <= _LARGEST_LENGTH for n in sizes):
        raise InvalidArgumentError(f"no array can have the shape {sizes}")
    return TensorShape([None if n < 0 else n for n in sizes])


def array_of(proto: Any) -> np.ndarray[Any, Any]:
    """The array of a TensorProto; one of Python's objects for strings.

    Raises:
        InvalidArgumentError: its parts do not fit. ResourceExhaustedError: larger than `pb.config.Limits` allow.
    """
    dtype, dims = dtype_of(proto.dtype), shape_of(proto.tensor_shape).dims
    if dims is None or None in dims:
        raise InvalidArgumentError(f"the shape {dims} of a constant is open")
    shape, count = tuple([n or 0 for n in dims]), math.prod([n or 0 for n in dims])
    if dtype == string:
        return _filled(np.array(list(proto.string_val), object), count, shape, object)
    if not isinstance(dtype, np.dtype):
        raise UnimplementedError(f"a constant of {dtype}")
    reading().takes_bytes(count * dtype.itemsize)
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise InvalidArgumentError(
                f"a constant of {dtype.name}{list(shape)} has {len(proto.tensor_content)} bytes, not "
                f"{count * dtype.itemsize}"
            )
        return np.frombuffer(proto.tensor_content, dtype).reshape(shape)
    return _filled(_stated(proto, dtype), count, shape, dtype)


def _stated(proto: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The elements that stand in a field of their own."""
    field = _FIELDS.get(dtype.name, "int_val")
    if field == "half_val":
        return np.array(proto.half_val, np.uint16).view(dtype)
    if field in ("scomplex_val", "dcomplex_val"):
        parts = np.array(getattr(proto, field), np.float32 if field == "scomplex_val" else np.float64)
        return parts[: parts.size // 2 * 2].view(dtype)
    return np.array(getattr(proto, field), np.int64 if field == "int_val" else dtype).astype(dtype)


def _filled(stated: np.ndarray[Any, Any], count: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """The array of which the last stated element fills the rest; zeros where none is stated."""
    if stated.size > count:
        raise InvalidArgumentError(f"a constant of shape {list(shape)} has {stated.size} elements")
    reading().takes_bytes(count * np.dtype(dtype).itemsize)
    if stated.size == count:
        return stated.reshape(shape)
    full = np.full(count, stated[-1] if stated.size else (b"" if dtype is object else 0), dtype)
    full[: stated.size] = stated
    return full.reshape(shape)


def attribute_of(value: Any) -> Any:
    """An AttrValue as Python has it: strings as bytes, lists as tuples."""
    kind = value.WhichOneof("value")
    if kind in ("i", "f", "b", "s"):
        return getattr(value, kind)
    if kind == "list":
        return _list_of(value.list)
    if kind == "type":
        return dtype_of(value.type)
    if kind == "shape":
        return shape_of(value.shape)
    if kind == "tensor":
        return array_of(value.tensor)
    if kind == "func":
        return FunctionName(value.func.name, value.func.attr)
    raise InvalidArgumentError(f"an attribute has no value, but the placeholder '{value.placeholder}'")


def _list_of(values: Any) -> tuple[Any, ...]:
    readers: dict[str, Any] = {
        "type": dtype_of,
        "shape": shape_of,
        "tensor": array_of,
        "func": lambda f: FunctionName(f.name, f.attr),
    }
    for kind in ("s", "i", "f", "b", *readers):
        found = getattr(values, kind)
        if len(found):
            read = readers.get(kind)
            return tuple([x if read is None else read(x) for x in found])
    return ()
