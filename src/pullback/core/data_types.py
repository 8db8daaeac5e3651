"""Data type numbers: what TensorFlow's files (`DataType`) have for each dtype."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from .dtypes import DType, as_dtype, resource, string, variant

_NAMES = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8, "int64": 9, "bool": 10,
    "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip
_NARROW = {
    "float8_e5m2": 24, "float8_e4m3fn": 25, "float8_e4m3fnuz": 26, "float8_e5m2fnuz": 28, "int4": 29, "uint4": 30,
    "int2": 31, "uint2": 32,
}  # fmt: skip
_QUANTIZED = {11: "int8", 12: "uint8", 13: "int32", 15: "int16", 16: "uint16"}
"""Integers whose scale stands elsewhere."""
_REFERENCE = 100
"""What is added to the number for a reference to a variable's memory."""

NUMBERS: dict[DType, int] = {
    **{as_dtype(name): number for name, number in _NAMES.items()},
    **{np.dtype(getattr(ml_dtypes, name)): number for name, number in _NARROW.items()},
    string: 7,
    resource: 20,
    variant: 21,
}
_DTYPES = {number: dtype for dtype, number in NUMBERS.items()} | {n: as_dtype(s) for n, s in _QUANTIZED.items()}


def dtype_of_number(number: int) -> DType:
    """The dtype that a file means by `number`; ValueError where there is none.

    >>> dtype_of_number(1), dtype_of_number(103)
    (dtype('float32'), dtype('int32'))
    """
    dtype = _DTYPES.get(number % _REFERENCE)
    if dtype is None or number < 0 or number >= 2 * _REFERENCE:
        raise ValueError(f"{number} is no number of a data type")
    return dtype
