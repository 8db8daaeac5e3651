"""Helpers of streaming metrics that tf_slim and programs with metrics of their own take from `ops.metrics_impl`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import DTypeLike, ShapeLike, TensorLike
from .running import Collections, fitted, matched
from .thresholds import PARTS, counts_at

_SHORT = ("tp", "fn", "tn", "fp")


def _remove_squeezable_dimensions(
    predictions: TensorLike, labels: TensorLike | None, weights: TensorLike | None
) -> tuple[pb.Tensor, pb.Tensor | None, pb.Tensor | None]:
    """Predictions, labels and weights of shapes that fit, see `remove_squeezable_dimensions`."""
    given, truth = pb.convert_to_tensor(predictions), None
    if labels is not None:
        truth, given = matched(labels, given)
    return given, truth, None if weights is None else fitted(weights, given)


def metric_variable(
    shape: ShapeLike, dtype: DTypeLike, validate_shape: bool = True, name: str | None = None
) -> pb.Variable:
    """A local variable of zeros in which a metric counts."""
    places = [pb.GraphKeys.LOCAL_VARIABLES, pb.GraphKeys.METRIC_VARIABLES]
    return pb.Variable(pb.zeros(shape, dtype), False, validate_shape, name=name, collections=places)


def _aggregate_variable(v: pb.Variable, collections: Collections) -> pb.Tensor:
    """The value of `v`, put into collections."""
    value = v.read_value()
    if collections is not None:
        pb.add_to_collections(collections, value)
    return value


def _safe_scalar_div(numerator: TensorLike, denominator: TensorLike, name: str) -> pb.Tensor:
    """The quotient, 0 where the denominator is."""
    return pb.div_no_nan(numerator, denominator, name)


def _confusion_matrix_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    includes: Sequence[str] = _SHORT,
) -> tuple[dict[str, pb.Tensor], dict[str, pb.Tensor]]:
    """How much is a true positive ("tp"), ..., at each threshold: so far, and with this batch."""
    named = dict(zip(_SHORT, PARTS, strict=True))
    counts = counts_at(
        labels, predictions, weights, np.array(thresholds), [named[short] for short in includes or _SHORT]
    )
    found = dict(zip(includes or _SHORT, counts, strict=True))
    return ({n: so_far for n, (so_far, _) in found.items()}, {n: now for n, (_, now) in found.items()})


@in_graph_of_inputs
def broadcast_weights(weights: TensorLike, values: TensorLike) -> pb.Tensor:
    """The weight of each of `values`.

    Raises:
        ValueError: the weights do not broadcast to them.
    """
    x = pb.convert_to_tensor(values)
    return pb.convert_to_tensor(fitted(weights, x), x.dtype) * pb.ones_like(x)
