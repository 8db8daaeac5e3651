"""Exponential moving averages of variables and tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.dtypes import FLOATING
from ..core.graph import Operation, Tensor
from ..core.typing import TensorLike
from ..layers.variables.scope import get_variable_scope, moving_average_variables, trainable_variables
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.creation.fill import zeros
from ..primitives.elementwise.maximum import minimum
from ..primitives.identity.identity import group_operations
from ..primitives.variables.collections import GraphKeys
from ..primitives.variables.variable import Variable, variables_of


class ExponentialMovingAverage:
    """Averages a of variables and tensors x: each update makes of a the sum decay a + (1 - decay) x.

    `apply` makes the averages, variables that are not trainable, and the operation that updates them. That of a
    variable starts from the variable's initial value, that of a tensor from 0. With `num_updates`, which counts the
    updates, decay is min(decay, (1 + num_updates) / (10 + num_updates)), so that averages move faster at first.

    Raises:
        ValueError: `zero_debias` is asked for, which is not there.

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
        if zero_debias:
            raise ValueError(
                "ExponentialMovingAverage: zero_debias=True is not supported; divide the average by 1 - decay ** steps"
            )
        self._decay = decay
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
        ops = [self._update(self._averages[x], x) for x in given]
        return group_operations(*ops, name=self._name)

    def _update(self, average: Variable, x: Any) -> Operation:
        graph = average.graph
        with graph.name_scope(self._name), graph.colocate_with(average.op):
            decay = cast(convert_to_tensor(self._decay), average.dtype)
            if self._num_updates is not None:
                updates = cast(self._num_updates, average.dtype)
                decay = minimum(decay, (1.0 + updates) / (10.0 + updates))
            value = convert_to_tensor(x)
            op: Operation = average.assign_sub((1.0 - decay) * (average.value() - value), read_value=False)
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


def _average_of(x: Any, name: str) -> Variable:
    graph = x.graph
    start = x.initialized_value if isinstance(x, Variable) else lambda: zeros(x.shape, x.dtype)
    with graph.as_default(), graph.name_scope(None), graph.colocate_with(x.op):
        return Variable(start, trainable=False, name=name)
