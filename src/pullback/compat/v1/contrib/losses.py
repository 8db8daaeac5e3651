"""Losses by their older place, predictions before labels: `tf.contrib.losses`."""

from __future__ import annotations

from typing import Any

from ....layers.losses.weighted import compute_weighted_loss as compute_weighted_loss
from .. import losses as today
from ..arguments import older

_RENAMED = "predictions, labels, weights, scope"
PARAMETERS = {
    "absolute_difference": _RENAMED,
    "cosine_distance": "predictions, labels, axis, weights, scope, dim:axis",
    "hinge_loss": "logits, labels, scope",
    "log_loss": "predictions, labels, weights, epsilon, scope",
    "mean_pairwise_squared_error": _RENAMED,
    "mean_squared_error": _RENAMED,
    "sigmoid_cross_entropy": "logits, multi_class_labels, weights, label_smoothing, scope",
    "softmax_cross_entropy": "logits, onehot_labels, weights, label_smoothing, scope",
    "sparse_softmax_cross_entropy": "logits, labels, weights, scope",
}


def __getattr__(name: str) -> Any:
    return older(getattr(today, name), PARAMETERS.get(name))
