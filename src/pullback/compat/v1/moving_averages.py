"""Moving averages of single variables: `tensorflow.python.training.moving_averages`."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import float32
from ...core.graph import Tensor
from ...core.typing import TensorLike
from ...layers.variables.initializers import Zeros
from ...layers.variables.scope import get_variable, variable_scope
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.elementwise.powers import pow as power
from ...primitives.variables.variable import Variable
from ...train import ExponentialMovingAverage as ExponentialMovingAverage


def assign_moving_average(
    variable: Variable, value: TensorLike, decay: TensorLike, zero_debias: bool = True, name: str | None = None
) -> Tensor:
    """`variable` after it has become `decay * variable + (1 - decay) * value`.

    With `zero_debias` it is the mean of the values so far, as if it had not begun at 0: the sum without that is in the
    variable `biased`, and the number of values in `local_step`, below its name.

    Source: D. P. Kingma and J. Ba, "Adam", 2015, section 3.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.moving_averages import assign_moving_average
    >>> v = tf.get_variable("v", initializer=0.0)
    >>> step = assign_moving_average(v, 4.0, 0.9)
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     session.run(step)
    np.float32(4.0)
    """
    x = convert_to_tensor(value, variable.dtype)
    kept: Any = cast(convert_to_tensor(decay), variable.dtype)
    if not zero_debias:
        assigned: Tensor = variable.assign_sub((variable - x) * (1.0 - kept), name=name)
        return assigned
    with variable_scope(variable.op.name, values=[variable, x], auxiliary_name_scope=False):
        sum_so_far = get_variable("biased", variable.shape, variable.dtype, Zeros(), trainable=False)
        count = get_variable("local_step", [], float32, Zeros(), trainable=False)
    biased = sum_so_far.assign_sub((sum_so_far - x) * (1.0 - kept))
    steps: Any = cast(count.assign_add(1.0), variable.dtype)
    mean: Tensor = variable.assign(biased / (1.0 - power(kept, steps)), name=name)
    return mean
