"""Streaming metrics of TensorFlow 1: `tf.metrics`, each a value and an operation that takes one more batch into it.

What is counted is in local variables: initialise these to begin anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core.dtypes import bool as bool_
from ...core.dtypes import float32
from ...core.graph import Tensor
from ...core.typing import TensorLike
from ...layers.variables.scope import variable_scope
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.fill import ones_like
from ...primitives.creation.one_hot import one_hot
from ...primitives.elementwise.division import divide_no_nan
from ...primitives.elementwise.powers import sqrt, square
from ...primitives.elementwise.sign import absolute
from ...primitives.logic.comparison import equal
from ...primitives.logic.logical import logical_and, logical_not
from ...primitives.reduction.reduce import reduce_mean, reduce_sum
from ...primitives.shape.reshape import reshape
from ...primitives.shape.transpose import transpose
from ...primitives.variables.collections import GraphKeys, add_to_collections
from ...primitives.variables.variable import Variable

Collections = str | Sequence[str] | None
_SMALL = 1e-7
_TINY = 1e-6
"""What keeps shares of nothing from being 0 / 0."""


class Metric(NamedTuple):
    """What a metric is so far, and what it is after one more batch, which that operation takes into it."""

    value: Tensor
    update_op: Tensor


def mean(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of all values so far."""
    with variable_scope(name, "mean"):
        x = cast(convert_to_tensor(values), float32)
        total, count = _sum_of(x, weights, "total"), _sum_of(ones_like(x), weights, "count")
        value, update = (divide_no_nan(t, n) for t, n in zip(total, count, strict=True))
        return _noted(value, update, metrics_collections, updates_collections)


def accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How often predictions are labels."""
    given = convert_to_tensor(predictions)
    right = equal(given, cast(convert_to_tensor(labels), given.dtype))
    return mean(right, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_per_class_accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How often predictions are labels, for each class, and the mean of that; the update gives that of each class."""
    with variable_scope(name, "mean_accuracy"):
        given, wanted = reshape(predictions, [-1]), reshape(labels, [-1])
        classes = transpose(one_hot(wanted, num_classes))
        right = cast(equal(given, cast(wanted, given.dtype)), float32)
        shares = None if weights is None else reshape(weights, [1, -1])
        count = _sum_of(classes * right, shares, "count", num_classes)
        total = _sum_of(classes, shares, "total", num_classes)
        value, update = (divide_no_nan(n, t) for n, t in zip(count, total, strict=True))
        return _noted(reduce_mean(value), update, metrics_collections, updates_collections)


def mean_absolute_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean distance of predictions from labels."""
    error = absolute(_errors(labels, predictions))
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean square of the distance of predictions from labels."""
    error = square(_errors(labels, predictions))
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The root of the mean square of the distance of predictions from labels."""
    error = square(_errors(labels, predictions))
    value, update = mean(error, weights, name=name or "root_mean_squared_error")
    return _noted(sqrt(value), sqrt(update), metrics_collections, updates_collections)


def precision(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of what was predicted to be true, how much is."""
    truth, given = _truth(labels), _truth(predictions)
    with variable_scope(name, "precision"):
        right = _sum_of(logical_and(truth, given), weights, "true_positives")
        wrong = _sum_of(logical_and(logical_not(truth), given), weights, "false_positives")
        value, update = (divide_no_nan(r, r + w) for r, w in zip(right, wrong, strict=True))
        return _noted(value, update, metrics_collections, updates_collections)


def recall(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of what is true, how much was predicted to be."""
    truth, given = _truth(labels), _truth(predictions)
    with variable_scope(name, "recall"):
        right = _sum_of(logical_and(truth, given), weights, "true_positives")
        missed = _sum_of(logical_and(truth, logical_not(given)), weights, "false_negatives")
        value, update = (divide_no_nan(r, r + m) for r, m in zip(right, missed, strict=True))
        return _noted(value, update, metrics_collections, updates_collections)


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
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"metrics.auc: curve must be 'ROC' or 'PR', not {curve!r}")
    if summation_method != "trapezoidal":
        raise NotImplementedError(f"metrics.auc: summation_method must be 'trapezoidal', not {summation_method!r}")
    inner = np.linspace(0.0, 1.0, num_thresholds)[1:-1] if thresholds is None else np.sort(thresholds)
    limits = np.array([-_SMALL, *inner, 1.0 + _SMALL], np.float32)
    truth = reshape(_truth(labels), [1, -1])
    given = reshape(cast(convert_to_tensor(predictions), float32), [1, -1]) > limits[:, None]
    w = None if weights is None else reshape(cast(convert_to_tensor(weights), float32), [1, -1])
    with variable_scope(name, "auc"):
        parts = {
            "true_positives": (truth, given),
            "false_negatives": (truth, logical_not(given)),
            "true_negatives": (logical_not(truth), logical_not(given)),
            "false_positives": (logical_not(truth), given),
        }
        counts = [_sum_of(logical_and(*both), w, part, len(limits)) for part, both in parts.items()]
        value, update = (_area(curve, *found) for found in zip(*counts, strict=True))
        return _noted(value, update, metrics_collections, updates_collections)


def _area(curve: str, tp: Tensor, fn: Tensor, tn: Tensor, fp: Tensor) -> Tensor:
    """The area under the curve, by trapezoids."""
    hits = (tp + _TINY) / (tp + fn + _TINY)
    x, y = (fp / (fp + tn + _TINY), hits) if curve == "ROC" else (hits, (tp + _TINY) / (tp + fp + _TINY))
    return reduce_sum((x[:-1] - x[1:]) * (y[:-1] + y[1:]) / 2.0)


def _sum_of(values: Tensor, weights: TensorLike | None, name: str, rows: int | None = None) -> tuple[Tensor, Tensor]:
    """The weighted sum of all `values` so far, or of each of their `rows`, and that with this batch."""
    places = [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES]
    total = Variable(np.zeros(rows or (), np.float32), trainable=False, collections=places, name=name)
    x = cast(values, float32)
    if weights is not None:
        w = cast(convert_to_tensor(weights), float32)
        x = x * (w if w.shape.rank in (0, x.shape.rank) else w + x * 0.0)
    return total.read_value(), total.assign_add(reduce_sum(x, None if rows is None else 1))


def _noted(value: Tensor, update: Tensor, metrics: Collections, updates: Collections) -> Metric:
    if metrics is not None:
        add_to_collections(metrics, value)
    if updates is not None:
        add_to_collections(updates, update)
    return Metric(value, update)


def _errors(labels: TensorLike, predictions: TensorLike) -> Tensor:
    errors: Tensor = cast(convert_to_tensor(predictions), float32) - cast(convert_to_tensor(labels), float32)
    return errors


def _truth(values: TensorLike) -> Tensor:
    return cast(convert_to_tensor(values), bool_)
