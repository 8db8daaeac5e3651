"""Running sums of metrics: local variables that add up what each batch brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike
from ....layers.losses.broadcast_weights import checked_weights
from ....primitives.counting import remove_squeezable_dimensions, with_last_axis, without_last_axis

Collections = str | Sequence[str] | None
Pair = tuple[pb.Tensor, pb.Tensor]
"""What it is so far, and with this batch."""


class Metric(NamedTuple):
    """What a metric is so far, and what it is after one more batch, which that operation takes into it."""

    value: pb.Tensor
    update_op: pb.Tensor


def running(batch: pb.Tensor, name: str) -> Pair:
    """The sum of all batches so far, each of the shape of `batch`, and that with this one."""
    places = [pb.GraphKeys.LOCAL_VARIABLES, pb.GraphKeys.METRIC_VARIABLES]
    start = pb.zeros(batch.shape, batch.dtype)
    total = pb.Variable(start, trainable=False, collections=places, name=name)
    return total.read_value(), total.assign_add(batch)


@in_graph_of_inputs
def matched(labels: TensorLike, predictions: TensorLike) -> Pair:
    """Both, of one shape: where one has an axis more than the other, its last, of length one, it loses that.

    Raises:
        ValueError: the shapes differ otherwise.
    """
    z, y = remove_squeezable_dimensions(labels, predictions)
    if not z.shape.is_compatible_with(y.shape):
        raise ValueError(f"metrics: labels {z.type} and predictions {y.type} must have one shape")
    return z, y


@in_graph_of_inputs
def weighted(values: pb.Tensor, weights: TensorLike | None, dtype: Any = pb.float32) -> pb.Tensor:
    """`values`, each times its weight; `weights` may have a last axis of length one too many, or lack the last.

    Raises:
        ValueError: `weights` are no scalar, and do not broadcast without new axes.
    """
    x = pb.cast(values, dtype)
    return x if weights is None else x * fitted(pb.cast(weights, dtype), x)


@in_graph_of_inputs
def fitted(weights: TensorLike, values: pb.Tensor) -> pb.Tensor:
    """Weights of as many axes as the values, or scalar ones; see `weighted`."""
    w = pb.convert_to_tensor(weights)
    if w.shape.rank == 0:
        return w
    if w.shape.rank is None or values.shape.rank is None:
        fewer = pb.rank(values) - pb.rank(w)
        w = with_last_axis(w, pb.logical_and(pb.equal(fewer, 1), pb.greater(pb.rank(w), 0)))
        w = without_last_axis(w, pb.equal(fewer, -1))
    elif w.shape.rank + 1 == values.shape.rank:
        w = pb.expand_dims(w, -1)
    else:
        _, w = remove_squeezable_dimensions(values, w)
    return checked_weights("metrics", w, values)


@in_graph_of_inputs
def sum_of(values: pb.Tensor, weights: TensorLike | None, name: str, rows: int | None = None) -> Pair:
    """The weighted sum of all `values` so far, or of each of their `rows`, and that with this batch."""
    batch = pb.reduce_sum(weighted(values, weights), None if rows is None else 1)
    if rows is not None:
        batch.set_shape([rows])
    return running(batch, name)


def shares(total: Pair, count: Pair, metrics: Collections, updates: Collections) -> Metric:
    """The metric `total / count`, 0 where the count is."""
    value, update = (pb.div_no_nan(t, n) for t, n in zip(total, count, strict=True))
    return called(value, update, metrics, updates)


@in_graph_of_inputs
def called(value: pb.Tensor, update: pb.Tensor, metrics: Collections, updates: Collections) -> Metric:
    """As `noted`; the tensors are called `value` and `update_op` in the scope of the metric."""
    return noted(pb.identity(value, name="value"), pb.identity(update, name="update_op"), metrics, updates)


@in_graph_of_inputs
def noted(value: pb.Tensor, update: pb.Tensor, metrics: Collections, updates: Collections) -> Metric:
    """The metric, put into collections."""
    if metrics is not None:
        pb.add_to_collections(metrics, value)
    if updates is not None:
        pb.add_to_collections(updates, update)
    return Metric(value, update)
