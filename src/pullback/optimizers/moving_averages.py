"""Exponential moving averages of variables and tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.dtypes import FLOATING, float32
from ..core.graph import Operation, Tensor
from ..core.typing import TensorLike
from ..layers.variables.initializers import Zeros
from ..layers.variables.scope import (
    get_variable,
    get_variable_scope,
    moving_average_variables,
    trainable_variables,
    variable_scope,
)
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.creation.fill import zeros
from ..primitives.elementwise.maximum import minimum
from ..primitives.elementwise.powers import pow as power
from ..primitives.identity.identity import group_operations
from ..primitives.variables.collections import GraphKeys
from ..primitives.variables.variable import Variable, variables_of


class ExponentialMovingAverage:
    """Averages a of variables and tensors x: each update makes of a the sum decay a + (1 - decay) x.

    `apply` makes the averages, variables that are not trainable, and the operation that updates them. That of a
    variable starts from the variable's initial value, that of a tensor from 0; with `zero_debias` the latter are means
    of the values so far, see `assign_moving_average`. With `num_updates`, which counts the
    updates, decay is min(decay, (1 + num_updates) / (10 + num_updates)), so that averages move faster at first.

    >>> import pullback as pb
    >>> w = pb.Variable(1.0, name="w")
    >>> averages = pb.train.ExponentialMovingAverage(decay=0.75)
    >>> update = averages.apply([w])
    >>> session = pb.Session()
    >>> session.run(pb.global_variables_initializer())
    >>> session.run(w.assign(5.0))
    np.float32(5.0)
    >>> session.run(update)
    >>> session.run(averages.average(w))
    np.float32(2.0)
    """

    def __init__(
        self,
        decay: TensorLike,
        num_updates: TensorLike | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._zero_debias = zero_debias
        self._num_updates = num_updates
        self._name = name
        self._averages: dict[Any, Variable] = {}

    @property
    def name(self) -> str:
        """The name, the last part of those of the averages."""
        return self._name

    def apply(self, var_list: Sequence[Variable | Tensor] | None = None) -> Operation:
        """One operation that updates the averages of `var_list`, all trainable variables unless given.

        Raises:
            TypeError: one holds no floats.
        """
        given = trainable_variables() if var_list is None else list(var_list)
        for x in given:
            if x.dtype not in FLOATING:
                raise TypeError(f"ExponentialMovingAverage: averages are of floats, not of {x!r}")
            if x not in self._averages:
                self._averages[x] = _average_of(x, get_variable_scope().prefix + self.average_name(x))
                if isinstance(x, Variable) and x not in moving_average_variables():
                    x.graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, x)
        if not given:
            return group_operations(name=self._name)
        with next(iter(self._averages.values())).graph.within(self._name) as scope:
            return group_operations(*[self._update(self._averages[x], x) for x in given], name=scope)

    def _update(self, average: Variable, x: Any) -> Operation:
        graph = average.graph
        with graph.colocate_with(average.op):
            decay = cast(convert_to_tensor(self._decay), average.dtype)
            if self._num_updates is not None:
                updates = cast(self._num_updates, average.dtype)
                decay = minimum(decay, (1.0 + updates) / (10.0 + updates))
            value = convert_to_tensor(x)
            if self._zero_debias and not isinstance(x, Variable):
                mean = assign_moving_average(average, value, decay)
                return mean.op
            change = (1.0 - decay) * (average.value() - value)
            op: Operation = average.assign_sub(change, name="AssignMovingAvg", read_value=False)
            return op

    def average(self, var: Variable | Tensor) -> Variable | None:
        """The average of `var`, or None where `apply` has made none."""
        return self._averages.get(var)

    def average_name(self, var: Variable | Tensor) -> str:
        """The name of the average of `var`, whether it is there or not."""
        made = self._averages.get(var)
        return f"{var.op.name}/{self._name}" if made is None else made.op.name

    def variables_to_restore(self, moving_avg_variables: Sequence[Variable] | None = None) -> Mapping[str, Variable]:
        """For `pb.train.Saver`: what gives averaged variables their averages, and all others their own values.

        `moving_avg_variables` are the averaged ones; all trainable variables and all averaged ones unless given.
        """
        variables = moving_avg_variables
        if variables is None:
            variables = [*trainable_variables(), *moving_average_variables()]
        named = {self.average_name(v): v for v in dict.fromkeys(variables)}
        graph = next((v.graph for v in named.values()), None)
        others = [] if graph is None else variables_of(graph, GraphKeys.GLOBAL_VARIABLES)
        averaged = set(named.values())
        return {v.op.name: v for v in others if v not in averaged} | named


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


def _average_of(x: Any, name: str) -> Variable:
    graph = x.graph
    start = x.initialized_value if isinstance(x, Variable) else lambda: zeros(x.shape, x.dtype)
    beside = x.op if isinstance(x, Variable) else None
    with graph.as_default(), graph.within(None), graph.colocate_with(beside):
        return Variable(start, trainable=False, name=name)
