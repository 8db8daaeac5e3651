"""Cells of Keras, one step of a recurrent layer: `SimpleRNNCell`, `LSTMCell`, `GRUCell`, cells behind each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pullback as pb

from ....core import nest
from . import activations, backend, constraints, initializers, regularizers
from .base import Layer
from .history import takes
from .plain import of_all, refuse_others


class AbstractCell(Layer):
    """What these cells share: their variables, and dropout, which is drawn once for all steps, for each gate.

    With `implementation=2` and no `recurrent_dropout` it is one for all gates.

    Source of dropout: Y. Gal and Z. Ghahramani, "A theoretically grounded application of dropout in recurrent neural
    networks", 2016.
    """

    gates: ClassVar[int] = 1
    states: ClassVar[int] = 1
    kernel: Any = None
    recurrent_kernel: Any = None
    bias: Any = None

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
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        **options: Any,
    ) -> None:
        refuse_others(type(self).__name__, options)
        super().__init__(**of_all(options))
        self.units, self.dropout, self.recurrent_dropout = units, dropout, recurrent_dropout
        self._draws = 1 if implementation == 2 and not recurrent_dropout else self.gates
        self._kept: dict[str, list[pb.Tensor]] = {}
        self._constraints = [constraints.get(c) for c in (kernel_constraint, recurrent_constraint, bias_constraint)]
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
        width, window = self.gates * self.units, self.window
        lengths = {
            "kernel": [*window, input_shape.size(-1), width],
            "recurrent_kernel": [*window, self.units, width],
            "bias": [width],
        }
        chosen = zip(lengths.items(), self._initializers, self._regularizers, self._constraints, strict=True)
        for (name, sizes), initializer, regularizer, constraint in chosen:
            if name == "bias" and not self._use_bias:
                continue
            begun = self._begun(name, initializer)
            made = self.add_weight(name, sizes, initializer=begun, regularizer=regularizer, constraint=constraint)
            setattr(self, name, made)

    @property
    def window(self) -> list[int]:
        """The lengths of the window of images that a step looks at."""
        return []

    def draw(self, x: pb.Tensor, state: pb.Tensor, training: Any) -> None:
        """Draw what inputs and states like these are multiplied with, unless nothing is left out."""
        phase = backend.learning_phase() if training is None else training
        rates = {"inputs": (self.dropout, x), "states": (self.recurrent_dropout, state)}
        self._kept = {
            part: [_kept_share(like, rate, phase) for _ in range(self._draws)] * (self.gates // self._draws)
            for part, (rate, like) in rates.items()
            if rate and (isinstance(phase, pb.Tensor) or phase)
        }

    def reset_dropout_mask(self) -> None:
        """Let the next call draw which inputs it leaves out."""
        self._kept.pop("inputs", None)

    def reset_recurrent_dropout_mask(self) -> None:
        """Let the next call draw which parts of the state it leaves out."""
        self._kept.pop("states", None)

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

    def call(self, inputs: Any, states: Any = (), training: Any = None, **kwargs: Any) -> Any:
        """The output, and the list of the next states."""
        if not self._kept:
            self.draw(inputs, states[0], training)
        after = self.step(inputs, list(states))
        return after[0], after

    def step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        """The next states, of which the first is the output."""
        raise NotImplementedError(f"{type(self).__name__} defines no step()")

    def of_inputs(self, x: pb.Tensor) -> pb.Tensor:
        """What the inputs give to all gates."""
        return self.to_gates("inputs", x, self.kernel, pb.matmul, self.bias)

    def of_states(self, h: pb.Tensor) -> pb.Tensor:
        """What the state gives to all gates."""
        return self.to_gates("states", h, self.recurrent_kernel, pb.matmul, None)

    def to_gates(self, part: str, x: Any, kernel: Any, product: Callable[..., pb.Tensor], bias: Any) -> pb.Tensor:
        """What inputs or states give to all gates by such a product, without those that are left out."""
        kept = self._kept.get(part)
        if kept is None:
            y = product(x, kernel)
        elif self._draws == 1:
            y = product(x * kept[0], kernel)
        else:
            kernels = pb.split(kernel, self.gates, -1)
            y = pb.concat([product(x * k, own) for k, own in zip(kept, kernels, strict=True)], -1)
        return y if bias is None else y + bias


class SimpleRNNCell(AbstractCell):
    """`h = activation(x @ kernel + h @ recurrent_kernel + bias)`."""

    def step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        """The next state."""
        return [self._activation(self.of_inputs(x) + self.of_states(states[0]))]


class LSTMCell(AbstractCell):
    """Long short-term memory, with the gates in the order input, forget, candidate, output."""

    gates = 4
    states = 2

    def step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        """The next output and the next memory."""
        h, c = states
        i, f, g, o = pb.split(self.of_inputs(x) + self.of_states(h), 4, -1)
        after = self._gate(f) * c + self._gate(i) * self._activation(g)
        return [self._gate(o) * self._activation(after), after]


class GRUCell(AbstractCell):
    """Gated recurrent units, with the gates in the order update, reset, candidate."""

    gates = 3

    def step(self, x: pb.Tensor, states: list[pb.Tensor]) -> list[pb.Tensor]:
        """The next state."""
        (h,) = states
        z, r, g = pb.split(self.of_inputs(x), 3, 1)
        of_z, of_r, of_g = pb.split(self.recurrent_kernel, 3, 1)
        for_z, for_r, for_g = [h * k for k in self._kept["states"]] if "states" in self._kept else [h] * 3
        update, reset = self._gate(z + pb.matmul(for_z, of_z)), self._gate(r + pb.matmul(for_r, of_r))
        return [update * h + (1.0 - update) * self._activation(g + pb.matmul(reset * for_g, of_g))]


def _kept_share(like: pb.Tensor, rate: float, phase: Any) -> pb.Tensor:
    """Ones in the shape of a tensor; in training the share `rate` of them is 0, and the others are larger."""
    ones = pb.ones_like(like)
    kept: pb.Tensor = backend.in_train_phase(lambda: backend.dropout(ones, rate), ones, phase)
    return kept


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

    def call(self, inputs: Any, states: Any = (), training: Any = None, **kwargs: Any) -> Any:
        """The last output, and the next states of each cell."""
        after = []
        for cell, state in zip(self.cells, states, strict=True):
            listed = isinstance(state, list | tuple)
            told = {"training": training} if takes(cell, "training") else {}
            inputs, made = cell(inputs, list(state) if listed else [state], **told)
            after.append(list(made) if listed else made[0])
        return inputs, after

    def draw(self, x: pb.Tensor, states: Sequence[Any], training: Any) -> None:
        """Let each cell draw what it leaves out; see `AbstractCell`."""
        for cell, state in zip(self.cells, states, strict=True):
            first = nest.flatten(state)[0]
            if hasattr(cell, "draw"):
                cell.draw(x, first, training)
            size = nest.flatten(output_size(cell))
            x = pb.zeros([pb.shape(x)[0], *size], x.dtype)

    def reset_dropout_mask(self) -> None:
        """Let the next call draw which inputs the cells leave out."""
        for cell in self.cells:
            if hasattr(cell, "draw"):
                cell.reset_dropout_mask()

    def reset_recurrent_dropout_mask(self) -> None:
        """Let the next call draw which parts of their states the cells leave out."""
        for cell in self.cells:
            if hasattr(cell, "draw"):
                cell.reset_recurrent_dropout_mask()

    @property
    def variables(self) -> list[Any]:
        """Those of the cells."""
        return [v for cell in self.cells for v in cell.variables]

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of them that optimizers change."""
        return [v for cell in self.cells for v in cell.trainable_variables]
