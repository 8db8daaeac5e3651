"""Element types (dtypes): NumPy's, bfloat16 from ml_dtypes, texts, and two tokens for what is not an array."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from .typing import DTypeLike


@dataclass(frozen=True)
class TokenType:
    """The dtype of a tensor that carries no array: `resource` (a variable's handle) or `variant`."""

    name: str

    kind: ClassVar[str] = "-"
    """In place of the kind of a NumPy dtype, which is a letter."""
    itemsize: ClassVar[int] = 0

    def __repr__(self) -> str:
        return self.name


DType = np.dtype[Any] | TokenType

float16: np.dtype[Any] = np.dtype("float16")
bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
float32: np.dtype[Any] = np.dtype("float32")
float64: np.dtype[Any] = np.dtype("float64")
complex64: np.dtype[Any] = np.dtype("complex64")
complex128: np.dtype[Any] = np.dtype("complex128")
int8: np.dtype[Any] = np.dtype("int8")
int16: np.dtype[Any] = np.dtype("int16")
int32: np.dtype[Any] = np.dtype("int32")
int64: np.dtype[Any] = np.dtype("int64")
uint8: np.dtype[Any] = np.dtype("uint8")
uint16: np.dtype[Any] = np.dtype("uint16")
uint32: np.dtype[Any] = np.dtype("uint32")
uint64: np.dtype[Any] = np.dtype("uint64")
bool: np.dtype[Any] = np.dtype("bool")
string: np.dtype[Any] = np.dtype(object)
"""Texts: each element is a `bytes`, as in TensorFlow. They stay on the host."""
resource = TokenType("resource")
variant = TokenType("variant")

FLOATING: frozenset[DType] = frozenset([float16, bfloat16, float32, float64])
COMPLEX: frozenset[DType] = frozenset([complex64, complex128])
INTEGER: frozenset[DType] = frozenset([int8, int16, int32, int64, uint8, uint16, uint32, uint64])
INEXACT: frozenset[DType] = FLOATING | COMPLEX
TRAINABLE: frozenset[DType] = frozenset([*INEXACT, resource, variant])
_NARROW_NAMES = (
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn int4 uint4 int2 uint2"
)
NARROW: frozenset[DType] = frozenset([np.dtype(getattr(ml_dtypes, name)) for name in _NARROW_NAMES.split()])
"""What numbers are only stored in: they are moved and cast, and there is no arithmetic on them."""
_ARRAYS: frozenset[DType] = INEXACT | INTEGER | {bool}
_BY_NAME: dict[str, DType] = {d.name: d for d in _ARRAYS} | {"resource": resource, "string": string, "variant": variant}
_PYTHON: dict[Any, DType] = {builtins.float: float32, builtins.int: int32, builtins.bool: bool, complex: complex128}
_PYTHON |= {str: string, bytes: string, object: string, np.str_: string, np.bytes_: string}


def as_dtype(type_value: DTypeLike) -> DType:
    """The dtype that `type_value` names: a dtype, a NumPy scalar class, a name such as "float32", or a Python type.

    Python's `float` and `int` mean float32 and int32, and so does "float", as in TensorFlow.

    Raises:
        TypeError: `type_value` names no dtype of pullback.

    >>> as_dtype("bfloat16"), as_dtype(float)
    (dtype(bfloat16), dtype('float32'))
    """
    if isinstance(type_value, TokenType):
        return type_value
    if isinstance(type_value, str) and type_value in _BY_NAME:
        return _BY_NAME[type_value]
    if isinstance(type_value, str) and type_value == "float":
        return float32
    if isinstance(type_value, type) and type_value in _PYTHON:
        return _PYTHON[type_value]
    if isinstance(type_value, np.dtype) and type_value.kind in "OSU":
        return string
    try:
        dtype: np.dtype[Any] | None = np.dtype(type_value)
    except TypeError:
        dtype = None
    if dtype is not None and not dtype.isnative:
        dtype = dtype.newbyteorder("=")
    if dtype is None or type_value is None or (dtype not in _ARRAYS and dtype not in NARROW):
        raise TypeError(f"{type_value!r} is not a dtype of pullback; use one of {', '.join(sorted(_BY_NAME))}")
    return dtype


def dtype_name(dtype: DType) -> str:
    """The name of a dtype, as it is printed and as `as_dtype` takes it.

    >>> dtype_name(string), dtype_name(float32)
    ('string', 'float32')
    """
    return "string" if dtype == string else dtype.name


def real_dtype(dtype: DType) -> DType:
    """The dtype of the real part: float32 for complex64, float64 for complex128, itself for the others."""
    if dtype == complex64:
        return float32
    return float64 if dtype == complex128 else dtype


def finite_range(dtype: DType) -> tuple[Any, Any]:
    """The smallest and the largest finite number of a real dtype, as Python numbers of its kind.

    >>> finite_range(np.dtype("int8"))
    (-128, 127)
    """
    if dtype in INTEGER:
        limits = np.iinfo(dtype)
        return limits.min, limits.max
    largest = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
    return -largest, largest
