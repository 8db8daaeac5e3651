"""Fused cells: called with all steps at once, [time, batch, ...] or a list of steps (`FusedRNNCell`)."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ....core.typing import DTypeLike
from ....layers.rnn.cells import LSTMCell, LSTMStateTuple


class FusedRNNCell:
    """What is called with all inputs, and returns all outputs and the last state."""

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: DTypeLike | None = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        """All outputs, and the last state."""
        raise NotImplementedError(f"{type(self).__name__} defines no __call__(); its subclass must")


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell called with all steps, in a loop or without one."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: DTypeLike | None = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        """All outputs, and the last state."""
        listed, looped = isinstance(inputs, list), self._use_dynamic_rnn
        if looped:
            rows = pb.stack(inputs) if listed else inputs
            outputs, state = pb.nn.dynamic_rnn(
                self._cell, rows, sequence_length, initial_state, dtype, time_major=True, scope=scope
            )
            return (pb.unstack(outputs) if listed else outputs), state
        steps = inputs if listed else pb.unstack(inputs)
        made, state = pb.nn.static_rnn(self._cell, steps, initial_state, dtype, sequence_length, scope)
        return (made if listed else pb.stack(made)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that goes from the end to the front."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: DTypeLike | None = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        """All outputs, and the last state."""
        turned = _turned(inputs, sequence_length)
        outputs, state = self._cell(
            turned, initial_state=initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope
        )
        return _turned(outputs, sequence_length), state


class LSTMBlockFusedCell(FusedRNNCell):
    """An `LSTMCell` called with all steps, whose loop is one operation in TensorFlow.

    >>> import pullback.compat.v1 as tf
    >>> outputs, state = tf.contrib.rnn.LSTMBlockFusedCell(3)(tf.ones([7, 2, 5]), dtype=tf.float32)
    >>> outputs.shape, state.c.shape, tf.trainable_variables()[0].op.name
    (TensorShape([7, 2, 3]), TensorShape([2, 3]), 'lstm_fused_cell/kernel')
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | str | None = None,
        dtype: DTypeLike | None = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        self._cell = LSTMCell(
            num_units, use_peephole, cell_clip, forget_bias=forget_bias, reuse=reuse, name=name, dtype=dtype
        )

    @property
    def num_units(self) -> int:
        """The length of the outputs."""
        return self._cell.units

    @property
    def variables(self) -> list[Any]:
        """Those of the cell."""
        return self._cell.variables

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: DTypeLike | None = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        """All outputs, and the last state."""
        state = None if initial_state is None else LSTMStateTuple(*initial_state)
        fused = FusedRNNCellAdaptor(self._cell, use_dynamic_rnn=True)
        return fused(inputs, state, dtype, sequence_length, scope or pb.get_variable_scope())


def _turned(steps: Any, lengths: Any) -> Any:
    if isinstance(steps, list):
        return steps[::-1]
    return pb.reverse(steps, [0]) if lengths is None else pb.reverse_sequence(steps, lengths, 0, 1)
