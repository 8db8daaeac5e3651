"""Recurrent cells (RNN, GRU, LSTM), with variables as TensorFlow has them: weights can be carried over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple
from zlib import crc32

from ...core import nest
from ...core.contexts import device as placed_on
from ...core.operation import Tensor
from ...core.scopes import DeviceFunction
from ...core.shape import TensorShape
from ...core.typing import DTypeLike
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.fill import ones, zeros
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.linalg.matmul import matmul
from ...primitives.random.dropout import dropout
from ...primitives.shape.stacking import concat, split
from ...primitives.variables.variable import Variable
from ..variables.initializers import Constant, Zeros
from ..variables.layer import Layer
from ..variables.scope import VariableScope, get_variable, get_variable_scope, variable_scope
from .activations import Activation, activation_of


class LSTMStateTuple(NamedTuple):
    """The state of a long short-term memory: what it remembers, and what it showed last.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.BasicLSTMCell(3)
    >>> cell.zero_state(2, pb.float32).c.shape
    TensorShape([2, 3])
    """

    c: Any
    h: Any


class RNNCell(Layer):
    """One step of a recurrent network: called with inputs [batch, n] and a state, it returns an output and a state.

    The variables are made at the first call, in the variable scope around it, and kept. A cell of one's own says
    `state_size`, `output_size` and `call(inputs, state)`, and may make its variables in `build(inputs_shape)`; or it
    says `__call__(inputs, state, scope=None)`, and all is its own.

    >>> import pullback as pb
    >>> class Leaky(pb.nn.rnn_cell.RNNCell):
    ...     state_size = output_size = 3
    ...     def call(self, inputs, state):
    ...         h = 0.9 * state + inputs @ pb.get_variable("kernel", [5, 3])
    ...         return h, h
    >>> cell = Leaky()
    >>> outputs, state = pb.nn.dynamic_rnn(cell, pb.zeros([2, 4, 5]))
    >>> outputs.shape, cell.variables
    (TensorShape([2, 4, 3]), [<Variable 'rnn/leaky/kernel:0' float32[5,3]>])
    """

    @property
    def state_size(self) -> Any:
        """The length of the state, or a nested structure of the lengths, or shapes, of its parts."""
        raise NotImplementedError(f"{type(self).__name__} has no state_size: define it")

    @property
    def output_size(self) -> Any:
        """The length of the output."""
        raise NotImplementedError(f"{type(self).__name__} has no output_size: define it")

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Any:
        """Zeros for each part of the state, [batch_size, length]."""
        return nest.map_structure(lambda n: zeros([batch_size, *_lengths(n)], dtype), self.state_size)

    def prepare(self, depth: int | None, dtype: DTypeLike) -> None:
        """Make the variables, unless they are there, or the cell makes them in a call of its own."""
        if type(self).__call__ is RNNCell.__call__:
            with self.entered(None, dtype):
                self.make(TensorShape([None, depth]))

    def __call__(self, inputs: Any, state: Any, scope: VariableScope | str | None = None) -> tuple[Any, Any]:
        """The output [batch, output_size] and the next state."""
        x = convert_to_tensor(inputs)
        if x.shape.rank not in (2, None):
            raise ValueError(f"{self.name}: inputs must be of rank 2, not {x.type}")
        with self.entered(scope, x.dtype):
            self.make(x.shape)
            output, after = self.call(x, state)
        self._called = True
        return output, after

    def _depth(self, inputs_shape: TensorShape) -> int:
        depth = inputs_shape.size(-1)
        if depth is None:
            raise ValueError(f"{self.name}: the last length of the inputs must be known")
        return int(depth)


def _lengths(size: Any) -> list[Any]:
    return size.as_list() if isinstance(size, TensorShape) else [size]


class BasicRNNCell(RNNCell):
    """`activation([x, h] @ kernel + bias)`: output and state; `tanh` unless given, as a function or by name.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.BasicRNNCell(3)
    >>> output, state = cell(pb.zeros([2, 5]), cell.zero_state(2, pb.float32))
    >>> [v.name for v in cell.variables], cell.variables[0].shape
    (['basic_rnn_cell/kernel:0', 'basic_rnn_cell/bias:0'], TensorShape([8, 3]))
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | str | None = None,
        reuse: bool | str | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name or "basic_rnn_cell", dtype=dtype, _reuse=reuse)
        self.units, self.activation = num_units, activation_of(activation)

    state_size = output_size = property(attrgetter("units"))

    def build(self, input_shape: TensorShape) -> None:
        self._weights = _layer(self._depth(input_shape) + self.units, self.units)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        h = self.activation(_affine([inputs, state], self._weights))
        return h, h


class GRUCell(RNNCell):
    """A gated recurrent unit: `r, u = sigmoid([x, h] @ K + b)`, `u * h + (1 - u) * activation([x, r * h] @ K2 + b2)`.

    Source: Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.GRUCell(3)
    >>> output, state = cell(pb.zeros([2, 5]), cell.zero_state(2, pb.float32))
    >>> [v.name for v in cell.variables if "kernel" in v.name]
    ['gru_cell/gates/kernel:0', 'gru_cell/candidate/kernel:0']
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | str | None = None,
        reuse: bool | str | None = None,
        kernel_initializer: Callable[..., Any] | None = None,
        bias_initializer: Callable[..., Any] | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name or "gru_cell", dtype=dtype, _reuse=reuse)
        self.units, self.activation = num_units, activation_of(activation)
        self.initializers = kernel_initializer, bias_initializer

    state_size = output_size = property(attrgetter("units"))

    def build(self, input_shape: TensorShape) -> None:
        (kernel, bias), both = self.initializers, self._depth(input_shape) + self.units
        with variable_scope("gates"):
            self._gates = _layer(both, 2 * self.units, kernel, bias or Constant(1.0))
        with variable_scope("candidate"):
            self._candidate = _layer(both, self.units, kernel, bias)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        r, u = split(sigmoid(_affine([inputs, state], self._gates)), 2, 1)
        candidate = self.activation(_affine([inputs, r * state], self._candidate))
        h = u * state + (1.0 - u) * candidate
        return h, h


class LSTMCell(RNNCell):
    """A long short-term memory: `c = sigmoid(f + forget_bias) * c + sigmoid(i) * activation(j)`, and the output
    `h = sigmoid(o) * activation(c)`, where `i, j, f, o` are the parts of `[x, h] @ kernel + bias`.

    With `use_peepholes` the gates see c, with `cell_clip` c is kept between its two signs, with `num_proj` the output
    is multiplied with a matrix, and kept within `proj_clip`. The state is an LSTMStateTuple, or with
    `state_is_tuple=False` both in one tensor. The shards change nothing.

    Source: Hochreiter and Schmidhuber, Long Short-Term Memory, 1997; Sak, Senior and Beaufays, 2014.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.LSTMCell(3, num_proj=2)
    >>> output, state = cell(pb.zeros([2, 5]), cell.zero_state(2, pb.float32))
    >>> output.shape, state.c.shape, cell.variables[0].shape
    (TensorShape([2, 2]), TensorShape([2, 3]), TensorShape([7, 12]))
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Callable[..., Any] | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | str | None = None,
        reuse: bool | str | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        del num_unit_shards, num_proj_shards
        super().__init__(name=name or "lstm_cell", dtype=dtype, _reuse=reuse)
        self.units, self.projected, self.activation = num_units, num_proj, activation_of(activation)
        self.use_peepholes, self.initializer, self.forget_bias = use_peepholes, initializer, forget_bias
        self.cell_clip, self.proj_clip, self.state_is_tuple = cell_clip, proj_clip, state_is_tuple

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self.units, self.output_size)
        return sizes if self.state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self.projected or self.units

    def build(self, input_shape: TensorShape) -> None:
        self._weights = _layer(self._depth(input_shape) + self.output_size, 4 * self.units, self.initializer)
        if self.use_peepholes:
            names = ("w_f_diag", "w_i_diag", "w_o_diag")
            self._peepholes = [get_variable(name, [self.units], initializer=self.initializer) for name in names]
        if self.projected is not None:
            with variable_scope("projection"):
                shape = [self.units, self.projected]
                self._projection = get_variable("kernel", shape, initializer=self.initializer)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        c, h = state if self.state_is_tuple else split(state, [self.units, self.output_size], 1)
        i, j, f, o = split(_affine([inputs, h], self._weights), 4, 1)
        if self.use_peepholes:
            f, i = f + self._peepholes[0] * c, i + self._peepholes[1] * c
        c = sigmoid(f + self.forget_bias) * c + sigmoid(i) * self.activation(j)
        if self.cell_clip is not None:
            c = clip_by_value(c, -self.cell_clip, self.cell_clip)
        if self.use_peepholes:
            o = o + self._peepholes[2] * c
        h = sigmoid(o) * self.activation(c)
        if self.projected is not None:
            h = matmul(h, self._projection)
        if self.projected is not None and self.proj_clip is not None:
            h = clip_by_value(h, -self.proj_clip, self.proj_clip)
        return h, LSTMStateTuple(c, h) if self.state_is_tuple else concat([c, h], 1)


def BasicLSTMCell(
    num_units: int,
    forget_bias: float = 1.0,
    state_is_tuple: bool = True,
    activation: Activation | str | None = None,
    reuse: bool | str | None = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
) -> LSTMCell:
    """An `LSTMCell` without peepholes, clipping and projection.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.BasicLSTMCell(3)
    >>> output, state = cell(pb.zeros([2, 5]), cell.zero_state(2, pb.float32))
    >>> [v.name for v in cell.variables]
    ['basic_lstm_cell/kernel:0', 'basic_lstm_cell/bias:0']
    """
    return LSTMCell(
        num_units,
        forget_bias=forget_bias,
        state_is_tuple=state_is_tuple,
        activation=activation,
        reuse=reuse,
        name=name or "basic_lstm_cell",
        dtype=dtype,
    )


class MultiRNNCell(RNNCell):
    """Cells one upon the other: the output of each is the input of the next. The state is the tuple of theirs.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.MultiRNNCell([pb.nn.rnn_cell.GRUCell(4), pb.nn.rnn_cell.BasicRNNCell(3)])
    >>> output, (first, second) = cell(pb.zeros([2, 5]), cell.zero_state(2, pb.float32))
    >>> first.shape, second.shape, cell.variables[-1].name
    (TensorShape([2, 4]), TensorShape([2, 3]), 'multi_rnn_cell/cell_1/basic_rnn_cell/bias:0')
    """

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True) -> None:
        super().__init__(name="multi_rnn_cell")
        if not cells or not state_is_tuple:
            raise ValueError("MultiRNNCell: at least one cell is needed, and state_is_tuple=True")
        self.cells = list(cells)

    @property
    def state_size(self) -> Any:
        return tuple(cell.state_size for cell in self.cells)

    @property
    def output_size(self) -> Any:
        return self.cells[-1].output_size

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> tuple[Any, ...]:
        return tuple(cell.zero_state(batch_size, dtype) for cell in self.cells)

    def build(self, input_shape: TensorShape) -> None:
        depth = input_shape.size(-1)
        for i, cell in enumerate(self.cells):
            with variable_scope(f"cell_{i}"):
                cell.prepare(depth, get_variable_scope().dtype)
            depth = cell.output_size

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        after = []
        for i, (cell, part) in enumerate(zip(self.cells, state, strict=True)):
            with variable_scope(f"cell_{i}"):
                inputs, next_part = cell(inputs, part)
            after.append(next_part)
        return inputs, tuple(after)


class AbstractWrapper(RNNCell):
    """A cell around another one, with the variables of that one."""

    def __init__(self, cell: RNNCell) -> None:
        self.cell = cell

    name = property(attrgetter("cell.name"))
    state_size = property(attrgetter("cell.state_size"))
    output_size = property(attrgetter("cell.output_size"))
    variables = property(attrgetter("cell.variables"))

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Any:
        return self.cell.zero_state(batch_size, dtype)

    def prepare(self, depth: int | None, dtype: DTypeLike) -> None:
        self.cell.prepare(depth, dtype)


class DropoutWrapper(AbstractWrapper):
    """`cell` with dropout of what goes in, of what comes out, and of its state, drawn anew at each step.

    With `variational_recurrent` one draw is for all steps of a run, and all of a batch; it is made with the cell, of
    `dtype`, and asks for the length `input_size` of what goes in if some of that is dropped.

    The probabilities that an element stays are numbers, or scalars that a run gives. What a long short-term memory
    remembers, its `c`, is kept whole.

    Raises:
        ValueError: `variational_recurrent` without `dtype`, or without `input_size` where it is needed.

    Source: W. Zaremba et al., "Recurrent neural network regularization", 2014; Y. Gal and Z. Ghahramani, "A
    theoretically grounded application of dropout in recurrent neural networks", NIPS 2016.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.DropoutWrapper(pb.nn.rnn_cell.GRUCell(4), output_keep_prob=0.5)
    >>> outputs, state = pb.nn.dynamic_rnn(cell, pb.ones([2, 3, 5]))
    >>> [v.name for v in cell.variables][0]
    'rnn/gru_cell/gates/kernel:0'
    """

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: float | Tensor = 1.0,
        output_keep_prob: float | Tensor = 1.0,
        state_keep_prob: float | Tensor = 1.0,
        variational_recurrent: bool = False,
        input_size: object = None,
        dtype: DTypeLike | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(cell)
        self.seed = seed
        self.keep_in, self.keep_out, self.keep_state = input_keep_prob, output_keep_prob, state_keep_prob
        self._masks: tuple[Any, Any, Any] | None = None
        if variational_recurrent:
            self._masks = self._drawn(input_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: VariableScope | str | None = None) -> tuple[Any, Any]:
        of_inputs, of_output, of_state = self._masks or (None, None, None)
        output, after = self.cell(self._thinned(inputs, self.keep_in, of_inputs, "input"), state, scope)
        thinned = self._thinned(output, self.keep_out, of_output, "output")
        return thinned, self._thinned(after, self.keep_state, of_state, "state")

    def _drawn(self, input_size: Any, dtype: Any) -> tuple[Any, Any, Any]:
        """What multiplies inputs, output and state at each step."""
        if dtype is None:
            raise ValueError("DropoutWrapper: with variational_recurrent=True pass dtype=, of what is dropped")
        keeps_all = isinstance(self.keep_in, int | float) and self.keep_in == 1
        if input_size is None and not keeps_all:
            raise ValueError("DropoutWrapper: with variational_recurrent=True and input_keep_prob pass input_size=")

        def mask(size: Any, keep: Any, what: str) -> Any:
            if isinstance(size, tuple):
                parts = [mask(part, keep, f"{what} {i}") for i, part in enumerate(size)]
                return LSTMStateTuple(*parts) if isinstance(size, LSTMStateTuple) else tuple(parts)
            return self._dropped(ones([1, *TensorShape(size).known], dtype), keep, what)

        of_inputs = None if keeps_all else mask(input_size, self.keep_in, "input")
        of_output = mask(self.cell.output_size, self.keep_out, "output")
        return of_inputs, of_output, mask(self.cell.state_size, self.keep_state, "state")

    def _thinned(self, values: Any, keep: Any, mask: Any, what: str) -> Any:
        if isinstance(values, LSTMStateTuple):
            return LSTMStateTuple(values.c, self._thinned(values.h, keep, mask and mask.h, what))
        if isinstance(values, tuple):
            masks = mask or [None] * len(values)
            parts = enumerate(zip(values, masks, strict=True))
            return tuple(self._thinned(part, keep, m, f"{what} {i}") for i, (part, m) in parts)
        return self._dropped(values, keep, what) if mask is None else values * mask

    def _dropped(self, x: Any, keep: Any, what: str) -> Tensor:
        """Dropout, of which the seed gives each of `what` another draw."""
        seed = None if self.seed is None else crc32(f"{self.seed} {what}".encode()) >> 1
        return dropout(x, 1 - keep, seed=seed)


class ResidualWrapper(AbstractWrapper):
    """`cell` whose inputs are added to its outputs, or put together with them by `residual_fn(inputs, outputs)`.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.ResidualWrapper(pb.nn.rnn_cell.BasicRNNCell(2, activation=pb.zeros_like))
    >>> output, state = cell([[1.0, 2.0]], pb.zeros([1, 2]))
    >>> with pb.Session() as session:
    ...     session.run(pb.global_variables_initializer())
    ...     print(session.run(output))
    [[1. 2.]]
    """

    def __init__(self, cell: RNNCell, residual_fn: Callable[[Tensor, Tensor], Tensor] | None = None) -> None:
        super().__init__(cell)
        self.residual_fn = residual_fn

    def __call__(self, inputs: Any, state: Any, scope: VariableScope | str | None = None) -> tuple[Any, Any]:
        output, after = self.cell(inputs, state, scope)
        return (inputs + output if self.residual_fn is None else self.residual_fn(inputs, output)), after


class DeviceWrapper(AbstractWrapper):
    """`cell` whose operations are placed on `device`.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.DeviceWrapper(pb.nn.rnn_cell.BasicRNNCell(2), "/cpu:0")
    >>> output, state = cell([[1.0]], cell.zero_state(1, pb.float32))
    >>> output.op.device
    '/cpu:0'
    """

    def __init__(self, cell: RNNCell, device: str | DeviceFunction | None) -> None:
        super().__init__(cell)
        self._device = device

    def __call__(self, inputs: Any, state: Any, scope: VariableScope | str | None = None) -> tuple[Any, Any]:
        with placed_on(self._device):
            return self.cell(inputs, state, scope)


def _layer(depth: int, units: int, kernel: Any = None, bias: Any = None) -> list[Variable]:
    return [
        get_variable("kernel", [depth, units], initializer=kernel),
        get_variable("bias", [units], initializer=bias or Zeros()),
    ]


def _affine(xs: Sequence[Tensor], variables: Sequence[Variable]) -> Tensor:
    return matmul(concat(xs, 1), variables[0]) + variables[1]
