"""GraphDef export of activations: softmax, leaky rectifiers, biases, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import float64
from ...primitives.activations.bias import BiasAdd
from ...primitives.activations.rectifiers import LeakyRelu, LeakyReluGrad, Silu
from ...primitives.activations.softmax import LogSoftmax, LogSoftmaxGrad, Softmax, SoftmaxGrad
from ..body import Body, Ref
from ..exporting import writer


@writer(BiasAdd)
def bias_add(body: Body, p: Any, x: Ref, bias: Ref) -> Any:
    return body.main("BiasAdd", x, bias, data_format="NCHW" if p.channels_first else "NHWC")


@writer(LeakyRelu, LeakyReluGrad)
def leaky(body: Body, p: Any, *xs: Ref) -> Any:
    """TensorFlow's have a slope of 32 bits."""
    if xs[0].dtype == float64 and p.alpha != float(np.float32(p.alpha)):
        x, slope = xs[-1], body.constant(p.alpha, float64)
        above = body.node("Greater", x, body.constant(0, float64))
        return body.main("SelectV2", above, xs[0], body.node("Mul", xs[0], slope))
    return body.main(p.type, *xs, alpha=float(p.alpha))


@writer(Silu)
def silu(body: Body, p: Any, x: Ref) -> Any:
    return body.main("Mul", x, body.node("Sigmoid", x))


@writer(Softmax, LogSoftmax)
def softmax(body: Body, p: Any, x: Ref) -> Any:
    """Along the last axis, to which another one is moved."""
    rank = body.op.inputs[0].shape.rank
    if p.axis == -1 or p.axis + 1 == rank:
        return body.main(p.type, x)
    if rank is None:
        return body.refuse("the rank of its input must be known, unless the axis is the last")
    axis = p.axis % rank
    order = [*range(axis), *range(axis + 1, rank), axis]
    made = body.node(p.type, body.node("Transpose", x, body.integers(order)))
    return body.main("Transpose", made, body.integers([*range(axis), rank - 1, *range(axis, rank - 1)]))


@writer(SoftmaxGrad)
def softmax_grad(body: Body, p: Any, y: Ref, dy: Ref) -> Any:
    weighted = _sum(body, p, body.node("Mul", y, dy))
    return body.main("Mul", y, body.node("Sub", dy, weighted))


@writer(LogSoftmaxGrad)
def log_softmax_grad(body: Body, p: Any, y: Ref, dy: Ref) -> Any:
    return body.main("Sub", dy, body.node("Mul", body.node("Exp", y), _sum(body, p, dy)))


def _sum(body: Body, p: Any, x: Ref) -> Ref:
    return body.node("Sum", x, body.integers([p.axis]), keep_dims=True)
