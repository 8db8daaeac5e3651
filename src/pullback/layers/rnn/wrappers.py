"""Wrappers of recurrent cells: dropout, residual connections, devices."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any
from zlib import crc32

from ...core.contexts import device as placed_on
from ...core.operation import Tensor
from ...core.scopes import DeviceFunction
from ...core.shape import TensorShape
from ...core.typing import DTypeLike
from ...primitives.creation.fill import ones
from ...primitives.random.dropout import dropout
from ..variables.scope import VariableScope
from .cells import LSTMStateTuple, RNNCell, as_cell


class AbstractWrapper(RNNCell):
    """A cell around another one, with the variables of that one."""

    def __init__(self, cell: RNNCell) -> None:
        self.cell = as_cell(type(self).__name__, cell)

    @property
    def wrapped_cell(self) -> RNNCell:
        """The cell that it is around."""
        return self.cell

    @property
    def _cells(self) -> dict[str, RNNCell]:
        return {"cell": self.cell}

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
    '/device:CPU:0'
    """

    def __init__(self, cell: RNNCell, device: str | DeviceFunction | None) -> None:
        super().__init__(cell)
        self._device = device

    def __call__(self, inputs: Any, state: Any, scope: VariableScope | str | None = None) -> tuple[Any, Any]:
        with placed_on(self._device):
            return self.cell(inputs, state, scope)
