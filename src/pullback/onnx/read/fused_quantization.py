"""ONNX import of com.microsoft: products of quantized matrices, weights of few bits, quantized activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import int64
from ...core.operation import Tensor
from ...primitives.activations.rectifiers import leaky_relu
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.activations.softmax import softmax
from ...primitives.creation.constant import constant
from ...primitives.linalg.matmul import matmul
from ...primitives.reduction.reduce import reduce_mean
from ...primitives.shape.reshape import reshape
from ...primitives.shape.stacking import concat
from ..reading import Node, reader
from .dtypes import cast
from .lengths import rank_of
from .quantization import dequantize_linear, dynamic_quantize_linear, quantize_linear, requantized

_DOMAIN = "com.microsoft"
Array = np.ndarray[Any, Any]

reader("QuantizeLinear", domain=_DOMAIN)(quantize_linear)
reader("DequantizeLinear", domain=_DOMAIN)(dequantize_linear)


@reader("QGemm", domain=_DOMAIN)
def q_gemm(
    node: Node,
    a: Tensor,
    a_scale: Tensor,
    a_zero: Tensor | None,
    b: Tensor,
    b_scale: Tensor,
    b_zero: Tensor | None,
    c: Tensor | None = None,
    y_scale: Tensor | None = None,
    y_zero: Tensor | None = None,
) -> Tensor:
    """A product of quantized matrices, quantized again, or as floats where it has no scale."""
    x, w = _whole(a, a_zero), _whole(b, b_zero)
    sums = matmul(x, w, bool(node.attribute("transA", 0)), bool(node.attribute("transB", 0)))
    sums = sums if c is None else sums + cast(c, int64)
    factors = a_scale * b_scale * node.attribute("alpha", 1.0)
    return requantized(sums, factors, y_scale, y_zero, a.dtype)


def _whole(x: Tensor, zero: Tensor | None) -> Tensor:
    return cast(x, int64) if zero is None else cast(x, int64) - cast(zero, int64)


@reader("MatMulIntegerToFloat", domain=_DOMAIN)
def mat_mul_integer_to_float(
    node: Node,
    a: Tensor,
    b: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero: Tensor | None = None,
    b_zero: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """A product of quantized matrices as floats."""
    del node
    y: Tensor = cast(matmul(_whole(a, a_zero), _whole(b, b_zero)), a_scale.dtype) * (a_scale * b_scale)
    return y if bias is None else y + bias


@reader("DynamicQuantizeMatMul", domain=_DOMAIN)
def dynamic_quantize_mat_mul(
    node: Node, a: Tensor, b: Tensor, b_scale: Tensor, b_zero: Tensor | None = None, bias: Tensor | None = None
) -> Tensor:
    """The product of a matrix, quantized by its own range, and of a quantized one, as floats."""
    rounded, scale, zero = dynamic_quantize_linear(node, a)
    found: Tensor = mat_mul_integer_to_float(node, rounded, b, scale, b_scale, zero, b_zero, bias)
    return found


@reader("MatMulNBits", domain=_DOMAIN)
def mat_mul_n_bits(
    node: Node,
    a: Tensor,
    b: Tensor,
    scales: Tensor,
    zeros: Tensor | None = None,
    places: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """The product with a matrix of few bits an element; each block of a column has a scale and a zero point."""
    bits, size = node.attribute("bits", 4), node.attribute("block_size")
    width, count = node.attribute("K"), node.attribute("N")
    packed = node.static(b)
    if places is not None or packed is None or bits not in (2, 4, 8):
        node.refuse("weights that a run computes, or whose blocks are in another order, are not read")
    blocks = -(-width // size)
    whole = _unpacked(packed.reshape(count, blocks, -1), bits)
    zero = _zeros(node, zeros, bits, count, blocks, scales)
    weights = (constant(whole, scales.dtype) - zero) * reshape(scales, [count, blocks, 1])
    y = matmul(a, reshape(weights, [count, blocks * size])[:, :width], transpose_b=True)
    return y if bias is None else y + bias


def _unpacked(packed: Array, bits: int) -> Array:
    """The elements that share bytes, the first in the lowest bits."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = (packed[..., None] >> shifts) & np.uint8((1 << bits) - 1)
    return parts.reshape(*packed.shape[:-1], -1)


def _zeros(node: Node, zeros: Tensor | None, bits: int, count: int, blocks: int, scales: Tensor) -> Tensor:
    if zeros is None:
        return constant(float(1 << (bits - 1)), scales.dtype)
    if zeros.dtype.kind == "f":
        return reshape(zeros, [count, blocks, 1])
    known = node.static(zeros)
    if known is None:
        node.refuse("zero points that a run computes are not read")
    return constant(_unpacked(known.reshape(count, -1), bits)[:, :blocks, None], scales.dtype)


@reader("QLinearAdd", "QLinearMul", domain=_DOMAIN)
def q_linear_binary(
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
    x, w = [_scaled_back(*three) for three in ((a, a_scale, a_zero), (b, b_scale, b_zero))]
    return _quantized(x + w if node.op_type == "QLinearAdd" else x * w, y_scale, y_zero, a)


def _scaled_back(x: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor:
    return cast(_whole(x, zero), scale.dtype) * scale


def _quantized(y: Tensor, scale: Tensor, zero: Tensor | None, like: Tensor) -> Tensor:
    return requantized(y, constant(1.0, y.dtype), scale, zero, like.dtype)


@reader("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearGlobalAveragePool", domain=_DOMAIN)
def q_linear_unary(
    node: Node, x: Tensor, x_scale: Tensor, x_zero: Tensor | None, y_scale: Tensor, y_zero: Tensor | None = None
) -> Tensor:
    """A function of a quantized tensor, quantized again."""
    found = _scaled_back(x, x_scale, x_zero)
    if node.op_type == "QLinearSigmoid":
        y = sigmoid(found)
    elif node.op_type == "QLinearLeakyRelu":
        y = leaky_relu(found, node.attribute("alpha", 0.01))
    elif node.op_type == "QLinearSoftmax":
        y = softmax(found, node.attribute("axis", -1))
    else:
        if node.attribute("channels_last", 0):
            node.refuse("channels_last is not read")
        y = reduce_mean(found, list(range(2, rank_of(node, x))), True)
    return _quantized(y, y_scale, y_zero, x)


@reader("QLinearConcat", domain=_DOMAIN)
def q_linear_concat(node: Node, y_scale: Tensor, y_zero: Tensor, *rest: Tensor) -> Tensor:
    parts = [_scaled_back(*rest[i : i + 3]) for i in range(0, len(rest), 3)]
    return _quantized(concat(parts, node.attribute("axis")), y_scale, y_zero, rest[0])
