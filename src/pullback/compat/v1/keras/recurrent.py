"""Recurrent layers of Keras: `SimpleRNN`, `LSTM`, `GRU`, over [batch, time, depth]."""

from __future__ import annotations

from typing import Any

import pullback as pb

from . import activations, initializers, regularizers
from .plain import VariableLayer, refuse_others


class AbstractRecurrent(VariableLayer):
    """What these layers share: their variables, and the run over time."""

    _gates = 1
    _states = 1

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
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        **options: Any,
    ) -> None:
        refuse_others(type(self).__name__, options, ("unroll", "implementation"))
        super().__init__(**options)
        self.units, self._backwards = units, go_backwards
        self._activation = activations.get(activation)
        self._gate = activations.get(recurrent_activation)
        self._use_bias, self._forget = use_bias, unit_forget_bias
        self._initializers = [
            initializers.get(i) for i in (kernel_initializer, recurrent_initializer, bias_initializer)
        ]
        self._regularizers = [
            regularizers.get(r) for r in (kernel_regularizer, recurrent_regularizer, bias_regularizer)
        ]
        self._sequences, self._state = return_sequences, return_state

    def build(self, input_shape: Any) -> None:
        """Make the kernels of inputs and states, and the bias."""
        width = self._gates * self.units
        lengths = {"kernel": [input_shape.size(-1), width], "recurrent_kernel": [self.units, width], "bias": [width]}
        chosen = zip(lengths.items(), self._initializers, self._regularizers, strict=True)
        made = {
            name: self.add_weight(name, sizes, initializer=initializer, regularizer=regularizer)
            for (name, sizes), initializer, regularizer in chosen
            if name != "bias" or self._use_bias
        }
        self.kernel, self.recurrent_kernel, self.bias = made["kernel"], made["recurrent_kernel"], made.get("bias")

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:
        """The last output, or all with `return_sequences`; with `return_state` a list of it and the last states."""
        del training
        refuse_others(type(self).__name__, {"mask": mask})
        rows = pb.transpose(inputs, [1, 0, 2])
        if self._backwards:
            rows = pb.reverse(rows, [0])
        first = [pb.zeros([pb.shape(inputs)[0], self.units], inputs.dtype)] * self._states
        if initial_state is not None:
            first = list(initial_state) if isinstance(initial_state, list | tuple) else [initial_state]
        states = pb.scan(lambda state, x: self._step(x, state), rows, first)
        outputs = states[0]
        result = pb.transpose(outputs, [1, 0, 2]) if self._sequences else outputs[-1]
        return [result, *[s[-1] for s in states]] if self._state else result

    def _step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        """The next states, of which the first is the output."""
        raise NotImplementedError(f"{type(self).__name__} defines no _step()")

    def _of_inputs(self, x: pb.Tensor) -> pb.Tensor:
        y = pb.matmul(x, self.kernel)
        return y if self.bias is None else y + self.bias


class SimpleRNN(AbstractRecurrent):
    """`h = activation(x @ kernel + h @ recurrent_kernel + bias)`."""

    def _step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        return [self._activation(self._of_inputs(x) + pb.matmul(states[0], self.recurrent_kernel))]


class LSTM(AbstractRecurrent):
    """Long short-term memory, with the gates in the order input, forget, candidate, output."""

    _gates = 4
    _states = 2

    def build(self, input_shape: Any) -> None:
        """Make the variables; the bias of the forget gate is one."""
        if self._forget and self._use_bias:
            zero, units = self._initializers[2], self.units

            def bias(sizes: Any, dtype: Any = None, **options: Any) -> pb.Tensor:
                del sizes, options
                parts = [zero([units], dtype), initializers.Ones()([units], dtype), zero([2 * units], dtype)]
                return pb.concat(parts, 0)

            self._initializers[2] = bias
        super().build(input_shape)

    def _step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        h, c = states
        i, f, g, o = pb.split(self._of_inputs(x) + pb.matmul(h, self.recurrent_kernel), 4, 1)
        after = self._gate(f) * c + self._gate(i) * self._activation(g)
        return [self._gate(o) * self._activation(after), after]


class GRU(AbstractRecurrent):
    """Gated recurrent units, with the gates in the order update, reset, candidate."""

    _gates = 3

    def _step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        (h,) = states
        z, r, g = pb.split(self._of_inputs(x), 3, 1)
        of_z, of_r, of_g = pb.split(self.recurrent_kernel, 3, 1)
        update, reset = self._gate(z + pb.matmul(h, of_z)), self._gate(r + pb.matmul(h, of_r))
        return [update * h + (1.0 - update) * self._activation(g + pb.matmul(reset * h, of_g))]
