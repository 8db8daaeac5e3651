"""Metrics of `tf.contrib.metrics`: `tf.metrics` by older names, and lists of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike
from .. import metrics as today
from ..arguments import older
from ..functions import CONFUSION as CONFUSION

_OLDER = "streaming_"
_OF_VALUES = {
    "streaming_mean": today.mean,
    "streaming_mean_tensor": today.mean_tensor,
    "streaming_percentage_less": today.percentage_below,
}
"""Metrics that compare nothing with labels."""


@in_graph_of_inputs
def accuracy(
    predictions: TensorLike, labels: TensorLike, weights: TensorLike | None = None, name: str | None = None
) -> pb.Tensor:
    """How often predictions are labels, in this batch.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.contrib.metrics.accuracy([1, 2], [1, 3]))
    np.float32(0.5)
    """
    right: Any = pb.cast(pb.equal(predictions, labels), pb.float32)
    if weights is None:
        return pb.reduce_mean(right, name=name)
    w = pb.cast(pb.convert_to_tensor(weights), pb.float32)
    return pb.div_no_nan(pb.reduce_sum(right * w), pb.reduce_sum(w), name=name)


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """The values of several metrics, and their updates."""
    return [value for value, _ in value_update_tuples], [update for _, update in value_update_tuples]


def aggregate_metric_map(names_to_tuples: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of several metrics by name, and their updates."""
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    return values, {name: pair[1] for name, pair in names_to_tuples.items()}


@in_graph_of_inputs
def streaming_recall_at_k(
    predictions: TensorLike,
    labels: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """How often the one true class is among the `k` with the highest `predictions` [b, classes]."""
    right = pb.math.in_top_k(labels, predictions, k)
    return today.mean(right, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


confusion_matrix = older(pb.math.confusion_matrix, CONFUSION)


def __getattr__(name: str) -> Any:
    if not name.startswith(_OLDER):
        raise AttributeError(f"module 'tensorflow.contrib.metrics' has no attribute '{name}'")
    if name in _OF_VALUES:
        return _OF_VALUES[name]
    metric = getattr(today, name.removeprefix(_OLDER).replace("sparse_recall", "recall"))

    def streaming(predictions: Any, labels: Any, *args: Any, **options: Any) -> Any:
        """The metric, with predictions before labels."""
        return metric(labels, predictions, *args, **options)

    return streaming
