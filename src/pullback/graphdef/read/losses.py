"""GraphDef import of losses, and of the cotangents that TensorFlow's nodes give beside them."""

from __future__ import annotations

from typing import Any

from ...autodiff.reverse import gradients
from ...core.operation import Tensor
from ...primitives.activations.softmax import softmax
from ...primitives.losses.cross_entropy import SoftmaxCrossEntropyWithLogits, SparseSoftmaxCrossEntropyWithLogits
from ...primitives.losses.l2 import L2Loss
from ..nodes import Node, making, reader

reader("L2Loss")(making(L2Loss))


@reader("SoftmaxCrossEntropyWithLogits", outputs=("loss", "backprop"))
def softmax_cross_entropy(node: Node, x: Tensor, labels: Tensor) -> Any:
    """The derivative is that of labels whose rows sum to 1, whatever they sum to, as TensorFlow has it."""
    loss = _first(node.make(SoftmaxCrossEntropyWithLogits(), x, labels))
    return (loss, softmax(x) - labels) if node.wants(1) else loss


@reader("SparseSoftmaxCrossEntropyWithLogits", outputs=("loss", "backprop"))
def sparse_softmax_cross_entropy(node: Node, x: Tensor, labels: Tensor) -> Any:
    return _with_backprop(node, x, _first(node.make(SparseSoftmaxCrossEntropyWithLogits(), x, labels)))


def _first(result: Any) -> Tensor:
    loss: Tensor = result[0] if isinstance(result, tuple) else result
    return loss


def _with_backprop(node: Node, x: Tensor, loss: Tensor) -> Any:
    """The loss, and, where it is read, its derivative by the logits."""
    return (loss, gradients(loss, x)[0]) if node.wants(1) else loss
