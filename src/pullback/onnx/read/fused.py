"""ONNX import of com.microsoft: the fused operators that onnxruntime's optimizers put in the place of standard ones.

Each is what its documentation in onnxruntime says, as a composition; written again it is one of standard operators.
"""

from __future__ import annotations

from typing import Any

from ...core.dtypes import float32, int64
from ...core.operation import Tensor
from ...primitives.activations.bias import bias_add
from ...primitives.activations.gelu import gelu as gelu_of
from ...primitives.activations.rectifiers import leaky_relu, relu
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.creation.constant import constant
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.elementwise.powers import rsqrt, square
from ...primitives.indexing.gather import gather
from ...primitives.linalg.inverses import inv
from ...primitives.linalg.matmul import matmul
from ...primitives.normalization.normalization import Standardize
from ...primitives.reduction.norms import euclidean_norm
from ...primitives.reduction.reduce import reduce_mean, reduce_sum
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.transpose import transpose
from ..reading import Node, calling, reader
from .convolution import convolved
from .dtypes import cast
from .lengths import length, rank_of
from .linalg import gemm

_DOMAIN = "com.microsoft"

reader("Gelu", domain=_DOMAIN)(calling(gelu_of))


@reader("FusedMatMul", "TransposeMatMul", domain=_DOMAIN)
def fused_matmul(node: Node, a: Tensor, b: Tensor) -> Tensor:
    """A multiple of the product of matrices that may be turned."""
    a, b = [_batched_last(node, x) if node.attribute(f"transBatch{k}", 0) else x for k, x in (("A", a), ("B", b))]
    y = matmul(a, b, bool(node.attribute("transA", 0)), bool(node.attribute("transB", 0)))
    return y * float(node.attribute("alpha", 1.0))


def _batched_last(node: Node, x: Tensor) -> Tensor:
    """`x` with the first of its axes, which is that of rows, behind those of the batch."""
    rank = rank_of(node, x)
    return transpose(x, [*range(1, rank - 1), 0, rank - 1])


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


@reader("SimplifiedLayerNormalization")
def simplified_layer_normalization(node: Node, x: Tensor, scale: Tensor) -> Any:
    """`x` divided by the root of its mean square; onnxruntime has it among the standard operators."""
    if node.attribute("axis", -1) not in (-1, rank_of(node, x) - 1):
        node.refuse("axes before the last are not read")
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    inverse = rsqrt(reduce_mean(square(wide), -1, True) + node.attribute("epsilon", 1e-5))
    return cast(cast(wide * inverse, x.dtype) * scale, scale.dtype), inverse


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


@reader("CDist", domain=_DOMAIN)
def c_dist(node: Node, a: Tensor, b: Tensor) -> Tensor:
    """The distance, or its square, of each row of `a` and each of `b`."""
    kind = node.attribute("metric", "sqeuclidean")
    apart = expand_dims(a, 1) - b
    return euclidean_norm(apart, 2) if kind == "euclidean" else reduce_sum(square(apart), 2)


@reader("Inverse", domain=_DOMAIN)
def inverse_(node: Node, x: Tensor) -> Tensor:
    del node
    found: Tensor = inv(x)
    return found
