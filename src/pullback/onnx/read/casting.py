"""ONNX import of conversions between dtypes.

Floats become 8-bit floats by saturation, unless the node says otherwise: what is too large becomes the largest.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ...core.dtypes import FLOATING, NARROW, DType, float32, string, uint8, uint32
from ...core.operation import Tensor
from ...primitives.bitwise import bitwise_and, right_shift
from ...primitives.casting.bitcast import bitcast
from ...primitives.casting.cast import cast as cast_of
from ...primitives.elementwise.maximum import maximum, minimum
from ...primitives.logic.comparison import equal, greater, not_equal
from ...primitives.logic.logical import logical_and, logical_not, logical_or
from ..element_types import dtype_of
from ..reading import Node, reader
from .strings import converted_string

_POWERS_OF_TWO = np.dtype(ml_dtypes.float8_e8m0fnu)


@reader("Cast")
def cast(node: Node, x: Tensor) -> Any:
    return converted(node, x, dtype_of(node.attribute("to")))


@reader("CastLike")
def cast_like(node: Node, x: Tensor, like: Tensor) -> Any:
    return converted(node, x, like.dtype)


@reader("BitCast")
def bit_cast(node: Node, x: Tensor) -> Tensor:
    return bitcast(x, dtype_of(node.attribute("to")))


def converted(node: Node, x: Tensor, dtype: DType) -> Any:
    """`x` in `dtype`; the node may say `saturate` and `round_mode`."""
    if string in (x.dtype, dtype):
        return converted_string(node, x, dtype)
    saturate = bool(node.attribute("saturate", 1))
    if dtype == _POWERS_OF_TWO and x.dtype in FLOATING:
        return _to_power_of_two(cast_of(x, float32), node.attribute("round_mode", "up"), saturate)
    narrow_float = dtype in NARROW and "float8" in dtype.name
    if narrow_float and saturate and x.dtype in FLOATING:
        largest = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
        if x.dtype != float32 and largest > float(ml_dtypes.finfo(x.dtype).max):  # type: ignore[no-untyped-call]
            x = cast_of(x, float32)
        x = minimum(maximum(x, -largest), largest)
    return cast_of(x, dtype)


def _to_power_of_two(x: Tensor, mode: str, saturate: bool) -> Tensor:
    """The exponents of float32 numbers, rounded, are the bits of what has no sign and no digits."""
    bits = bitcast(x, uint32)
    exponent = bitwise_and(right_shift(bits, 23), 255)
    finite = not_equal(exponent, 255)
    if mode == "nearest":
        half, rest = 0x400000, 0x3FFFFF
        above = greater(bitwise_and(bits, rest), 0)
        up = logical_and(greater(bitwise_and(bits, half), 0), logical_or(above, greater(exponent, 0)))
    else:
        up = greater(bitwise_and(bits, 0x7FFFFF), 0)
    up = logical_and(up, finite)
    if saturate:
        up = logical_and(up, logical_not(equal(exponent, 254)))
    rounded = exponent if mode == "down" else exponent + cast_of(up, uint32)
    return bitcast(cast_of(rounded, uint8), _POWERS_OF_TWO)
