"""Pairwise loss: differences within predictions should be those within labels, wherever both begin."""

from __future__ import annotations

from ...core.contexts import in_graph_of_inputs
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ...primitives.base.broadcasting import operands
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.fill import ones_like
from ...primitives.elementwise.division import divide_no_nan
from ...primitives.elementwise.maximum import maximum
from ...primitives.elementwise.powers import square
from ...primitives.logic.comparison import not_equal
from ...primitives.reduction.reduce import reduce_sum
from ...primitives.shape.broadcast import broadcast_like
from ...primitives.shape.reshape import reshape
from ...primitives.shape.size import shape
from ...primitives.shape.stacking import concat
from ...primitives.variables.collections import GraphKeys
from .weighted import add_loss


@in_graph_of_inputs
def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """For each example the mean over pairs i, j of ((p_i - p_j) - (l_i - l_j))^2, weighted and added up.

    Shapes: [b, ...], the same for both; `weights` a scalar, [b], or of their rank with lengths equal or one:
    an example counts with the sum of its weights, and has as many elements as have weights other than 0.
    Dtypes: any float; `labels` are converted to that of `predictions`.

    Derivative: with d_i = p_i - l_i and n elements, dpredictions_i = 4 dy * weight / (n - 1) * (d_i - mean(d)).

    Raises:
        ValueError: the shapes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.losses.mean_pairwise_squared_error([[0.0, 0.0]], [[1.0, 3.0]]))
    np.float32(4.0)
    """
    y, z = operands(predictions, labels)
    if not y.shape.is_compatible_with(z.shape):
        raise ValueError(f"mean_pairwise_squared_error: labels {z.type} and predictions {y.type} must have one shape")
    with y.graph.within(scope or "mean_pairwise_squared_error"):
        apart = _by_rows(y - cast(z, y.dtype), y)
        factors = cast(convert_to_tensor(weights, dtype_hint=y.dtype), y.dtype)
        wide = factors
        if factors.shape.rank != 0:
            own = _by_rows(factors, factors)
            wide = own if factors.shape.rank in (1, None) else _by_rows(broadcast_like(factors, y), y)
            factors = reduce_sum(own, 1)
        count = reduce_sum(ones_like(apart) * cast(not_equal(wide, 0), y.dtype), 1)
        others = maximum(count - 1.0, 0.0)
        squares = divide_no_nan(2.0 * reduce_sum(square(apart), 1), others, "value")
        sums = divide_no_nan(2.0 * square(reduce_sum(apart, 1)), count * others, "value")
        loss = reduce_sum((squares - sums) * factors, name="value")
    add_loss(loss, loss_collection)
    return loss


def _by_rows(x: Tensor, like: Tensor) -> Tensor:
    return reshape(x, concat([shape(like)[:1], [-1]], 0))
