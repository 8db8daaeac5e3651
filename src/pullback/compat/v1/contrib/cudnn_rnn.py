"""Recurrent layers of cuDNN, in cells of the graph (`tf.contrib.cudnn_rnn`): the same functions, on any engine.

TensorFlow keeps all weights of such a layer in one variable, whose order is cuDNN's; its checkpoints hold them as the
variables of compatible cells. Here these are the variables: a checkpoint of TensorFlow's is restored by their names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pullback as pb

from ....core.shape import as_shape
from ....core.typing import DTypeLike, ShapeLike, TensorLike
from ....layers.rnn.cells import LSTMCell, LSTMStateTuple, RNNCell
from ....layers.rnn.recurrent import axes_exchanged

Initializer = Callable[..., Any] | None


class CudnnCompatibleLSTMCell(LSTMCell):
    """An `LSTMCell` as cuDNN has it: nothing is added to the forget gate."""

    def __init__(self, num_units: int, reuse: bool | str | None = None, kernel_initializer: Initializer = None) -> None:
        super().__init__(
            num_units, initializer=kernel_initializer, forget_bias=0.0, reuse=reuse, name="cudnn_compatible_lstm_cell"
        )


class CudnnCompatibleGRUCell(RNNCell):
    """A gated recurrent unit as cuDNN has it: `u * h + (1 - u) * tanh(x @ W + b + r * (h @ R + d))`.

    >>> import pullback.compat.v1 as tf
    >>> cell = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(3)
    >>> _ = cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32))
    >>> [v.op.name.partition("/")[2] for v in cell.variables if "kernel" in v.name]
    ['gates/kernel', 'candidate/input_projection/kernel', 'candidate/hidden_projection/kernel']
    """

    def __init__(
        self,
        num_units: int,
        reuse: bool | str | None = None,
        kernel_initializer: Initializer = None,
        bias_initializer: Initializer = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self.units, self.initializers = num_units, (kernel_initializer, bias_initializer)

    state_size = output_size = property(attrgetter("units"))

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        (kernel, bias), depth = self.initializers, self._depth(input_shape)
        with pb.variable_scope("gates"):
            self._gates = _weights(depth + self.units, 2 * self.units, kernel, bias or pb.constant_initializer(1.0))
        with pb.variable_scope("candidate/input_projection"):
            self._input = _weights(depth, self.units, kernel, bias or pb.zeros_initializer())
        with pb.variable_scope("candidate/hidden_projection"):
            self._hidden = _weights(self.units, self.units, kernel, bias or pb.zeros_initializer())

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output, twice."""
        r, u = pb.split(pb.sigmoid(_affine(pb.concat([inputs, state], 1), self._gates)), 2, 1)
        candidate = pb.tanh(_affine(inputs, self._input) + r * _affine(state, self._hidden))
        h = (1.0 - u) * candidate + u * state
        return h, h


class AbstractCudnnRNN(ABC):
    """Layers of cells upon each other, in one direction or in both: inputs and outputs are [time, batch, ...].

    With "bidirectional" the outputs of both directions stand side by side, and go to both cells of the next layer.
    With `dropout` the inputs of all layers but the first lose elements while `training`. States are a tuple, (h, c) or
    (h,), of [layers * directions, batch, units].

    Raises:
        ValueError: the direction, or the mode of the inputs, is another. NotImplementedError: inputs are to skip the
            first product.
    """

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = "unidirectional",
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: DTypeLike = pb.float32,
        kernel_initializer: Initializer = None,
        bias_initializer: Initializer = None,
        name: str | None = None,
    ) -> None:
        if direction not in ("unidirectional", "bidirectional"):
            raise ValueError(
                f"{type(self).__name__}: direction must be unidirectional or bidirectional, not {direction!r}"
            )
        if input_mode not in ("linear_input", "skip_input", "auto_select"):
            raise ValueError(f"{type(self).__name__}: no input_mode {input_mode!r}; give 'linear_input'")
        if input_mode == "skip_input":
            raise NotImplementedError(f"{type(self).__name__}: only input_mode='linear_input' is there")
        self.num_layers, self.num_units, self.input_mode, self.direction = num_layers, num_units, input_mode, direction
        self.name, self.dtype = name, pb.as_dtype(dtype)
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer = kernel_initializer or pb.glorot_uniform_initializer(seed, self.dtype)
        self._bias_initializer = bias_initializer or pb.zeros_initializer()
        self._scope: pb.VariableScope | None = None
        self._cells: list[list[RNNCell]] = []

    @property
    def num_dirs(self) -> int:
        """1, or 2 for both directions."""
        return 1 if self.direction == "unidirectional" else 2

    @property
    def built(self) -> bool:
        """Whether it was called, or built."""
        return self._scope is not None

    @property
    def variables(self) -> list[pb.Variable]:
        """Those of all cells."""
        return [v for cells in self._cells for cell in cells for v in cell.variables]

    trainable_variables = trainable_weights = weights = variables

    def state_shape(self, batch_size: Any) -> tuple[list[Any], ...]:
        """The shape of each tensor of a state."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],) * len(self._parts_of(self._of_parts()))

    def build(self, input_shape: ShapeLike) -> None:
        """Make the cells, for inputs [time, batch, n]; the first call does so too.

        Raises:
            ValueError: the last length is not known.
        """
        if self.built:
            return
        depth = as_shape(input_shape).size(-1)
        if depth is None:
            raise ValueError(f"{type(self).__name__}: the last length of the inputs must be known")
        for layer in range(self.num_layers):
            length = depth if layer == 0 else self.num_units * self.num_dirs
            kernel = _canonical(self._kernel_initializer, self.num_units, length)
            self._cells.append([self._cell(kernel) for _ in range(self.num_dirs)])
        with pb.variable_scope(None, "rnn" if self.num_dirs == 1 else "stack_bidirectional_rnn") as self._scope:
            pass

    def __call__(
        self,
        inputs: TensorLike,
        initial_state: tuple[Any, ...] | None = None,
        sequence_lengths: TensorLike | None = None,
        time_major: bool = True,
        training: bool = True,
        scope: object = None,
    ) -> tuple[pb.Tensor, tuple[pb.Tensor, ...]]:
        """The outputs of the last layer, and the last states of all."""
        del scope
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"{type(self).__name__}: initial_state must be a tuple, not {initial_state!r}")
        x = pb.convert_to_tensor(inputs, self.dtype)
        rows = x if time_major else axes_exchanged(x)
        axis, again = 0 if time_major else 1, self.built
        self.build(rows.shape)
        ends: list[Any] = []
        with pb.variable_scope(self._scope, reuse=True if again else None):
            for layer in range(self.num_layers):
                if layer and self._dropout and training:
                    rows = pb.nn.dropout(rows, self._dropout, seed=self._seed)
                first = self._first_states(initial_state, layer, axis)
                rows, states = self._through(layer, rows, sequence_lengths, first)
                ends += [self._parts_of(state) for state in states]
        outputs = rows if time_major else axes_exchanged(rows)
        return outputs, tuple(pb.stack(part, axis) for part in zip(*ends, strict=True))

    def _first_states(self, given: tuple[Any, ...] | None, layer: int, axis: int) -> list[Any]:
        """The states that the cells of a layer begin with; None for zeros."""
        if given is None:
            return [None] * self.num_dirs
        parts = [
            pb.unstack(pb.convert_to_tensor(part, self.dtype), self.num_layers * self.num_dirs, axis) for part in given
        ]
        numbers = range(layer * self.num_dirs, (layer + 1) * self.num_dirs)
        return [self._of_parts(*[part[n] for part in parts]) for n in numbers]

    def _through(self, layer: int, rows: Any, lengths: Any, first: list[Any]) -> tuple[Any, list[Any]]:
        """The outputs of a layer, and its last states, in the scope in which TensorFlow has such a cell."""
        cells, kind = self._cells[layer], self.dtype
        if self.num_dirs == 1:
            with pb.variable_scope(f"multi_rnn_cell/cell_{layer}") as around:
                outputs, end = pb.nn.dynamic_rnn(cells[0], rows, lengths, first[0], kind, time_major=True, scope=around)
            return outputs, [end]
        with pb.variable_scope(f"cell_{layer}"):
            both, ends = pb.nn.bidirectional_dynamic_rnn(
                cells[0], cells[1], rows, lengths, first[0], first[1], kind, time_major=True
            )
        return pb.concat(both, 2), list(ends)

    # What each kind says

    @abstractmethod
    def _cell(self, kernel_initializer: Any) -> RNNCell:
        """A cell."""

    @abstractmethod
    def _of_parts(self, *parts: Any) -> Any:
        """A state of a cell; of no parts, one of None."""

    @abstractmethod
    def _parts_of(self, state: Any) -> tuple[Any, ...]:
        """The tensors that a state is."""


class CudnnLSTM(AbstractCudnnRNN):
    """Layers of long short-term memories.

    >>> import pullback.compat.v1 as tf
    >>> lstm = tf.contrib.cudnn_rnn.CudnnLSTM(2, 3, direction="bidirectional")
    >>> outputs, (h, c) = lstm(tf.ones([7, 2, 5]))
    >>> outputs.shape, h.shape, c.shape
    (TensorShape([7, 2, 6]), TensorShape([4, 2, 3]), TensorShape([4, 2, 3]))
    """

    def _cell(self, kernel_initializer: Any) -> RNNCell:
        return CudnnCompatibleLSTMCell(self.num_units, None, kernel_initializer)

    def _of_parts(self, h: Any = None, c: Any = None) -> Any:
        return LSTMStateTuple(c, h)

    def _parts_of(self, state: Any) -> tuple[Any, ...]:
        return state.h, state.c


class AbstractOneStateRNN(AbstractCudnnRNN):
    """A kind whose state is its output."""

    def _of_parts(self, h: Any = None) -> Any:
        return h

    def _parts_of(self, state: Any) -> tuple[Any, ...]:
        return (state,)


class CudnnGRU(AbstractOneStateRNN):
    """Layers of gated recurrent units, those of `CudnnCompatibleGRUCell`."""

    def _cell(self, kernel_initializer: Any) -> RNNCell:
        return CudnnCompatibleGRUCell(self.num_units, None, kernel_initializer, self._bias_initializer)


class CudnnRNNTanh(AbstractOneStateRNN):
    """Layers of `tanh(x @ W + h @ R + b)`."""

    def _cell(self, kernel_initializer: Any) -> RNNCell:
        return PlainCell(self.num_units, pb.tanh, kernel_initializer)


class CudnnRNNRelu(AbstractOneStateRNN):
    """Layers of `relu(x @ W + h @ R + b)`."""

    def _cell(self, kernel_initializer: Any) -> RNNCell:
        return PlainCell(self.num_units, pb.nn.relu, kernel_initializer)


class PlainCell(RNNCell):
    """A `BasicRNNCell` whose matrix begins as it is said."""

    def __init__(self, num_units: int, activation: Callable[[Any], Any], kernel_initializer: Any) -> None:
        super().__init__(name="basic_rnn_cell")
        self.units, self.activation, self.initializer = num_units, activation, kernel_initializer

    state_size = output_size = property(attrgetter("units"))

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        self._weights = _weights(
            self._depth(input_shape) + self.units, self.units, self.initializer, pb.zeros_initializer()
        )

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The output, twice."""
        h = self.activation(_affine(pb.concat([inputs, state], 1), self._weights))
        return h, h


def _canonical(initializer: Any, units: int, depth: int) -> Initializer:
    """Matrices of a cell put together from those of cuDNN, one for each gate, of the inputs and of the state."""

    def kernel(shape: Any, dtype: Any = pb.float32, **options: Any) -> Any:
        del options
        rows, width = [int(n) for n in shape]
        parts = [depth, units] if rows == depth + units else [rows]
        gates = [[pb.transpose(initializer([units, n], dtype=dtype)) for n in parts] for _ in range(width // units)]
        return pb.concat([pb.concat(gate, 0) for gate in gates], 1)

    return kernel


def _weights(depth: int, width: int, kernel: Any, bias: Any) -> list[Any]:
    return [
        pb.get_variable("kernel", [depth, width], initializer=kernel),
        pb.get_variable("bias", [width], initializer=bias),
    ]


def _affine(x: Any, variables: list[Any]) -> Any:
    kernel, bias = variables
    return pb.matmul(x, kernel) + bias
