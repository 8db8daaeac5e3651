"""Streaming means: of values, of errors, of how often predictions are right; overlaps of classes."""

from __future__ import annotations

from ....core.dtypes import float32, float64, int64
from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....layers.variables.scope import variable_scope
from ....primitives.casting.cast import cast
from ....primitives.counting import confusion_matrix
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.fill import ones_like
from ....primitives.creation.one_hot import one_hot
from ....primitives.elementwise.division import divide_no_nan
from ....primitives.elementwise.powers import sqrt, square
from ....primitives.elementwise.sign import absolute
from ....primitives.linalg.matrices import diag_part
from ....primitives.logic.comparison import equal, less
from ....primitives.reduction.reduce import reduce_mean, reduce_sum
from ....primitives.shape.reshape import reshape
from ....primitives.shape.transpose import transpose
from .running import Collections, Metric, matched, noted, running, shares, sum_of, weighted


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
    with variable_scope(name, "mean"):
        x = cast(convert_to_tensor(values), float32)
        total, count = sum_of(x, weights, "total"), sum_of(ones_like(x), weights, "count")
        return shares(total, count, metrics_collections, updates_collections)


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
    right = equal(cast(given, wanted.dtype), wanted)
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
    """How often predictions are labels, for each class, and the mean of that; the update gives that of each class.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean_per_class_accuracy([0, 0, 1], [0, 1, 1], num_classes=2)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    array([0.5, 1. ], dtype=float32)
    """
    with variable_scope(name, "mean_accuracy"):
        given, wanted = reshape(predictions, [-1]), reshape(labels, [-1])
        classes = transpose(one_hot(wanted, num_classes))
        right = cast(equal(given, cast(wanted, given.dtype)), float32)
        shares = None if weights is None else reshape(weights, [1, -1])
        count = sum_of(classes * right, shares, "count", num_classes)
        total = sum_of(classes, shares, "total", num_classes)
        value, update = (divide_no_nan(n, t) for n, t in zip(count, total, strict=True))
        return noted(reduce_mean(value), update, metrics_collections, updates_collections)


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
    """The mean square of the distance of predictions from labels.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.mean_squared_error([1.0, 2.0], [2.0, 4.0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(2.5)
    """
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
    """The root of the mean square of the distance of predictions from labels.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.root_mean_squared_error([1.0, 2.0], [1.0, 4.0])
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float32(1.4142135)
    """
    error = square(_errors(labels, predictions))
    value, update = mean(error, weights, name=name or "root_mean_squared_error")
    return noted(sqrt(value), sqrt(update), metrics_collections, updates_collections)


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
    error = absolute(_errors(labels, predictions))
    scale, error = matched(normalizer, error)
    error = divide_no_nan(error, cast(scale, float32))
    return mean(error, weights, metrics_collections, updates_collections, name or "mean_relative_error")


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
    a, b = (cast(x, float32) for x in matched(labels, predictions))
    value, update = mean(reduce_sum(a * b, dim, keepdims=True), weights, name=name or "mean_cosine_distance")
    return noted(1.0 - value, 1.0 - update, metrics_collections, updates_collections)


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
    below = less(convert_to_tensor(values), threshold)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


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
    with variable_scope(name, "mean"):
        x = cast(convert_to_tensor(values), float32)
        total = running(weighted(x, weights), "total_tensor")
        count = running(weighted(ones_like(x), weights), "count_tensor")
        return shares(total, count, metrics_collections, updates_collections)


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
    with variable_scope(name, "mean_iou"):
        wanted, given = (cast(reshape(x, [-1]), int64) for x in (labels, predictions))
        each = None if weights is None else reshape(cast(convert_to_tensor(weights), float64), [-1])
        batch = confusion_matrix(wanted, given, num_classes, each, float64)
        matrix, update = running(batch, "total_confusion_matrix")
        right = diag_part(matrix)
        either = reduce_sum(matrix, 0) + reduce_sum(matrix, 1) - right
        there = reduce_sum(cast(either > 0.0, float64))
        value = cast(divide_no_nan(reduce_sum(divide_no_nan(right, either)), there), float32)
        return noted(value, update, metrics_collections, updates_collections)


def _errors(labels: TensorLike, predictions: TensorLike) -> Tensor:
    wanted, given = matched(labels, predictions)
    errors: Tensor = cast(given, float32) - cast(wanted, float32)
    return errors
