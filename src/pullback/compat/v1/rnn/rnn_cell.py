"""Recurrent cells of TensorFlow 1: `tf.nn.rnn_cell`, whose wrappers take cells that programs write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....core.typing import DTypeLike
from ....layers.rnn import cells as today
from ....layers.rnn.cells import BasicLSTMCell as BasicLSTMCell
from ....layers.rnn.cells import BasicRNNCell as BasicRNNCell
from ....layers.rnn.cells import GRUCell as GRUCell
from ....layers.rnn.cells import LSTMCell as LSTMCell
from ....layers.rnn.cells import LSTMStateTuple as LSTMStateTuple
from .cell import RNNCell as RNNCell
from .cell import as_cell
from .cell import linear as _linear

linear = _linear


class MultiRNNCell(today.MultiRNNCell):
    """As pullback's."""

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__([as_cell(cell) for cell in cells], state_is_tuple)


class DropoutWrapper(today.DropoutWrapper):
    """As pullback's."""

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: object = None,
        dtype: DTypeLike | None = None,
        seed: int | None = None,
        dropout_state_filter_visitor: object = None,
    ) -> None:
        del dropout_state_filter_visitor
        keeps = (input_keep_prob, output_keep_prob, state_keep_prob)
        super().__init__(as_cell(cell), *keeps, variational_recurrent, input_size, dtype, seed)


class ResidualWrapper(today.ResidualWrapper):
    """As pullback's."""

    def __init__(self, cell: Any, residual_fn: Callable[..., Any] | None = None) -> None:
        super().__init__(as_cell(cell), residual_fn)


def DeviceWrapper(cell: Any, device: object) -> Any:
    """`cell`: where a step runs is decided for the loop."""
    del device
    return cell
