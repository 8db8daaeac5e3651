"""Recurrent cells (RNN, GRU, LSTM), with variables as TensorFlow has them: weights can be carried over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Self, cast

from ...core import nest
from ...core.dtypes import INEXACT, DType, as_dtype, dtype_name
from ...core.operation import Tensor
from ...core.shape import TensorShape
from ...core.typing import DTypeLike, TensorLike
from ...core.values import constant_value
from ...primitives.activations.sigmoid import sigmoid
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.fill import zeros
from ...primitives.elementwise.clip import clip_by_value
from ...primitives.linalg.matmul import matmul
from ...primitives.shape.size import shape
from ...primitives.shape.stacking import concat, split
from ...primitives.variables.variable import Variable
from ..variables.initializers import Constant, Zeros
from ..variables.layer import Layer
from ..variables.scope import VariableScope, get_variable, get_variable_scope, variable_scope
from .activations import Activation, activation_of
from .configurations import TrackableReference, arguments_of, config_of


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

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """A cell that keeps its arguments, for its configuration."""
        made = super().__new__(cls)
        made._arguments = args, kwargs
        return made

    def get_config(self) -> dict[str, Any]:
        """The arguments by name: activations and dtypes by theirs, cells as pairs of a class and arguments."""
        return config_of(self, *self._arguments)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Self:
        """The cell of those arguments; `custom_objects` has classes of one's own by name.

        Raises:
            ValueError: there is a cell of a class that is not known.
        """
        return cls(**arguments_of(config, custom_objects))

    @property
    def _cells(self) -> dict[str, RNNCell]:
        """The cells in it, by TensorFlow's names."""
        return {}

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """What TensorFlow's object-based checkpoints save with it: the cells in it, else its variables."""
        inner = f"{self.name}/"
        held: Mapping[str, Any] = self._cells or {v.op.name.rpartition(inner)[2]: v for v in self.variables}
        return [TrackableReference(name, x) for name, x in held.items()]

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

    def get_initial_state(
        self, inputs: TensorLike | None = None, batch_size: int | Tensor | None = None, dtype: DTypeLike | None = None
    ) -> Any:
        """The state to begin with: `zero_state` for the batch and the dtype of `inputs`, or for those given.

        Raises:
            ValueError: `inputs` have another batch or dtype than those given; or there is nothing to tell one of them.
        """
        if inputs is not None:
            x = convert_to_tensor(inputs)
            batch_size, dtype = _batch_of(x, batch_size), _dtype_of(x, dtype)
        if batch_size is None or dtype is None:
            raise ValueError(
                "get_initial_state: batch_size and dtype cannot be None without inputs; they are "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

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
        if self.dtype is None:
            self.dtype = x.dtype
        return output, after

    def _depth(self, inputs_shape: TensorShape) -> int:
        depth = inputs_shape.size(-1)
        if depth is None:
            raise ValueError(f"{self.name}: the last length of the inputs must be known")
        return int(depth)


def _batch_of(x: Tensor, given: Any) -> int | Tensor:
    known = x.shape.size(0)
    wanted = constant_value(given) if isinstance(given, Tensor) else given
    if given is not None and known != wanted:
        raise ValueError(
            f"get_initial_state: the batch size from input tensor is different from batch_size={wanted}: {x.type}"
        )
    return shape(x)[0] if known is None else known


def _dtype_of(x: Tensor, given: Any) -> DType:
    if given is not None and as_dtype(given) != x.dtype:
        wanted = dtype_name(as_dtype(given))
        raise ValueError(f"get_initial_state: the dtype from input tensor is different from dtype={wanted}: {x.type}")
    return x.dtype


def _lengths(size: Any) -> list[Any]:
    return size.as_list() if isinstance(size, TensorShape) else [size]


class _OtherCell(RNNCell):
    """A cell of a class of its own, with what an `RNNCell` has."""

    def __init__(self, cell: Any) -> None:
        self.cell = cell

    state_size = property(attrgetter("cell.state_size"))
    output_size = property(attrgetter("cell.output_size"))
    zero_state = property(attrgetter("cell.zero_state"))

    def __call__(self, inputs: Any, state: Any, scope: VariableScope | str | None = None) -> tuple[Any, Any]:
        del scope
        output, after = self.cell(inputs, state)
        return output, after


def as_cell(what: str, cell: Any) -> RNNCell:
    """`cell`, or an `RNNCell` that does what it does: a cell of Keras, or one that has the parts of an `RNNCell`.

    Raises:
        TypeError: it is none of these.

    >>> import pullback as pb
    >>> class Counter:
    ...     state_size = output_size = 1
    ...     def zero_state(self, batch_size, dtype):
    ...         return pb.zeros([batch_size, 1], dtype)
    ...     def __call__(self, inputs, state):
    ...         return state, state + 1.0
    >>> outputs, _ = pb.nn.dynamic_rnn(Counter(), pb.zeros([1, 3, 5]))
    >>> pb.Session().run(outputs).ravel().tolist()
    [0.0, 1.0, 2.0]
    """
    if isinstance(cell, RNNCell):
        return cell
    if callable(cell) and hasattr(cell, "state_size"):
        if hasattr(cell, "as_rnn_cell"):
            return cast(RNNCell, cell.as_rnn_cell())
        if hasattr(cell, "output_size") and hasattr(cell, "zero_state"):
            return _OtherCell(cell)
    raise TypeError(
        f"{what}: cell must be an RNNCell, not {cell!r}; a class of its own needs state_size, output_size, zero_state "
        "and __call__"
    )


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
        self._kernel, self._bias = _layer(self._depth(input_shape) + self.units, self.units)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        h = self.activation(_affine([inputs, state], self._kernel, self._bias))
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
            self._gate_kernel, self._gate_bias = _layer(both, 2 * self.units, kernel, bias or Constant(1.0))
        with variable_scope("candidate"):
            self._candidate_kernel, self._candidate_bias = _layer(both, self.units, kernel, bias)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        r, u = split(sigmoid(_affine([inputs, state], self._gate_kernel, self._gate_bias)), 2, 1)
        candidate = self.activation(_affine([inputs, r * state], self._candidate_kernel, self._candidate_bias))
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
        depth = self._depth(input_shape) + self.output_size
        self._kernel, self._bias = _layer(depth, 4 * self.units, self.initializer)
        if self.use_peepholes:
            names = ("w_f_diag", "w_i_diag", "w_o_diag")
            self._peepholes = [get_variable(name, [self.units], initializer=self.initializer) for name in names]
        if self.projected is not None:
            with variable_scope("projection"):
                shape = [self.units, self.projected]
                self._projection = get_variable("kernel", shape, initializer=self.initializer)

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        c, h = state if self.state_is_tuple else split(state, [self.units, self.output_size], 1)
        i, j, f, o = split(_affine([inputs, h], self._kernel, self._bias), 4, 1)
        if self.use_peepholes:
            f, i = f + self._peepholes[0] * c, i + self._peepholes[1] * c
        c = sigmoid(f + self.forget_bias) * c + sigmoid(i) * self.activation(j)
        if self.cell_clip is not None:
            c = clip_by_value(c, -float(self.cell_clip), float(self.cell_clip))
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
    """Cells one upon the other: the output of each is the input of the next. The state is the tuple of theirs, or with
    `state_is_tuple=False`, where each is a tensor, all side by side in one.

    Raises:
        ValueError: there are no cells; or there is one whose state is a tuple, with `state_is_tuple=False`. In a call:
            the state is not of this kind.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.MultiRNNCell([pb.nn.rnn_cell.GRUCell(4), pb.nn.rnn_cell.BasicRNNCell(3)])
    >>> output, (first, second) = cell(pb.zeros([2, 5]), cell.zero_state(2, pb.float32))
    >>> first.shape, second.shape, cell.variables[-1].name
    (TensorShape([2, 4]), TensorShape([2, 3]), 'multi_rnn_cell/cell_1/basic_rnn_cell/bias:0')
    """

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True) -> None:
        super().__init__(name="multi_rnn_cell")
        if not cells:
            raise ValueError("MultiRNNCell: at least one cell is needed")
        self.cells, self.state_is_tuple = [as_cell("MultiRNNCell", cell) for cell in cells], state_is_tuple
        sizes = self._sizes
        if not state_is_tuple and any(isinstance(size, list | tuple) for size in sizes):
            raise ValueError(
                f"MultiRNNCell: the states of some cells are tuples, of {sizes}; then state_is_tuple=True is needed"
            )

    @property
    def _cells(self) -> dict[str, RNNCell]:
        return {f"cell-{i}": cell for i, cell in enumerate(self.cells)}

    @property
    def _sizes(self) -> tuple[Any, ...]:
        return tuple(cell.state_size for cell in self.cells)

    @property
    def state_size(self) -> Any:
        return self._sizes if self.state_is_tuple else sum(self._sizes)

    @property
    def output_size(self) -> Any:
        return self.cells[-1].output_size

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Any:
        parts = [cell.zero_state(batch_size, dtype) for cell in self.cells]
        return tuple(parts) if self.state_is_tuple else concat(parts, 1)

    def build(self, input_shape: TensorShape) -> None:
        depth = input_shape.size(-1)
        for i, cell in enumerate(self.cells):
            with variable_scope(f"cell_{i}"):
                cell.prepare(depth, get_variable_scope().dtype)
            depth = cell.output_size

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        after = []
        if self.state_is_tuple and not (isinstance(state, list | tuple) and len(state) == len(self.cells)):
            raise ValueError(f"MultiRNNCell: Expected state to be a tuple of length {len(self.cells)}, not {state}")
        parts = state if self.state_is_tuple else split(state, list(self._sizes), 1)
        for i, (cell, part) in enumerate(zip(self.cells, parts, strict=True)):
            with variable_scope(f"cell_{i}"):
                inputs, next_part = cell(inputs, part)
            after.append(next_part)
        return inputs, tuple(after) if self.state_is_tuple else concat(after, 1)


def _layer(depth: int, units: int, kernel: Any = None, bias: Any = None) -> list[Variable]:
    _check_floating(as_dtype(get_variable_scope().dtype))
    return [
        get_variable("kernel", [depth, units], initializer=kernel),
        get_variable("bias", [units], initializer=bias or Zeros()),
    ]


def _affine(xs: Sequence[Tensor], kernel: Variable, bias: Variable) -> Tensor:
    for x in xs:
        _check_floating(x.dtype)
    return matmul(concat(xs, 1), kernel) + bias


def _check_floating(dtype: DType) -> None:
    if dtype not in INEXACT:
        raise ValueError(f"RNN cell only supports floating point inputs and states, not {dtype_name(dtype)}")
