"""ONNX element types and pullback's dtypes."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto
from onnx.helper import np_dtype_to_tensor_dtype, tensor_dtype_to_np_dtype

from ..core.dtypes import DType, as_dtype


def dtype_of(element_type: int) -> DType:
    """The dtype of an element type, a number of `TensorProto.DataType`.

    Raises:
        TypeError: there is none, as for strings.
    """
    if element_type in (TensorProto.STRING, TensorProto.UNDEFINED):
        raise TypeError(f"tensors of {name_of(element_type)} are not numbers; pullback has no dtype for them")
    return as_dtype(tensor_dtype_to_np_dtype(element_type))


def element_type_of(dtype: Any) -> int:
    """The element type of a dtype."""
    return int(np_dtype_to_tensor_dtype(dtype))


def name_of(element_type: int) -> str:
    """The name of an element type in small letters, as in `tensor(float)`."""
    return str(TensorProto.DataType.Name(element_type)).lower()
