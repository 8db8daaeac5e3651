"""ONNX element types and pullback's dtypes."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto
from onnx.helper import np_dtype_to_tensor_dtype, tensor_dtype_to_np_dtype

from ..core.dtypes import DType, as_dtype, string
from ..core.errors import UnimplementedError


def dtype_of(element_type: int) -> DType:
    """The dtype of an element type, a number of `TensorProto.DataType`.

    Raises:
        UnimplementedError: there is none, as for an undefined one.
    """
    if element_type == TensorProto.STRING:
        return string
    try:
        if element_type != TensorProto.UNDEFINED:
            return as_dtype(tensor_dtype_to_np_dtype(element_type))
    except (KeyError, TypeError):
        pass
    raise UnimplementedError(f"there is no dtype for tensors of {name_of(element_type)}")


def element_type_of(dtype: Any) -> int:
    """The element type of a dtype."""
    return int(np_dtype_to_tensor_dtype(dtype))


def name_of(element_type: int) -> str:
    """The name of an element type in small letters, as in `tensor(float)`."""
    if element_type not in TensorProto.DataType.values():
        return f"element type {element_type}"
    return str(TensorProto.DataType.Name(element_type)).lower()
