"""Moving averages of single variables, and slots: `tensorflow.python.training.moving_averages` and `slot_creator`."""

from __future__ import annotations

from collections.abc import Sequence

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import DTypeLike, TensorLike
from ...optimizers.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from ...optimizers.moving_averages import assign_moving_average as assign_moving_average


@in_graph_of_inputs
def weighted_moving_average(
    value: TensorLike,
    decay: TensorLike,
    weight: TensorLike,
    truediv: bool = True,
    collections: Sequence[str] | None = None,
    name: str | None = None,
) -> pb.Tensor:
    """The moving average of `value * weight` over that of `weight`, both of which begin at 0.

    >>> import pullback.compat.v1 as tf
    >>> mean = weighted_moving_average(6.0, 0.5, 4.0)
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     session.run(mean)
    np.float32(6.0)
    """
    del truediv
    x, share = pb.convert_to_tensor(value), pb.convert_to_tensor(weight)
    with pb.variable_scope(name, "WeightedMovingAvg", [x, share]):
        averages = [
            assign_moving_average(
                pb.get_variable(
                    part, y.shape, y.dtype, pb.zeros_initializer(), trainable=False, collections=collections
                ),
                y,
                decay,
                zero_debias=False,
            )
            for part, y in (("value_x_weight", x * share), ("weight", share))
        ]
        return averages[0] / averages[1]


@in_graph_of_inputs
def create_slot(
    primary: pb.Variable | pb.Tensor, val: TensorLike, name: str, colocate_with_primary: bool = True
) -> pb.Variable:
    """A variable named after `primary`, `v/name`, that begins with `val` and that no optimizer changes.

    >>> import pullback.compat.v1 as tf
    >>> create_slot(tf.Variable([1.0, 2.0], name="v"), [0.0, 0.5], "speed")
    <Variable 'v/speed:0' float32[2]>
    """
    graph = primary.graph
    with graph.as_default(), graph.within(None), graph.colocate_with(primary.op if colocate_with_primary else None):
        value = pb.convert_to_tensor(val)
        known = value.shape.is_fully_defined()
        return pb.Variable(value, trainable=False, validate_shape=known, name=f"{primary.op.name}/{name}")


def create_zeros_slot(
    primary: pb.Variable | pb.Tensor, name: str, dtype: DTypeLike | None = None, colocate_with_primary: bool = True
) -> pb.Variable:
    """As `create_slot`, of zeros of the shape of `primary`.

    >>> import pullback.compat.v1 as tf
    >>> create_zeros_slot(tf.Variable([1.0, 2.0], name="v"), "speed", tf.float64)
    <Variable 'v/speed:0' float64[2]>
    """
    if primary.shape.is_fully_defined():
        zeros = pb.zeros(primary.shape, dtype or primary.dtype)
    else:
        start = primary.initialized_value() if isinstance(primary, pb.Variable) else primary
        zeros = pb.zeros_like(start, dtype or primary.dtype)
    return create_slot(primary, zeros, name, colocate_with_primary)
