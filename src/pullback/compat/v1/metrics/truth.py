"""Streaming counts of what is true and what was predicted to be; precision and recall."""

from __future__ import annotations

from ....core.dtypes import bool as bool_
from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....layers.variables.scope import variable_scope
from ....primitives.casting.cast import cast
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.logic.logical import logical_and, logical_not, logical_or
from .running import Collections, Metric, noted, shares, sum_of


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
    truth, given = truth_of(labels), truth_of(predictions)
    with variable_scope(name, "precision"):
        right = sum_of(logical_and(truth, given), weights, "true_positives")
        wrong = sum_of(logical_and(logical_not(truth), given), weights, "false_positives")
        named = (right[0] + wrong[0], right[1] + wrong[1])
        return shares(right, named, metrics_collections, updates_collections)


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
    truth, given = truth_of(labels), truth_of(predictions)
    with variable_scope(name, "recall"):
        right = sum_of(logical_and(truth, given), weights, "true_positives")
        missed = sum_of(logical_and(truth, logical_not(given)), weights, "false_negatives")
        there = (right[0] + missed[0], right[1] + missed[1])
        return shares(right, there, metrics_collections, updates_collections)


def true_positives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How much is true and was predicted to be.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.true_positives([1, 1, 0, 0, 0], [1, 0, 1, 1, 0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(1.0)
    """
    truth, given = truth_of(labels), truth_of(predictions)
    with variable_scope(name, "true_positives"):
        count = sum_of(logical_and(truth, given), weights, "count")
        return noted(*count, metrics_collections, updates_collections)


def false_positives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How much is not true and was predicted to be.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.false_positives([1, 1, 0, 0, 0], [1, 0, 1, 1, 0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(2.0)
    """
    truth, given = truth_of(labels), truth_of(predictions)
    with variable_scope(name, "false_positives"):
        return noted(
            *sum_of(logical_and(logical_not(truth), given), weights, "count"), metrics_collections, updates_collections
        )


def true_negatives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How much is not true and was not predicted to be.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.true_negatives([1, 1, 0, 0, 0], [1, 0, 1, 1, 0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(1.0)
    """
    truth, given = truth_of(labels), truth_of(predictions)
    with variable_scope(name, "true_negatives"):
        return noted(
            *sum_of(logical_not(logical_or(truth, given)), weights, "count"), metrics_collections, updates_collections
        )


def false_negatives(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How much is true and was not predicted to be.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.false_negatives([1, 1, 0, 0, 0], [1, 0, 1, 1, 0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(1.0)
    """
    truth, given = truth_of(labels), truth_of(predictions)
    with variable_scope(name, "false_negatives"):
        return noted(
            *sum_of(logical_and(truth, logical_not(given)), weights, "count"), metrics_collections, updates_collections
        )


def truth_of(values: TensorLike) -> Tensor:
    """`values` as truth values."""
    return cast(convert_to_tensor(values), bool_)
