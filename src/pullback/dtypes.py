"""Element types: `pb.dtypes`, under TensorFlow's names of `tf.dtypes`."""

from .core.dtypes import (
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    resource,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from .core.dtypes import float16 as half
from .core.dtypes import float64 as double
from .primitives.casting.cast import cast
from .primitives.casting.saturate_cast import saturate_cast
from .primitives.complex.complex import complex

__all__ = [
    "as_dtype",
    "bfloat16",
    "bool",
    "cast",
    "complex",
    "complex64",
    "complex128",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "resource",
    "saturate_cast",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "variant",
]
