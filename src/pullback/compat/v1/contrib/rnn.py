"""Recurrent cells and loops of `tf.contrib.rnn`: those of `tf.nn`, and some that were only there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import pullback as pb

from ....core.typing import DTypeLike, TensorLike
from ....nn import static_rnn as static_rnn
from ....primitives.shape.size import rank
from ....rnn_cell import BasicLSTMCell as BasicLSTMCell
from ....rnn_cell import BasicRNNCell as BasicRNNCell
from ....rnn_cell import DeviceWrapper as DeviceWrapper
from ....rnn_cell import DropoutWrapper as DropoutWrapper
from ....rnn_cell import GRUCell as GRUCell
from ....rnn_cell import LSTMCell as LSTMCell
from ....rnn_cell import LSTMStateTuple as LSTMStateTuple
from ....rnn_cell import MultiRNNCell as MultiRNNCell
from ....rnn_cell import ResidualWrapper as ResidualWrapper
from ....rnn_cell import RNNCell as RNNCell
from ..bidirectional import stack_bidirectional_dynamic_rnn as stack_bidirectional_dynamic_rnn
from ..bidirectional import stack_bidirectional_rnn as stack_bidirectional_rnn
from ..bidirectional import static_bidirectional_rnn as static_bidirectional_rnn
from ..state_saving_rnn import static_state_saving_rnn as static_state_saving_rnn
from .fused_cells import FusedRNNCell as FusedRNNCell
from .fused_cells import FusedRNNCellAdaptor as FusedRNNCellAdaptor
from .fused_cells import LSTMBlockFusedCell as LSTMBlockFusedCell
from .fused_cells import TimeReversedFusedRNN as TimeReversedFusedRNN
from .gated_cells import CoupledInputForgetGateLSTMCell as CoupledInputForgetGateLSTMCell
from .gated_cells import GLSTMCell as GLSTMCell
from .gated_cells import IntersectionRNNCell as IntersectionRNNCell
from .gated_cells import NASCell as NASCell
from .gated_cells import PhasedLSTMCell as PhasedLSTMCell
from .gated_cells import SRUCell as SRUCell
from .independent_cells import IndRNNCell as IndRNNCell
from .independent_cells import IndyGRUCell as IndyGRUCell
from .independent_cells import IndyLSTMCell as IndyLSTMCell
from .linear_cells import linear, normalized
from .window_cells import AttentionCellWrapper as AttentionCellWrapper

Activation = Callable[[Any], Any]
LayerRNNCell = RNNCell


def LSTMBlockCell(
    num_units: int,
    forget_bias: float = 1.0,
    cell_clip: float | None = None,
    use_peephole: bool = False,
    dtype: DTypeLike | None = None,
    reuse: bool | str | None = None,
    name: str = "lstm_cell",
) -> LSTMCell:
    """An `LSTMCell`, whose step is one operation in TensorFlow.

    >>> import pullback.compat.v1 as tf
    >>> tf.contrib.rnn.LSTMBlockCell(3).state_size
    LSTMStateTuple(c=3, h=3)
    """
    return LSTMCell(num_units, use_peephole, cell_clip, forget_bias=forget_bias, reuse=reuse, name=name, dtype=dtype)


def GRUBlockCellV2(
    num_units: int | None = None, cell_size: int | None = None, reuse: bool | str | None = None, name: str = "gru_cell"
) -> GRUCell:
    """A `GRUCell`, whose step is one operation in TensorFlow."""
    return GRUCell(num_units or cell_size or 0, reuse=reuse, name=name)


GRUBlockCell = GRUBlockCellV2


class UGRNNCell(RNNCell):
    """One gate: `g * h + (1 - g) * activation(c)` with `g = sigmoid(a + forget_bias)`; `a, c` are `[x, h] @ K + b`.

    Source: J. Collins et al., "Capacity and trainability in recurrent neural networks", 2017.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Activation = pb.tanh,
        reuse: bool | str | None = None,
    ) -> None:
        super().__init__(name="ugrnn_cell", _reuse=reuse)
        self.units, self.initializer, self.forget_bias, self.activation = (
            num_units,
            initializer,
            forget_bias,
            activation,
        )

    state_size = output_size = property(attrgetter("units"))

    def call(self, inputs: pb.Tensor, state: Any) -> tuple[pb.Tensor, Any]:
        """The output and the next state."""
        gate, candidate = pb.split(linear([inputs, state], 2 * self.units, self.initializer), 2, 1)
        g = pb.sigmoid(gate + self.forget_bias)
        h = g * state + (1.0 - g) * self.activation(candidate)
        return h, h


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM cell whose parts and memory have mean 0 and variance 1 in each step, with dropout of what is remembered.

    Source: J. L. Ba et al., "Layer normalization", 2016; S. Semeniuta et al., "Recurrent dropout", 2016.

    >>> import pullback.compat.v1 as tf
    >>> cell = tf.contrib.rnn.LayerNormBasicLSTMCell(3)
    >>> _ = cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32))
    >>> [v.op.name for v in cell.variables][:2]
    ['layer_norm_basic_lstm_cell/kernel', 'layer_norm_basic_lstm_cell/input/gamma']
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: object = None,
        activation: Activation = pb.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | str | None = None,
    ) -> None:
        del input_size
        super().__init__(name="layer_norm_basic_lstm_cell", _reuse=reuse)
        self.units, self.forget_bias, self.activation, self.layer_norm = num_units, forget_bias, activation, layer_norm
        self.begin = (pb.constant_initializer(norm_gain), pb.constant_initializer(norm_shift))
        self.keep, self.seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self.units, self.units)

    output_size = property(attrgetter("units"))

    def call(self, inputs: pb.Tensor, state: Any) -> tuple[pb.Tensor, Any]:
        """The output and the next state."""
        c, h = state
        y = linear([inputs, h], 4 * self.units, bias=not self.layer_norm)
        names = ("input", "transform", "forget", "output")
        parts = zip(pb.split(y, 4, 1), names, strict=True)
        i, j, f, o = [self._normalized(part, name) for part, name in parts]
        g = pb.nn.dropout(self.activation(j), 1 - self.keep, seed=self.seed)
        c = self._normalized(c * pb.sigmoid(f + self.forget_bias) + pb.sigmoid(i) * g, "state")
        h = self.activation(c) * pb.sigmoid(o)
        return h, LSTMStateTuple(c, h)

    def _normalized(self, x: pb.Tensor, name: str) -> Any:
        return normalized(x, name, self.begin) if self.layer_norm else x


class ConvLSTMCell(RNNCell):
    """An LSTM cell whose products are convolutions: inputs and state [batch, ..., channels] along one to three axes.

    Source: X. Shi et al., "Convolutional LSTM network", 2015.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        del conv_ndims
        super().__init__(name=name)
        self._kernel, self._channels, self._bias = [int(n) for n in kernel_shape], output_channels, use_bias
        self._skip, self._forget, self._initializers = skip_connection, forget_bias, initializers
        space = [int(n) for n in input_shape[:-1]]
        self._state = pb.TensorShape([*space, output_channels])
        self._output = pb.TensorShape([*space, output_channels + (int(input_shape[-1]) if skip_connection else 0)])

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._state, self._state)

    output_size = property(attrgetter("_output"))

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """The output and the next state."""
        c, h = state
        x = pb.concat([inputs, h], -1)
        sizes = [*self._kernel, x.shape.as_list()[-1], 4 * self._channels]
        with self.entered(scope, x.dtype):
            y = pb.nn.convolution(x, pb.get_variable("kernel", sizes, initializer=self._initializers), padding="SAME")
            if self._bias:
                y = y + pb.get_variable("biases", [4 * self._channels], initializer=pb.zeros_initializer())
        i, j, f, o = pb.split(y, 4, -1)
        self._called = True
        c = pb.sigmoid(f + self._forget) * c + pb.sigmoid(i) * pb.tanh(j)
        h = pb.tanh(c) * pb.sigmoid(o)
        return (pb.concat([h, inputs], -1) if self._skip else h), LSTMStateTuple(c, h)


def _convolutional(rank: int) -> Callable[..., ConvLSTMCell]:
    def make(name: str = f"conv_{rank}d_lstm_cell", **options: Any) -> ConvLSTMCell:
        """A `ConvLSTMCell` along so many axes."""
        return ConvLSTMCell(rank, name=name, **options)

    return make


Conv1DLSTMCell, Conv2DLSTMCell, Conv3DLSTMCell = (_convolutional(rank) for rank in (1, 2, 3))


class InputProjectionWrapper(RNNCell):
    """`cell`, whose inputs are first projected to a length: `activation(x @ kernel + bias)`."""

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Activation | None = None,
        input_size: object = None,
        reuse: bool | str | None = None,
    ) -> None:
        del input_size
        super().__init__(_reuse=reuse)
        self._cell, self._length, self._activation = cell, num_proj, activation

    state_size = property(attrgetter("_cell.state_size"))
    output_size = property(attrgetter("_cell.output_size"))

    def call(self, inputs: Any, state: Any) -> Any:
        """The output and the next state."""
        x: Any = linear([inputs], self._length)
        return self._cell(x if self._activation is None else self._activation(x), state)


class OutputProjectionWrapper(RNNCell):
    """`cell`, whose outputs are projected to a length: `activation(y @ kernel + bias)`."""

    def __init__(
        self, cell: Any, output_size: int, activation: Activation | None = None, reuse: bool | None = None
    ) -> None:
        super().__init__(_reuse=reuse)
        self._cell, self._length, self._activation = cell, output_size, activation

    state_size = property(attrgetter("_cell.state_size"))
    output_size = property(attrgetter("_length"))

    def call(self, inputs: Any, state: Any) -> Any:
        """The output and the next state."""
        output, after = self._cell(inputs, state)
        y: Any = linear([output], self._length)
        return (y if self._activation is None else self._activation(y)), after


class EmbeddingWrapper(RNNCell):
    """`cell`, whose inputs are numbers of rows of a variable `embedding` [classes, size]."""

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._cell, self._sizes, self._initializer = cell, [embedding_classes, embedding_size], initializer

    state_size = property(attrgetter("_cell.state_size"))
    output_size = property(attrgetter("_cell.output_size"))

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """The output and the next state."""
        ids = pb.convert_to_tensor(inputs)
        with self.entered(scope, pb.float32):
            table = pb.get_variable("embedding", self._sizes, initializer=self._initializer)
            found = self._cell(pb.gather(table, ids if ids.shape.rank == 1 else ids[:, 0]), state)
        self._called = True
        return found


class HighwayWrapper(RNNCell):
    """`cell`, whose outputs are mixed with its inputs by a gate: `g * x + (1 - g) * y`."""

    def __init__(
        self,
        cell: Any,
        couple_carry_transform_gates: bool = True,
        carry_bias_init: float = 1.0,
    ) -> None:
        super().__init__()
        self._cell, self._coupled, self._begin = cell, couple_carry_transform_gates, carry_bias_init

    state_size = property(attrgetter("_cell.state_size"))
    output_size = property(attrgetter("_cell.output_size"))

    def call(self, inputs: Any, state: Any) -> Any:
        """The output and the next state."""
        output, after = self._cell(inputs, state)
        carry = self._gate("carry", inputs, self._begin)
        through = 1.0 - carry if self._coupled else self._gate("transform", inputs, -self._begin)
        return carry * inputs + through * output, after

    def _gate(self, name: str, x: Any, begin: float) -> Any:
        depth = x.shape.as_list()[-1]
        weights = pb.get_variable(f"{name}_w", [depth, depth])
        return pb.sigmoid(
            pb.matmul(x, weights) + pb.get_variable(f"{name}_b", [depth], initializer=pb.constant_initializer(begin))
        )


def CompiledWrapper(cell: Any, compile_stateful: bool = False) -> Any:
    """`cell`: XLA compiles all of a run anyway."""
    del compile_stateful
    return cell


def transpose_batch_time(x: TensorLike) -> pb.Tensor:
    """`x` [batch, time, ...] as [time, batch, ...]."""
    y = pb.convert_to_tensor(x)
    depth = y.shape.rank
    return pb.transpose(y, pb.concat([[1, 0], pb.range(2, rank(y))], 0) if depth is None else [1, 0, *range(2, depth)])


def best_effort_input_batch_size(flat_input: Sequence[Any]) -> Any:
    """The length of the batch of inputs [time, batch, ...]: a number where it is known."""
    known = [x.shape.as_list()[1] for x in flat_input if x.shape.rank is not None]
    return next((n for n in known if n is not None), None) or pb.shape(flat_input[0])[1]
