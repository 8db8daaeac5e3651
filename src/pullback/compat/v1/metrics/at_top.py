"""Streaming metrics of the classes with the highest scores: precision and recall at k."""

from __future__ import annotations

from ....core.dtypes import bool as bool_
from ....core.dtypes import float64
from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....layers.variables.scope import variable_scope
from ....primitives.casting.cast import cast
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.fill import ones_like
from ....primitives.creation.ranges import range_
from ....primitives.cumulative.cumsum import cumsum
from ....primitives.elementwise.division import divide_no_nan
from ....primitives.elementwise.maximum import minimum
from ....primitives.logic.comparison import equal
from ....primitives.logic.logical import logical_and, logical_not
from ....primitives.reduction.reduce import reduce_any, reduce_sum
from ....primitives.shape.size import shape
from ....primitives.sorting.sort import top_k
from ....primitives.sparse.sparse_tensor import SparseTensor, to_dense
from ..conversions import convert_to_tensor_or_sparse_tensor
from .running import Collections, Metric, Pair, noted, running, weighted


def precision_at_k(
    labels: TensorLike | SparseTensor,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of the `k` classes with the highest `predictions` [..., classes], how many are true.

    `labels` [..., m] are the true classes of each example, or [...] of one; a SparseTensor where their number differs.
    With `class_id` only that class counts. NaN before there is anything to divide by.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.precision_at_k([[0, 2]], [[0.5, 0.3, 0.2]], k=2)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float64(0.5)
    """
    places = top_k(predictions, k).indices
    found = _share("precision", labels, places, k, class_id, weights, name)
    return noted(*found, metrics_collections, updates_collections)


def precision_at_top_k(
    labels: TensorLike | SparseTensor,
    predictions_idx: TensorLike,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of the `k` classes [..., k] that `predictions_idx` names, how many are true.

    `labels` [..., m] are the true classes of each example, or [...] of one; a SparseTensor where their number differs.
    With `class_id` only that class counts. NaN before there is anything to divide by.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.precision_at_top_k([[0, 2]], [[0, 1]], k=2)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float64(0.5)
    """
    places = convert_to_tensor(predictions_idx)
    found = _share("precision", labels, places, k, class_id, weights, name)
    return noted(*found, metrics_collections, updates_collections)


def recall_at_k(
    labels: TensorLike | SparseTensor,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of the true classes, how many are among the `k` with the highest `predictions` [..., classes].

    `labels` [..., m] are the true classes of each example, or [...] of one; a SparseTensor where their number differs.
    With `class_id` only that class counts. NaN before there is anything to divide by.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.recall_at_k([[0, 2]], [[0.5, 0.3, 0.2]], k=2)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float64(0.5)
    """
    places = top_k(predictions, k).indices
    found = _share("recall", labels, places, k, class_id, weights, name)
    return noted(*found, metrics_collections, updates_collections)


def recall_at_top_k(
    labels: TensorLike | SparseTensor,
    predictions_idx: TensorLike,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of the true classes, how many are among the `k` [..., k] that `predictions_idx` names.

    `labels` [..., m] are the true classes of each example, or [...] of one; a SparseTensor where their number differs.
    With `class_id` only that class counts. NaN before there is anything to divide by.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.recall_at_top_k([[0, 2]], [[0, 1]], k=2)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float64(0.5)
    """
    places = convert_to_tensor(predictions_idx)
    found = _share("recall", labels, places, k, class_id, weights, name)
    return noted(*found, metrics_collections, updates_collections)


def average_precision_at_k(
    labels: TensorLike | SparseTensor,
    predictions: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean, over the true classes among the `k` with the highest `predictions`, of the precision up to each.

    `labels` as for `precision_at_k`. What is divided by is the number of `labels` from 0 on, at most `k`;
    an example without any counts as 0.

    >>> import pullback.compat.v1 as tf
    >>> _, update_op = tf.metrics.average_precision_at_k([[0, 2]], [[0.5, 0.2, 0.3]], k=2)
    >>> session = tf.Session()
    >>> session.run(tf.local_variables_initializer())
    >>> session.run(update_op)
    np.float64(1.0)
    """
    with variable_scope(name, f"average_precision_at_{k}"):
        places = top_k(predictions, k).indices
        classes, there = _classes(labels, places)
        is_right = cast(reduce_any(_met(classes, there, places), -2), float64)
        precision = cumsum(is_right, -1) / cast(range_(1, k + 1), float64)
        wanted = minimum(reduce_sum(cast(logical_and(there, classes >= 0), float64), -1), float(k))
        average = divide_no_nan(reduce_sum(precision * is_right, -1), wanted)
        total, most = _summed(average, weights, "total"), _summed(ones_like(average), weights, "max")
        value, update = (divide_no_nan(a, b) for a, b in zip(total, most, strict=True))
        return noted(value, update, metrics_collections, updates_collections)


def _share(
    what: str,
    labels: TensorLike | SparseTensor,
    places: Tensor,
    k: int | None,
    class_id: int | None,
    weights: TensorLike | None,
    name: str | None,
) -> Pair:
    """How many of those named, or of those that are true, are right."""
    with variable_scope(name, _at(what, k, class_id)):
        right, wrong, missed = _hits(labels, places, class_id)
        others, called = (wrong, "false_positive") if what == "precision" else (missed, "false_negative")
        hits = _summed(right, weights, _at("true_positive", k, class_id))
        rest = _summed(others, weights, _at(called, k, class_id))
        return hits[0] / (hits[0] + rest[0]), hits[1] / (hits[1] + rest[1])


def _at(what: str, k: int | None, class_id: int | None) -> str:
    """What TensorFlow calls it."""
    return f"{what}_at_{'k' if k is None else k}" + ("" if class_id is None else f"_class{class_id}")


def _summed(values: Tensor, weights: TensorLike | None, name: str) -> Pair:
    return running(reduce_sum(weighted(values, weights, float64)), name)


def _hits(labels: TensorLike | SparseTensor, places: Tensor, class_id: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """For each example how many classes are named rightly, how many wrongly, how many are missed."""
    classes, there = _classes(labels, places)
    named = ones_like(places, dtype=bool_)
    if class_id is not None:
        there, named = logical_and(there, equal(classes, class_id)), equal(places, class_id)
    found = logical_and(reduce_any(_met(classes, there, places), -2), named)
    right = reduce_sum(cast(found, float64), -1)
    wrong = reduce_sum(cast(logical_and(named, logical_not(found)), float64), -1)
    return right, wrong, reduce_sum(cast(_first_ones(classes, there), float64), -1) - right


def _classes(labels: TensorLike | SparseTensor, places: Tensor) -> tuple[Tensor, Tensor]:
    """The true classes [..., m], and which of them are there."""
    labels = convert_to_tensor_or_sparse_tensor(labels)
    if isinstance(labels, SparseTensor):
        ones = SparseTensor(labels.indices, ones_like(labels.values), labels.dense_shape)
        return cast(to_dense(labels), places.dtype), cast(to_dense(ones), bool_)
    classes = cast(labels, places.dtype)
    if classes.shape.rank is not None and classes.shape.rank + 1 == places.shape.rank:
        classes = classes[..., None]
    return classes, ones_like(classes, dtype=bool_)


def _met(classes: Tensor, there: Tensor, places: Tensor) -> Tensor:
    """[..., m, k]: which true class is which of the places."""
    return logical_and(equal(classes[..., None], places[..., None, :]), there[..., None])


def _first_ones(classes: Tensor, there: Tensor) -> Tensor:
    """Which of the true classes that are there do not stand before in their row."""
    numbers = range_(shape(classes)[-1])
    again = logical_and(_met(classes, there, classes), numbers[:, None] < numbers)
    return logical_and(there, logical_not(reduce_any(again, -2)))
