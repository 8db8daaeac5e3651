"""ONNX import of quantization: a scale and a zero point for a tensor, an axis, or blocks along an axis.

What is rounded has no derivative, unless a rule says so; what is scaled back has one by the scale.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ...core.dtypes import FLOATING, DType, float32, float64, int32, uint8
from ...core.operation import Tensor
from ...primitives.creation.constant import constant
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.elementwise.maximum import maximum, minimum
from ...primitives.elementwise.rounding import round as round_
from ...primitives.indexing.slicing import getitem
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import equal
from ...primitives.quantization.straight_through import straight_through
from ...primitives.reduction.reduce import reduce_max, reduce_min
from ...primitives.shape.reshape import reshape
from ...primitives.shape.tile import repeat
from ..element_types import dtype_of
from ..reading import Node, reader
from .casting import converted
from .convolution import convolved, shifted
from .dtypes import cast
from .lengths import length, rank_of
from .linalg import product
from .operands import from_front

_WIDE = 4
"""Integers of fewer bytes are exact in float32."""


@reader("QuantizeLinear")
def quantize_linear(node: Node, x: Tensor, scale: Tensor, zero_point: Tensor | None = None) -> Tensor:
    """`saturate(round(x / scale) + zero_point)`."""
    number = node.attribute("output_dtype", 0)
    dtype = zero_point.dtype if zero_point is not None else dtype_of(number) if number else uint8
    precision = node.attribute("precision", 0)
    wide = dtype_of(precision) if precision else scale.dtype if scale.dtype in FLOATING else float32
    ratio = cast(x, wide) / _spread(node, cast(scale, wide), x)
    if _is_float(dtype):
        found: Tensor = converted(node, ratio, dtype)
        return found
    zero = None if zero_point is None else _spread(node, cast(zero_point, int32), x)
    rounded = _to_integers(ratio, zero, dtype)
    node.graph.rounded[rounded] = x, []
    return rounded


def _is_float(dtype: DType) -> bool:
    return "float" in dtype.name


def _to_integers(ratio: Tensor, zero: Tensor | None, dtype: Any) -> Tensor:
    """The nearest integers of `dtype` to `ratio`, shifted by `zero`."""
    limits = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    low, high = int(limits.min), int(limits.max)
    # Beyond twice the range the shift does not matter, and int32 would overflow.
    reach = float(4 * max(high, -low))
    whole = cast(clip_by_value(round_(cast(ratio, float32)), -reach, reach), int32)
    whole = whole if zero is None else whole + zero
    return cast(clip_by_value(whole, low, high), dtype)


@reader("DequantizeLinear")
def dequantize_linear(node: Node, x: Tensor, scale: Tensor, zero_point: Tensor | None = None) -> Tensor:
    """`(x - zero_point) * scale`."""
    number = node.attribute("output_dtype", 0)
    dtype = dtype_of(number) if number else scale.dtype
    wide = float32 if scale.dtype.itemsize < _WIDE else scale.dtype
    if _is_float(x.dtype):
        shifted_ = cast(x, wide)
    else:
        whole = cast(x, int32)
        whole = whole if zero_point is None else whole - _spread(node, cast(zero_point, int32), x)
        shifted_ = cast(whole, wide)
    result = cast(shifted_ * _spread(node, cast(scale, wide), x), dtype)
    if x not in node.graph.rounded:
        return result
    source, read = node.graph.rounded[x]
    read.append(straight_through(cast(source, dtype), result))
    return read[-1]


def _spread(node: Node, value: Tensor, x: Tensor) -> Tensor:
    """One number for each element of `x`, or one for all, in a shape that broadcasts."""
    if value.shape.rank == 0 or value.shape.num_elements() == 1:
        return reshape(value, [])
    rank = rank_of(node, x)
    given = node.attribute("axis", None)
    axis = min(1, rank - 1) if given is None else from_front(node, given, rank)
    size = node.attribute("block_size", 0)
    if not size:
        return reshape(value, [-1, *[1] * (rank - 1 - axis)])
    blocks = repeat(value, size, axis)
    n = length(x, axis)
    if isinstance(n, int) and blocks.shape.size(axis) == n:
        return blocks
    return getitem(blocks, (*[slice(None)] * axis, slice(0, n)))


@reader("DynamicQuantizeLinear")
def dynamic_quantize_linear(node: Node, x: Tensor) -> Any:
    """`x` in 0 to 255, with the scale and the zero point that fit its range, which is made to hold 0."""
    del node
    high, low = maximum(reduce_max(x), 0.0), minimum(reduce_min(x), 0.0)
    scale = where(equal(high, low), constant(1.0, x.dtype), high - low) / 255.0
    zero = cast(round_(clip_by_value(-(low / scale), 0.0, 255.0)), int32)
    return _to_integers(x / scale, zero, uint8), scale, cast(zero, uint8)


@reader("QLinearMatMul")
def q_linear_mat_mul(
    node: Node,
    a: Tensor,
    a_scale: Tensor,
    a_zero: Tensor | None,
    b: Tensor,
    b_scale: Tensor,
    b_zero: Tensor | None,
    y_scale: Tensor,
    y_zero: Tensor | None = None,
) -> Tensor:
    del node
    rows = product(_less_zero(a, a_zero, last=False), _less_zero(b, b_zero, last=True))
    factors = _wide(_beside(a_scale, a, last=False)) * _wide(b_scale) / _wide(y_scale)
    return _requantized(rows, factors, y_zero, a.dtype)


def _less_zero(x: Tensor, zero: Tensor | None, *, last: bool) -> Tensor:
    """`x - zero` in int32; a vector has a zero point for each column, or, unless `last`, for each row."""
    wide = cast(x, int32)
    return wide if zero is None else wide - _beside(cast(zero, int32), x, last=last)


def _beside(vector: Tensor, x: Tensor, *, last: bool) -> Tensor:
    rows = not last and vector.shape.rank == 1 and vector.shape.size(0) != 1 and (x.shape.rank or 0) > 1
    return reshape(vector, [-1, 1]) if rows else vector


def _wide(x: Tensor) -> Tensor:
    return cast(x, float64)


def requantized(sums: Tensor, factors: Tensor, scale: Tensor | None, zero: Tensor | None, dtype: Any) -> Tensor:
    """Sums times factors, quantized by a scale and a zero point; floats where there is no scale."""
    if scale is None:
        return cast(sums, factors.dtype) * factors
    return _requantized(sums, _wide(factors) / _wide(scale), zero, dtype)


def _requantized(sums: Tensor, factors: Tensor, zero: Tensor | None, dtype: Any) -> Tensor:
    ratio = _wide(sums) * factors
    limits = np.iinfo(dtype if zero is None else zero.dtype)
    whole = round_(ratio if zero is None else ratio + _wide(zero))
    clipped = clip_by_value(whole, float(limits.min), float(limits.max))
    return cast(clipped, limits.dtype)


@reader("QLinearConv")
def q_linear_conv(
    node: Node,
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
    b: Tensor | None = None,
) -> Tensor:
    sums = convolved(node, shifted(x, x_zero), shifted(w, w_zero))
    beside = [-1, *[1] * (rank_of(node, x) - 2)]
    if b is not None:
        sums = sums + reshape(b, beside)
    factors = _wide(x_scale) * _wide(reshape(w_scale, beside) if w_scale.shape.rank == 1 else w_scale) / _wide(y_scale)
    return _requantized(sums, factors, y_zero, x.dtype)
