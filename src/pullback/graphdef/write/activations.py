"""GraphDef export of activations: softmax, leaky rectifiers, biases, and their derivatives."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.activations.bias import BiasAdd
from ...primitives.activations.rectifiers import LeakyRelu, LeakyReluGrad, Silu
from ...primitives.activations.softmax import LogSoftmax, LogSoftmaxGrad, Softmax, SoftmaxGrad
from ..body import Body, Ref
from ..exporting import writer


@writer(BiasAdd)
def bias_add(body: Body, op: Operation, x: Ref, bias: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("BiasAdd", x, bias, data_format="NCHW" if primitive.channels_first else "NHWC")


@writer(LeakyRelu, LeakyReluGrad)
def leaky(body: Body, op: Operation, *xs: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main(op.type, *xs, alpha=float(primitive.alpha))


@writer(Silu)
def silu(body: Body, op: Operation, x: Ref) -> Any:
    return body.main("Mul", x, body.node("Sigmoid", x))


@writer(Softmax, LogSoftmax)
def softmax(body: Body, op: Operation, x: Ref) -> Any:
    """Along the last axis, to which another one is moved."""
    primitive: Any = op.primitive
    rank = op.inputs[0].shape.rank
    if primitive.axis == -1 or primitive.axis + 1 == rank:
        return body.main(op.type, x)
    if rank is None:
        return body.refuse("the rank of its input must be known, unless the axis is the last")
    axis = primitive.axis % rank
    order = [*range(axis), *range(axis + 1, rank), axis]
    made = body.node(op.type, body.node("Transpose", x, body.integers(order)))
    return body.main("Transpose", made, body.integers([*range(axis), rank - 1, *range(axis, rank - 1)]))


@writer(SoftmaxGrad)
def softmax_grad(body: Body, op: Operation, y: Ref, dy: Ref) -> Any:
    weighted = _sum(body, op, body.node("Mul", y, dy))
    return body.main("Mul", y, body.node("Sub", dy, weighted))


@writer(LogSoftmaxGrad)
def log_softmax_grad(body: Body, op: Operation, y: Ref, dy: Ref) -> Any:
    return body.main("Sub", dy, body.node("Mul", body.node("Exp", y), _sum(body, op, dy)))


def _sum(body: Body, op: Operation, x: Ref) -> Ref:
    primitive: Any = op.primitive
    ref: Ref = body.node("Sum", x, body.integers([primitive.axis]), keep_dims=True)
    return ref
