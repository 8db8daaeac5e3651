"""Running sums of metrics: local variables that add up what each batch brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ....core.dtypes import float32
from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....primitives.casting.cast import cast
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.fill import zeros
from ....primitives.elementwise.division import divide_no_nan
from ....primitives.reduction.reduce import reduce_sum
from ....primitives.variables.collections import GraphKeys, add_to_collections
from ....primitives.variables.variable import Variable

Collections = str | Sequence[str] | None
Pair = tuple[Tensor, Tensor]
"""What it is so far, and with this batch."""


class Metric(NamedTuple):
    """What a metric is so far, and what it is after one more batch, which that operation takes into it."""

    value: Tensor
    update_op: Tensor


def running(batch: Tensor, name: str) -> Pair:
    """The sum of all batches so far, each of the shape of `batch`, and that with this one."""
    places = [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES]
    start = zeros(batch.shape, batch.dtype)
    total = Variable(start, trainable=False, collections=places, name=name)
    return total.read_value(), total.assign_add(batch)


def weighted(values: Tensor, weights: TensorLike | None, dtype: Any = float32) -> Tensor:
    """`values`, each times its weight."""
    x = cast(values, dtype)
    if weights is None:
        return x
    w = cast(convert_to_tensor(weights), dtype)
    return x * (w if w.shape.rank in (0, x.shape.rank) else w + x * 0.0)


def sum_of(values: Tensor, weights: TensorLike | None, name: str, rows: int | None = None) -> Pair:
    """The weighted sum of all `values` so far, or of each of their `rows`, and that with this batch."""
    batch = reduce_sum(weighted(values, weights), None if rows is None else 1)
    if rows is not None:
        batch.set_shape([rows])
    return running(batch, name)


def shares(total: Pair, count: Pair, metrics: Collections, updates: Collections) -> Metric:
    """The metric `total / count`, 0 where the count is."""
    value, update = (divide_no_nan(t, n) for t, n in zip(total, count, strict=True))
    return noted(value, update, metrics, updates)


def noted(value: Tensor, update: Tensor, metrics: Collections, updates: Collections) -> Metric:
    """The metric, put into collections."""
    if metrics is not None:
        add_to_collections(metrics, value)
    if updates is not None:
        add_to_collections(updates, update)
    return Metric(value, update)
