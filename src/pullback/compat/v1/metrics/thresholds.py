"""Streaming metrics at thresholds: counts, precision, recall, the area under a curve.

Predictions are probabilities; what lies above a threshold is predicted to be true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.named_functions import named
from ....core.typing import TensorLike
from .running import Collections, Metric, Pair, called, matched, sum_of, weighted
from .truth import part_of, truth_of

_SMALL = 1e-7
_TINY = 1e-6
"""What keeps shares of nothing from being 0 / 0."""
PARTS = ("true_positives", "false_negatives", "true_negatives", "false_positives")


def _at_thresholds(name_: str, parts: Sequence[str], what: str, example: str) -> Callable[..., Metric]:
    """The function of a part, or of the share that the first of two has of both, at each threshold."""

    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        with pb.variable_scope(name, name_ if len(parts) > 1 else parts[0]):
            counts = counts_at(labels, predictions, weights, np.array(thresholds), parts)
            value, update = (_share(*found) if len(parts) > 1 else found[0] for found in zip(*counts, strict=True))
            return called(value, update, metrics_collections, updates_collections)

    doc = f"""{what}.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.{name_}([1, 1, 0], [0.9, 0.4, 0.6], [0.3, 0.5])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array({example}, dtype=float32)
    """
    return named(name_, doc, metric)


true_positives_at_thresholds = _at_thresholds(
    "true_positives_at_thresholds", PARTS[:1], "How much is true and above each of `thresholds`", "[2., 1.]"
)
false_negatives_at_thresholds = _at_thresholds(
    "false_negatives_at_thresholds", PARTS[1:2], "How much is true and not above each of `thresholds`", "[0., 1.]"
)
true_negatives_at_thresholds = _at_thresholds(
    "true_negatives_at_thresholds", PARTS[2:3], "How much is not true and not above each of `thresholds`", "[0., 0.]"
)
false_positives_at_thresholds = _at_thresholds(
    "false_positives_at_thresholds", PARTS[3:], "How much is not true and above each of `thresholds`", "[1., 1.]"
)
precision_at_thresholds = _at_thresholds(
    "precision_at_thresholds",
    ["true_positives", "false_positives"],
    "Of what is above each of `thresholds`, how much is true",
    "[0.6666667, 0.5      ]",
)
recall_at_thresholds = _at_thresholds(
    "recall_at_thresholds",
    ["true_positives", "false_negatives"],
    "Of what is true, how much is above each of `thresholds`",
    "[1. , 0.5]",
)


@in_graph_of_inputs
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

    Predictions are probabilities; the curve goes through `num_thresholds` points, or through `thresholds`. Between
    two of them it is as high as their mean ("trapezoidal"), as the lower one ("minoring") or the higher one
    ("majoring"); "careful_interpolation" lets true and false positives grow evenly between two points of "PR".

    Source: J. Davis and M. Goadrich, "The Relationship Between Precision-Recall and ROC Curves", 2006.

    Raises:
        ValueError: another curve, or another method.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.auc([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(0.7499...)
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"metrics.auc: curve must be 'ROC' or 'PR', not {curve!r}")
    if summation_method not in _HEIGHTS:
        known = ", ".join(repr(method) for method in _HEIGHTS)
        raise ValueError(f"metrics.auc: summation_method must be one of {known}, not {summation_method!r}")
    limits = _spread(num_thresholds) if thresholds is None else np.array([-_SMALL, *np.sort(thresholds), 1.0 + _SMALL])
    with pb.variable_scope(name, "auc"):
        counts = counts_at(labels, predictions, weights, limits, PARTS)
        area = _interpolated if (curve, summation_method) == ("PR", "careful_interpolation") else _area
        value, update = (area(curve, _HEIGHTS[summation_method], *found) for found in zip(*counts, strict=True))
        return called(value, update, metrics_collections, updates_collections)


@in_graph_of_inputs
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
    with pb.variable_scope(name, "sensitivity_at_specificity"):
        counts = counts_at(labels, predictions, weights, _spread(num_thresholds), PARTS)
        value, update = (_sensitivity_at(specificity, *found) for found in zip(*counts, strict=True))
        return called(value, update, metrics_collections, updates_collections)


@in_graph_of_inputs
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
    with pb.variable_scope(name, "specificity_at_sensitivity"):
        counts = counts_at(labels, predictions, weights, _spread(num_thresholds), PARTS)
        value, update = (_specificity_at(sensitivity, *found) for found in zip(*counts, strict=True))
        return called(value, update, metrics_collections, updates_collections)


def _sensitivity_at(specificity: float, tp: pb.Tensor, fn: pb.Tensor, tn: pb.Tensor, fp: pb.Tensor) -> pb.Tensor:
    place = pb.argmin(pb.abs(_share(tn, fp) - specificity))
    return pb.gather(_share(tp, fn), place)


def _specificity_at(sensitivity: float, tp: pb.Tensor, fn: pb.Tensor, tn: pb.Tensor, fp: pb.Tensor) -> pb.Tensor:
    """At the last of the places that are nearest."""
    place = pb.argmin(pb.abs(_share(tp, fn) - sensitivity)[::-1])
    return pb.gather(_share(tn, fp)[::-1], place)


def _mean_height(a: pb.Tensor, b: pb.Tensor) -> pb.Tensor:
    return (a + b) / 2.0


Height = Callable[[pb.Tensor, pb.Tensor], pb.Tensor]
_HEIGHTS: dict[str, Height] = {
    "trapezoidal": _mean_height,
    "careful_interpolation": _mean_height,
    "minoring": pb.minimum,
    "majoring": pb.maximum,
}


def _area(curve: str, height: Height, tp: pb.Tensor, fn: pb.Tensor, tn: pb.Tensor, fp: pb.Tensor) -> pb.Tensor:
    """The area under the curve, `height` high between two points."""
    hits = (tp + _TINY) / (tp + fn + _TINY)
    x, y = (fp / (fp + tn + _TINY), hits) if curve == "ROC" else (hits, (tp + _TINY) / (tp + fp + _TINY))
    return pb.reduce_sum((x[:-1] - x[1:]) * height(y[:-1], y[1:]))


def _interpolated(curve: str, height: Height, tp: pb.Tensor, fn: pb.Tensor, tn: pb.Tensor, fp: pb.Tensor) -> pb.Tensor:
    del curve, height, tn
    return pb.reduce_sum(interpolated_areas(tp, fn, fp))


@in_graph_of_inputs
def interpolated_areas(tp: pb.Tensor, fn: pb.Tensor, fp: pb.Tensor) -> pb.Tensor:
    """The areas under precision over recall where, between two points, true positives are linear in all positives."""
    positives = tp + fp
    more, fewer = positives[:-1], positives[1:]
    gained = tp[:-1] - tp[1:]
    slope = pb.div_no_nan(gained, pb.maximum(more - fewer, 0.0))
    start = tp[1:] - slope * fewer
    growth = pb.where((more > 0.0) & (fewer > 0.0), pb.div_no_nan(more, fewer), pb.ones_like(fewer))
    return pb.div_no_nan(slope * (gained + start * pb.log(growth)), tp[1:] + fn[1:])


def _share(part: pb.Tensor, rest: pb.Tensor) -> pb.Tensor:
    return part / (part + rest + _SMALL)


def _spread(count: int) -> Any:
    """Thresholds between 0 and 1, and one beyond each."""
    return np.array([-_SMALL, *np.linspace(0.0, 1.0, count)[1:-1], 1.0 + _SMALL])


def _check_share(function: str, argument: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"metrics.{function}: {argument} must be from 0 to 1, not {value}")


@in_graph_of_inputs
def counts_at(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None, limits: Any, parts: Sequence[str]
) -> list[Pair]:
    """For each part how much of it there is at each of the limits, so far and with this batch."""
    wanted, x = matched(labels, predictions)
    x = pb.cast(x, pb.float32)
    with pb.control_dependencies(
        [pb.Assert(pb.reduce_all((x >= 0.0) & (x <= 1.0)), ["predictions must be in [0, 1]:", x])]
    ):
        x = pb.identity(x)
    given = pb.reshape(x, [1, -1]) > limits.astype(np.float32)[:, None]
    truth = pb.reshape(truth_of(wanted), [1, -1])
    each = None if weights is None else pb.reshape(weighted(pb.ones_like(x), weights), [1, -1])
    return [sum_of(part_of(part, truth, given), each, part, len(limits)) for part in parts]
