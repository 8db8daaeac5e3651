"""Independently recurrent cells: each unit sees its own state alone (`IndRNNCell`, `IndyGRUCell`, `IndyLSTMCell`).

Source: S. Li et al., "Independently recurrent neural network", 2018; P. Gonnet and T. Deselaers, "IndyLSTMs", 2019.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pullback as pb

from ....core.typing import DTypeLike
from ....layers.rnn.activations import Activation, activation_of
from ....layers.rnn.cells import LSTMStateTuple, RNNCell


class IndRNNCell(RNNCell):
    """`activation(x @ W + u * h + b)`: output and state."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | str | None = None,
        reuse: bool | str | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self.units, self.activation = num_units, activation_of(activation)

    state_size = output_size = property(attrgetter("units"))

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        self._weights = _variables(self._depth(input_shape), self.units)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output, twice."""
        h = self.activation(_affine(inputs, state, self._weights))
        return h, h


class IndyGRUCell(RNNCell):
    """A gated recurrent unit with vectors in place of its matrices of the state."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | str | None = None,
        reuse: bool | str | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self.units, self.activation = num_units, activation_of(activation)
        self.initializers = kernel_initializer, bias_initializer

    state_size = output_size = property(attrgetter("units"))

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        (kernel, bias), depth = self.initializers, self._depth(input_shape)
        with pb.variable_scope("gates"):
            self._gates = _variables(depth, 2 * self.units, kernel, bias or pb.constant_initializer(1.0))
        with pb.variable_scope("candidate"):
            self._candidate = _variables(depth, self.units, kernel, bias, "kernel")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output, twice."""
        r, u = pb.split(pb.sigmoid(_affine(inputs, pb.concat([state, state], 1), self._gates)), 2, 1)
        h = u * state + (1.0 - u) * self.activation(_affine(inputs, r * state, self._candidate))
        return h, h


class IndyLSTMCell(RNNCell):
    """A long short-term memory with vectors in place of its matrix of the state."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Activation | str | None = None,
        reuse: bool | str | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self.units, self.forget_bias, self.activation = num_units, forget_bias, activation_of(activation)
        self.initializers = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self.units, self.units)

    output_size = property(attrgetter("units"))

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        self._weights = _variables(self._depth(input_shape), 4 * self.units, *self.initializers)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        c, h = state
        i, j, f, o = pb.split(_affine(inputs, pb.concat([h] * 4, 1), self._weights), 4, 1)
        c = c * pb.sigmoid(f + self.forget_bias) + pb.sigmoid(i) * self.activation(j)
        h = self.activation(c) * pb.sigmoid(o)
        return h, LSTMStateTuple(c, h)


def _variables(
    depth: int, width: int, kernel: Any = None, bias: Any = None, name: str = "kernel_w"
) -> list[pb.Variable]:
    """The matrix of the inputs, the vector of the state, and the bias."""
    return [
        pb.get_variable(name, [depth, width], initializer=kernel),
        pb.get_variable("kernel_u", [1, width], initializer=pb.random_uniform_initializer(-1.0, 1.0)),
        pb.get_variable("bias", [width], initializer=bias or pb.zeros_initializer()),
    ]


def _affine(x: Any, h: Any, variables: list[Any]) -> Any:
    w, u, b = variables
    return pb.matmul(x, w) + h * u + b
