"""ONNX import of com.microsoft: the fused operators that onnxruntime's optimizers put in the place of standard ones.

Each is what its documentation in onnxruntime says, as a composition; written again it is one of standard operators.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.dtypes import float32, int64
from ...core.operation import Tensor
from ...primitives.activations.bias import bias_add
from ...primitives.activations.gelu import gelu as gelu_of
from ...primitives.activations.rectifiers import leaky_relu, relu
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.activations.softmax import softmax
from ...primitives.creation.constant import constant
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.elementwise.powers import rsqrt, square
from ...primitives.indexing.gather import gather
from ...primitives.indexing.where import where
from ...primitives.linalg.matmul import matmul
from ...primitives.normalization.normalization import Standardize
from ...primitives.reduction.reduce import reduce_mean, reduce_sum
from ...primitives.shape.reshape import reshape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.stacking import split
from ...primitives.shape.transpose import transpose
from ..reading import Node, reader
from .convolution import convolved
from .dtypes import cast
from .lengths import length, lengths, rank_of
from .linalg import gemm
from .quantization import requantized

_DOMAIN = "com.microsoft"


@reader("FusedMatMul", domain=_DOMAIN)
def fused_matmul(node: Node, a: Tensor, b: Tensor) -> Tensor:
    """A multiple of the product of matrices that may be turned."""
    if node.attribute("transBatchA", 0) or node.attribute("transBatchB", 0):
        node.refuse("transBatchA and transBatchB are not read")
    y = matmul(a, b, bool(node.attribute("transA", 0)), bool(node.attribute("transB", 0)))
    return y * float(node.attribute("alpha", 1.0))


@reader("FusedGemm", domain=_DOMAIN)
def fused_gemm(node: Node, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    named = ("activation_alpha", "activation_beta", "activation_gamma")
    numbers = [node.attribute(name) for name in named if name in node.attributes]
    return _activated(node, gemm(node, a, b, c), numbers)


@reader("FusedConv", domain=_DOMAIN)
def fused_conv(node: Node, x: Tensor, w: Tensor, b: Tensor | None = None, added: Tensor | None = None) -> Tensor:
    y = convolved(node, x, w)
    y = y if b is None else bias_add(y, b, "NC")
    return _activated(node, y if added is None else y + added, list(node.attribute("activation_params", ())))


def _activated(node: Node, x: Tensor, numbers: list[float]) -> Tensor:
    """`x` after the activation that the node names, with its numbers."""
    kind = node.attribute("activation", "")
    if kind == "LeakyRelu":
        return leaky_relu(x, numbers[0] if numbers else 0.01)
    if kind == "HardSigmoid":
        alpha, beta = numbers or (0.2, 0.5)
        return clip_by_value(x * alpha + beta, 0.0, 1.0)
    if kind == "Clip":
        low, high = numbers
        return clip_by_value(x, low, high)
    plain: dict[str, Any] = {"": lambda x: x, "Relu": relu, "Tanh": tanh, "Sigmoid": sigmoid}
    if kind not in plain:
        node.refuse(f"the activation {kind!r} is not read")
    y: Tensor = plain[kind](x)
    return y


@reader("Gelu", domain=_DOMAIN)
def gelu(node: Node, x: Tensor) -> Tensor:
    del node
    return gelu_of(x)


@reader("BiasGelu", domain=_DOMAIN)
def bias_gelu(node: Node, x: Tensor, bias: Tensor) -> Tensor:
    del node
    return gelu_of(x + bias)


@reader("FastGelu", domain=_DOMAIN)
def fast_gelu(node: Node, x: Tensor, bias: Tensor | None = None) -> Tensor:
    del node
    return gelu_of(x if bias is None else x + bias, True)


@reader("QuickGelu", domain=_DOMAIN)
def quick_gelu(node: Node, x: Tensor) -> Tensor:
    """`x * sigmoid(alpha * x)`."""
    return x * sigmoid(x * node.attribute("alpha", 1.702))


@reader("SkipLayerNormalization", domain=_DOMAIN)
def skip_layer_normalization(
    node: Node, x: Tensor, skip: Tensor, scale: Tensor, shift: Tensor | None = None, bias: Tensor | None = None
) -> Any:
    """The sum of both inputs and a bias, standardized along the last axis; and more of what was on the way."""
    total = x + skip if bias is None else x + skip + bias
    y, mean, inverse = _standardized(node, total, scale, shift)
    return y, mean, inverse, total


def _standardized(node: Node, x: Tensor, scale: Tensor, shift: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    epsilon = node.attribute("epsilon", 1e-12)
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    y, mean, variance = Standardize((rank_of(node, x) - 1,), epsilon).operation(wide).outputs
    y = cast(y, x.dtype) * scale
    return y if shift is None else y + shift, mean, rsqrt(variance + epsilon)


@reader("SkipSimplifiedLayerNormalization", domain=_DOMAIN)
def skip_simplified_layer_normalization(
    node: Node, x: Tensor, skip: Tensor, scale: Tensor, bias: Tensor | None = None
) -> Any:
    """The sum of both inputs and a bias, divided by the root of its mean square; and more of what was on the way."""
    total = x + skip if bias is None else x + skip + bias
    wide = cast(total, float32) if total.dtype.itemsize == 2 else total
    inverse = rsqrt(reduce_mean(square(wide), -1, True) + node.attribute("epsilon", 1e-6))
    return cast(wide * inverse, x.dtype) * scale, None, inverse, total


@reader("EmbedLayerNormalization", domain=_DOMAIN)
def embed_layer_normalization(
    node: Node,
    words: Tensor,
    segments: Tensor | None,
    of_words: Tensor,
    of_places: Tensor,
    of_segments: Tensor | None,
    scale: Tensor,
    shift: Tensor,
    seen: Tensor | None = None,
    places: Tensor | None = None,
) -> Any:
    """Rows of tables for words, places and segments, added up and standardized; and how many words are seen."""
    at = gather(of_places, places) if places is not None else of_places[: length(words, 1)]
    total = gather(of_words, words) + at
    if segments is not None and of_segments is not None:
        total = total + gather(of_segments, segments)
    count = constant(0, int64) if seen is None else reduce_sum(cast(seen, int64), 1)
    return _standardized(node, total, scale, shift)[0], cast(count, words.dtype), total


@reader("Attention", domain=_DOMAIN)
def attention(
    node: Node,
    x: Tensor,
    weights: Tensor,
    bias: Tensor | None = None,
    seen: Tensor | None = None,
    past: Tensor | None = None,
    added: Tensor | None = None,
    past_length: Tensor | None = None,
) -> Any:
    """Attention whose queries, keys and values are one product of `x` and `weights`."""
    if past is not None or past_length is not None or node.wants(1):
        node.refuse("keys and values of the past are not read")
    rows = matmul(x, weights)
    rows = rows if bias is None else rows + bias
    q, k, v = split(rows, list(node.attribute("qkv_hidden_sizes", ())) or 3, rank_of(node, rows) - 1)
    return _attended(node, q, k, v, seen, added)


@reader("MultiHeadAttention", domain=_DOMAIN)
def multi_head_attention(
    node: Node,
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    bias: Tensor | None = None,
    seen: Tensor | None = None,
    added: Tensor | None = None,
    *past: Tensor | None,
) -> Tensor:
    """Attention of queries, keys and values [batch, length, heads * size], to which a bias for all three is added."""
    if any(p is not None for p in past) or node.wants(1):
        node.refuse("keys and values of the past are not read")
    if key is None or value is None or rank_of(node, query) != 3 or rank_of(node, key) != 3:
        node.refuse("packed queries, keys and values are not read; they must be three tensors of three axes")
    if bias is not None:
        sizes = [x.shape.size(2) for x in (query, key, value)]
        if None in sizes:
            node.refuse("the widths of queries, keys and values must be known where they have a bias")
        of_query, of_key, of_value = split(bias, [n for n in sizes if n is not None], 0)
        query, key, value = query + of_query, key + of_key, value + of_value
    return _attended(node, query, key, value, seen, added)


def _attended(node: Node, q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None, added: Tensor | None) -> Tensor:
    """The result of all heads, side by side. What is not seen has a large negative number added to its score."""
    heads = node.attribute("num_heads")
    batch, queries, _ = lengths(q)
    keys = length(k, 1)
    rows, columns, values = [transpose(reshape(x, [batch, length(x, 1), heads, -1]), [0, 2, 1, 3]) for x in (q, k, v)]
    size = rows.shape.size(3)
    scale = node.attribute("scale", 0.0) or (None if size is None else 1 / math.sqrt(size))
    if scale is None:
        node.refuse("the size of a head must be known where there is no scale")
    scores = matmul(rows * scale, columns, transpose_b=True)
    low = constant(node.attribute("mask_filter_value", -10000.0), scores.dtype)
    if seen is not None:
        scores = scores + where(_seen(node, seen, keys), constant(0.0, scores.dtype), low)
    if added is not None:
        scores = scores + added
    if node.attribute("unidirectional", 0):
        ahead = range_(constant(0, int64), keys) - expand_dims(range_(constant(0, int64), queries), 1)
        scores = scores + where(ahead <= 0, constant(0.0, scores.dtype), low)
    y = transpose(matmul(softmax(scores), values), [0, 2, 1, 3])
    return reshape(y, [batch, queries, -1])


def _seen(node: Node, seen: Tensor, keys: Any) -> Tensor:
    """Which keys are seen, to be broadcast over scores: as a mask, or how many there are."""
    rank = rank_of(node, seen)
    if rank == 1:
        return range_(constant(0, int64), keys) < reshape(cast(seen, int64), [-1, 1, 1, 1])
    batch, *rest = lengths(seen)
    return reshape(seen, [batch, *([1] * (4 - rank)), *rest]) > 0


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
    x, w = [
        cast(m, int64) if zero is None else cast(m, int64) - cast(zero, int64) for m, zero in ((a, a_zero), (b, b_zero))
    ]
    sums = matmul(x, w, bool(node.attribute("transA", 0)), bool(node.attribute("transB", 0)))
    sums = sums if c is None else sums + cast(c, int64)
    factors = a_scale * b_scale * node.attribute("alpha", 1.0)
    return requantized(sums, factors, y_scale, y_zero, a.dtype)


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
    one = constant(1.0, x.dtype)
    return requantized(x + w if node.op_type == "QLinearAdd" else x * w, one, y_scale, y_zero, a.dtype)


def _scaled_back(x: Tensor, scale: Tensor, zero: Tensor | None) -> Tensor:
    whole = cast(x, int64) if zero is None else cast(x, int64) - cast(zero, int64)
    return cast(whole, scale.dtype) * scale
