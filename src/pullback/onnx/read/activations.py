"""ONNX import of activations: ours where the function is the same, compositions of few operations elsewhere."""

from __future__ import annotations

from ...core.dtypes import FLOATING
from ...core.operation import Tensor
from ...primitives.activations.gelu import gelu as gelu_of
from ...primitives.activations.rectifiers import elu as elu_of
from ...primitives.activations.rectifiers import leaky_relu, relu, silu, softsign
from ...primitives.activations.rectifiers import selu as selu_of
from ...primitives.activations.sigmoid import sigmoid, softplus
from ...primitives.activations.softmax import log_softmax, softmax
from ...primitives.creation.one_hot import one_hot
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.elementwise.exponential import expm1
from ...primitives.elementwise.hyperbolic import tanh
from ...primitives.elementwise.masking import mask
from ...primitives.elementwise.maximum import minimum
from ...primitives.indexing.where import where
from ...primitives.reduction.argmax import argmax
from ...primitives.shape.reshape import reshape
from ..reading import Node, calling, reader
from .dtypes import cast
from .lengths import length

_SELU = (1.6732632423543772, 1.0507009873554805)

reader("Relu")(calling(relu))
reader("LeakyRelu")(calling(leaky_relu, alpha=0.01))
reader("Sigmoid")(calling(sigmoid))
reader("Softplus")(calling(softplus))
reader("Softsign")(calling(softsign))
reader("Swish")(calling(silu, alpha=1.0))
reader("Softmax")(calling(softmax, axis=-1))
reader("LogSoftmax")(calling(log_softmax, axis=-1))


@reader("PRelu")
def prelu(node: Node, x: Tensor, slope: Tensor) -> Tensor:
    del node
    rank, count = x.shape.rank, slope.shape.num_elements()
    if (
        rank is not None
        and rank > 2
        and slope.shape.rank == 1
        and count != 1
        and count == x.shape.size(1) != x.shape.size(-1)
    ):
        # As the first versions had it: one for each channel.
        slope = reshape(slope, [-1, *[1] * (rank - 2)])
    return where(x < 0, slope * x, x)


@reader("ThresholdedRelu")
def thresholded_relu(node: Node, x: Tensor) -> Tensor:
    return mask(x > node.attribute("alpha", 1.0), x)


@reader("Elu")
def elu(node: Node, x: Tensor) -> Tensor:
    return _elu(x, node.attribute("alpha", 1.0))


def _elu(x: Tensor, alpha: float) -> Tensor:
    return elu_of(x) if alpha == 1 else where(x > 0, x, expm1(minimum(x, 0.0)) * alpha)


@reader("Celu")
def celu(node: Node, x: Tensor) -> Tensor:
    """`max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`."""
    alpha = node.attribute("alpha", 1.0)
    return elu_of(x) if alpha == 1 else where(x > 0, x, expm1(minimum(x / alpha, 0.0)) * alpha)


@reader("Selu")
def selu(node: Node, x: Tensor) -> Tensor:
    alpha, gamma = node.attribute("alpha", _SELU[0]), node.attribute("gamma", _SELU[1])
    if abs(alpha - _SELU[0]) < 1e-6 and abs(gamma - _SELU[1]) < 1e-6:
        return selu_of(x)
    y: Tensor = _elu(x, alpha) * gamma
    return y


@reader("HardSigmoid")
def hard_sigmoid(node: Node, x: Tensor) -> Tensor:
    linear = x * node.attribute("alpha", 0.2) + node.attribute("beta", 0.5)
    clipped: Tensor = clip_by_value(linear, 0.0, 1.0)
    return clipped


@reader("HardSwish")
def hard_swish(node: Node, x: Tensor) -> Tensor:
    del node
    gate: Tensor = clip_by_value(x * (1 / 6) + 0.5, 0.0, 1.0)
    return x * gate


@reader("Gelu")
def gelu(node: Node, x: Tensor) -> Tensor:
    return gelu_of(x, node.attribute("approximate", "none") == "tanh")


@reader("Mish")
def mish(node: Node, x: Tensor) -> Tensor:
    del node
    return x * tanh(softplus(x))


@reader("SwiGLU")
def swiglu(node: Node, gate: Tensor, x: Tensor) -> Tensor:
    return silu(gate, node.attribute("alpha", 1.0)) * x


@reader("Shrink")
def shrink(node: Node, x: Tensor) -> Tensor:
    """`x + bias` below `-lambd`, `x - bias` above `lambd`, 0 between."""
    bias, limit = node.attribute("bias", 0.0), node.attribute("lambd", 0.5)
    if x.dtype not in FLOATING:
        wide = cast(x, "float64")
        return cast(_shrunk(wide, bias, limit), x.dtype)
    return _shrunk(x, bias, limit)


def _shrunk(x: Tensor, bias: float, limit: float) -> Tensor:
    if bias == 0:
        return mask((x < -limit) | (x > limit), x)
    return where(x < -limit, x + bias, mask(x > limit, x - bias))


@reader("Hardmax")
def hardmax(node: Node, x: Tensor) -> Tensor:
    """1 at the first largest element along the axis, 0 elsewhere."""
    axis = node.attribute("axis", -1)
    return one_hot(argmax(x, axis), length(x, axis), axis=axis, dtype=x.dtype)
