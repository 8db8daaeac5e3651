"""ONNX import of losses: negative log-likelihood and cross entropy."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.activations.softmax import log_softmax
from ...primitives.creation.constant import constant
from ...primitives.elementwise.masking import mask
from ...primitives.indexing.gather import gather
from ...primitives.indexing.take_along import TakeAlong
from ...primitives.indexing.where import where
from ...primitives.logic.comparison import not_equal
from ...primitives.losses.cross_entropy import sparse_softmax_cross_entropy_with_logits
from ...primitives.reduction.reduce import reduce_mean, reduce_sum
from ...primitives.shape.squeeze import expand_dims, squeeze
from ...primitives.shape.transpose import transpose
from ..reading import Node, reader
from .dtypes import cast
from .lengths import rank_of


@reader("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(node: Node, x: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    counted, known = _counted(node, labels)
    picked = TakeAlong(1)(x, expand_dims(known, 1))
    return _reduced(node, -squeeze(picked, [1]), known, counted, weights)


@reader("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(node: Node, scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Any:
    counted, known = _counted(node, labels)
    rank = rank_of(node, scores)
    last = scores if rank == 2 else transpose(scores, [0, *range(2, rank), 1])
    losses = sparse_softmax_cross_entropy_with_logits(known, last)
    loss = _reduced(node, losses, known, counted, weights)
    return (loss, log_softmax(scores, 1)) if node.wants(1) else loss


def _counted(node: Node, labels: Tensor) -> tuple[Tensor | None, Tensor]:
    """Which labels count, None for all; and labels that are all in range."""
    ignored = node.attribute("ignore_index", None)
    if ignored is None:
        return None, labels
    counted = not_equal(labels, constant(ignored, labels.dtype))
    return counted, where(counted, labels, constant(0, labels.dtype))


def _reduced(node: Node, losses: Tensor, labels: Tensor, counted: Tensor | None, weights: Tensor | None) -> Tensor:
    """The losses, their sum, or their mean, in which each counts as much as its class weighs."""
    factors = None if weights is None else gather(weights, labels)
    if counted is not None:
        losses = mask(counted, losses)
        factors = cast(counted, losses.dtype) if factors is None else mask(counted, factors)
    if factors is not None and weights is not None:
        losses = losses * factors
    kind = node.attribute("reduction", "mean")
    if kind == "none":
        return losses
    if kind == "sum":
        return reduce_sum(losses)
    return reduce_mean(losses) if factors is None else reduce_sum(losses) / reduce_sum(factors)
