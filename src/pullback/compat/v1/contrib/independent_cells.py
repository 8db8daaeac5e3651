"""Independently recurrent cells: each unit sees its own state alone (`IndRNNCell`, `IndyGRUCell`, `IndyLSTMCell`).

Source: S. Li et al., "Independently recurrent neural network", 2018; P. Gonnet and T. Deselaers, "IndyLSTMs", 2019.
"""

from __future__ import annotations

from typing import Any

from ....core.typing import DTypeLike
from ....layers.rnn.cells import Activation, LSTMStateTuple, RNNCell
from ....layers.variables.initializers import Constant, RandomUniform, Zeros
from ....layers.variables.scope import get_variable, variable_scope
from ....primitives.activations.sigmoid import sigmoid
from ....primitives.elementwise.hyperbolic import tanh
from ....primitives.linalg.matmul import matmul
from ....primitives.shape.stacking import concat, split
from ....primitives.variables.variable import Variable


class IndRNNCell(RNNCell):
    """`activation(x @ W + u * h + b)`: output and state."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | str | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self.units, self.activation = num_units, activation or tanh

    @property
    def state_size(self) -> int:
        return self.units

    @property
    def output_size(self) -> int:
        return self.units

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
        activation: Activation | None = None,
        reuse: bool | str | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self.units, self.activation = num_units, activation or tanh
        self.initializers = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> int:
        return self.units

    @property
    def output_size(self) -> int:
        return self.units

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        (kernel, bias), depth = self.initializers, self._depth(input_shape)
        with variable_scope("gates"):
            self._gates = _variables(depth, 2 * self.units, kernel, bias or Constant(1.0))
        with variable_scope("candidate"):
            self._candidate = _variables(depth, self.units, kernel, bias, "kernel")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output, twice."""
        r, u = split(sigmoid(_affine(inputs, concat([state, state], 1), self._gates)), 2, 1)
        h = u * state + (1.0 - u) * self.activation(_affine(inputs, r * state, self._candidate))
        return h, h


class IndyLSTMCell(RNNCell):
    """A long short-term memory with vectors in place of its matrix of the state."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Activation | None = None,
        reuse: bool | str | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self.units, self.forget_bias, self.activation = num_units, forget_bias, activation or tanh
        self.initializers = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self.units, self.units)

    @property
    def output_size(self) -> int:
        return self.units

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        self._weights = _variables(self._depth(input_shape), 4 * self.units, *self.initializers)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output and the next state."""
        c, h = state
        i, j, f, o = split(_affine(inputs, concat([h] * 4, 1), self._weights), 4, 1)
        c = c * sigmoid(f + self.forget_bias) + sigmoid(i) * self.activation(j)
        h = self.activation(c) * sigmoid(o)
        return h, LSTMStateTuple(c, h)


def _variables(depth: int, width: int, kernel: Any = None, bias: Any = None, name: str = "kernel_w") -> list[Variable]:
    """The matrix of the inputs, the vector of the state, and the bias."""
    return [
        get_variable(name, [depth, width], initializer=kernel),
        get_variable("kernel_u", [1, width], initializer=RandomUniform(-1.0, 1.0)),
        get_variable("bias", [width], initializer=bias or Zeros()),
    ]


def _affine(x: Any, h: Any, variables: list[Any]) -> Any:
    w, u, b = variables
    return matmul(x, w) + h * u + b
