"""Cells of Keras, one step of a recurrent layer: `SimpleRNNCell`, `LSTMCell`, `GRUCell`, cells behind each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pullback as pb

from ....core import nest
from . import activations, initializers, regularizers
from .base import Layer
from .plain import of_all, refuse_others


class AbstractCell(Layer):
    """What these cells share: their variables."""

    gates: ClassVar[int] = 1
    states: ClassVar[int] = 1

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        **options: Any,
    ) -> None:
        refuse_others(type(self).__name__, options, ("implementation",))
        super().__init__(**of_all(options))
        self.units = units
        self._activation = activations.get(activation)
        self._gate = activations.get(recurrent_activation)
        self._use_bias, self._forget = use_bias, unit_forget_bias
        self._initializers = [
            initializers.get(i) for i in (kernel_initializer, recurrent_initializer, bias_initializer)
        ]
        self._regularizers = [
            regularizers.get(r) for r in (kernel_regularizer, recurrent_regularizer, bias_regularizer)
        ]

    @property
    def state_size(self) -> Any:
        """The length of the state, or a list where there are several."""
        return self.units if self.states == 1 else [self.units] * self.states

    @property
    def output_size(self) -> int:
        """The length of the output."""
        return self.units

    def build(self, input_shape: Any) -> None:
        """Make the kernels of inputs and states, and the bias."""
        width = self.gates * self.units
        lengths = {"kernel": [input_shape.size(-1), width], "recurrent_kernel": [self.units, width], "bias": [width]}
        chosen = zip(lengths.items(), self._initializers, self._regularizers, strict=True)
        made = {
            name: self.add_weight(name, sizes, initializer=self._begun(name, initializer), regularizer=regularizer)
            for (name, sizes), initializer, regularizer in chosen
            if name != "bias" or self._use_bias
        }
        self.kernel, self.recurrent_kernel, self.bias = made["kernel"], made["recurrent_kernel"], made.get("bias")

    def _begun(self, name: str, initializer: Any) -> Any:
        """What initialises a variable: the bias of the forget gate is one."""
        if name != "bias" or self.gates != 4 or not self._forget:
            return initializer
        units = self.units

        def bias(sizes: Any, dtype: Any = None, **options: Any) -> pb.Tensor:
            del sizes, options
            parts = [initializer([units], dtype), pb.ones([units], dtype), initializer([2 * units], dtype)]
            return pb.concat(parts, 0)

        return bias

    def call(self, inputs: Any, states: Any = (), *args: Any, **kwargs: Any) -> Any:
        """The output, and the list of the next states."""
        after = self.step(inputs, list(states))
        return after[0], after

    def step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        """The next states, of which the first is the output."""
        raise NotImplementedError(f"{type(self).__name__} defines no step()")

    def _of_inputs(self, x: pb.Tensor) -> pb.Tensor:
        y = pb.matmul(x, self.kernel)
        return y if self.bias is None else y + self.bias


class SimpleRNNCell(AbstractCell):
    """`h = activation(x @ kernel + h @ recurrent_kernel + bias)`."""

    def step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        """The next state."""
        return [self._activation(self._of_inputs(x) + pb.matmul(states[0], self.recurrent_kernel))]


class LSTMCell(AbstractCell):
    """Long short-term memory, with the gates in the order input, forget, candidate, output."""

    gates = 4
    states = 2

    def step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        """The next output and the next memory."""
        h, c = states
        i, f, g, o = pb.split(self._of_inputs(x) + pb.matmul(h, self.recurrent_kernel), 4, 1)
        after = self._gate(f) * c + self._gate(i) * self._activation(g)
        return [self._gate(o) * self._activation(after), after]


class GRUCell(AbstractCell):
    """Gated recurrent units, with the gates in the order update, reset, candidate."""

    gates = 3

    def step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        """The next state."""
        (h,) = states
        z, r, g = pb.split(self._of_inputs(x), 3, 1)
        of_z, of_r, of_g = pb.split(self.recurrent_kernel, 3, 1)
        update, reset = self._gate(z + pb.matmul(h, of_z)), self._gate(r + pb.matmul(h, of_r))
        return [update * h + (1.0 - update) * self._activation(g + pb.matmul(reset * h, of_g))]


def output_size(cell: Any) -> Any:
    """The length of what a cell gives: that of its first state where it says nothing else."""
    return getattr(cell, "output_size", nest.flatten(cell.state_size)[0])


class StackedRNNCells(Layer):
    """Cells, each on the output of the one before; the states are those of all, one list behind the other."""

    def __init__(self, cells: Sequence[Any], **options: Any) -> None:
        super().__init__(**options)
        self.cells = list(cells)

    @property
    def state_size(self) -> list[Any]:
        """The lengths of the states of each cell."""
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> Any:
        """The length of the output."""
        return output_size(self.cells[-1])

    def call(self, inputs: Any, states: Any = (), *args: Any, **kwargs: Any) -> Any:
        """The last output, and the next states of each cell."""
        after = []
        for cell, state in zip(self.cells, states, strict=True):
            listed = isinstance(state, list | tuple)
            inputs, made = cell(inputs, list(state) if listed else [state])
            after.append(list(made) if listed else made[0])
        return inputs, after

    @property
    def variables(self) -> list[Any]:
        """Those of the cells."""
        return [v for cell in self.cells for v in cell.variables]

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of them that optimizers change."""
        return [v for cell in self.cells for v in cell.trainable_variables]
