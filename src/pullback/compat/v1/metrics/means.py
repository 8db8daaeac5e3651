"""Streaming means: of values, of errors, of how often predictions are right; overlaps of classes."""

from __future__ import annotations

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike
from .running import Collections, Metric, matched, noted, running, shares, sum_of, weighted


@in_graph_of_inputs
def mean(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of all values so far.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean([1.0, 2.0], weights=[1.0, 3.0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(1.75)
    """
    with pb.variable_scope(name, "mean"):
        x = pb.cast(pb.convert_to_tensor(values), pb.float32)
        total, count = sum_of(x, weights, "total"), sum_of(pb.ones_like(x), weights, "count")
        return shares(total, count, metrics_collections, updates_collections)


@in_graph_of_inputs
def accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How often predictions are labels, in the dtype of these.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.accuracy([1, 0, 1], [1, 1, 1])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(0.6666667)
    """
    wanted, given = matched(labels, predictions)
    right = pb.equal(pb.cast(given, wanted.dtype), wanted)
    return mean(right, weights, metrics_collections, updates_collections, name or "accuracy")


@in_graph_of_inputs
def mean_per_class_accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How often predictions are labels, for each class, and the mean of that; the update gives that of each class.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean_per_class_accuracy([0, 0, 1], [0, 1, 1], num_classes=2)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array([0.5, 1. ], dtype=float32)
    """
    with pb.variable_scope(name, "mean_accuracy"):
        given, wanted = pb.reshape(predictions, [-1]), pb.reshape(labels, [-1])
        classes = pb.transpose(pb.one_hot(wanted, num_classes))
        right = pb.cast(pb.equal(given, pb.cast(wanted, given.dtype)), pb.float32)
        shares = None if weights is None else pb.reshape(weights, [1, -1])
        total = sum_of(classes, shares, "total", num_classes)
        count = sum_of(classes * right, shares, "count", num_classes)
        value, update = (pb.div_no_nan(n, t) for n, t in zip(count, total, strict=True))
        return noted(pb.reduce_mean(value), update, metrics_collections, updates_collections)


@in_graph_of_inputs
def mean_absolute_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean distance of predictions from labels.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean_absolute_error([1.0, 2.0], [2.0, 4.0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(1.5)
    """
    error = pb.abs(_errors(labels, predictions))
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


@in_graph_of_inputs
def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean square of the distance of predictions from labels.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean_squared_error([1.0, 2.0], [2.0, 4.0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(2.5)
    """
    error = pb.square(_errors(labels, predictions))
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_squared_error")


@in_graph_of_inputs
def root_mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The root of the mean square of the distance of predictions from labels.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.root_mean_squared_error([1.0, 2.0], [1.0, 4.0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(1.4142135)
    """
    error = pb.square(_errors(labels, predictions))
    value, update = mean(error, weights, name=name or "root_mean_squared_error")
    return noted(pb.sqrt(value), pb.sqrt(update), metrics_collections, updates_collections)


@in_graph_of_inputs
def mean_relative_error(
    labels: TensorLike,
    predictions: TensorLike,
    normalizer: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean of the distance of predictions from labels, divided by `normalizer`; 0 where that is 0.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean_relative_error([1.0, 2.0], [2.0, 4.0], normalizer=[1.0, 4.0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(0.75)
    """
    error = pb.abs(_errors(labels, predictions))
    scale, error = matched(normalizer, error)
    error = pb.div_no_nan(error, pb.cast(scale, pb.float32))
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_relative_error")


@in_graph_of_inputs
def mean_cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """1 less the mean of the inner products along the axis `dim` of labels and predictions of length 1.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean_cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], dim=1)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(0.39999998)
    """
    a, b = (pb.cast(x, pb.float32) for x in matched(labels, predictions))
    value, update = mean(pb.reduce_sum(a * b, dim, keepdims=True), weights, name=name or "mean_cosine_distance")
    return noted(1.0 - value, 1.0 - update, metrics_collections, updates_collections)


@in_graph_of_inputs
def percentage_below(
    values: TensorLike,
    threshold: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The share of values below `threshold`.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.percentage_below([1.0, 2.0, 3.0, 4.0], 1.5)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(0.25)
    """
    below = pb.less(pb.convert_to_tensor(values), threshold)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


@in_graph_of_inputs
def mean_tensor(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of each element of `values` over the batches so far.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean_tensor([1.0, 2.0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array([1., 2.], dtype=float32)
    """
    with pb.variable_scope(name, "mean"):
        x = pb.cast(pb.convert_to_tensor(values), pb.float32)
        total = running(weighted(x, weights), "total_tensor")
        count = running(weighted(pb.ones_like(x), weights), "count_tensor")
        return shares(total, count, metrics_collections, updates_collections)


@in_graph_of_inputs
def mean_iou(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How far predicted and true classes overlap: right ones, divided by those that either names, and the mean of that.

    Classes that nothing names are left out. The update gives the confusion matrix.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean_iou([0, 0, 1], [0, 1, 1], num_classes=3)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op).tolist()
    [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    with pb.variable_scope(name, "mean_iou"):
        wanted, given = (pb.cast(pb.reshape(x, [-1]), pb.int64) for x in (labels, predictions))
        each = None if weights is None else pb.reshape(pb.cast(pb.convert_to_tensor(weights), pb.double), [-1])
        batch = pb.math.confusion_matrix(wanted, given, num_classes, each, pb.double)
        matrix, update = running(batch, "total_confusion_matrix")
        right = pb.matrix_diag_part(matrix)
        either = pb.reduce_sum(matrix, 0) + pb.reduce_sum(matrix, 1) - right
        there = pb.reduce_sum(pb.cast(either > 0.0, pb.double))
        value = pb.cast(pb.div_no_nan(pb.reduce_sum(pb.div_no_nan(right, either)), there), pb.float32)
        return noted(value, update, metrics_collections, updates_collections)


def _errors(labels: TensorLike, predictions: TensorLike) -> pb.Tensor:
    wanted, given = matched(labels, predictions)
    errors: pb.Tensor = pb.cast(given, pb.float32) - pb.cast(wanted, pb.float32)
    return errors
