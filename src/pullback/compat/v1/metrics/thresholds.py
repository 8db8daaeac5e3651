"""Streaming metrics at thresholds: counts, precision, recall, the area under a curve.

Predictions are probabilities; what lies above a threshold is predicted to be true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.dtypes import float32
from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....layers.variables.scope import variable_scope
from ....primitives.casting.cast import cast
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.elementwise.sign import absolute
from ....primitives.indexing.gather import gather
from ....primitives.logic.logical import logical_and, logical_not
from ....primitives.reduction.argmax import argmin
from ....primitives.reduction.reduce import reduce_sum
from ....primitives.shape.reshape import reshape
from .running import Collections, Metric, Pair, noted, sum_of, weighted
from .truth import truth_of

_SMALL = 1e-7
_TINY = 1e-6
"""What keeps shares of nothing from being 0 / 0."""
_PARTS = ("true_positives", "false_negatives", "true_negatives", "false_positives")


def true_positives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How much is true and above each of `thresholds`.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.true_positives_at_thresholds([1, 1, 0], [0.9, 0.4, 0.6], [0.3, 0.5])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array([2., 1.], dtype=float32)
    """
    with variable_scope(name, "true_positives"):
        (counts,) = _counts(labels, predictions, weights, np.array(thresholds), ["true_positives"])
        return noted(*counts, metrics_collections, updates_collections)


def false_negatives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How much is true and not above each of `thresholds`.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.false_negatives_at_thresholds([1, 1, 0], [0.9, 0.4, 0.6], [0.3, 0.5])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array([0., 1.], dtype=float32)
    """
    with variable_scope(name, "false_negatives"):
        (counts,) = _counts(labels, predictions, weights, np.array(thresholds), ["false_negatives"])
        return noted(*counts, metrics_collections, updates_collections)


def true_negatives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How much is not true and not above each of `thresholds`.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.true_negatives_at_thresholds([1, 1, 0], [0.9, 0.4, 0.6], [0.3, 0.5])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array([0., 0.], dtype=float32)
    """
    with variable_scope(name, "true_negatives"):
        (counts,) = _counts(labels, predictions, weights, np.array(thresholds), ["true_negatives"])
        return noted(*counts, metrics_collections, updates_collections)


def false_positives_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How much is not true and above each of `thresholds`.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.false_positives_at_thresholds([1, 1, 0], [0.9, 0.4, 0.6], [0.3, 0.5])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array([1., 1.], dtype=float32)
    """
    with variable_scope(name, "false_positives"):
        (counts,) = _counts(labels, predictions, weights, np.array(thresholds), ["false_positives"])
        return noted(*counts, metrics_collections, updates_collections)


def precision_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of what is above each of `thresholds`, how much is true.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.precision_at_thresholds([1, 1, 0], [0.9, 0.4, 0.6], [0.3, 0.5])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array([0.6666667, 0.5      ], dtype=float32)
    """
    with variable_scope(name, "precision_at_thresholds"):
        counts = _counts(labels, predictions, weights, np.array(thresholds), ["true_positives", "false_positives"])
        value, update = (_share(*found) for found in zip(*counts, strict=True))
        return noted(value, update, metrics_collections, updates_collections)


def recall_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of what is true, how much is above each of `thresholds`.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.recall_at_thresholds([1, 1, 0], [0.9, 0.4, 0.6], [0.3, 0.5])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array([1. , 0.5], dtype=float32)
    """
    with variable_scope(name, "recall_at_thresholds"):
        counts = _counts(labels, predictions, weights, np.array(thresholds), ["true_positives", "false_negatives"])
        value, update = (_share(*found) for found in zip(*counts, strict=True))
        return noted(value, update, metrics_collections, updates_collections)


def auc(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """The area under the curve of recall over false alarms ("ROC"), or of precision over recall ("PR").

    Predictions are probabilities; the curve goes through `num_thresholds` points, or through `thresholds`.

    Raises:
        ValueError: another curve. NotImplementedError: another way to sum than by trapezoids.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.auc([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(0.7499...)
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"metrics.auc: curve must be 'ROC' or 'PR', not {curve!r}")
    if summation_method != "trapezoidal":
        raise NotImplementedError(f"metrics.auc: summation_method must be 'trapezoidal', not {summation_method!r}")
    limits = _spread(num_thresholds) if thresholds is None else np.array([-_SMALL, *np.sort(thresholds), 1.0 + _SMALL])
    with variable_scope(name, "auc"):
        counts = _counts(labels, predictions, weights, limits, list(_PARTS))
        value, update = (_area(curve, *found) for found in zip(*counts, strict=True))
        return noted(value, update, metrics_collections, updates_collections)


def sensitivity_at_specificity(
    labels: TensorLike,
    predictions: TensorLike,
    specificity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of what is true, how much is above the threshold above which `specificity` of what is not true is not.

    Raises:
        ValueError: `specificity` is not in [0, 1].

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.sensitivity_at_specificity([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], 0.5)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(1.0)
    """
    _check_share("sensitivity_at_specificity", "specificity", specificity)
    with variable_scope(name, "sensitivity_at_specificity"):
        counts = _counts(labels, predictions, weights, _spread(num_thresholds), list(_PARTS))
        value, update = (_sensitivity_at(specificity, *found) for found in zip(*counts, strict=True))
        return noted(value, update, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: TensorLike,
    predictions: TensorLike,
    sensitivity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of what is not true, how much is below the threshold above which `sensitivity` of what is true is.

    Raises:
        ValueError: `sensitivity` is not in [0, 1].

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.specificity_at_sensitivity([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], 0.5)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(1.0)
    """
    _check_share("specificity_at_sensitivity", "sensitivity", sensitivity)
    with variable_scope(name, "specificity_at_sensitivity"):
        counts = _counts(labels, predictions, weights, _spread(num_thresholds), list(_PARTS))
        value, update = (_specificity_at(sensitivity, *found) for found in zip(*counts, strict=True))
        return noted(value, update, metrics_collections, updates_collections)


def _sensitivity_at(specificity: float, tp: Tensor, fn: Tensor, tn: Tensor, fp: Tensor) -> Tensor:
    place = argmin(absolute(_share(tn, fp) - specificity))
    return gather(_share(tp, fn), place)


def _specificity_at(sensitivity: float, tp: Tensor, fn: Tensor, tn: Tensor, fp: Tensor) -> Tensor:
    """At the last of the places that are nearest."""
    place = argmin(absolute(_share(tp, fn) - sensitivity)[::-1])
    return gather(_share(tn, fp)[::-1], place)


def _area(curve: str, tp: Tensor, fn: Tensor, tn: Tensor, fp: Tensor) -> Tensor:
    """The area under the curve, by trapezoids."""
    hits = (tp + _TINY) / (tp + fn + _TINY)
    x, y = (fp / (fp + tn + _TINY), hits) if curve == "ROC" else (hits, (tp + _TINY) / (tp + fp + _TINY))
    return reduce_sum((x[:-1] - x[1:]) * (y[:-1] + y[1:]) / 2.0)


def _share(part: Tensor, rest: Tensor) -> Tensor:
    return part / (part + rest + _SMALL)


def _spread(count: int) -> Any:
    """Thresholds between 0 and 1, and one beyond each."""
    return np.array([-_SMALL, *np.linspace(0.0, 1.0, count)[1:-1], 1.0 + _SMALL])


def _check_share(function: str, argument: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"metrics.{function}: {argument} must be from 0 to 1, not {value}")


def _counts(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None, limits: Any, parts: Sequence[str]
) -> list[Pair]:
    """For each part how much of it there is at each of the limits, so far and with this batch."""
    x = cast(convert_to_tensor(predictions), float32)
    given = reshape(x, [1, -1]) > limits.astype(np.float32)[:, None]
    truth = reshape(truth_of(labels), [1, -1])
    each = None if weights is None else reshape(weighted(x * 0.0 + 1.0, weights), [1, -1])
    found = {
        "true_positives": (truth, given),
        "false_negatives": (truth, logical_not(given)),
        "true_negatives": (logical_not(truth), logical_not(given)),
        "false_positives": (logical_not(truth), given),
    }
    return [sum_of(logical_and(*found[part]), each, part, len(limits)) for part in parts]
