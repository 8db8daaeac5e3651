"""Recurrent cells that programs write: a base class with `call`, and how pullback's loops take such cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core import nest
from ....core.graph import Tensor
from ....core.shape import TensorShape
from ....core.typing import DTypeLike, TensorLike
from ....layers.rnn import cells as today
from ....layers.variables.initializers import Zeros
from ....layers.variables.scope import VariableScope, get_variable, get_variable_scope, variable_scope
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.fill import zeros
from ....primitives.linalg.matmul import matmul
from ....primitives.shape.stacking import concat
from ....primitives.variables.variable import Variable


class _AnyCell(type):
    """Makes `isinstance(cell, RNNCell)` true of pullback's own cells."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or (cls is RNNCell and isinstance(instance, today.RNNCell))


class RNNCell(metaclass=_AnyCell):
    """A cell that a program writes: it says `state_size`, `output_size`, and `call(inputs, state)` or `__call__`.

    Its variables are those of `get_variable`, in the variable scope of its first call; later calls share them.

    >>> import pullback.compat.v1 as tf
    >>> class Sum(tf.nn.rnn_cell.RNNCell):
    ...     state_size = output_size = 2
    ...     def call(self, inputs, state):
    ...         total = state + inputs * tf.get_variable("scale", [2], initializer=tf.ones_initializer())
    ...         return total, total
    >>> outputs, _ = tf.nn.dynamic_rnn(Sum(), tf.ones([1, 3, 2]), dtype=tf.float32)
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     print(session.run(outputs)[0, :, 0], tf.trainable_variables()[0].name)
    [1. 2. 3.] rnn/scale:0
    """

    built: bool = False
    name: str | None = None
    trainable: bool = True
    dtype: Any = None
    _reuse: Any = None
    _first_scope: VariableScope | None = None

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        self.trainable, self.name, self.dtype, self._reuse = trainable, name, dtype, kwargs.get("_reuse")

    @property
    def state_size(self) -> Any:
        """The length of the state, or a nested structure of the lengths of its parts."""
        raise NotImplementedError(f"{type(self).__name__}: a cell says its state_size")

    @property
    def output_size(self) -> Any:
        """The length of the output."""
        raise NotImplementedError(f"{type(self).__name__}: a cell says its output_size")

    def build(self, inputs_shape: Any) -> None:
        """Make variables before the first call, or not."""

    def call(self, inputs: Any, state: Any) -> Any:
        """The output and the next state."""
        raise NotImplementedError(f"{type(self).__name__}: a cell says call(inputs, state), or __call__")

    def __call__(self, inputs: Any, state: Any, scope: VariableScope | str | None = None, *args: Any) -> Any:
        """The output and the next state, by `call`."""
        reuse = True if self.built or self._reuse else None
        with variable_scope(scope or self._first_scope or get_variable_scope(), reuse=reuse) as found:
            if self._first_scope is None:
                self._first_scope = found
            if not self.built:
                self.build(getattr(inputs, "shape", None))
            self.built = True
            return self.call(inputs, state, *args)

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Any:
        """Zeros for each part of the state."""
        return zeros_of(self.state_size, batch_size, dtype)

    def add_variable(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, **options: Any
    ) -> Variable:
        """A variable of the cell."""
        return get_variable(name, shape, dtype, initializer, **options)

    add_weight = add_variable

    @property
    def variables(self) -> list[Variable]:
        """Those below the scope of its first call."""
        return [] if self._first_scope is None else self._first_scope.global_variables()

    weights = variables

    @property
    def trainable_variables(self) -> list[Variable]:
        """Those of them that training changes."""
        return [] if self._first_scope is None else self._first_scope.trainable_variables()


def zeros_of(state_size: Any, batch_size: int | Tensor, dtype: DTypeLike) -> Any:
    """Zeros [batch, ...] in the structure of `state_size`: lengths, and shapes of more axes."""

    def of(size: Any) -> Tensor:
        return zeros([batch_size, *(size.as_list() if isinstance(size, TensorShape) else [int(size)])], dtype)

    return nest.map_structure(of, state_size)


def as_cell(cell: Any) -> Any:
    """`cell` as pullback's loops take it; what is no cell as it is."""
    if isinstance(cell, today.RNNCell) or not (callable(cell) and hasattr(cell, "state_size")):
        return cell
    return _Written(cell)


class _Written(today.RNNCell):
    """A cell that a program wrote, called in the scope in which pullback's loop makes variables."""

    def __init__(self, cell: Any) -> None:
        super().__init__("")
        self.cell = cell
        self._scope: VariableScope | None = None
        self._called = False

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def build(self, depth: int | None, dtype: DTypeLike, scope: VariableScope | str | None = None) -> None:
        """Keep the scope; the cell makes its variables when it is called."""
        del depth, dtype, scope
        if not self.built:
            self._scope, self.built = get_variable_scope(), True

    def make(self, depth: int) -> Sequence[Variable]:
        del depth
        self._scope = get_variable_scope()
        return []

    def step(self, inputs: Tensor, state: Any) -> tuple[Tensor, Any]:
        reuse = True if self._called else None
        with variable_scope(self._scope or get_variable_scope(), reuse=reuse, auxiliary_name_scope=False):
            self._called = True
            output, after = self.cell(inputs, state)
            return output, after

    def zero_state(self, batch_size: int | Tensor, dtype: DTypeLike) -> Any:
        own = getattr(self.cell, "zero_state", None)
        return zeros_of(self.state_size, batch_size, dtype) if own is None else own(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: VariableScope | str | None = None) -> Any:
        self.build(None, None, scope)
        return self.step(convert_to_tensor(inputs), state)


def linear(
    args: Any,
    output_size: int,
    bias: bool = True,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> Tensor:
    """`[args...] @ kernel + bias`, with the variables `kernel` and `bias` of the scope around."""
    parts: Sequence[TensorLike] = args if isinstance(args, list | tuple) else [args]
    xs = [convert_to_tensor(x) for x in parts]
    x = xs[0] if len(xs) == 1 else concat(xs, 1)
    kernel = get_variable("kernel", [x.shape.as_list()[-1], output_size], x.dtype, kernel_initializer)
    y = matmul(x, kernel)
    return y + get_variable("bias", [output_size], x.dtype, bias_initializer or Zeros()) if bias else y
