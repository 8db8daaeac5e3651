"""Streaming metrics of the classes with the highest scores: precision and recall at k."""

from __future__ import annotations

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike
from ....primitives.counting import with_last_axis
from ..conversions import convert_to_tensor_or_sparse_tensor
from .running import Collections, Metric, Pair, noted, running, weighted


@in_graph_of_inputs
def precision_at_k(
    labels: TensorLike | pb.SparseTensor,
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
    places = pb.math.top_k(predictions, k).indices
    found = _share("precision", labels, places, k, class_id, weights, name)
    return noted(*found, metrics_collections, updates_collections)


@in_graph_of_inputs
def precision_at_top_k(
    labels: TensorLike | pb.SparseTensor,
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
    places = pb.convert_to_tensor(predictions_idx)
    found = _share("precision", labels, places, k, class_id, weights, name)
    return noted(*found, metrics_collections, updates_collections)


@in_graph_of_inputs
def recall_at_k(
    labels: TensorLike | pb.SparseTensor,
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
    places = pb.math.top_k(predictions, k).indices
    found = _share("recall", labels, places, k, class_id, weights, name)
    return noted(*found, metrics_collections, updates_collections)


@in_graph_of_inputs
def recall_at_top_k(
    labels: TensorLike | pb.SparseTensor,
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
    places = pb.convert_to_tensor(predictions_idx)
    found = _share("recall", labels, places, k, class_id, weights, name)
    return noted(*found, metrics_collections, updates_collections)


@in_graph_of_inputs
def average_precision_at_k(
    labels: TensorLike | pb.SparseTensor,
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
    with pb.variable_scope(name, f"average_precision_at_{k}"):
        places = pb.math.top_k(predictions, k).indices
        classes, there = _classes(labels, places)
        is_right = pb.cast(pb.reduce_any(_met(classes, there, places), -2), pb.double)
        precision = pb.cumsum(is_right, -1) / pb.cast(pb.range(1, k + 1), pb.double)
        wanted = pb.minimum(pb.reduce_sum(pb.cast(pb.logical_and(there, classes >= 0), pb.double), -1), float(k))
        average = pb.div_no_nan(pb.reduce_sum(precision * is_right, -1), wanted)
        total, most = _summed(average, weights, "total"), _summed(pb.ones_like(average), weights, "max")
        value, update = (pb.div_no_nan(a, b) for a, b in zip(total, most, strict=True))
        return noted(value, update, metrics_collections, updates_collections)


def _share(
    what: str,
    labels: TensorLike | pb.SparseTensor,
    places: pb.Tensor,
    k: int | None,
    class_id: int | None,
    weights: TensorLike | None,
    name: str | None,
) -> Pair:
    """How many of those named, or of those that are true, are right."""
    with pb.variable_scope(name, _at(what, k, class_id)):
        right, wrong, missed = _hits(labels, places, class_id)
        others, called = (wrong, "false_positive") if what == "precision" else (missed, "false_negative")
        hits = _summed(right, weights, _at("true_positive", k, class_id))
        rest = _summed(others, weights, _at(called, k, class_id))
        return hits[0] / (hits[0] + rest[0]), hits[1] / (hits[1] + rest[1])


def _at(what: str, k: int | None, class_id: int | None) -> str:
    """What TensorFlow calls it."""
    return f"{what}_at_{'k' if k is None else k}" + ("" if class_id is None else f"_class{class_id}")


def _summed(values: pb.Tensor, weights: TensorLike | None, name: str) -> Pair:
    return running(pb.reduce_sum(weighted(values, weights, pb.double)), name)


def _hits(
    labels: TensorLike | pb.SparseTensor, places: pb.Tensor, class_id: int | None
) -> tuple[pb.Tensor, pb.Tensor, pb.Tensor]:
    """For each example how many classes are named rightly, how many wrongly, how many are missed."""
    classes, there = _classes(labels, places)
    named = pb.ones_like(places, dtype=pb.bool)
    if class_id is not None:
        there, named = pb.logical_and(there, pb.equal(classes, class_id)), pb.equal(places, class_id)
    found = pb.logical_and(pb.reduce_any(_met(classes, there, places), -2), named)
    right = pb.reduce_sum(pb.cast(found, pb.double), -1)
    wrong = pb.reduce_sum(pb.cast(pb.logical_and(named, pb.logical_not(found)), pb.double), -1)
    return right, wrong, pb.reduce_sum(pb.cast(_first_ones(classes, there), pb.double), -1) - right


def _classes(labels: TensorLike | pb.SparseTensor, places: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
    """The true classes [..., m], and which of them are there."""
    labels = convert_to_tensor_or_sparse_tensor(labels)
    if isinstance(labels, pb.SparseTensor):
        ones = pb.SparseTensor(labels.indices, pb.ones_like(labels.values), labels.dense_shape)
        return pb.cast(pb.sparse_tensor_to_dense(labels), places.dtype), pb.cast(
            pb.sparse_tensor_to_dense(ones), pb.bool
        )
    classes = pb.cast(labels, places.dtype)
    if classes.shape.rank is None or places.shape.rank is None:
        classes = with_last_axis(classes, pb.equal(pb.rank(places) - pb.rank(classes), 1))
    elif classes.shape.rank + 1 == places.shape.rank:
        classes = classes[..., None]
    return classes, pb.ones_like(classes, dtype=pb.bool)


def _met(classes: pb.Tensor, there: pb.Tensor, places: pb.Tensor) -> pb.Tensor:
    """[..., m, k]: which true class is which of the places."""
    return pb.logical_and(pb.equal(classes[..., None], places[..., None, :]), there[..., None])


def _first_ones(classes: pb.Tensor, there: pb.Tensor) -> pb.Tensor:
    """Which of the true classes that are there do not stand before in their row."""
    numbers = pb.range(pb.shape(classes)[-1])
    again = pb.logical_and(_met(classes, there, classes), numbers[:, None] < numbers)
    return pb.logical_and(there, pb.logical_not(pb.reduce_any(again, -2)))
