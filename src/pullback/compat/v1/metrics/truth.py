"""Streaming counts of what is true and what was predicted to be; precision and recall."""

from __future__ import annotations

from collections.abc import Callable

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.named_functions import named
from ....core.typing import TensorLike
from .running import Collections, Metric, matched, noted, shares, sum_of


@in_graph_of_inputs
def precision(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of what was predicted to be true, how much is.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.precision([1, 1, 0], [1, 0, 1])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(0.5)
    """
    truth, given = map(truth_of, matched(labels, predictions))
    with pb.variable_scope(name, "precision"):
        parts = ("true_positives", "false_positives")
        right, wrong = (sum_of(part_of(part, truth, given), weights, f"{part}/count") for part in parts)
        found = (right[0] + wrong[0], right[1] + wrong[1])
        return shares(right, found, metrics_collections, updates_collections)


@in_graph_of_inputs
def recall(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of what is true, how much was predicted to be.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.recall([1, 1, 0], [1, 0, 1])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(0.5)
    """
    truth, given = map(truth_of, matched(labels, predictions))
    with pb.variable_scope(name, "recall"):
        parts = ("true_positives", "false_negatives")
        right, missed = (sum_of(part_of(part, truth, given), weights, f"{part}/count") for part in parts)
        there = (right[0] + missed[0], right[1] + missed[1])
        return shares(right, there, metrics_collections, updates_collections)


def _count(part: str, which: str, example: float) -> Callable[..., Metric]:
    def count(
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        with pb.variable_scope(name, part):
            found = sum_of(part_of(part, *map(truth_of, matched(labels, predictions))), weights, "count")
            return noted(*found, metrics_collections, updates_collections)

    doc = f"""How much is {which}.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.{part}([1, 1, 0, 0, 0], [1, 0, 1, 1, 0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32({example})
    """
    return named(part, doc, count)


true_positives = _count("true_positives", "true and was predicted to be", 1.0)
false_positives = _count("false_positives", "not true and was predicted to be", 2.0)
true_negatives = _count("true_negatives", "not true and was not predicted to be", 1.0)
false_negatives = _count("false_negatives", "true and was not predicted to be", 1.0)


@in_graph_of_inputs
def part_of(part: str, truth: pb.Tensor, given: pb.Tensor) -> pb.Tensor:
    """What is a true positive, a false negative, ..., where `given` was predicted."""
    right, kind = part.split("_")
    predicted = given if kind == "positives" else pb.logical_not(given)
    return pb.logical_and(truth if (right == "true") == (kind == "positives") else pb.logical_not(truth), predicted)


def truth_of(values: TensorLike) -> pb.Tensor:
    """`values` as truth values."""
    return pb.cast(pb.convert_to_tensor(values), pb.bool)
