"""GraphDef export of cross entropies."""

from __future__ import annotations

from typing import Any

from ...primitives.losses.cross_entropy import (
    SigmoidCrossEntropy,
    SoftmaxCrossEntropyWithLogits,
    SparseSoftmaxCrossEntropyWithLogits,
)
from ..body import Body, Ref
from ..exporting import writer


@writer(SoftmaxCrossEntropyWithLogits)
def softmax_cross_entropy(body: Body, p: Any, x: Ref, labels: Ref) -> Any:
    """The derivative apart: TensorFlow's takes the labels of a row to sum to 1."""
    _check_matrix(body, p)
    loss, _ = body.outputs(p.type, x, labels)
    total = body.node("Sum", labels, body.integers([1]), keep_dims=True)
    return loss, body.node("Sub", body.node("Mul", body.node("Softmax", x), total), labels)


@writer(SparseSoftmaxCrossEntropyWithLogits)
def sparse_softmax_cross_entropy(body: Body, p: Any, x: Ref, labels: Ref) -> Any:
    _check_matrix(body, p)
    return body.main(p.type, x, labels)


@writer(SigmoidCrossEntropy)
def sigmoid_cross_entropy(body: Body, p: Any, x: Ref, z: Ref) -> Any:
    """max(x, 0) - x z + log(1 + exp(-|x|))."""
    softened = body.node("Log1p", body.node("Exp", body.node("Neg", body.node("Abs", x))))
    return body.main("AddV2", body.node("Sub", body.node("Relu", x), body.node("Mul", x, z)), softened)


def _check_matrix(body: Body, p: Any) -> None:
    if body.op.inputs[0].shape.rank != 2 or getattr(p, "axis", -1) not in (-1, 1):
        body.refuse("TensorFlow's takes a matrix, one row for each example; reshape its input")
